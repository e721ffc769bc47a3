"""Examples that are alike, or unlike all others: exact copies, near duplicates with unlike labels, outliers.

    D(i, j)^2 = K_ii + K_jj - 2 K_ij                                       distance in the kernel's own space
    linked    i and j with unlike labels, each of which is nearest to the other of all examples        (Tomek link)
    outlying  mean of D(i, j) over the `NEAREST` nearest j of i's own class, large

Symbols: X (n, d) float32 as the kernel takes them; label (n,) int64 classes. Kernel values are made a few rows at a
time, so that memory does not grow with n^2.

References: Tomek, Two modifications of CNN, IEEE Trans. SMC 6 (1976); Ramaswamy, Rastogi and Shim, Efficient algorithms
for mining outliers, SIGMOD (2000), for distances to the nearest ones.
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
VALUES = 8e6  # kernel values held at a time
LOOKED = 1024  # rows whose contents are compared between two checks


class Distances(NamedTuple):
    """Of each example, in the kernel's own space; arrays (n,)."""

    own: np.ndarray  # float64, to the nearest of its class; inf where it is the only one
    mean: np.ndarray  # float64, mean over the NEAREST nearest of its class; nan where it is the only one
    other: np.ndarray  # float64, to the nearest of another class
    which: np.ndarray  # int64, that one


def copies(X: np.ndarray, check: Callable[[], None] = lambda: None) -> np.ndarray:
    """(n,) int64: for each row of X the first row that has the same contents, often itself."""
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(key, i) for i, key in enumerate(_keys(X, check))], np.int64).reshape(-1)


def unlike_copies(X, y, check: Callable[[], None] = lambda: None) -> list[np.ndarray]:
    """Positions of equal rows that have unlike labels, an array (at least 2,) for each such row."""
    first = copies(X, check)
    _, code = np.unique(y, return_inverse=True)
    unlike = np.unique(first[code != code[first]])
    rows = np.flatnonzero(np.isin(first, unlike))
    rows = rows[np.argsort(first[rows], kind="stable")]
    return np.split(rows, np.flatnonzero(np.diff(first[rows])) + 1) if len(rows) else []


def across(X, X_test, check: Callable[[], None] = lambda: None) -> np.ndarray:
    """(p, 2) int64: test rows that are among the rows of X as well, and of these the first."""
    seen: dict[bytes, int] = {}
    for i, key in enumerate(_keys(X, check)):
        seen.setdefault(key, i)
    pairs = [(i, seen[key]) for i, key in enumerate(_keys(X_test, check)) if key in seen]
    return np.array(pairs, np.int64).reshape(-1, 2)


def distances(kernel: Kernel, X: np.ndarray, label: np.ndarray, check: Callable[[], None] = lambda: None) -> Distances:
    """Of every example to the nearest of its own class and of the others. ValueError for fewer than two classes."""
    label = np.asarray(label)
    classes, counts = np.unique(label, return_counts=True)
    if len(classes) < 2 or len(label) != len(X):
        raise ValueError(
            f"label: {len(label)} labels of {len(classes)} classes; allowed: {len(X)} of at least two classes"
        )
    order = np.argsort(label, kind="stable")  # so that a class is a stretch of columns
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
    """(p, 2) int64, i < j: examples of unlike labels each of which is nearest to the other, the nearest first."""
    i = np.arange(len(nearest.which))
    mutual = (nearest.which[nearest.which] == i) & (nearest.other < nearest.own) & (i < nearest.which)
    mutual &= (nearest.other < nearest.own)[nearest.which]
    pairs = np.stack((i, nearest.which), axis=1)[mutual]
    return pairs[np.argsort(nearest.other[pairs[:, 0]], kind="stable")]


def outlying(nearest: Distances) -> np.ndarray:
    """Positions of the examples, those first that are farthest from their own class; without only ones of a class."""
    known = np.flatnonzero(np.isfinite(nearest.mean))
    return known[np.argsort(-nearest.mean[known], kind="stable")]


def _keys(X, check: Callable[[], None]) -> Iterator[bytes]:
    """What tells the contents of each row from others."""
    for start in range(0, len(X), LOOKED):
        check()
        piece = np.asarray(X[start : start + LOOKED])
        piece = np.ascontiguousarray(piece.reshape(len(piece), -1)) + np.zeros(1, piece.dtype)  # -0.0 is 0.0
        yield from (hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in piece)


def _measure(D: np.ndarray, rows: np.ndarray, a: int, b: int, result: Distances) -> None:
    """Squared distances D (r, n) of rows of the class whose columns are a to b, in place."""
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
