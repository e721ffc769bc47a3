"""Label noise: a share of the examples is given another class, drawn by the seed.

    swapped(y, share, seed) -> y with round(share n) labels changed        flipped(n, share, seed) -> which

More noise changes the same examples and further ones, so that runs of growing noise differ by what is added.
Bakir, Bottou and Weston (2004), section 4.2.
"""

import numpy as np

TRAIN, TEST = 0, 1


def flipped(n: int, share: float, seed: int, part: int = TRAIN) -> np.ndarray:
    """(n,) bool: the training (or test) examples, in the order of a run's split, whose labels are swapped."""
    chosen = np.zeros(n, bool)
    chosen[np.random.default_rng([seed, part]).permutation(n)[: round(share * n)]] = True
    return chosen


def swapped(y: np.ndarray, share: float, seed: int, part: int = TRAIN) -> np.ndarray:
    """(n,) the labels, those of flipped examples replaced by another class: of two the other, of more any."""
    classes, code = np.unique(y, return_inverse=True)
    step = np.random.default_rng([seed, part, 1]).integers(1, max(len(classes), 2), len(y))
    return classes[(code + step * flipped(len(y), share, seed, part)) % len(classes)]
