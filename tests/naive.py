"""Slow, obvious oracles: each does in plain NumPy, pair by pair, what the library does fast."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize

from svmcore import RBF, Linear, Poly, Sigmoid


def kernel_value(kernel, u, v) -> float:
    """K(u, v) straight from its formula in the papers."""
    dot = sum(float(a) * float(b) for a, b in zip(u, v, strict=True))
    if isinstance(kernel, Linear):
        return dot
    if isinstance(kernel, RBF):
        return math.exp(-kernel.gamma * sum((float(a) - float(b)) ** 2 for a, b in zip(u, v, strict=True)))
    if isinstance(kernel, Sigmoid):
        return math.tanh(kernel.gamma * dot + kernel.coef0)
    assert isinstance(kernel, Poly)
    value = (kernel.gamma * dot + kernel.coef0) ** kernel.degree
    return value / (kernel.gamma + kernel.coef0) ** kernel.degree if kernel.normalised else value


def gram(kernel, A, B) -> np.ndarray:
    """Kernel values of A's rows with B's: (m, n) float64."""
    return np.array([[kernel_value(kernel, u, v) for v in B] for u in A]).reshape(len(A), len(B))


def dual(K, y, alpha) -> float:
    """W(alpha) = sum alpha - 1/2 sum alpha_i alpha_j y_i y_j K_ij."""
    v = alpha * y
    return float(alpha.sum() - 0.5 * v @ K @ v)


def kkt_gap(K, y, C, alpha) -> float:
    """Largest violation: max over I_low of f less min over I_up of f."""
    f = K @ (alpha * y) - y
    up = [f[i] for i in range(len(y)) if (y[i] > 0 and alpha[i] < C[i]) or (y[i] < 0 and alpha[i] > 0)]
    low = [f[i] for i in range(len(y)) if (y[i] > 0 and alpha[i] > 0) or (y[i] < 0 and alpha[i] < C[i])]
    return max(low) - min(up) if up and low else 0.0


def qp(K, y, C) -> np.ndarray:
    """The dual by a general optimiser: alpha (n,). For a few dozen examples."""
    Q = K * np.outer(y, y)
    result = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        np.minimum(C, 0.5) * 0,
        jac=lambda a: Q @ a - 1,
        bounds=[(0, c) for c in C],
        constraints={"type": "eq", "fun": lambda a: a @ y, "jac": lambda a: y},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    return np.clip(result.x, 0, C)
