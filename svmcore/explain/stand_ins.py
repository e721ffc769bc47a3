"""Which support vectors a constructed vector stands nearest to, in feature space.

cos(z, x_i) = K(z, x_i) / sqrt(K(z, z) K(x_i, x_i))
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svmcore.kernels import Kernel
from svmcore.model import Machine

PIECE = 4096  # support vectors compared at a time


class Nearest(NamedTuple):
    """Of each vector its nearest support vectors, the nearest first."""

    position: np.ndarray  # (m, n) int64, in the machine's arrays
    cosine: np.ndarray  # (m, n) float64


def nearest(kernel: Kernel, machine: Machine, Z: np.ndarray, n: int) -> Nearest:
    """The n support vectors of a machine nearest to each row of Z (m, d), by the angle in feature space."""
    Z = np.ascontiguousarray(Z, np.float32)
    n = min(n, len(machine.support))
    cosine = np.empty((len(Z), len(machine.support)))
    own = np.sqrt(np.maximum(np.asarray(kernel.diag(Z), np.float64), 1e-300))
    for start in range(0, len(machine.support), PIECE):
        X = np.ascontiguousarray(machine.support_vectors[start : start + PIECE])
        lengths = np.sqrt(np.maximum(np.asarray(kernel.diag(X), np.float64), 1e-300))
        cosine[:, start : start + PIECE] = kernel.block(Z, X) / own[:, None] / lengths
    order = np.argsort(-cosine, axis=1, kind="stable")[:, :n]
    return Nearest(order, np.take_along_axis(cosine, order, axis=1))
