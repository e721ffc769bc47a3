"""What the rules of nearest neighbours share: edited_nearest.py, multiedit.py, condense.py.

Distances are Euclidean, in the space of the rows of X (n, d) float32; label (n,) numbers of any number of classes.
"""

from collections.abc import Callable

import numpy as np
from sklearn.neighbors import NearestNeighbors

from svmcore.gram.threads import one_openmp_thread
from svmcore.methods.editing.roles import KEPT
from svmcore.methods.editing.rule import Given, Rule

LOOKED_UP = 1e9  # multiplications and additions between two looks at whether to go on


class ByNeighbours(Rule):
    """Looks up neighbours in one thread, beside whatever else is at work."""

    def role(self, given: Given) -> np.ndarray:
        with one_openmp_thread:
            return self._role(given)


def nearest(X, label) -> Callable[[np.ndarray], np.ndarray]:
    """The 1-NN classifier that uses X (n, d) as its training set."""
    index = NearestNeighbors(n_neighbors=1).fit(X)  # the vote of one, which KNeighborsClassifier counts, takes longer
    return lambda others: label[index.kneighbors(others, return_distance=False)[:, 0]]


def stretches(at: np.ndarray, cost: int) -> list[np.ndarray]:
    """Examples in stretches that are looked up soon enough, where one of them costs `cost`."""
    step = max(int(LOOKED_UP / (2 * max(cost, 1))), 1)
    return [at[start : start + step] for start in range(0, len(at), step)]


def role_without(keep: np.ndarray, code: int) -> np.ndarray:
    """(n,) int8: KEPT where the mask says so, else another role."""
    return np.where(keep, KEPT, code).astype(np.int8)
