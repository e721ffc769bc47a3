"""Exact simplification: support vectors whose images depend linearly on others' go, their coefficients move over.

    phi(x_i) = sum_j T[j, i] phi(x_j),  j in the basis  ->  gamma[c, j] = coef[c, j] + sum_i coef[c, i] T[j, i]

The basis is found by Cholesky's factorisation of K(x_i, x_j) with pivots, K = L L' on the chosen columns. What is left
of example i, left_i = K_ii - |L_i|^2, is the squared distance of phi(x_i) from the span of the basis, so that dropping
the rest moves no decision f(x) by more than sum_i |coef_i| sqrt(left_i K(x, x)).

With another rule for the pivots the same factorisation chooses the vectors that lower rho most (matching pursuit): for
the residual r_c = Psi_c less its projection, example i lowers rho^2 by sum_c <r_c, phi(x_i)>^2 / left_i.

X (n, d); K (n, n) is never held, L (n, m) float64 is.

References: Downs, Gates and Masters, JMLR 2 (2001); pivots that lower rho: Smola and Schölkopf, ICML (2000).
"""

from math import comb
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from svmcore.gram.sources import Work
from svmcore.kernels import Kernel, Linear, Poly, squared_norms
from svmcore.methods.reduced.expansion import Expansion, blocks

BLOCK = 64  # candidates whose kernel values are computed together
FRESH = 0.7  # of the best gain of all: below it the candidates at hand give way to new ones
ROUNDING = 1e-13, 1e-6  # of the largest K_ii: what is left of what depends on the basis, in double, in single precision


class Basis(NamedTuple):
    """Examples chosen by pivots; decisions of the target by them alone."""

    chosen: np.ndarray  # (m,) positions in the order chosen
    gamma: np.ndarray  # (k, m) float64: the smallest rho^2 over them
    rho2: np.ndarray  # (m, k) after each choice, float64
    bound: float  # no decision moves by more, times sqrt K(x, x)


def by_distance(left, residual):
    """The pivot that is farthest from the span of those chosen."""
    return left


def by_gain(left, residual):
    """The pivot that lowers rho most."""
    return np.einsum("ci,ci->i", residual, residual) / left


def pivots(target: Expansion, rule, most: int, tol: float = 0.0, work: Work | None = None) -> Basis:
    """Choose up to `most` of the target's examples by a rule, until no decision could move by more than tol, times
    sqrt K(x, x).

    Candidates are taken up in blocks; the factorisation is one of whole matrices, not of columns.
    """
    factor = _Factor(target, most, work or Work())
    while len(factor.chosen) < most:
        gain = np.where(factor.open, rule(np.maximum(factor.left, factor.floor), factor.residual), -np.inf)
        if not factor.open.any() or (tol and factor.bound <= tol):
            break
        candidates = np.argpartition(-gain, min(BLOCK, len(gain) - 1))[:BLOCK]
        candidates = candidates[np.isfinite(gain[candidates])]
        if not len(candidates):
            break
        factor.take(candidates[np.argsort(-gain[candidates], kind="stable")], rule, most, tol)
    return factor.basis()


def dimensions(kernel: Kernel, d: int) -> float:
    """Of the space that a kernel maps examples of d features to: at most so many depend on no others."""
    if isinstance(kernel, Linear):
        return d
    if not isinstance(kernel, Poly) or not kernel.definite:
        return np.inf
    return comb(d + kernel.degree - (0 if kernel.coef0 else 1), kernel.degree)


class _Factor:
    """Cholesky's factor L' (m, n) as it grows, what is left (n,) of every example, and the residuals' values (k, n)."""

    def __init__(self, target: Expansion, most: int, work: Work):
        self.target, self.work = target, work
        X = target.vectors
        self.L, self.chosen, self.rho2 = np.zeros((most, len(X))), [], []  # transposed: columns are added
        self.left, rounding = _diagonal(target.kernel, X)
        self.floor = rounding * max(self.left.max(initial=0.0), np.finfo(float).tiny)
        self.open = self.left > self.floor
        p = target.own(work)
        self.norms = np.einsum("ci,ci->c", target.coef, p)
        self.residual, self.V = p.copy(), np.zeros((len(target.coef), most))  # V = <Psi_c, the j-th direction>

    @property
    def bound(self) -> float:
        """Of how far a decision could move, times sqrt K(x, x), were the rest dropped now."""
        far = np.where(self.open, np.sqrt(np.maximum(self.left, 0)), 0.0)
        return float((np.abs(self.target.coef) @ far).max(initial=0.0))

    def take(self, candidates, rule, most: int, tol: float) -> None:
        """Choose among candidates (b,), best first, as long as one is nearly as good as the best of all."""
        first = m = len(self.chosen)
        K = np.empty((len(candidates), len(self.left)))
        vectors = self.target.vectors
        for rows, values in blocks(self.target.kernel, vectors, vectors[candidates], self.work):
            K[:, rows] = values.T - self.L[:m, candidates].T @ self.L[:m, rows]
        while m < most:
            gain = np.where(self.open, rule(np.maximum(self.left, self.floor), self.residual), -np.inf)
            j = int(np.argmax(gain[candidates]))
            i = candidates[j]
            if not self.open[i] or (m > first and gain[i] < FRESH * gain.max()) or (tol and self.bound <= tol):
                return
            column = (K[j] - self.L[first:m, i] @ self.L[first:m]) / np.sqrt(self.left[i])
            self._add(i, column, m)
            m += 1

    def _add(self, i: int, column, m: int) -> None:
        direction = self.residual[:, i] / np.sqrt(self.left[i])
        self.L[m], self.V[:, m] = column, direction
        self.left -= column * column
        self.residual -= direction[:, None] * column[None, :]
        self.norms = self.norms - direction**2
        self.open[i] = False
        self.open &= self.left > self.floor
        self.chosen.append(int(i))
        self.rho2.append(np.maximum(self.norms, 0))

    def basis(self) -> Basis:
        chosen = np.array(self.chosen, np.int64)
        m, k = len(chosen), len(self.target.coef)
        triangle = self.L[:m, chosen].T
        gamma = solve_triangular(triangle, self.V[:, :m].T, lower=True, trans="T").T if m else np.zeros((k, 0))
        return Basis(chosen, gamma, np.array(self.rho2).reshape(m, k), self.bound)


def _diagonal(kernel: Kernel, X) -> tuple[np.ndarray, float]:
    """K(x, x) (n,) float64, and how exact kernel values are."""
    if kernel.fills:
        return kernel.diag(X).astype(np.float64), ROUNDING[1]
    norms = squared_norms(X.astype(np.float64))
    return np.array(kernel.value(norms, norms, norms), np.float64), ROUNDING[0]
