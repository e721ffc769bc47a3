"""Eigenvalues of symmetric matrices of some hundred to a few thousand rows, on one thread.

BLAS threads wait for each other by spinning, thousands of times in one decomposition: with two of them beside a busy
core, 888 rows took 1.4 s of wall time, with one 0.2 s. The limit holds for the whole process, so one caller at a time.
"""

from threading import Lock

import numpy as np
from threadpoolctl import threadpool_limits

_one_at_a_time = Lock()


def eigh(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (n,) of a symmetric matrix (n, n), rising, and its eigenvectors as columns (n, n)."""
    with _one_at_a_time, threadpool_limits(1, "blas"):
        return np.linalg.eigh(A)


def eigvalsh(A: np.ndarray) -> np.ndarray:
    """Eigenvalues (n,) of a symmetric matrix (n, n), rising."""
    with _one_at_a_time, threadpool_limits(1, "blas"):
        return np.linalg.eigvalsh(A)
