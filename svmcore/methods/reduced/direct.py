"""Direct sparse machines: vectors and weights by the SVM's own objective on training examples, not by a machine's Psi.

    min_{w, b, Z}  sum_c |w_c|^2 / 2 + C sum_i max(0, 1 - y_ci f_c(x_i)),    w_c = sum_j gamma_cj phi(z_j)

For fixed Z each machine is an SVM of the features L^-1 K(z, x), B = K(Z, Z) = L L', with multipliers alpha. Its
objective at the optimum is

    W_c(Z) = sum_i alpha_ci - p_c B^-1 p_c / 2,    p_cj = sum_i alpha_ci y_ci K(x_i, z_j),    gamma_c = B^-1 p_c

As alpha is at its maximum, it counts as constant in the gradient. So the gradient of W is half of that of rho^2 of the
expansion sum_i alpha_i y_i phi(x_i), which joint.py has. A machine must not have been trained first; here it gives
kernel, C and the first vectors.

X (n, d) float32 training examples as the kernel sees them, Y (k, n) of +1 and -1, Z (m, d).

Reference: Wu, Schölkopf and Bakır, A direct method for building sparse kernel learning algorithms, JMLR 7 (2006).
"""

import warnings

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.exceptions import ConvergenceWarning

from svmcore.gram.sources import Work
from svmcore.kernels import Kernel, Linear
from svmcore.methods.reduced.expansion import RIDGE, Expansion, blocks
from svmcore.methods.reduced.joint import FAR, Reduced, Rho
from svmcore.svc import SVC

TOL = 1e-4  # of the machines inside: the search for a step wants a smooth objective


class Direct:
    """W of Z and its gradient, summed over the machines, as `optimise` takes them; `rho2` of what it gives is W.

    bias (k,): of the machines at the Z that was asked for last.
    """

    def __init__(self, kernel: Kernel, C: float, X, Y, Z, work: Work):
        self.kernel, self.C, self.X, self.Y, self.work = kernel, C, X, Y, work
        self.used, self.width = np.flatnonzero(X.any(axis=0) | Z.any(axis=0)), X.shape[1]
        self.sx, self.at = (X * X).sum(axis=1), None

    def __call__(self, flat) -> tuple[float, np.ndarray]:
        """W and its gradient (m d,) float64 at Z (m d,)."""
        Z = self._whole(flat)
        self.at = flat.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            features = self._features(Z)
        if features is None:
            return FAR, np.zeros_like(flat)
        W, coef = self._machines(features)
        target = Expansion(self.kernel, self.X, coef)
        target = Expansion(self.kernel, self.X[target.used], coef[:, target.used])
        rho = Rho(target, Z, np.full(len(coef), 1 / len(coef)), self.work)  # norms that add up to 1 scale nothing
        gradient = np.zeros(Z.shape)
        gradient[:, rho.used] = rho(Z[:, rho.used].astype(np.float64).ravel())[1].reshape(len(Z), -1) / 2
        self.W, self.gamma = W, rho.gamma
        return float(W.sum()), gradient[:, self.used].ravel()

    def reduced(self, flat, iterations: int) -> Reduced:
        """The machines at Z (m d,)."""
        if not np.array_equal(flat, self.at):
            self(flat)
        return Reduced(self._whole(flat), self.gamma, self.W, iterations)

    def _whole(self, flat) -> np.ndarray:
        Z = np.zeros((len(flat) // len(self.used), self.width), np.float32)
        Z[:, self.used] = flat.reshape(len(Z), -1)
        return Z

    def _features(self, Z) -> np.ndarray | None:
        """L^-1 K(Z, x) of the examples: (n, m) float64; None where numbers overflow."""
        B = self.kernel.exact(Z, Z.astype(np.float64))
        if not np.isfinite(B).all():
            return None
        B.flat[:: len(B) + 1] *= 1 + RIDGE
        try:
            L = cholesky(B, lower=True, check_finite=False)
        except np.linalg.LinAlgError:  # near duplicates
            B.flat[:: len(B) + 1] *= 1 + 1e6 * RIDGE
            L = cholesky(B, lower=True, check_finite=False)
        rows = [solve_triangular(L, K.T, lower=True).T for _, K in blocks(self.kernel, self.X, Z, self.work)]
        return np.concatenate(rows)

    def _machines(self, features) -> tuple[np.ndarray, np.ndarray]:
        """W (k,) and y alpha (k, n) of linear machines on the features; their biases are kept."""
        W, coef, self.bias = np.zeros(len(self.Y)), np.zeros(self.Y.shape), np.zeros(len(self.Y))
        for c, y in enumerate(self.Y):
            self.work.check()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                svc = SVC(Linear(), C=self.C, tol=TOL).fit(features, y)
            coef[c, svc.support_], self.bias[c] = svc.dual_coef_[0], svc.intercept_[0]
            W[c] = svc.history_[-1].dual
        return W, coef
