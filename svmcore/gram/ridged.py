"""Slack that costs its square: a ridge on the diagonal of a Gram matrix, and no bound on any multiplier.

    min  1/2 |w|^2 + sum_i C_i xi_i^2                  s.t. y_i (w . phi(x_i) + b) >= 1 - xi_i
    max  sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j (K_ij + delta_ij r_i)
                                                       s.t. alpha_i >= 0,  sum_i alpha_i y_i = 0

    r_i = 1 / (2 C_i)        xi_i = r_i alpha_i        sum_i alpha_i <= 2 sum_i C_i

The last line: the optimum, half of sum_i alpha_i, is at most what w = 0, b = 0, xi = 1 costs. It is what solvers, which
want a finite C, are given; as half of sum_i alpha_i has either sign of y, no optimum comes near it. Where K + r is not
positive definite there is no optimum: an alpha that is there (`at_bounds`) would grow for ever. The machine decides
with K alone.

Osuna, Freund and Girosi (1997), section 2.3: the exponent k of the slack, here 2.
"""

import numpy as np

from svmcore.gram.sources import Gram, Work


def without_bounds(C: np.ndarray) -> np.ndarray:
    """What takes the place of C (k, n) where slack costs its square; 0 stays for an example that is left out."""
    return np.where(C > 0, 2 * C.sum(axis=1, keepdims=True), 0.0)


def at_bounds(alpha: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Where alpha (k, n) is at what took the place of C (k, n), and so of no bound."""
    return (C > 0) & (alpha >= C * (1 - 1e-9))


def gap_without_bounds(gram: Gram, y: np.ndarray, alpha: np.ndarray, C: np.ndarray) -> float:
    """The largest f_i that may fall less the least that may rise, f = sum_j alpha_j y_j K_ij - y_i, where no alpha (n,)
    has an upper bound; y, C (n,)."""
    support = np.flatnonzero(alpha)
    f = gram.exact_sums(np.arange(gram.n), support, (alpha * y)[support], Work()) - y
    up, low = (y > 0) | (alpha > 0), (y < 0) | (alpha > 0)
    return float(f[low & (C > 0)].max() - f[up & (C > 0)].min())


def ridge_of(C: np.ndarray) -> np.ndarray:
    """r (n,) of the costs C (n,); 0 for an example that is left out."""
    return np.divide(0.5, C, out=np.zeros(len(C)), where=C > 0)


class Ridged(Gram):
    """Another source with r (n,) float64 added to its diagonal."""

    def __init__(self, gram: Gram, ridge: np.ndarray):
        self.gram, self.ridge, self.n, self.double, self.whole = gram, ridge, gram.n, gram.double, gram.whole
        self.diag = (gram.diag + ridge).astype(np.float32)
        self.nbytes, self.width = gram.nbytes + 12 * gram.n, gram.width

    def lengths(self):
        return self.gram.lengths()

    def rows(self, idx, work):
        rows = np.array(self.gram.rows(idx, work))  # those of a cache are not ours to change
        rows[np.arange(len(idx)), idx] += self.ridge[idx].astype(np.float32)
        return rows

    def exact(self, idx, cols, work):
        return self._added(self.gram.exact(idx, cols, work), idx, cols)

    def exact_sums(self, idx, cols, coef, work):
        sums, (a, b) = self.gram.exact_sums(idx, cols, coef, work), _shared(idx, cols)
        sums[a] += self.ridge[cols[b]] * coef[b]
        return sums

    def square(self, idx, work, out=None):
        out = self.gram.square(idx, work, out)
        out[np.diag_indices(len(idx))] += self.ridge[idx].astype(np.float32)
        return out

    def extend(self, idx, first, K, work):
        self.gram.extend(idx, first, K, work)
        new = np.arange(first, len(idx))
        K[new, new] += self.ridge[idx[new]].astype(np.float32)

    def between(self, idx, cols, work, out=None):
        return self._added(self.gram.between(idx, cols, work, out), idx, cols)

    def columns(self, cols):
        return cols, self.gram.columns(cols)

    def add_to(self, F, idx, coef, columns, work):
        cols, own = columns
        self.gram.add_to(F, idx, coef, own, work)
        a, b = (np.arange(len(idx)), idx) if cols is None else _shared(idx, cols)
        F[:, b] += coef[:, a] * self.ridge[np.asarray(idx)[a]]

    def _added(self, values, idx, cols):
        a, b = _shared(idx, cols)
        values[a, b] += self.ridge[np.asarray(idx)[a]].astype(values.dtype)
        return values


def _shared(idx, cols) -> tuple[np.ndarray, np.ndarray]:
    """Places a, b where idx[a] == cols[b], of examples that stand once in each."""
    _, a, b = np.intersect1d(idx, cols, assume_unique=True, return_indices=True)
    return a, b
