"""What a fitted machine is worth, in double precision and by NumPy alone: its dual objective and its KKT gap.

    f_i = sum_j coef_j K(x_i, x_j) - y_i        coef_j = alpha_j y_j
    dual = sum alpha - 1/2 sum_i coef_i (f_i + y_i)
    primal = 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b))      linear kernel
    gap = max_{I_low} f - min_{I_up} f          index sets as in svmcore/solvers/smo.py

The gap is taken over all support vectors and a random sample of the other examples, so it is a lower bound of the gap
where n is large. A coefficient within 1e-6 of C counts as C: some peers keep them in single precision.
"""

from __future__ import annotations

import numpy as np

SAMPLE = 4000  # examples that are no support vectors
STEP = 1000  # examples at a time


def judged(kernel: dict, X, y, C, support, coef) -> tuple[float, float]:
    """(dual, gap) of a machine for X (n, d), y (n,) of +1 and -1, C (n,), from its support (m,) and coef (m,)."""
    rest = np.setdiff1d(np.arange(len(X)), support)
    rest = np.random.default_rng(0).choice(rest, min(SAMPLE, len(rest)), replace=False)
    rows, coef = np.concatenate([support, rest]), np.asarray(coef, np.float64)
    V = np.asarray(X[support], np.float64)
    parts = (rows[at : at + STEP] for at in range(0, len(rows), STEP))
    values = np.concatenate([_values(kernel, np.asarray(X[part], np.float64), V) @ coef for part in parts])
    f, alpha = values - y[rows], np.zeros(len(rows))
    alpha[: len(support)] = np.abs(coef)
    below, above, positive = alpha < C[rows] * (1 - 1e-6), alpha > 0, y[rows] > 0
    least, most = f[np.where(positive, below, above)], f[np.where(positive, above, below)]
    dual = alpha.sum() - 0.5 * coef @ values[: len(support)]
    return float(dual), float(max(most.max(initial=-np.inf) - least.min(initial=np.inf), 0.0))


def primal(X, y, C, w, b: float) -> float:
    """Objective of a plane w.x + b for X (n, d), y (n,) of +1 and -1, C (n,): at least every dual objective."""
    slack = np.maximum(0.0, 1.0 - y * (np.asarray(X, np.float64) @ w + b))
    return float(0.5 * w @ w + C @ slack)


def _values(kernel: dict, A, B) -> np.ndarray:
    """Kernel values (a, b) float64 of Linear, Poly, normalised, or RBF."""
    K = A @ B.T
    if kernel["name"] == "linear":
        return K
    if kernel["name"] == "rbf":
        K *= -2
        K += (A**2).sum(1)[:, None]
        K += (B**2).sum(1)
        np.maximum(K, 0, out=K)
        K *= -kernel["gamma"]
        return np.exp(K, out=K)
    K *= kernel["gamma"]
    K += kernel["coef0"]
    K /= kernel["gamma"] + kernel["coef0"]
    power = np.ones_like(K)
    for bit in f"{kernel['degree']:b}":
        power *= power
        power *= K if bit == "1" else 1.0
    return power
