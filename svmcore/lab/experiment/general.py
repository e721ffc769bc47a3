"""A machine of two classes by general optimisers, on the whole Gram matrix: what was there before decomposition.

    min_a  g(a) = a' Q a / 2 - sum a     0 <= a_i <= C,  y' a = 0,     Q_ij = y_i y_j K(x_i, x_j)

conjugate-gradients   within the face of the variables between their bounds, begun anew where one reaches a bound or
                      some are let go: Vapnik's, as Osuna describes it
TNC, L-BFGS-B         SciPy's projected (truncated) Newton and quasi-Newton steps: both know bounds alone, so that
                      y' a = 0 is a penalty with a multiplier (method of multipliers: Hestenes 1969)
trust-constr          SciPy's trust region, for bounds an interior point (Byrd, Hribar and Nocedal 1999)
SLSQP                 SciPy's sequence of least-squares problems with constraints (Kraft 1988)

Osuna, Freund and Girosi (1997), section 3.1, compares conjugate gradients, feasible directions and MINOS (reduced
gradients); SciPy has no interior-point method for quadratic problems as such, and neither CPLEX nor MINOS is free.

X (n, d), y (n,) of -1 and +1, a (n,) float64; n in the hundreds: a step takes n^2, of the last two n^3.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, minimize
from sklearn.base import BaseEstimator

from svmcore.kernels import Kernel
from svmcore.solvers import smo

BY_SCIPY = ("TNC", "L-BFGS-B", "trust-constr", "SLSQP")
WAYS, SLOW = ("conjugate-gradients", *BY_SCIPY), BY_SCIPY[2:]
ROUNDS, STIFF = 30, 10.0  # of multipliers; by how much the penalty grows where y' a does not fall
SNAP = 1e-6  # of C: what is nearer to a bound is at it, as interior points never are
MOST, MOST_OF_SLOW = 5000, 200  # steps of an optimiser or faces; of one whose steps take n^3


class GeneralSVC(BaseEstimator):
    """A machine of two classes by one of WAYS, to a gap of `tol` where it gets there (`gap_`)."""

    def __init__(self, kernel: Kernel, C: float, way: str, tol: float = 1e-3):
        self.kernel, self.C, self.way, self.tol = kernel, C, way, tol

    def fit(self, X, y) -> GeneralSVC:
        """Train on X (n, d) and labels of two classes, the larger of which is +1. ValueError for an unknown way."""
        if self.way not in WAYS:
            raise ValueError(f"way = {self.way!r}; allowed: {', '.join(WAYS)}")
        X = np.asarray(X, np.float64)
        self.classes_, at = np.unique(y, return_inverse=True)
        sign = np.where(at == 1, 1.0, -1.0)
        K = self.kernel.exact(X, X).astype(np.float64)
        Q = sign[:, None] * K * sign
        if self.way == "conjugate-gradients":
            a = _faces(Q, sign, self.C, self.tol)
        else:
            a = _scipy(Q, sign, self.C, self.tol, self.way)
        a = np.where(a < SNAP * self.C, 0.0, np.where(a > (1 - SNAP) * self.C, self.C, a))
        f = K @ (a * sign) - sign
        self.gap_, self.bias_ = smo.kkt_gap(sign, np.full(len(a), float(self.C)), a, f)
        self.dual_ = float(a.sum() - a @ Q @ a / 2)
        self.vectors_, self.coef_ = X[a > 0], (a * sign)[a > 0]
        return self

    def decision_function(self, X):
        """f (m,) of examples X (m, d)."""
        return self.kernel.exact(np.asarray(X, np.float64), self.vectors_) @ self.coef_ + self.bias_

    def predict(self, X):
        """Labels (m,)."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def _scipy(Q, y, C: float, tol: float, way: str) -> np.ndarray:
    """a (n,) by an optimiser of SciPy."""
    g, slope, a = lambda a: a @ Q @ a / 2 - a.sum(), lambda a: Q @ a - 1, np.zeros(len(y))
    bounds = Bounds(0, C)
    if way == "trust-constr":
        equal = LinearConstraint(y[None], 0, 0)
        how = {"gtol": tol / 10, "barrier_tol": tol / 10, "maxiter": MOST_OF_SLOW}
        return minimize(g, a, jac=slope, hess=lambda a: Q, bounds=bounds, constraints=equal, method=way, options=how).x
    if way == "SLSQP":
        equal = {"type": "eq", "fun": lambda a: y @ a, "jac": lambda a: y}
        how = {"maxiter": MOST_OF_SLOW, "ftol": 1e-3 * tol}
        return minimize(g, a, jac=slope, bounds=bounds, constraints=equal, method=way, options=how).x
    penalty, multiplier, off = 1.0, 0.0, np.inf
    how = {"TNC": {"maxfun": MOST, "gtol": tol / 10}, "L-BFGS-B": {"maxiter": MOST, "ftol": 0.0, "gtol": tol / 10}}[way]
    for _ in range(ROUNDS):

        def both(a, multiplier=multiplier, penalty=penalty):
            pull = multiplier + penalty * (y @ a)
            return g(a) + (multiplier + penalty * (y @ a) / 2) * (y @ a), slope(a) + pull * y

        a = minimize(both, a, jac=True, bounds=bounds, method=way, options=how).x
        multiplier, before, off = multiplier + penalty * (y @ a), off, abs(y @ a)
        if off <= SNAP * C:
            break
        penalty *= STIFF if off > before / 4 else 1.0
    return a


def _faces(Q, y, C: float, tol: float) -> np.ndarray:
    """a (n,) by conjugate gradients in one face after the other."""
    a, slope = np.zeros(len(y)), np.full(len(y), -1.0)
    box = np.full(len(y), float(C))
    free = np.zeros(len(y), bool)
    for _ in range(MOST):
        gap, b = smo.kkt_gap(y, box, a, y * slope)
        if gap <= tol:
            break
        pull = -(slope + b * y)  # where the objective falls, y' a = 0 allowed for
        free = (a > 0) & (a < C) | (a <= 0) & (pull > tol / 2) | (a >= C) & (pull < -tol / 2)
        direction, last = np.zeros(len(y)), 0.0
        for _ in range(int(free.sum())):
            r = np.where(free, -slope, 0.0)
            r -= np.where(free, y * (y @ r) / free.sum(), 0.0)
            size = r @ r
            if np.abs(r).max() <= tol / 10 or free.sum() < 2:
                break
            direction = r + (size / last * direction if last else 0.0)
            bend = direction @ Q @ direction
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(direction > 0, (C - a) / direction, np.where(direction < 0, -a / direction, np.inf))
            step = min(size / bend if bend > 0 else np.inf, most := room.min())
            a = np.clip(a + step * direction, 0, C)
            slope, last = Q @ a - 1, size
            if step >= most:  # one reached a bound: it stays there, and the gradients begin anew
                a = np.where(room <= most, np.where(direction > 0, C, 0.0), a)
                free &= room > most
                slope, last = Q @ a - 1, 0.0
    return a
