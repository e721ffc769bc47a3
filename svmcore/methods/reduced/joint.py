"""All vectors and weights of a reduced set at once: L-BFGS or conjugate gradients over Z, the weights at their best.

    rho^2(Z) = sum_c |Psi_c|^2 - p_c B^-1 p_c,     p_c = <Psi_c, phi(z_j)>_j,  B = K(Z, Z),  gamma_c = B^-1 p_c
    d rho^2 / d z_j = 2 sum_l w_lj dK(z_l, z_j)/dz_j - 2 sum_i v_ij dK(x_i, z_j)/dz_j
    w = gamma' gamma,  v = coef' gamma

As gamma is at its minimum, it counts as constant in the gradient (variable projection: Golub and Pereyra, 1973). With
dK/dz = K' x + 2 K'' z, K' and K'' by u.v and |v|^2 (Kernel.slopes), both sums are matrix products. One evaluation takes
two of them with X: 4 n m d multiplications and additions.

X (n, d), coef (k, n): the target. Z (m, d). Large products are in single precision, sums over examples in double.

References: Burges and Schölkopf (1997), section 4; Burges (1996), section 4; Liu and Nocedal (1989).
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from svmcore.gram.sources import Work
from svmcore.kernels import squared_norms
from svmcore.methods.reduced.expansion import Expansion, in_turn, pieces, solve
from svmcore.solvers.progress import Stopped

SINGLE_FROM = 3e8  # multiplications of one product with X from which it is in single precision
MEMORY = 20  # pairs that L-BFGS keeps
ABNORMAL = 2  # status of either optimiser whose line search fails, as rounding in single precision can make it
LOOK_BACK = 5  # iterations over which progress is judged
FLAT = 1e-14  # change of rho^2 per length of a vector below which there is nowhere to go
FAR = 1e6  # what rho^2 counts as where numbers overflow: no step ends there


class Reduced(NamedTuple):
    """A reduced set of some machines, as an optimisation has it."""

    Z: np.ndarray  # (m, d) float32
    gamma: np.ndarray  # (k, m) float64, at its best for Z
    rho2: np.ndarray  # (k,) float64
    iterations: int = 0
    ending: str = ""  # why it ended before progress was slow


class Rho:
    """rho^2 of Z and its gradient, as shares of sum_c |Psi_c|^2, over the features `used` that are not 0 everywhere."""

    def __init__(self, target: Expansion, Z, norms, work: Work):
        self.used, self.width = np.flatnonzero(target.vectors.any(axis=0) | Z.any(axis=0)), Z.shape[1]
        n, m, d = len(target.vectors), len(Z), len(self.used)
        dtype = np.float32 if n * m * d >= SINGLE_FROM else np.float64
        self.kernel, self.work, self.shape = target.kernel, work, (m, d)
        self.X, self.coef = np.ascontiguousarray(target.vectors[:, self.used], dtype), target.coef
        self.sx, self.norms = squared_norms(self.X), norms
        self.pieces, self.at = pieces(n, m, d), None

    @staticmethod
    def nbytes(n: int, m: int, d: int) -> int:
        """Memory that it takes."""
        size = 4 if n * m * d >= SINGLE_FROM else 8
        return size * (n * d + n * m) + 8 * (4 * m * m + (2 * MEMORY + 8) * m * d)

    def __call__(self, flat) -> tuple[float, np.ndarray]:
        """rho^2 and its gradient (m d,) float64 at Z (m d,)."""
        Z = flat.reshape(self.shape)
        sz = squared_norms(Z)
        near, su = Z.astype(self.X.dtype), sz.astype(self.X.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            K, by_dot, by_norm = self._among(Z, sz)
            p, products = self._along(near, su)
        if not np.isfinite(K).all() or not np.isfinite(p).all():
            return FAR, np.zeros_like(flat)
        gamma = solve(K, p, self.work)
        total = max(self.norms.sum(), np.finfo(float).tiny)
        self.gamma, self.at = gamma, flat.copy()
        self.rho2 = self.norms - 2 * np.einsum("cj,cj->c", gamma, p) + np.einsum("cj,cj->c", gamma @ K, gamma)
        gradient = self._pull_among(gamma, by_dot, by_norm, Z) - self._pull(gamma, products, near)
        return self.rho2.sum() / total, (2 / total * gradient).ravel()

    def reduced(self, flat, iterations: int) -> Reduced:
        """The reduced set at Z (m d,), which is mostly where it was asked last."""
        if not np.array_equal(flat, self.at):
            self(flat)
        Z = np.zeros((self.shape[0], self.width), np.float32)
        Z[:, self.used] = flat.reshape(self.shape)
        return Reduced(Z, self.gamma, np.maximum(self.rho2, 0), iterations)

    def _among(self, Z, sz):
        """K, K' and K'' of Z with itself: (m, m) float64 each, the last None where norms do not matter."""
        m, d = Z.shape
        matrices = [np.empty((m, m)) for _ in "KDN"]

        def one(rows):
            products = self.kernel.products(Z[rows], Z, sz[rows], sz)
            for whole, part in zip(matrices, self.kernel.slopes(*products), strict=True):
                if part is not None:
                    whole[rows] = part

        in_turn(one, pieces(m, m, d), self.work)
        by_norm = self.kernel.slopes(*np.ones((3, 1, 1)))[2] is not None
        return matrices[0], matrices[1], matrices[2] if by_norm else None

    def _pull_among(self, gamma, by_dot, by_norm, Z) -> np.ndarray:
        """sum_l w_lj dK(z_l, z_j)/dz_j: (m, d) float64."""
        out = np.empty(Z.shape)

        def one(rows):
            norm = None if by_norm is None else by_norm[:, rows]
            out[rows] = _pulled(gamma.T @ gamma[:, rows], by_dot[:, rows], norm, Z, Z[rows])

        in_turn(one, pieces(len(Z), *Z.shape), self.work)
        return out

    def _along(self, near, su):
        """p (k, m) float64 and the products with X, piece by piece."""
        products, p = {}, {}

        def one(rows):
            products[rows.start] = self.kernel.products(near, self.X[rows], su, self.sx[rows])
            K = self.kernel.value(*products[rows.start])
            p[rows.start] = self.coef[:, rows] @ K.T.astype(np.float64)

        in_turn(one, self.pieces, self.work)
        self.work.count(evaluations=self.shape[0] * len(self.X))
        return sum(p[rows.start] for rows in self.pieces), products

    def _pull(self, gamma, products, near) -> np.ndarray:
        """sum_i v_ij dK(x_i, z_j)/dz_j: (m, d) float64."""
        pulls = {}
        gamma, coef = gamma.astype(self.X.dtype), self.coef.astype(self.X.dtype)

        def one(rows):
            dots, su, sx = products.pop(rows.start)
            _, by_dot, by_norm = self.kernel.slopes(dots.T, sx.T, su.T)
            pulls[rows.start] = _pulled(coef[:, rows].T @ gamma, by_dot, by_norm, self.X[rows], near)

        in_turn(one, self.pieces, self.work)
        return sum(pulls[rows.start] for rows in self.pieces)  # in their order, so that a seed gives one result


