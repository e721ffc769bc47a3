"""The search of the paper: vectors one by one, each for what is left by those before it, and then all together.

    z_j = argmin_z min_gamma |r - gamma phi(z)|^2,    r = Psi - sum_{l < j} gamma_l phi(z_l)      from a support vector

"one-by-one"     by nonlinear conjugate gradients, and so are all vectors together afterwards (joint.py)
"fixed-point"    Gaussian kernels: where the gradient by z is 0,
                 z = sum_i v_i K(x_i, z) x_i / sum_i v_i K(x_i, z),    v_i = sum_c <r_c, phi(z)> r_ci,
                 the right side is the next z; over the examples and the vectors before it

The weights gamma (k, j) of all vectors are at their best after each; the paper's own search moves them by the same
gradients as the vectors, and no expansion is farther off than with the best.

References: Burges (1996), section 4; Burges and Schölkopf (1997), section 4; the fixed point: Schölkopf, Knirsch,
Smola and Burges, Fast approximation of support vector kernel expansions (1998).
"""

import numpy as np
from scipy.optimize import minimize

from svmcore.gram.sources import Work
from svmcore.methods.reduced.expansion import Expansion, solve
from svmcore.methods.reduced.joint import FAR, Reduced, Rho

SEARCHES = ("one-by-one", "fixed-point")
STEPS, FLAT = 40, 1e-5  # of one vector at most; steps of the gradient, and moves in lengths of a vector, that end them


def one_by_one(target: Expansion, Z, norms, how: str, work: Work, seen=None) -> np.ndarray:
    """Vectors (m, d) float32, each begun at the row of Z (m, d). norms (k,): |Psi_c|^2; seen(reduced): after each.

    Burges and Schölkopf (1997), section 4. Stopped where `work.check` says so.
    """
    step, Z = {"one-by-one": _by_gradients, "fixed-point": _by_fixed_point}[how], np.array(Z, np.float32)
    m, gamma, left = len(Z), np.zeros((len(target.coef), 0)), norms
    K, p = np.zeros((m, m)), np.zeros((len(target.coef), m))
    for j in range(m):
        vectors, coef = np.concatenate([target.vectors, Z[:j]]), np.concatenate([target.coef, -gamma], axis=1)
        Z[j] = step(Expansion(target.kernel, vectors, coef), Z[j], left, work)
        p[:, j] = target.along(Z[[j]], work)[:, 0]
        K[j, : j + 1] = K[: j + 1, j] = target.kernel.exact(Z[[j]], Z[: j + 1].astype(np.float64))[0]
        gamma = solve(K[: j + 1, : j + 1].copy(), p[:, : j + 1], work)
        left = np.maximum(norms - np.einsum("cj,cj->c", gamma, p[:, : j + 1]), 0)
        if seen:
            seen(Reduced(Z[: j + 1].copy(), gamma, left, j + 1))
    return Z


def _by_gradients(rest: Expansion, z, left, work: Work) -> np.ndarray:
    """The vector nearest to what is left, |r_c|^2 = left (k,), by conjugate gradients from z (d,)."""
    fun = Rho(rest, z[None], left, work)
    options = {"maxiter": STEPS, "gtol": FLAT}
    result = minimize(fun, z[fun.used].astype(np.float64), jac=True, method="CG", options=options)
    out = z.copy()
    out[fun.used] = result.x if np.isfinite(result.x).all() and result.fun < FAR else z[fun.used]
    return out


def _by_fixed_point(rest: Expansion, z, left, work: Work) -> np.ndarray:
    """The same by the fixed point of a Gaussian kernel. Where the examples' weights cancel it ends with what it has."""
    for _ in range(STEPS):
        K = rest.kernel.exact(rest.vectors, z[None].astype(np.float64))[:, 0]
        work.check()
        work.count(evaluations=len(K))
        pull = ((rest.coef @ K) @ rest.coef) * K
        if abs(total := pull.sum()) <= FLAT * np.abs(pull).sum():
            break
        then, z = z, (pull @ rest.vectors / total).astype(np.float32)
        if np.linalg.norm(z - then) <= FLAT * np.linalg.norm(z):
            break
    return z
