"""Machines of degree 2 by eigenvectors: exact, and every smaller number of vectors with them.

    K(u, v) = (s u~.v~)^2,   u~ = (sqrt(g) u, sqrt(r)),  s = 1 / (g + r) where K is normalised, else 1
    <Psi, phi(x)> = s^2 x~' S x~,    S = sum_i coef_i x~_i x~_i' = sum_j lambda_j e_j e_j'
    rho^2 of the m eigenvectors with the largest |lambda_j|: s^2 sum of the other lambda_j^2, the smallest there is

An eigenvector e = (a, t) of S stands for the example z = sqrt(r / g) a / t with weight lambda t^2 / r, for which z~ is
e times sqrt(r) / t; for r = 0 (the homogeneous kernel) there is no t, and z = a / sqrt(g). A t of 0 is moved off it a
little: only for r > 0, and only that far is it not exact.

x (d,) float64, S (d + 1, d + 1), or (d, d) for r = 0. At most as many vectors as S has rows.

References: Burges, Simplified support vector decision rules, ICML (1996), section 3; Eckart and Young (1936).
"""

from typing import NamedTuple

import numpy as np

from svmcore.gram.sources import Work
from svmcore.kernels import Kernel, Poly
from svmcore.methods.reduced.expansion import Expansion

SMALLEST = 1e-6  # t of an eigenvector of length 1 is at least so much
ROUNDING = 1e-12  # of the largest |lambda|: what counts as none
ROWS = 4096  # examples added to S at a time


class Eigenvectors(NamedTuple):
    """All vectors of the exact solution, the most important first; rho^2 of the first m for every m."""

    Z: np.ndarray  # (r, d) float64
    gamma: np.ndarray  # (r,) float64
    rho2: np.ndarray  # (r + 1,) float64, of the first 0, 1, ... r


def has_eigenvectors(kernel: Kernel) -> bool:
    """Whether machines with this kernel are quadratic forms with an expansion of their own."""
    return isinstance(kernel, Poly) and kernel.degree == 2 and kernel.definite


def eigenvectors(target: Expansion, work: Work | None = None) -> Eigenvectors:
    """The exact expansion of one machine's Psi, coef (1, n). ValueError for other kernels or several machines."""
    kernel = target.kernel
    if not has_eigenvectors(kernel) or len(target.coef) != 1:
        raise ValueError(
            f"kernel = {kernel!r}, {len(target.coef)} machines; allowed: one machine, Poly of degree 2, coef0 >= 0"
        )
    g, r, scale = float(kernel.gamma), float(kernel.coef0), 1 / kernel.unit
    value, E = np.linalg.eigh(_form(target, g, r, work or Work()))
    order = np.argsort(-np.abs(value), kind="stable")
    order = order[np.abs(value[order]) > ROUNDING * np.abs(value).max(initial=0.0)]
    value, E = value[order], E[:, order].T
    rho2 = scale**2 * np.append(np.cumsum((value**2)[::-1])[::-1], 0.0)
    if not r:
        return Eigenvectors(E / np.sqrt(g), value, rho2)
    a, t = E[:, :-1], E[:, -1]
    t = np.where(np.abs(t) < SMALLEST, np.copysign(SMALLEST, t), t)
    return Eigenvectors(np.sqrt(r / g) * a / t[:, None], value * t**2 / r, rho2)


def _form(target: Expansion, g: float, r: float, work: Work) -> np.ndarray:
    """S (d~, d~) float64."""
    d = target.vectors.shape[1] + (r > 0)
    S = np.zeros((d, d))
    for start in range(0, len(target.vectors), ROWS):
        work.check()
        rows = slice(start, start + ROWS)
        X = np.sqrt(g) * target.vectors[rows].astype(np.float64)
        if r:
            X = np.concatenate([X, np.full((len(X), 1), np.sqrt(r))], axis=1)
        S += X.T @ (target.coef[0, rows, None] * X)
    return (S + S.T) / 2
