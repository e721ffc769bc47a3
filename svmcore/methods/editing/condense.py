"""CONDENSE: an example enters when the nearest that has entered is of another class; what lies far inside stays out.

References: Hart, IEEE Transactions on Information Theory 14 (1968); as told in Bakir, Bottou and Weston (2004), section
2.3.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from svmcore.gram.sources import Work
from svmcore.kernels import squared_norms
from svmcore.methods.editing.neighbours import ByNeighbours, role_without
from svmcore.methods.editing.roles import EASY
from svmcore.methods.editing.rule import Given


def condense(X, label, work: Work, rng) -> np.ndarray:
    """Mask (n,) of the condensed set R, which has every example of X right by its nearest neighbour in R.

    A random example begins R; passes over all examples, in an order drawn once, put into R each that R has wrong, until
    a pass puts in none. Twins with different labels, which no R has right, are both in R once.
    Bakir, Bottou and Weston (2004), Algorithm 1 (Hart, 1968).
    """
    n, order = len(X), rng.permutation(len(X))
    X, label = X[order], label[order]
    # distances from products in single precision: far from the origin they lose their digits
    X -= X.mean(axis=0, dtype=np.float64)
    sq, inside = squared_norms(X).astype(np.float64), np.zeros(n, bool)
    near, predicted, at = np.full(n, np.inf), np.full(n, -1), 0
    while True:
        if not inside[at]:
            work.check()
            inside[at] = True
            distance = sq - 2 * (X @ X[at]).astype(np.float64) + sq[at]
            distance[at] = 0.0
            closer = distance < near
            near[closer], predicted[closer] = distance[closer], label[at]
        wrong = np.flatnonzero((predicted != label) & ~inside)
        if not len(wrong):
            break
        later = wrong[wrong > at]
        at = int(later[0]) if len(later) else int(wrong[0])
    mask = np.zeros(n, bool)
    mask[order[inside]] = True
    return mask


@dataclass(frozen=True)
class Condense(ByNeighbours):
    """Hart's rule."""

    name: ClassVar[str] = "condense"
    title: ClassVar[str] = "CONDENSE"
    why: ClassVar[str] = (
        "Discards an example if the examples kept so far classify it correctly by nearest neighbour, so that only "
        "those near another class are kept."
    )
    source: ClassVar[str] = "Hart (1968)"

    def _role(self, given: Given) -> np.ndarray:
        return role_without(condense(given.X, given.label, given.session, given.rng), EASY)
