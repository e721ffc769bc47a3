"""Invariant kernels: tangents whitened, in input space or in the feature space of a kernel.

    t_ij = phi(T_j x_i) - phi(x_i)              tangents, by finite differences over the jitters T_j of a set
    C = mean of t t'                            scaled to a largest eigenvalue of 1, or as it comes (`scaled=False`)
    C_lambda = (1 - lambda) C + lambda I        lambda = 1: the plain kernel; towards 0: tangents cost ever more
    K'(u, v) = phi(u)' (lambda C_lambda^-1) phi(v)

With m the largest eigenvalue of C as it comes, lambda of the scaled one is lambda' / (lambda' + (1 - lambda') m) for
the paper's lambda', which depends on the unit of brightness as m does (`scaled_lambda`).

In input space phi(x) = x: B = sqrt(lambda) C_lambda^(-1/2), and any kernel takes B u and B v for u and v. A linear one
takes them as they are, so that K' is linear in either. For others they are brought back to the lengths of u and v: a
kernel for examples of unit length would otherwise see them shrink, and a polynomial of degree 9 little else. In the
feature space of a kernel K, kernel PCA of the tangents gives eigenvectors s_r and eigenvalues mu_r of C, and

    K'(u, v) = K(u, v) - sum_r (1 - lambda / ((1 - lambda) mu_r + lambda)) <s_r, phi(u)> <s_r, phi(v)>

which is K less its components along the tangents; it needs values of K only, and is positive definite. Whitening
pixels serves linear machines, as the paper reports; others need it in their feature space (tests/bench/NOTES.md).

A linear machine on whitened examples minimises the paper's regulariser, equation (2), beside |w|^2; of any machine
it is how much f changes along the tangents (`regulariser`).

Symbols: X (n, d) float32; J jitters, N = n (J - 1) tangents; B (d, d); points (n J, d); weights (n J, r).

References: DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.1; Schölkopf, Simard, Smola and Vapnik,
NIPS 10 (1998); Chapelle and Schölkopf, NIPS 14 (2002), for the feature space.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from svmcore.allowed import require
from svmcore.gram.products import Operand
from svmcore.gram.threads import between_pieces, eigh, eigvalsh
from svmcore.jitter import JitterSet
from svmcore.kernels import Kernel, Linear, register, squared_norms
from svmcore.methods.blockwise import PIECE, DirectedKernel, FittedKernel, by_pieces

RANK = 200  # directions kept in feature space
LEAST = 1e-4  # of the largest eigenvalue: directions below it are lost in the rounding of kernel values


def tangents(X: np.ndarray, jitters, image_shape=None) -> np.ndarray:
    """T_j x_i - x_i for every jitter but the identity: (n (J - 1), d) float32, jitter by jitter.

    ValueError for a set without a jitter beside the identity.
    """
    forms = _forms(X, jitters, image_shape)
    return (forms[1:] - forms[0]).reshape(-1, forms.shape[2])


def tangent_covariance(X: np.ndarray, jitters, image_shape=None, scaled: bool = True) -> np.ndarray:
    """C (d, d) float64 of the tangents of images X, `scaled` to a largest eigenvalue of 1.

    Source: DeCoste and Schölkopf (2002), equation (4).
    """
    C, J = 0.0, len(JitterSet.parse(jitters, image_shape))
    step = max(PIECE // J, 1)
    for start in range(0, len(X), step):
        between_pieces()
        T = tangents(X[start : start + step], jitters, image_shape).astype(np.float64)
        C += T.T @ T
    return C / (max(eigvalsh(C)[-1], np.finfo(float).tiny) if scaled else len(X) * (J - 1))


def scaled_lambda(paper: float, largest: float) -> float:
    """The lambda that does to C / largest what `paper` does to C, whose largest eigenvalue is `largest`."""
    return paper / (paper + (1 - paper) * largest)


def regulariser(decide, X: np.ndarray, jitters, image_shape=None) -> np.ndarray:
    """Mean of (f(T_j x_i) - f(x_i))^2 over images X and jitters but the identity: (k,) float64, of each machine.

    decide: f (m, k) or (m,) of m examples, as `decision_values` of a machine. For linear f with weights w it is w' C w.
    Source: DeCoste and Schölkopf (2002), equation (2), by finite differences.
    """
    forms = _forms(X, jitters, image_shape)
    f = np.reshape(decide(forms.reshape(-1, forms.shape[2])), (*forms.shape[:2], -1))
    return ((f[1:] - f[0]) ** 2).mean(axis=(0, 1))


def principal_tangents(C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues D (d,) of a covariance, falling, and its eigenvectors S' as rows (d, d), to be looked at as images.

    Source: DeCoste and Schölkopf (2002), equation (5).
    """
    values, vectors = eigh(C)
    return values[::-1], vectors.T[::-1]


def whitening(C: np.ndarray, lam: float) -> np.ndarray:
    """B = sqrt(lam) ((1 - lam) C + lam I)^(-1/2), (d, d) float32, symmetric. ValueError unless 0 < lam <= 1.

    Source: DeCoste and Schölkopf (2002), equation (3), by the diagonal form of equation (5).
    """
    values, axes = principal_tangents(C)
    return ((axes.T * np.sqrt(_damping(values, lam))) @ axes).astype(np.float32)


