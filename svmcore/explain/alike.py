"""Duplicates and outliers: exact duplicates, near duplicates with different labels, and outliers.

    D(i, j)^2 = K_ii + K_jj - 2 K_ij                                       distance in feature space
    linked    i and j with different labels, each of which is the nearest example to the other       (Tomek link)
    outlying  large mean of D(i, j) over the `NEAREST` nearest j of the class of i

Symbols: X (n, d) float32, preprocessed; label (n,) int64 classes. Kernel values are computed a few rows at a time, so
that memory does not grow with n^2.

References: Tomek, Two modifications of CNN, IEEE Trans. SMC 6 (1976); Ramaswamy, Rastogi and Shim, Efficient algorithms
for mining outliers, SIGMOD (2000), for distances to the nearest neighbours.
"""

import hashlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from svmcore.explain.nearest import squared_distances
from svmcore.gram.products import Operand
from svmcore.kernels import Kernel

NEAREST = 5
WORK = 3e9  # floating-point operations between two checks
VALUES = 8e6  # kernel values in memory at a time
LOOKED = 1024  # rows hashed between two checks


class Distances(NamedTuple):
    """Distances of each example in feature space; arrays (n,)."""

    own: np.ndarray  # float64, to the nearest of its class; inf if it is the only one
    mean: np.ndarray  # float64, mean over the NEAREST nearest of its class; nan if it is the only one
    other: np.ndarray  # float64, to the nearest of another class
    which: np.ndarray  # int64, the position of that one


def copies(X: np.ndarray, check: Callable[[], None] = lambda: None) -> np.ndarray:
    """(n,) int64: for each row of X the first row with the same values, often itself."""
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(key, i) for i, key in enumerate(_keys(X, check))], np.int64).reshape(-1)


def unlike_copies(X, y, check: Callable[[], None] = lambda: None) -> list[np.ndarray]:
    """Positions of equal rows with different labels, one array (at least 2,) per group of equal rows."""
    first = copies(X, check)
    _, code = np.unique(y, return_inverse=True)
    unlike = np.unique(first[code != code[first]])
    rows = np.flatnonzero(np.isin(first, unlike))
    rows = rows[np.argsort(first[rows], kind="stable")]
    return np.split(rows, np.flatnonzero(np.diff(first[rows])) + 1) if len(rows) else []


def across(X, X_test, check: Callable[[], None] = lambda: None) -> np.ndarray:
    """(p, 2) int64: pairs of a test row and the first equal row of X."""
    seen: dict[bytes, int] = {}
    for i, key in enumerate(_keys(X, check)):
        seen.setdefault(key, i)
    pairs = [(i, seen[key]) for i, key in enumerate(_keys(X_test, check)) if key in seen]
    return np.array(pairs, np.int64).reshape(-1, 2)


def distances(kernel: Kernel, X: np.ndarray, label: np.ndarray, check: Callable[[], None] = lambda: None) -> Distances:
    """Distances to the nearest example of the own and of another class. ValueError for fewer than two classes."""
    label = np.asarray(label)
    classes, counts = np.unique(label, return_counts=True)
    if len(classes) < 2 or len(label) != len(X):
        raise ValueError(
            f"label: {len(label)} labels of {len(classes)} classes; allowed: {len(X)} labels, of at least two classes"
        )
    order = np.argsort(label, kind="stable")  # so that the columns of a class are contiguous
    operand, n = Operand(X[order]), len(X)
    diag = kernel.diag(operand.X)
    result = Distances(np.full(n, np.inf), np.full(n, np.nan), np.empty(n), np.empty(n, np.int64))
    step = int(np.clip(min(VALUES / n, WORK / (2 * n * max(operand.d, 1) * kernel.work)), 1, n))
    for a, b in zip(np.cumsum(counts) - counts, np.cumsum(counts)):
        for start in range(a, b, step):
            check()
            rows = np.arange(start, min(start + step, b))
            D = squared_distances(operand.take(rows, kernel), diag[rows], diag)
            _measure(D, rows, a, b, result)
    back = np.empty(n, np.int64)
    back[order] = np.arange(n)
    return Distances(result.own[back], result.mean[back], result.other[back], order[result.which[back]])


def linked(nearest: Distances) -> np.ndarray:
    """(p, 2) int64, i < j: mutually nearest examples with different labels, the closest pairs first."""
    i = np.arange(len(nearest.which))
    mutual = (nearest.which[nearest.which] == i) & (nearest.other < nearest.own) & (i < nearest.which)
    mutual &= (nearest.other < nearest.own)[nearest.which]
    pairs = np.stack((i, nearest.which), axis=1)[mutual]
    return pairs[np.argsort(nearest.other[pairs[:, 0]], kind="stable")]


def outlying(nearest: Distances) -> np.ndarray:
    """Positions of the examples, the farthest from their own class first; without the only example of a class."""
    known = np.flatnonzero(np.isfinite(nearest.mean))
    return known[np.argsort(-nearest.mean[known], kind="stable")]


def _keys(X, check: Callable[[], None]) -> Iterator[bytes]:
    """A hash of each row."""
    for start in range(0, len(X), LOOKED):
        check()
        piece = np.asarray(X[start : start + LOOKED])
        piece = np.ascontiguousarray(piece.reshape(len(piece), -1)) + np.zeros(1, piece.dtype)  # -0.0 is 0.0
        yield from (hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in piece)


def _measure(D: np.ndarray, rows: np.ndarray, a: int, b: int, result: Distances) -> None:
    """Fill `result` for rows of the class with columns a to b; D (r, n): their squared distances, overwritten."""
    n = D.shape[1]
    D[np.arange(len(rows)), rows] = np.inf
    near = min(NEAREST, b - a - 1)
    if near:
        nearest = np.sqrt(np.partition(D[:, a:b], near - 1, axis=1)[:, :near])
        result.own[rows], result.mean[rows] = nearest.min(axis=1), nearest.mean(axis=1)
    sides = [side for side in ((0, a), (b, n)) if side[1] > side[0]]
    best = np.stack([low + D[:, low:high].argmin(axis=1) for low, high in sides])
    values = np.take_along_axis(D, best.T, axis=1)
    result.which[rows] = np.take_along_axis(best.T, values.argmin(axis=1)[:, None], axis=1)[:, 0]
    result.other[rows] = np.sqrt(values.min(axis=1))
