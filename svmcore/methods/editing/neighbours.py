"""Rules by nearest neighbours, and MULTIEDIT with other classifiers in their place.

    edited nearest neighbours   an example goes when its k nearest others vote against it
    MULTIEDIT                   ... when a classifier trained on another random part of the set has it wrong; repeated
    CONDENSE                    an example is kept if the nearest one kept so far is of another class; those far from
                                other classes are discarded

Distances are Euclidean, in the space of the rows of X (n, d) float32; label (n,) numbers of any number of classes.

References: Bakir, Bottou and Weston (2004), sections 2.3 and 2.4, as which these are told. Wilson, IEEE Transactions on
Systems, Man and Cybernetics 2 (1972). Devijver and Kittler, Pattern Recognition: A Statistical Approach (1982), section
3.11. Hart, IEEE Transactions on Information Theory 14 (1968).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from svmcore.estimator import Targets
from svmcore.gram.sources import Work
from svmcore.gram.threads import one_openmp_thread
from svmcore.kernels import squared_norms
from svmcore.kernels.base import numeral
from svmcore.methods.editing.beside import of_part
from svmcore.methods.editing.roles import EASY, KEPT, WRONG_SIDE
from svmcore.methods.editing.rule import Given, Rule

LOOKED_UP = 1e9  # multiplications and additions between two looks at whether to go on
MOST_ROUNDS = 1000  # every round without a discard counts towards the end, so that it comes long before

Classify = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]  # (X, label) -> predict


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
class EditedNearest(Rule):
    """Wilson's rule."""

    name: ClassVar[str] = "edited-nn"
    title: ClassVar[str] = "Edited nearest neighbour"
    why: ClassVar[str] = "Discards an example if most of its nearest neighbours are of another class."
    source: ClassVar[str] = "Wilson (1972)"
    n_neighbors: int = numeral(
        1, "Neighbours", "The number of neighbours that vote in the edited nearest neighbour rule.", 1, 1000
    )

    @one_openmp_thread
    def role(self, given: Given) -> np.ndarray:
        return role_without(edited_nn(given.X, given.label, given.session, self.n_neighbors), WRONG_SIDE)


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
class Condense(Rule):
    """Hart's rule."""

    name: ClassVar[str] = "condense"
    title: ClassVar[str] = "CONDENSE"
    why: ClassVar[str] = (
        "Discards an example if its nearest neighbour among the retained examples has the same class. This retains "
        "mainly examples near another class."
    )
    source: ClassVar[str] = "Hart (1968)"

    @one_openmp_thread
    def role(self, given: Given) -> np.ndarray:
        return role_without(condense(given.X, given.label, given.session, given.rng), EASY)


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
class Multiedit(Rule):
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

    @one_openmp_thread
    def role(self, given: Given) -> np.ndarray:
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

    @one_openmp_thread
    def role(self, given: Given) -> np.ndarray:
        role = super().role(given)
        left = np.flatnonzero(role == KEPT)
        if len(left):
            role[left] = role_without(condense(given.X[left], given.label[left], given.session, given.rng), EASY)
        return role
