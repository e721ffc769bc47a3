"""Squared distances that keep their digits: features whose values are large are taken apart.

    |u - v|^2 = |u'|^2 + |v'|^2 - 2 p,    p = u'.v' - sum over the far features k of (u_k - v_k)^2 / 2

u', v' are u, v with 0 in the far features. Rounding loses about |x|^2 eps of a squared distance that comes from inner
products (eps = 2^-23 in single precision), and nothing of a difference of two levels of one feature. So a kernel of
distances, exp(-gamma |u - v|^2), is lost in rounding where |x|^2 is large beside 1 / gamma: a column of +-1000, years,
money. Where gamma |x|^2 is above SAFE the largest features are far, as many as it takes; no value then loses more than
about SAFE eps, 8e-6 of itself in single precision: a hundredth of the usual tol. p, |u'|^2 and |v'|^2 stand wherever a
function of u.v, |u|^2 and |v|^2 is asked for that depends on |u|^2 + |v|^2 - 2 u.v alone, derivatives included.

X (n, d), A (m, d) of either precision; F far features, none for other kernels.
"""

from typing import NamedTuple

import numpy as np

from svmcore._jit import inner, native
from svmcore.kernels.compiled import FUSED, _finish

SAFE = 64  # gamma |x|^2 up to which distances come from inner products


class Side(NamedTuple):
    """What kernel values take, beside inner products, of the examples that are the rows or the columns of a block."""

    sq: np.ndarray  # (n,) |x'|^2
    far: np.ndarray  # the values of the far features: (n, F) of rows, (F, n) of columns

    def rows(self, part: slice) -> "Side":
        """Those of some rows."""
        return Side(self.sq[part], self.far[part])

    @property
    def nbytes(self) -> int:
        return self.sq.nbytes + self.far.nbytes


def squared_norms(X) -> np.ndarray:
    """|x|^2 (n,) of the rows of X (n, d), summed in double precision, so that the order of features does not matter."""
    return np.einsum("ij,ij->i", X, X, dtype=np.float64).astype(X.dtype, copy=False)


def far_features(X, reach: float, sq=None) -> np.ndarray:
    """The far features (F,) among those of X: the largest, and no more than |x'|^2 <= reach takes. sq (n,): |x|^2."""
    if np.isinf(reach) or not X.size or (squared_norms(X) if sq is None else sq).max() <= reach:
        return np.empty(0, np.intp)
    ascending, total, near = np.argsort(np.maximum(X.max(axis=0), -X.min(axis=0)), kind="stable"), np.zeros(len(X)), 0
    while near < len(ascending):
        total += np.square(X[:, ascending[near]], dtype=np.float64)
        if total.max() > reach:
            break
        near += 1
    return np.sort(ascending[near:])


def taken_apart(A, far, sq=None) -> tuple[np.ndarray, Side]:
    """A', which is A with 0 in the features `far`, and its rows' Side. sq (m,): what stands for |a|^2."""
    if not len(far):
        return A, all_near(squared_norms(A) if sq is None else sq)
    near = A.copy()
    near[:, far] = 0
    norms = squared_norms(near)
    return near, Side(norms if sq is None else norms + (sq - squared_norms(A)), np.take(A, far, axis=1))


def all_near(sq) -> Side:
    """The Side of rows without far features; sq (m,) = |a|^2."""
    return Side(sq, np.empty((len(sq), 0), sq.dtype))


def as_columns(side: Side) -> Side:
    """Rows' Side as the columns'."""
    return Side(side.sq, np.ascontiguousarray(side.far.T))


@native()
def _finish_rows(code, block, u, v, first):
    """Inner products become kernel values in place: block (m, t), u the Side of its rows, v that of columns, of which
    `first` is the block's first."""
    sq = v.sq[first : first + block.shape[1]]
    for i in range(block.shape[0]):
        _subtract_far(block[i], u.far[i], v.far, first)
        _finish(code, block[i], u.sq[i], sq)


@native()
def _subtract_far_rows(block, U, V):
    for i in range(block.shape[0]):
        _subtract_far(block[i], U[i], V, 0)


@inner(fastmath=FUSED)
def _subtract_far(row, u, V, first):
    """row[t] -= sum_k (u_k - v_tk)^2 / 2 for u (F,) and the columns `first` + t of V (F, n)."""
    for k in range(u.shape[0]):
        a, values = u[k], V[k, first : first + row.shape[0]]
        for t in range(row.shape[0]):
            apart = a - values[t]
            row[t] -= np.float32(0.5) * apart * apart
