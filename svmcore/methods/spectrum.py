"""Eigenvalues of symmetric matrices of some hundred to a few thousand rows, on one BLAS thread.

One, because BLAS threads wait for each other by spinning, thousands of times in one decomposition, which costs most
beside a busy core (tests/bench/NOTES.md).
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