def _pulled(v, by_dot, by_norm, X, Z) -> np.ndarray:
    """sum_i v_ij (K'_ij x_i + 2 K''_ij z_j) for v, K', K'' (n, m): (m, d) float64."""
    pull = ((v * by_dot).T @ X).astype(np.float64)
    if by_norm is not None:
        pull += 2 * np.einsum("ij,ij->j", v, by_norm)[:, None] * Z
    return pull


def optimise(
    target: Expansion | None, Z, norms, work: Work, *, iterations: int, tol: float, max_rho=0.0, seen=None,
    by="L-BFGS-B", fun=None,
) -> Reduced:  # fmt: skip
    """Z (m, d) improved until rho^2 falls by less than tol of itself in LOOK_BACK iterations, is at most
    max_rho^2 |Psi|^2, after so many iterations, or when `work.check` stops it. Never worse than at the start.

    norms (k,): |Psi_c|^2. seen(reduced): called with the start and with every iterate that is better than all before.
    by: SciPy's name of the optimiser, this or "CG". fun: what is made smaller in place of rho^2 (direct.py). Stopped
    where it is stopped before it has begun; ValueError where kernel values overflow.
    """
    fun = fun or Rho(target, Z, norms, work)
    flat = np.asarray(Z[:, fun.used], np.float64).ravel()
    if fun(flat)[0] == FAR:
        raise ValueError(f"kernel = {fun.kernel}: its values overflow; allowed: scaled features")
    best = fun.reduced(flat, 0)
    total, path = max(norms.sum(), np.finfo(float).tiny), [best.rho2.sum()]
    seen = seen or (lambda reduced: None)
    seen(best)

    def after(intermediate_result):
        nonlocal best, flat
        reduced_set = fun.reduced(intermediate_result.x, len(path))
        path.append(reduced_set.rho2.sum())
        if path[-1] < best.rho2.sum():
            best, flat = reduced_set, intermediate_result.x.copy()
            seen(best)
        slow = len(path) > LOOK_BACK and path[-1 - LOOK_BACK] - path[-1] <= tol * path[-1]
        if slow or path[-1] <= max_rho**2 * total:
            raise StopIteration

    if not iterations or not flat.size or path[0] <= max_rho**2 * total:
        return best
    flatness = FLAT / np.sqrt(max(float(fun.sx.max()), np.finfo(np.float32).tiny))
    options = {"gtol": flatness}
    if by == "L-BFGS-B":
        options |= {"maxfun": 10 * iterations, "maxcor": MEMORY, "ftol": 0.0}
    known = None
    try:
        while best is not known:  # where a line search fails, once more from the best, its curvature forgotten
            known, options["maxiter"] = best, iterations + 1 - len(path)
            if minimize(fun, flat, jac=True, method=by, callback=after, options=options).status != ABNORMAL:
                break
    except Stopped:
        return best._replace(ending="stopped")
    return best._replace(ending=f"after {iterations} iterations" if len(path) > iterations else "")
