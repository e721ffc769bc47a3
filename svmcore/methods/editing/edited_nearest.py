"""Edited nearest neighbours: an example goes when its k nearest others vote against it.

References: Wilson, IEEE Transactions on Systems, Man and Cybernetics 2 (1972); as told in Bakir, Bottou and Weston
(2004), section 2.3.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.neighbors import NearestNeighbors

from svmcore.gram.sources import Work
from svmcore.kernels.base import numeral
from svmcore.methods.editing.neighbours import ByNeighbours, role_without, stretches
from svmcore.methods.editing.roles import WRONG_SIDE
from svmcore.methods.editing.rule import Given


def edited_nn(X, label, work: Work, n_neighbors: int = 1) -> np.ndarray:
    """Mask (n,) of the examples that the vote of their nearest others leaves; ties go to the nearest of those tied.

    Bakir, Bottou and Weston (2004), section 2.3 (Wilson, 1972).
    """
    n = len(X)
    if not n_neighbors < n:
        raise ValueError(
            f"n_neighbors = {n_neighbors}; allowed: from 1 to {n - 1}, one less than the number of examples"
        )
    index, keep = NearestNeighbors(n_neighbors=n_neighbors + 1, algorithm="auto").fit(X), np.empty(n, bool)
    for at in stretches(np.arange(n), X.size):
        work.check()
        near = index.kneighbors(X[at], return_distance=False)
        itself = near == at[:, None]
        itself[~itself.any(axis=1), -1] = True  # among more twins than neighbours: the farthest is left out
        others = near[~itself].reshape(len(at), n_neighbors)
        keep[at] = _votes(label[others]) == label[at]
    return keep


def _votes(labels) -> np.ndarray:
    """What most of the neighbours (m, k) say, the nearest first; of those tied what the nearest says."""
    counts = np.stack([(labels == c).sum(axis=1) for c in range(labels.max() + 1)], axis=1)
    most = np.argmax(np.take_along_axis(counts, labels, axis=1), axis=1)
    return labels[np.arange(len(labels)), most]


@dataclass(frozen=True)
class EditedNearest(ByNeighbours):
    """Wilson's rule."""

    name: ClassVar[str] = "edited-nn"
    title: ClassVar[str] = "Edited nearest neighbour"
    why: ClassVar[str] = "Discards an example if most of its nearest neighbours are of another class."
    source: ClassVar[str] = "Wilson (1972)"
    n_neighbors: int = numeral(
        1, "Neighbours", "The number of neighbours that vote in the edited nearest neighbour rule.", 1, 1000
    )

    def _role(self, given: Given) -> np.ndarray:
        return role_without(edited_nn(given.X, given.label, given.session, self.n_neighbors), WRONG_SIDE)
