"""Whole matrix or rounds: whichever takes less, as far as the first round's sample lets one expect.

    whole matrix    KEPT n^2  +  MOVED P n
    rounds          KEPT sum_c (s_c n)^2  +  STREAMED s n^2  +  MOVED 2 P s n

s_c: share of the sample that are SVs of machine c of k, s: of any machine; P: pairs that the sample took, for each
example, times n. Where SVs are few (digits) rounds compute a fraction of the matrix. Where half of the examples are SVs
(noisy tables) they keep as much of it, and move twice as many pairs, since each set is solved beside an f that others
have not changed yet; one pass over the whole matrix begins from what the sample has taught.

What a kernel value costs depends on kernel and data, what a kept one costs beside it on memory that is new to the
process; the constants are times in ns measured on tables of 50 to 100 features (tests/bench/NOTES.md).
"""

import numpy as np

SMALLEST, LARGEST = 1000, 10_000  # examples of the sample that the first round works on, which is a quarter of n else
KEPT, STREAMED, MOVED = 2.6, 1.6, 0.9  # of a value of K in memory, of one added to f, of an example that a pair passes
LATER = 2  # times the pairs of the sample, solved roughly, that as many examples take to the end


def sample_size(n: int, largest: int) -> int:
    """How many of n examples the first round works on, where working sets hold `largest` at most."""
    return min(max(n // 4, SMALLEST), LARGEST, largest, n)


def whole_pays(alpha, sample, iterations) -> tuple[bool, float]:
    """Whether the whole matrix takes less than rounds, from alpha (k, n) after a round on the examples `sample` (m,)
    that took `iterations` (k,) pairs; and which share of the sample are support vectors."""
    loaded = alpha[:, sample] > 0
    shares, share = loaded.mean(1), loaded.any(0).mean()
    moved = MOVED * LATER * np.asarray(iterations) / len(sample)
    whole = KEPT + moved.sum()
    rounds = KEPT * (shares**2).sum() + STREAMED * share + 2 * (moved * shares).sum()
    return bool(whole < rounds), float(share)
