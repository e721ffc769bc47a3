"""Forces and torques of the support vectors on the decision plane, taken as a stiff sheet in feature space:

    w = sum_i c_i phi(x_i)    u = w / |w|    c_i = y_i alpha_i      the sheet w.z + b = 0, u perpendicular to it
    force i = c_i u                  sum_i c_i u = 0                        at an optimum, as sum_i y_i alpha_i = 0
    torque i = phi(x_i) ^ c_i u      sum_i phi(x_i) ^ c_i u = w ^ u = 0     about the origin

    |phi(x_i) ^ u|^2 = K_ii - p_i^2,     p_i = phi(x_i).u = sum_j c_j K_ij / |w|
    |sum_i phi(x_i) ^ c_i u|^2 = sum_ij c_i c_j (K_ij - p_i p_j)

In the plane, a ^ b is the number a_1 b_2 - a_2 b_1. Reference: Burges and Schölkopf (1997), section 2.
"""

from typing import NamedTuple

import numpy as np

from svmcore.model import Machine

ROUNDING = 1e-12  # of |w|^2 beside the sum of its parts


class Balance(NamedTuple):
    """Forces and torques of m support vectors, those along u first, and the sizes of their sums so far."""

    row: np.ndarray  # (m,) int64, of the machine's vectors
    force: np.ndarray  # (m,) float64, c_i: along u, negative against it
    torque: np.ndarray  # (m,) float64, |phi(x_i) ^ c_i u|
    force_sum: np.ndarray  # (m,) float64, |sum of the first forces|; the last is that of all
    torque_sum: np.ndarray  # (m,) float64

    @property
    def left(self) -> tuple[float, float]:
        """What is left of all forces, and of all torques: the size of the sum beside the sum of the sizes."""
        return tuple(
            float(summed[-1] / np.abs(each).sum())
            for each, summed in ((self.force, self.force_sum), (self.torque, self.torque_sum))
        )


def balance(machine: Machine, number: int = 0) -> Balance:
    """Of machine `number` of a trained machine. ValueError where it has no support vectors, or no sheet, as w is 0."""
    coef = machine.coef[number]
    row = np.flatnonzero(coef)
    if not len(row):
        raise ValueError(f"machine {number} has no support vectors")
    row = row[np.argsort(-coef[row], kind="stable")]
    coef, X = coef[row], machine.support_vectors[row]
    K = machine.kernel.exact(X, X)
    squared = coef @ K @ coef
    if squared <= ROUNDING * (np.abs(coef) @ np.sqrt(np.abs(K.diagonal()))) ** 2:
        raise ValueError(f"the weight vector w of machine {number} is 0")
    p = K @ coef / np.sqrt(squared)
    each = np.abs(coef) * np.sqrt(np.maximum(K.diagonal() - p**2, 0))
    pairs = coef[:, None] * (K - p[:, None] * p) * coef
    squared = np.cumsum(2 * np.tril(pairs).sum(axis=1) - pairs.diagonal())
    return Balance(row, coef, each, np.abs(np.cumsum(coef)), np.sqrt(np.maximum(squared, 0)))
