"""General optimisers on the dual of the SVM, with the whole Gram matrix: what was there before decomposition.

    min_a  g(a) = a' Q a / 2 - sum a     0 <= a_i <= C_i,  y' a = 0,     Q_ij = y_i y_j K(x_i, x_j)

conjugate-gradients   within the face of the variables between their bounds, begun anew where one reaches a bound or
                      some are let go: Vapnik's, as Osuna describes it
stepwise-C            the same for a hundredth of C, a tenth and C: each begins with the alphas before, scaled, as
                      Osuna raises C for his method of feasible directions
TNC, L-BFGS-B         SciPy's projected (truncated) Newton and quasi-Newton steps: both know bounds alone, so that
                      y' a = 0 is a penalty with a multiplier (method of multipliers: Hestenes 1969)
trust-constr          SciPy's trust region, for bounds an interior point (Byrd, Hribar and Nocedal 1999)
SLSQP                 SciPy's sequence of least-squares problems with constraints (Kraft 1988)

Osuna, Freund and Girosi (1997), section 3.1, compares conjugate gradients, feasible directions and MINOS (reduced
gradients); SciPy has no interior-point method for quadratic problems as such, and neither CPLEX nor MINOS is free.

y (n,) of -1 and +1, a, C (n,), K, Q (n, n) float64; n in the hundreds: a step takes n^2, of trust-constr for each of
up to n products, of SLSQP n^3.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, minimize
from scipy.sparse.linalg import LinearOperator

from svmcore.allowed import check, one_of
from svmcore.gram.sources import Gram
from svmcore.solvers import smo
from svmcore.solvers.progress import WHOLE, Solution, Standing, Stopped, Strategy
from svmcore.solvers.session import Session

BY_SCIPY = ("TNC", "L-BFGS-B", "trust-constr", "SLSQP")
WAYS, SLOW = ("conjugate-gradients", "stepwise-C", *BY_SCIPY), BY_SCIPY[2:]
RAISED = (0.01, 0.1, 1.0)  # shares of C, one after the other
ROUNDS, STIFF = 30, 10.0  # of multipliers; by how much the penalty grows where y' a does not fall
SNAP = 1e-6  # of the largest a: what is nearer to a bound is at it, as interior points never are
ROUNDING = 1e-12  # of the sum of a: a smaller y' a is 0
MOST, MOST_OF_SLOW = 5000, 200  # steps of an optimiser or faces; of one whose steps are long
MATRICES = {"trust-constr": 7, "SLSQP": 13}  # (n, n) numbers at a time; of the others USUAL
USUAL = 4


@dataclass(frozen=True)
class General:
    """A general optimiser in place of a solver for SVMs; for small problems.

    Parameters
    ----------
    way : str, default "conjugate-gradients"
        "conjugate-gradients", the same with C raised, "stepwise-C", or a method of SciPy's `minimize`:
        "TNC", "L-BFGS-B", "trust-constr" or "SLSQP".

    Raises
    ------
    ValueError
        Naming a way that is none of these.

    References
    ----------
    Osuna, Freund and Girosi (1997), section 3.1: previous methods.

    Examples
    --------
    >>> from svmcore import SVC, General
    >>> machine = SVC("linear", solver=General("TNC")).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> bool(machine.converged_), machine.predict([[0.5], [3.5]]).tolist()
    (True, [0, 1])
    """

    way: str = WAYS[0]

    def __post_init__(self):
        check(self, "general: ", way=one_of(WAYS))

    def nbytes(self, n: int) -> int:
        """What it takes for n examples."""
        return 8 * MATRICES.get(self.way, USUAL) * n * n


def solve(
    gram: Gram, Y, C, session: Session, *, tol=1e-3, stage="train", whole=None, settings: General | None = None
) -> Solution:
    """Solve the machines of Y (k, n), C (k, n) one after the other. Arguments and Solution as of decomposition.solve;
    an iteration is a gradient."""
    return _Machines(gram, Y, C, session, tol, stage, whole, settings or General()).run()


class _Machines:
    def __init__(self, gram, Y, C, session, tol, stage, whole, settings):
        self.session, self.tol, self.way = session, tol, settings.way
        self.Y, self.C = np.asarray(Y, float), np.asarray(C, float)
        self.k, self.n = self.Y.shape
        self.gram, self.K = gram, None
        self.last = np.zeros_like(self.Y)  # where the optimiser is, not always feasible
        self.alpha, self.f = np.zeros_like(self.Y), -self.Y
        self.gaps, self.bias = np.full(self.k, 2.0), np.zeros(self.k)
        self.iterations, self.limit = np.zeros(self.k, np.int64), session.iteration_limit(self.n)
        self.now, self.untold = 0, 0  # the machine that is solved; iterations that the session has not been told of
        session.strategy = Strategy(WHOLE, self.n)
        session.begin(stage, lambda: whole(self.standing()) if whole else self.standing())

    def run(self) -> Solution:
        why = "stopped"
        try:
            self.session.check()
            every = np.arange(self.n)
            self.K = self.gram.exact(every, every, self.session)
            for m in range(self.k):
                self._solve(m)
            why = self._ending()
        except Stopped:
            self._settle()
        return Solution(self.alpha, self.bias, self.gaps, not why, self.iterations, why)

    def _solve(self, m) -> None:
        """Machine m, on the examples that may become support vectors."""
        self.now = m
        inside = np.flatnonzero(self.C[m] > 0)
        y, C = self.Y[m, inside], self.C[m, inside]
        if abs(y.sum()) < len(y):  # of both classes

            def see(a) -> None:
                self.last[m, inside] = a
                self.iterations[m] += 1
                self.untold += 1
                if self.untold >= (self.session.burst or 1):
                    told, self.untold = self.untold, 0
                    if not self.session.see(told, lambda: None):
                        raise Stopped
                if self.iterations[m] >= self.limit:
                    raise _Enough

            Q = self.K[np.ix_(inside, inside)]
            Q *= y[:, None]
            Q *= y
            with suppress(_Enough):
                self.last[m, inside] = minimum(self.way, Q, y, C, self.tol, see, self._ask)
        self._settle()
        self.session.check()

    def _ask(self) -> None:
        """Within a step: whether to go on."""
        if self.session.late:
            self.session.count(iterations=self.untold)
            self.untold = 0
            self.session.check()

    def _settle(self) -> None:
        """What the machine that is solved would be if it ended where its optimiser is."""
        m = self.now
        self.alpha[m] = _feasible(self.last[m], self.Y[m], self.C[m])
        self.f[m] = -self.Y[m] if self.K is None else self.K @ (self.alpha[m] * self.Y[m]) - self.Y[m]
        self.gaps[m], self.bias[m] = smo.kkt_gap(self.Y[m], self.C[m], self.alpha[m], self.f[m])

    def _ending(self) -> str:
        left = ~(self.gaps <= self.tol)
        who = "the machine" if self.k == 1 else f"{np.count_nonzero(left)} of {self.k} machines"
        limited = (left & (self.iterations >= self.limit)).any()
        after = f" after max_iter = {self.limit:,} gradients" if limited else ""
        how = f"{self.way} ended{after} at a gap of {self.gaps.max():.2g}, above tol = {self.tol:g}"
        return f"{who}: {how}; use a solver for SVMs, a smaller C or scaled features" if left.any() else ""

    def standing(self) -> Standing:
        """How the machines stand; those to come have no support vectors yet."""
        self._settle()
        dual = sum(map(smo.dual_objective, self.Y, self.alpha, self.f))
        return Standing.of(self.Y, self.C, self.alpha, self.bias, self.gaps, dual)


class _Enough(Exception):
    """max_iter is reached."""


def _feasible(a, y, C) -> np.ndarray:
    """a within its box and with y' a = 0, both but for rounding: what one class has too much is taken from it or given
    to the other one, by those that are between their bounds as long as they can."""
    a = np.clip(a, 0, C)
    near = SNAP * np.minimum(C, a.max(initial=0))  # not of C alone, which may be far above all of them
    a = np.where(a < near, 0.0, np.where(a > C - near, C, a))
    between = (a > 0) & (a < C)
    heavy = y * (y @ a) > 0
    for some in (heavy & between, ~heavy & between, heavy):
        excess = abs(y @ a)
        if excess <= ROUNDING * a.sum():
            break
        room = np.where(heavy, a, C - a) * some
        move = room * (excess / max(room.sum(), excess))
        a += np.where(heavy, -move, move)
    return a


def minimum(way: str, Q, y, C, tol: float, see: Callable = lambda a: None, ask: Callable = lambda: None) -> np.ndarray:
    """a (n,) where g is least, as near as the optimiser comes; see(a) at each gradient, and ask() at each product of
    trust-constr, may raise to stop it."""
    if way in BY_SCIPY:
        return _scipy(Q, y, C, tol, way, see, ask)
    a, before = np.zeros(len(y)), 1.0
    for share in RAISED if way == "stepwise-C" else (1.0,):
        a, before = _faces(Q, y, share * C, tol, see, a * (share / before)), share
    return a


def _scipy(Q, y, C, tol: float, way: str, see: Callable, ask: Callable) -> np.ndarray:
    """By an optimiser of SciPy."""
    bounds, a = Bounds(0, C), np.zeros(len(y))

    def augmented(a, multiplier=0.0, penalty=0.0):
        """g and its slope, with what y' a costs beside."""
        see(a)
        Qa, off = Q @ a, y @ a
        value = a @ Qa / 2 - a.sum() + (multiplier + penalty * off / 2) * off
        return value, Qa - 1 + (multiplier + penalty * off) * y

    if way == "trust-constr":

        def times_q(v):
            ask()
            return Q @ v

        equal, products = LinearConstraint(y[None], 0, 0), LinearOperator(Q.shape, times_q, dtype=Q.dtype)
        how = {"gtol": tol / 10, "barrier_tol": tol / 10, "maxiter": MOST_OF_SLOW}
        how["sparse_jacobian"] = True  # factors of dense constraints take n^3, and 46 matrices
        return minimize(
            augmented, a, jac=True, hess=lambda a: products, bounds=bounds, constraints=equal, method=way, options=how
        ).x
    if way == "SLSQP":
        equal = {"type": "eq", "fun": lambda a: y @ a, "jac": lambda a: y}
        how = {"maxiter": MOST_OF_SLOW, "ftol": 1e-3 * tol}
        return minimize(augmented, a, jac=True, bounds=bounds, constraints=equal, method=way, options=how).x
    penalty, multiplier, off = 1.0, 0.0, np.inf
    how = {"TNC": {"maxfun": MOST, "gtol": tol / 10}, "L-BFGS-B": {"maxiter": MOST, "ftol": 0.0, "gtol": tol / 10}}[way]
    for _ in range(ROUNDS):
        a = minimize(augmented, a, (multiplier, penalty), jac=True, bounds=bounds, method=way, options=how).x
        multiplier, before, off = multiplier + penalty * (y @ a), off, abs(y @ a)
        if off <= SNAP * min(C.min(), a.max()):
            break
        penalty *= STIFF if off > before / 4 else 1.0
    return a


