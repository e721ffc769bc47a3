"""A machine of degree 2 as the quadratic form that it is: its support vectors need not be visited any more.

    f(x) = sum_i c_i ((g s_i.x + r) / u)^2 + bias  =  x'A x + b.x + c
    A = (g / u)^2 S' diag(c) S,    b = 2 g r / u^2  S'c,    c = (r / u)^2 sum_i c_i + bias

S (m, d) support vectors, c_i = y_i alpha_i; g, r the kernel's gamma and coef0, u = g + r where it is normalised, else
1. A decision takes d^2 products instead of m d: with m support vectors of d = 283 pixels, m / 283 times fewer. Where
m < d, as with many features, A has m eigenvalues at most that are not 0, and a decision takes m d products:

    x'A x = sum_k l_k (v_k.x)^2    A = Q T Q',  T = R diag(sign c) R' (m, m),  Q R = (g / u) S' diag(|c|)^(1/2)

References: Burges, ICML (1996) (machines of degree 2 exactly); Osuna, Freund and Girosi, MIT AI memo 1602
(1997), section 4 (simplification).
"""

from dataclasses import dataclass

import numpy as np

from svmcore.kernels import Poly
from svmcore.model import Machine


@dataclass(frozen=True, eq=False)
class Quadratic:
    """f(x) = x'A x + b.x + c; A (d, d) symmetric and b (d,) float32. With `signs` (k,) of the eigenvalues of A, A is
    instead (d, k): its eigenvectors, each times the root of its eigenvalue's size."""

    A: np.ndarray
    b: np.ndarray
    c: float
    signs: np.ndarray | None = None

    def values(self, X: np.ndarray) -> np.ndarray:
        """f of each row of X (n, d) float32: (n,) float32. ValueError for another number of features."""
        if X.ndim != 2 or X.shape[1] != len(self.b):
            raise ValueError(f"X has shape {X.shape}; allowed: (n, {len(self.b)})")
        product = X @ self.A
        if self.signs is None:
            product += self.b
            f = np.einsum("nd,nd->n", product, X)
        else:
            f = np.square(product, out=product) @ self.signs
            f += X @ self.b
        f += np.float32(self.c)
        return f


def quadratic(machine: Machine) -> Quadratic:
    """The form of a machine for two classes with a polynomial kernel of degree 2, whatever its gamma, coef0 and
    normalisation; summed in float64. ValueError for other machines. Source: Burges (1996).
    """
    kernel = machine.kernel
    if not is_quadratic(machine):
        raise ValueError(
            f"machine: kernel = {kernel!r} and {len(machine.bias)} decision values; allowed: Poly of degree 2 and one "
            "decision value"
        )
    g, r = kernel.gamma / kernel.unit, kernel.coef0 / kernel.unit
    S, c = machine.support_vectors.astype(np.float64), machine.coef[0]
    rest = (2 * g * r * (c @ S)).astype(np.float32), float(r * r * c.sum() + machine.bias[0])
    if len(S) >= S.shape[1]:
        return Quadratic((g * g * (S.T @ (c[:, None] * S))).astype(np.float32), *rest)
    Q, R = np.linalg.qr(g * (S * np.sqrt(np.abs(c))[:, None]).T)
    values, vectors = np.linalg.eigh(R @ (np.sign(c)[:, None] * R.T))
    W = Q @ (vectors * np.sqrt(np.abs(values)))
    return Quadratic(W.astype(np.float32), *rest, np.sign(values).astype(np.float32))


def is_quadratic(machine: Machine) -> bool:
    """Whether `quadratic` has a form for this machine."""
    return isinstance(machine.kernel, Poly) and machine.kernel.degree == 2 and len(machine.bias) == 1
