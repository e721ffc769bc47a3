"""The nearest examples of a class by distance in feature space, and the nearest support vectors by angle there:

    d(u, v)^2 = |phi(u) - phi(v)|^2 = K(u, u) - 2 K(u, v) + K(v, v)        cos(u, v) = K(u, v) / sqrt(K(u, u) K(v, v))

Examples that are close there have similar decision values, as |f(u) - f(v)| <= |w| d(u, v).

Symbols: queries (m, d), examples (n, d) with classes y (n,); positions (m, w, k) among the n, -1 if a class has
fewer. Reference: Schölkopf and Smola, Learning with Kernels (2002), section 2.2.
"""

from collections.abc import Iterable

import numpy as np

from svmcore.kernels import Kernel
from svmcore.model import Machine

PIECE = 4096  # support vectors compared at a time


def squared_distances(K: np.ndarray, own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """d^2 (m, n) float64 by kernel values K (m, n) and the diagonals K(u, u) (m,) and K(v, v) (n,)."""
    away = np.asarray(own, np.float64)[:, None] + np.asarray(others, np.float64)
    away -= 2.0 * K
    return np.maximum(away, 0, out=away)  # rounding may give negative values


def nearest(
    kernel, queries: np.ndarray, pieces: Iterable[np.ndarray], y: np.ndarray, wanted: np.ndarray, k: int = 4, skip=None
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest examples of each wanted class for each query: positions (m, w, k) int64, nearest first, padded with
    -1, and squared distances (m, w, k) float64, padded with inf.

    queries (m, d) float32; pieces: the examples in their order, (n_i, d) float32 each, so that they need not all be in
    memory, and y (n,) their classes; wanted (m, w): classes for each query; skip (m,) int: the position of each query
    itself among the examples, which is not its own neighbour; -1 if it is not among them.
    """
    m, w = wanted.shape
    skip = np.full(m, -1) if skip is None else np.asarray(skip)
    positions, squared = np.full((m, w, k), -1), np.full((m, w, k), np.inf)
    own, start = kernel.diag(queries), 0
    for X in pieces:
        away = squared_distances(kernel.block(queries, X), own, kernel.diag(X))
        rows = np.arange(start, start + len(X))
        away[skip[:, None] == rows] = np.inf
        for c in range(w):
            of_class = np.where(y[rows] == wanted[:, c, None], away, np.inf)
            every = np.concatenate([squared[:, c], of_class], axis=1)
            places = np.concatenate([positions[:, c], np.broadcast_to(rows, of_class.shape)], axis=1)
            best = np.argsort(every, axis=1, kind="stable")[:, :k]
            squared[:, c], positions[:, c] = (np.take_along_axis(array, best, axis=1) for array in (every, places))
        start += len(X)
    positions[np.isinf(squared)] = -1
    return positions, squared


def by_angle(kernel: Kernel, machine: Machine, Z: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The n support vectors of a machine nearest to each row of Z (m, d), such as constructed vectors, by the angle in
    feature space: positions (m, n) in the machine's arrays, the nearest first, and cosines."""
    Z = np.ascontiguousarray(Z, np.float32)
    cosine = np.empty((len(Z), len(machine.support)))
    own = np.sqrt(np.maximum(np.asarray(kernel.diag(Z), np.float64), 1e-300))
    for start in range(0, len(machine.support), PIECE):
        X = np.ascontiguousarray(machine.support_vectors[start : start + PIECE])
        lengths = np.sqrt(np.maximum(np.asarray(kernel.diag(X), np.float64), 1e-300))
        cosine[:, start : start + PIECE] = kernel.block(Z, X) / own[:, None] / lengths
    order = np.argsort(-cosine, axis=1, kind="stable")[:, :n]
    return order, np.take_along_axis(cosine, order, axis=1)
