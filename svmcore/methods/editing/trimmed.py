"""A trimmed loss: examples that a machine has far on the wrong side stop to count, so that they do not become SVs.

    ramp loss  R_s(z) = min(1 - s, max(0, 1 - z)),   z = y f(x),   s <= 0

The hinge loss, but no example costs more than 1 - s: one with y f < s has no gradient and no multiplier. The machine
is found as a fixed point: train, set aside those with y f < s, take back those that are no longer, and again, until
nobody changes. Each set aside is where the concave-convex procedure of the source linearises the loss; its linear term
(which holds an example that would rise above 1) is left out, so that every step is an ordinary SVM.

Source: Collobert, Sinz, Weston and Bottou, Trading convexity for scalability, ICML (2006); the idea in Bakir, Bottou
and Weston (2004), section 2.4.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import clone

from svmcore.estimator import Targets
from svmcore.kernels.base import numeral
from svmcore.methods.editing.bagged import decisions
from svmcore.methods.editing.beside import of_part
from svmcore.methods.editing.roles import KEPT, WRONG_SIDE
from svmcore.methods.editing.rule import Given, Rule
from svmcore.solvers.session import Session
from svmcore.svc import SVC

MOST_ROUNDS = 10  # trainings; two sets that take turns for ever end here


def trimmed(X, y, estimator: SVC, session: Session, below: float = -1.0) -> np.ndarray:
    """Mask (n,) of the examples of two classes with y f >= below (s) for a machine trained on these alone.

    Bakir, Bottou and Weston (2004), section 2.4.
    """
    Y = np.where(y == np.unique(y)[1], 1.0, -1.0)
    keep = np.ones(len(X), bool)
    for _ in range(MOST_ROUNDS):
        if any(not (keep & (side == Y)).any() for side in (1.0, -1.0)):
            break
        left = np.flatnonzero(keep)
        svc = clone(estimator)._fit(X[left], Targets(X[left], y[left]), session, "editing", whole=of_part(left))
        session.check()
        before, keep = keep, Y * decisions([svc.machine_], X, session)[0] >= below
        if np.array_equal(keep, before):
            break
    return keep


@dataclass(frozen=True)
class Trimmed(Rule):
    """The trimmed loss as a rule."""

    name: ClassVar[str] = "trimmed"
    title: ClassVar[str] = "Trimmed loss"
    why: ClassVar[str] = (
        "Discards an example if the machine trained without it still misclassifies it by a wide margin."
    )
    source: ClassVar[str] = "Collobert, Sinz, Weston and Bottou (2006)"
    two_classes: ClassVar[bool] = True
    below: float = numeral(
        -1.0, "Trimmed below", "Examples with y f below this value are ignored by the trimmed loss.", -1e6, 0
    )

    def role(self, given: Given) -> np.ndarray:
        return np.where(trimmed(given.X, given.y, given.svc, given.session, self.below), KEPT, WRONG_SIDE)

    def machines(self, n: int) -> tuple[tuple[int, int], ...]:
        return ((n, 3),)
