"""Which examples a first machine trains on, and which are put aside to choose by: all drawn by one seed.

    s subsets of r examples, r/2 of each class      Bakir, Bottou and Weston (2004), section 3, Algorithm 3, step 1
    a validation part of r/3 examples               Bakir, Bottou and Weston (2004), section 4.3

Subsets are disjoint as long as a class lasts ("splitting" in section 4.2); a class that is used up is dealt anew.
"""

import numpy as np

from svmcore.allowed import is_whole

THIRD = "third"  # of the subset size: the validation part of section 4.3


def subset_size(asked: int | None, counts: np.ndarray, n_subsets: int) -> int:
    """r: as asked, or the largest with which the subsets are disjoint. counts (2,): examples of each class.

    ValueError naming subset_size and what is allowed.
    """
    most = 2 * int(counts.min())
    if asked is None:
        return max(2, 2 * int(counts.min() // n_subsets))
    if not is_whole(asked, 2) or asked % 2 or asked > most:
        raise ValueError(
            f"subset_size = {asked!r}; allowed: an even number from 2 to {most}, twice the {counts.min()} examples "
            "available in the smaller class, or None"
        )
    return int(asked)


def validation_part(label: np.ndarray, size: int, leave: int, rng) -> np.ndarray:
    """Indices (size,) ascending: each class (label (n,) 0 or 1) as often as in the training set, as far as it leaves
    `leave` examples of both; at least one of each.

    ValueError naming validation_size where that cannot be. Bakir, Bottou and Weston (2004), section 4.3.
    """
    members = [np.flatnonzero(label == side) for side in (0, 1)]
    spare = [len(of_class) - leave for of_class in members]
    if min(spare) < 1 or not 2 <= size <= sum(spare):
        most = f"from 2 to {sum(spare)}" if min(spare) > 0 and sum(spare) > 1 else "None, or smaller subsets"
        raise ValueError(
            f"validation_size = {size}; allowed: {most}, since the subsets need {leave} examples of each class"
        )
    wanted = round(size * len(members[1]) / len(label))
    positive = int(np.clip(wanted, max(1, size - spare[0]), min(spare[1], size - 1)))
    chosen = [rng.permutation(of)[:count] for of, count in zip(members, (size - positive, positive), strict=True)]
    return np.sort(np.concatenate(chosen))


def draw_subsets(label: np.ndarray, usable: np.ndarray, n_subsets: int, size: int, rng) -> np.ndarray:
    """Training indices (s, r), each row ascending: r/2 examples of each class, drawn from `usable` without replacement.

    Bakir, Bottou and Weston (2004), Algorithm 3, step 1.
    """
    halves = [_deal(usable[label[usable] == side], n_subsets, size // 2, rng) for side in (0, 1)]
    return np.sort(np.concatenate(halves, axis=1), axis=1)


def _deal(members: np.ndarray, hands: int, each: int, rng) -> np.ndarray:
    """Members dealt out (hands, each), no one twice in a hand: from a shuffled pack, shuffled anew when it is out."""
    out, pack = np.empty((hands, each), np.int64), rng.permutation(members)
    for hand in out:
        left = pack[:each]
        if len(left) < each:
            fresh = rng.permutation(np.setdiff1d(members, left))
            fresh, later = fresh[: each - len(left)], fresh[each - len(left) :]
            hand[:] = np.concatenate([left, fresh])
            pack = np.concatenate([later, rng.permutation(left)])
        else:
            hand[:], pack = left, pack[each:]
    return out
