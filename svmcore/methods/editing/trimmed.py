"""A trimmed loss: examples that a machine has far on the wrong side stop to count, so that they do not become SVs.

    J(f) = |w|^2 / 2 + C sum_i R_s(z_i),   R_s(z) = min(1 - s, max(0, 1 - z)),   z_i = y_i f(x_i),   s <= 0

The ramp loss R_s is the hinge loss, but no example costs more than 1 - s: one with z < s has no gradient and no
multiplier. J is not convex. A round trains an ordinary SVM that leaves out (C_i = 0) those with z < s by the machine
before. What it minimises, the hinge loss of the others and 1 - s for each of these, is nowhere below J, and equal to it
at the machine before. So J never rises, and the rounds end, when the set stays the same.

The concave-convex procedure of the source has max(1, z) - s for an example left out, which is above 1 - s where the
example would rise beyond 1. A machine that one of them leaves as it is, the other does, too.

Source: Collobert, Sinz, Weston and Bottou, Trading convexity for scalability, ICML (2006), Algorithm 2; the idea in
Bakir, Bottou and Weston (2004), section 2.4.
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

MOST_ROUNDS = 30  # trainings; examples at s itself may take turns, within tol


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
