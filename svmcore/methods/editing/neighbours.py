"""Editing by nearest neighbours: what lies on the wrong side goes (edited-nn, multiedit), what lies far inside goes
(condense).

    edited-nn   i goes when its k nearest others vote against it                        Wilson (1972)
    multiedit   split i is judged by a classifier trained on split i + 1; repeated    Devijver, Kittler (1982), 3.11
    condense    i enters when the nearest example that has entered is of another class  Hart (1968)

Distances are Euclidean, in the space of the rows of X (n, d) float32; label (n,) numbers of any number of classes.

References: Wilson, IEEE Transactions on Systems, Man and Cybernetics 2 (1972); Hart, IEEE Transactions on Information
Theory 14 (1968); Devijver and Kittler, Pattern Recognition: A Statistical Approach (1982); as told in Bakir, Bottou and
Weston (2004), section 2.3.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.neighbors import NearestNeighbors

from svmcore.gram.sources import Work
from svmcore.kernels import squared_norms

LOOKED_UP = 1e9  # multiplications and additions between two looks at whether to go on
MOST_ROUNDS = 1000  # of MULTIEDIT: every round without a discard counts towards the end, so that it comes long before

Classify = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]  # (X, label) -> predict


def edited_nn(X, label, work: Work, n_neighbors: int = 1) -> np.ndarray:
    """Mask (n,) of the examples that the vote of their nearest others leaves; ties go to the nearest of those tied.

    Bakir, Bottou and Weston (2004), section 2.3 (Wilson, 1972).
    """
    n = len(X)
    if not n_neighbors < n:
        raise ValueError(f"n_neighbors = {n_neighbors}; allowed: from 1 to {n - 1}, one less than the examples")
    index, keep = NearestNeighbors(n_neighbors=n_neighbors + 1, algorithm="auto").fit(X), np.empty(n, bool)
    for at in _stretches(np.arange(n), X.size):
        work.check()
        near = index.kneighbors(X[at], return_distance=False)
        itself = near == at[:, None]
        itself[~itself.any(axis=1), -1] = True  # among more twins than neighbours: the farthest is left out
        others = near[~itself].reshape(len(at), n_neighbors)
        keep[at] = _votes(label[others]) == label[at]
    return keep


def nearest(X, label) -> Callable[[np.ndarray], np.ndarray]:
    """The 1-NN classifier that uses X (n, d) as its training set."""
    index = NearestNeighbors(n_neighbors=1).fit(X)  # the vote of one, which KNeighborsClassifier counts, takes longer
    return lambda others: label[index.kneighbors(others, return_distance=False)[:, 0]]


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
            said = _taught(classify, X[teacher], label[teacher])
            for at in _stretches(part, teacher.size * X.shape[1]):
                work.check()
                keep.append(at[said(X[at]) == label[at]])
        before, left = len(left), np.sort(np.concatenate(keep))
        quiet = quiet + 1 if len(left) == before else 0
    mask = np.zeros(len(X), bool)
    mask[left] = True
    return mask


def _taught(classify: Classify, X, label) -> Callable[[np.ndarray], np.ndarray]:
    if (label == label[0]).all():
        return lambda others: np.full(len(others), label[0])
    return classify(X, label)


def _stretches(at: np.ndarray, cost: int) -> list[np.ndarray]:
    """Examples in stretches that are looked up soon enough, where one of them costs `cost`."""
    step = max(int(LOOKED_UP / (2 * max(cost, 1))), 1)
    return [at[start : start + step] for start in range(0, len(at), step)]


def condense(X, label, work: Work, rng) -> np.ndarray:
    """Mask (n,) of the condensed set R, which has every example of X right by its nearest neighbour in R.

    A random example begins R; passes over all examples, in an order drawn once, put into R each that R has wrong, until
    a pass puts in none. Twins with different labels, which no R has right, are both in R once.
    Bakir, Bottou and Weston (2004), Algorithm 1 (Hart, 1968).
    """
    n, order = len(X), rng.permutation(len(X))
    X, label = X[order], label[order]
    X -= X.mean(axis=0)  # distances from products in single precision: far from the origin they lose their digits
    sq, inside = squared_norms(X).astype(np.float64), np.zeros(n, bool)
    near, said, at = np.full(n, np.inf), np.full(n, -1), 0
    while True:
        if not inside[at]:
            work.check()
            inside[at] = True
            distance = sq - 2 * (X @ X[at]).astype(np.float64) + sq[at]
            distance[at] = 0.0
            closer = distance < near
            near[closer], said[closer] = distance[closer], label[at]
        wrong = np.flatnonzero((said != label) & ~inside)
        if not len(wrong):
            break
        later = wrong[wrong > at]
        at = int(later[0]) if len(later) else int(wrong[0])
    mask = np.zeros(n, bool)
    mask[order[inside]] = True
    return mask


def _votes(labels) -> np.ndarray:
    """What most of the neighbours (m, k) say, the nearest first; of those tied what the nearest says."""
    counts = np.stack([(labels == c).sum(axis=1) for c in range(labels.max() + 1)], axis=1)
    most = np.argmax(np.take_along_axis(counts, labels, axis=1), axis=1)
    return labels[np.arange(len(labels)), most]
