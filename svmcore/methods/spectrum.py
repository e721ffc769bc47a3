"""Eigenvalues of symmetric matrices of some hundred to a few thousand rows, on one thread.

BLAS threads wait for each other by spinning, thousands of times in one decomposition: with two of them beside a busy
core, 888 rows took 1.4 s of wall time, with one 0.2 s.
"""

import numpy as np

from svmcore.gram.threads import one_blas_thread


def eigh(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (n,) of a symmetric matrix (n, n), rising, and its eigenvectors as columns (n, n)."""
    with one_blas_thread:
        return np.linalg.eigh(A)


def eigvalsh(A: np.ndarray) -> np.ndarray:
    """Eigenvalues (n,) of a symmetric matrix (n, n), rising."""
    with one_blas_thread:
        return np.linalg.eigvalsh(A)
