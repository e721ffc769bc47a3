"""MULTIEDIT: an example goes when a classifier trained on another random part of the set has it wrong; repeated.

References: Devijver and Kittler, Pattern Recognition: A Statistical Approach (1982), section 3.11; as told in Bakir,
Bottou and Weston (2004), sections 2.3 and 2.4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import clone

from svmcore.estimator import Targets
from svmcore.gram.sources import Work
from svmcore.kernels.base import numeral
from svmcore.methods.editing.beside import of_part
from svmcore.methods.editing.condense import condense
from svmcore.methods.editing.neighbours import ByNeighbours, nearest, role_without, stretches
from svmcore.methods.editing.roles import EASY, KEPT, WRONG_SIDE
from svmcore.methods.editing.rule import Given

MOST_ROUNDS = 1000  # every round without a discard counts towards the end, so that it comes long before

Classify = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]  # (X, label) -> predict


def multiedit(
    X, label, work: Work, rng, *, n_splits: int = 3, patience: int = 3, classify: Classify = nearest
) -> np.ndarray:
    """Mask (n,) of the examples that are left when `patience` rounds in turn have discarded none.

    A split of one class says that class. Fewer examples than splits are left as they are.
    Bakir, Bottou and Weston (2004), Algorithm 2.
    """
    left, quiet = np.arange(len(X)), 0
    for _ in range(MOST_ROUNDS):
        if quiet >= patience or len(left) < n_splits:
            break
        splits = np.array_split(rng.permutation(left), n_splits)
        keep = []
        for part, teacher in zip(splits, [*splits[1:], splits[0]], strict=True):
            predict = _taught(classify, X[teacher], label[teacher])
            for at in stretches(part, teacher.size * X.shape[1]):
                work.check()
                keep.append(at[predict(X[at]) == label[at]])
        before, left = len(left), np.sort(np.concatenate(keep))
        quiet = quiet + 1 if len(left) == before else 0
    mask = np.zeros(len(X), bool)
    mask[left] = True
    return mask


def _taught(classify: Classify, X, label) -> Callable[[np.ndarray], np.ndarray]:
    if (label == label[0]).all():
        return lambda others: np.full(len(others), label[0])
    return classify(X, label)


@dataclass(frozen=True)
class Multiedit(ByNeighbours):
    """Devijver and Kittler's rule."""

    name: ClassVar[str] = "multiedit"
    title: ClassVar[str] = "MULTIEDIT"
    why: ClassVar[str] = (
        "Discards an example if its nearest neighbour in another random subset is of another class; repeats until "
        "nothing is discarded."
    )
    source: ClassVar[str] = "Devijver and Kittler (1982), section 3.11"
    n_splits: int = numeral(3, "Splits", "The number of random subsets that classify each other in MULTIEDIT.", 2, 1000)
    patience: int = numeral(
        3, "Patience", "The number of rounds without a discard after which MULTIEDIT stops.", 1, 100
    )

    def _classify(self, given: Given) -> Classify:
        return nearest

    def _role(self, given: Given) -> np.ndarray:
        X, label, session, rng = given.X, given.label, given.session, given.rng
        how = {"n_splits": self.n_splits, "patience": self.patience, "classify": self._classify(given)}
        return role_without(multiedit(X, label, session, rng, **how), WRONG_SIDE)


@dataclass(frozen=True)
class MultieditBySVM(Multiedit):
    """The same with machines in the place of neighbours; their fits are stages of the session."""

    name: ClassVar[str] = "multiedit-svm"
    title: ClassVar[str] = "MULTIEDIT with an SVM"
    why: ClassVar[str] = (
        "Discards an example if a machine trained on another random subset misclassifies it; repeats until nothing is "
        "discarded."
    )
    source: ClassVar[str] = "Bakir, Bottou and Weston (2004), section 2.4"

    def _classify(self, given: Given) -> Classify:
        def classify(X, label):
            how = {"session": given.session, "stage": "editing", "whole": of_part(None)}
            machine = clone(given.svc)._fit(X, Targets(X, label), **how).machine_
            given.session.check()
            return machine.predict

        return classify

    def machines(self, n: int) -> tuple[tuple[int, int], ...]:
        return ((max(2, n // self.n_splits), self.n_splits * (2 + self.patience)),)


@dataclass(frozen=True)
class MultieditCondense(Multiedit):
    """Both."""

    name: ClassVar[str] = "multiedit+condense"
    title: ClassVar[str] = "MULTIEDIT, then CONDENSE"
    why: ClassVar[str] = "Discards first the misclassified examples, then those far from the boundary."

    def _role(self, given: Given) -> np.ndarray:
        role = super()._role(given)
        left = np.flatnonzero(role == KEPT)
        if len(left):
            role[left] = role_without(condense(given.X[left], given.label[left], given.session, given.rng), EASY)
        return role
