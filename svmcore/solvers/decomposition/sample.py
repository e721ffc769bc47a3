"""Whole matrix or rounds: whichever takes less, as far as a sample lets one expect.

    whole matrix    KEPT n^2  +  MOVED P n
    rounds          KEPT sum_c (s_c^2 + f_c^2) n^2  +  OFTEN STREAMED s n^2  +  MOVED 2 sum_c P_c f_c n

s_c: share of the sample that are SVs of machine c of k, f_c: free SVs, s: SVs of any machine; P: pairs that the sample
took, for each example, times n. Where SVs are few (digits) rounds compute a fraction of the matrix. Where most of them
are at their bound (noisy tables) the set after the sample still holds them all, but those that follow no longer do, and
most pairs move on few examples. Where many are free, rounds keep as much as the whole matrix does and move twice as
many pairs, since each set is solved beside an f that others have not changed yet; one pass over the whole matrix begins
from what the sample has taught.

An only machine of many examples is solved on a part of its sample first. Where FEW of the part are support vectors, as
of faces or sparse words, most of the sample's Gram matrix would be computed in vain.

What a kernel value costs depends on kernel and data, what a kept one costs beside it on memory that is new to the
process; the constants are times in ns measured on tables of 10 to 300 features (tests/bench/NOTES.md).
"""

import numpy as np

SMALLEST, LARGEST = 1000, 10_000  # examples of the sample, which is a quarter of n else
PART, FEW = 4, 0.3  # of an only machine's sample a part, 1 / PART, is solved first; share below which its SVs are few
KEPT, STREAMED, MOVED = 1.6, 0.8, 0.5  # of a value of K in memory, of one added to f, of an example that a pair passes
OFTEN = 3  # products of all SVs that bring f up to date
CLEARLY = 0.8  # share of what rounds take, below which the whole matrix is worth its memory
LATER = 2  # times the pairs of the sample, solved roughly, that as many examples take to the end


def sample_size(n: int, largest: int) -> int:
    """How many of n examples the first rounds work on, where working sets hold `largest` at most."""
    return min(max(n // 4, SMALLEST), LARGEST, largest, n)


def whole_pays(alpha, C, sample, iterations) -> tuple[bool, float]:
    """Whether the whole matrix takes less than rounds, from alpha, C (k, n) after the rounds on the examples `sample`
    (m,), which took `iterations` (k,) pairs; and which share of the sample are support vectors."""
    loaded = alpha[:, sample] > 0
    free = (loaded & (alpha[:, sample] < C[:, sample])).mean(1)
    shares, share = loaded.mean(1), loaded.any(0).mean()
    moved = MOVED * LATER * np.asarray(iterations) / len(sample)
    whole = KEPT + moved.sum()
    rounds = KEPT * (shares**2 + free**2).sum() + OFTEN * STREAMED * share + 2 * (moved * free).sum()
    return bool(whole < CLEARLY * rounds), float(share)