def _forms(X, jitters, image_shape) -> np.ndarray:
    forms = JitterSet.parse(jitters, image_shape).apply(X)
    if len(forms) == 1:
        raise ValueError(f"jitters = {str(jitters)!r}; allowed: a set with a jitter besides the identity")
    return forms


def _damping(values: np.ndarray, lam: float) -> np.ndarray:
    """What is left of a squared length along directions with these eigenvalues of C: lam / ((1 - lam) mu + lam).

    Source: DeCoste and Schölkopf (2002), section 3.1, C := (1 - lambda) C + lambda I.
    """
    require(0 < lam <= 1, "lam", lam, "a number above 0 and up to 1 (1: the plain kernel)")
    return lam / ((1 - lam) * np.maximum(values, 0) + lam)


@register("tangent-whitened")
@dataclass(frozen=True, eq=False)
class TangentWhitened(FittedKernel):
    """Invariance in input space: base(B u, B v), with the lengths of u and v unless it is to be linear.

    Parameters
    ----------
    base : Kernel
        Linear in equation (1).
    B : ndarray (r, d)
        `fit` finds the one that whitens tangents; any may be given.
    lengths : bool, default True
        Whether B u and B v are brought back to the lengths of u and v; `fit` does so for all but the linear kernel.

    References
    ----------
    DeCoste and Schölkopf (2002), equation (1).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from svmcore import SVC, Linear, TangentWhitened
    >>> X, y = load_digits(return_X_y=True)
    >>> kernel = TangentWhitened.fit(Linear(), X[:100], "plus:1", lam=0.9, image_shape=(8, 8))
    >>> SVC(kernel, C=0.01).fit(X[:100], y[:100]).score(X[100:], y[100:]) > 0.8
    True
    """

    base: Kernel
    B: np.ndarray
    lengths: bool = True
    arrays: ClassVar[tuple[str, ...]] = ("B",)

    @classmethod
    def fit(
        cls, base: Kernel, X: np.ndarray, jitters, lam: float, image_shape=None, scaled: bool = True
    ) -> "TangentWhitened":
        """The kernel that whitens the tangents of images X (n, d) under a jitter set; ValueError as for `whitening`."""
        B = whitening(tangent_covariance(X, jitters, image_shape, scaled), lam)
        return cls(base, B, lengths=not isinstance(base, Linear))

    def diag(self, A) -> np.ndarray:
        """K'(u, u) of every row u of A (m, d): (m,) float32."""
        return self.base.diag(self._mapped(A))

    def fill(self, operand: Operand, A, sq, cols: slice, out) -> None:
        """Kernel values (m, n') of the rows of A against the operand's examples `cols`, into `out`."""
        whitened = operand.derived(self, lambda: Operand(self._mapped(operand.X)))
        rows = self._mapped(A)
        whitened.product(rows, squared_norms(rows), self.base, cols, out)

    def _mapped(self, A) -> np.ndarray:
        A = np.ascontiguousarray(A, np.float32)
        mapped = by_pieces(A, len(self.B), lambda rows: rows @ self.B.T)
        if not self.lengths:
            return mapped
        before, after = squared_norms(A), squared_norms(mapped)
        return mapped * np.sqrt(np.divide(before, after, out=np.ones_like(after), where=after > 0))[:, None]


@register("tangent-feature")
@dataclass(frozen=True, eq=False)
class TangentFeature(DirectedKernel):
    """Invariance in the feature space of a kernel: base(u, v) - <p(u), p(v)>, p(u) = base(u, points) weights.

    Parameters
    ----------
    base : Kernel
        Whose feature space it is.
    points : ndarray (m, d)
        Examples and their jittered forms, of which the directions are made.
    weights : ndarray (m, r)
        Of r directions along the tangents; `fit` finds points and weights.

    References
    ----------
    DeCoste and Schölkopf (2002), section 3.1, the nonlinear case by kernel PCA.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from svmcore import RBF, TangentFeature
    >>> X, _ = load_digits(return_X_y=True)
    >>> TangentFeature.fit(RBF(1e-3), X[:20], "plus:1", lam=0.9, image_shape=(8, 8)).points.shape
    (100, 64)
    """

    sign: ClassVar[int] = -1

    @classmethod
    def fit(
        cls, base: Kernel, X: np.ndarray, jitters, lam: float, image_shape=None, scaled: bool = True, rank: int = RANK
    ) -> "TangentFeature":
        """The kernel for tangents of images X (n, d) under a jitter set; time and memory grow with (n (J - 1))^2.

        ValueError as for `whitening`.
        """
        forms = _forms(X, jitters, image_shape)
        J, n, d = forms.shape
        points = forms.reshape(J * n, d)
        K = Operand(points).block(points, base).astype(np.float64).reshape(J, n, J, n)
        products = K[1:, :, 1:] - K[1:, :, :1] - K[:1, :, 1:] + K[:1, :, :1]  # of tangents
        values, vectors = eigh(products.reshape((J - 1) * n, -1))
        leading = np.flatnonzero(values > LEAST * values[-1])[::-1][:rank]
        taken = 1 - _damping(values[leading] / (values[-1] if scaled else len(values)), lam)
        ends = (vectors[:, leading] * np.sqrt(taken / values[leading])).reshape(J - 1, n, len(leading))
        return cls(base, points, np.concatenate([-ends.sum(axis=0, keepdims=True), ends]).reshape(J * n, -1))