def _faces(Q, y, C, tol: float, see: Callable, a) -> np.ndarray:
    """By conjugate gradients in one face after the other, from a feasible a (n,)."""
    slope = Q @ a - 1
    for _ in range(MOST):
        gap, b = smo.kkt_gap(y, C, a, y * slope)
        if gap <= tol:
            break
        pull = -(slope + b * y)  # where the objective falls, y' a = 0 allowed for
        free = (a > 0) & (a < C) | (a <= 0) & (pull > tol / 2) | (a >= C) & (pull < -tol / 2)
        direction, last = np.zeros(len(y)), 0.0
        for _ in range(int(free.sum())):
            r = np.where(free, -slope, 0.0)
            if free.sum() < 2:
                break
            r -= np.where(free, y * (y @ r) / free.sum(), 0.0)
            size = r @ r
            if np.abs(r).max() <= tol / 10:
                break
            direction = r + (size / last * direction if last else 0.0)
            bend = direction @ Q @ direction
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(direction > 0, (C - a) / direction, np.where(direction < 0, -a / direction, np.inf))
            step = min(size / bend if bend > 0 else np.inf, most := room.min())
            a = np.clip(a + step * direction, 0, C)
            see(a)
            slope, last = Q @ a - 1, size
            if step >= most:  # one reached a bound: it stays there, and the gradients begin anew
                a = np.where(room <= most, np.where(direction > 0, C, 0.0), a)
                free &= room > most
                slope, last = Q @ a - 1, 0.0
    return a
