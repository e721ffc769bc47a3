"""The positive part of a kernel that is not positive definite, and a test of definiteness on a sample.

With eigenvalues lambda_r and eigenvectors v_r of the Gram matrix of some examples z_i,

    K+(u, v) = K(u, v) + sum_{lambda_r < 0} <q_r, u> <q_r, v>,    <q_r, u> = sum_i v_ir K(z_i, u) / |lambda_r|^(1/2)

has on those examples the Gram matrix of K with every negative eigenvalue set to 0; on others it adds their components
along the same directions. The dual (smo.py) is concave again, and the machine one of largest margin.

The jittering kernel of many digits needs it: tests/bench/NOTES.md has the errors with it and without.

References: DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.3 (triangle inequality); Wu, Chang and Zhang,
ICML workshop (2005), for the spectrum set to 0; Williams and Seeger, NIPS 13 (2001), for Gram matrices on a sample.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from svmcore.gram.threads import eigh, eigvalsh
from svmcore.kernels import Kernel, register
from svmcore.methods.blockwise import DirectedKernel

LEAST = 1e-4  # of the largest eigenvalue: smaller negative ones are left, rounding makes many of them
ROUNDING = 1e-5  # of the largest eigenvalue: what float32 values make of one that is 0
TRIANGLES = 150  # examples among which all triples are looked at


@register("positive-part")
@dataclass(frozen=True, eq=False)
class PositivePart(DirectedKernel):
    """The positive part of a kernel that is not positive definite: base(u, v) + <p(u), p(v)>, p(u) = base(u, points)
    weights.

    Parameters
    ----------
    base : Kernel
        Such as a jittering kernel.
    points : ndarray (m, d)
        Examples on which negative eigenvalues become 0.
    weights : ndarray (m, r)
        Of r directions with negative eigenvalues; `fit` finds points and weights.

    References
    ----------
    Wu, Chang and Zhang (2005), ICML workshop: the spectrum set to 0.

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import PositivePart, Sigmoid
    >>> X = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    >>> K = PositivePart.fit(Sigmoid(1.0, -1.0), X).block(X, X)
    >>> bool(np.linalg.eigvalsh(K.astype(float))[0] > -1e-3)
    True
    """

    sign: ClassVar[int] = 1

    @classmethod
    def fit(cls, base: Kernel, X: np.ndarray) -> "PositivePart":
        """The positive part of `base` on examples X (n, d); time grows with n^3, 2000 take some seconds."""
        K = base.block(X, X).astype(np.float64)
        values, vectors = eigh((K + K.T) / 2)
        negative = values < -LEAST * values[-1]
        return cls(base, X, vectors[:, negative] / np.sqrt(-values[negative]))


class KernelReport(NamedTuple):
    """How definite a kernel is on a sample of examples."""

    smallest: float  # eigenvalue of the Gram matrix
    largest: float
    violations: float  # share of triples a, b, c with |a - c| > |a - b| + |b - c| in feature space
    negative: float  # share of the eigenvalues that are below 0, beyond rounding

    @property
    def warning(self) -> str:
        """Empty for a kernel that is positive definite on the sample, to rounding."""
        if self.smallest >= -ROUNDING * self.largest:
            return ""
        return (
            f"not positive definite on this sample (smallest eigenvalue {self.smallest:.2g}, largest "
            f"{self.largest:.2g}), so the solver stops at a solution that may not be optimal (the positive part of the "
            "kernel avoids this)"
        )


def distances(K: np.ndarray) -> np.ndarray:
    """|phi(x_i) - phi(x_j)| (n, n) float64 in the feature space with Gram matrix K (n, n).

    Source: DeCoste and Schölkopf (2002), note 5.
    """
    own = np.diagonal(K)
    return np.sqrt(np.maximum(own[:, None] - 2 * K + own, 0))


def examine(kernel: Kernel, X: np.ndarray) -> KernelReport:
    """Eigenvalues of a kernel on a sample X (n, d), and the triangle inequality among its first TRIANGLES.

    Source: DeCoste and Schölkopf (2002), section 3.3, the triangle inequality.
    """
    K = kernel.block(X, X).astype(np.float64)
    D = distances(K[:TRIANGLES, :TRIANGLES])
    eigenvalues = eigvalsh((K + K.T) / 2)
    tolerance = 2e-3 * D.max()  # float32 values make a distance of 0 come out as about 5e-4
    broken = sum(np.count_nonzero(D[:, b : b + 1] + D[b] + tolerance < D) for b in range(len(D)))
    triples = max(len(D) * (len(D) - 1) * (len(D) - 2), 1)
    negative = np.mean(eigenvalues < -ROUNDING * eigenvalues[-1])
    return KernelReport(float(eigenvalues[0]), float(eigenvalues[-1]), float(broken / triples), float(negative))
