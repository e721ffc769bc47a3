"""Blocks of kernel values against a fixed set of examples, by whichever product its values make fastest.

    block[i, j] = K(a_i, x_j),    A (m, d) and X (n, d) float32, block (m, n) float32

Layouts of X:
    dense     as it is: sgemm by pieces, each finished (inner products become kernel values) while it is in cache
    sparse    real tiles (see tiles.py): work in proportion to the density of A, faster than sgemm below CROSSOVER
    whole     whole-number tiles: steps of one size a row, 0 to 255 of them; exact, and faster than sgemm

Their times, and what was tried beside them, are in tests/bench/NOTES.md.
Operands are immutable once built; products may be asked of one by several threads.
"""

from copy import copy
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import as_strided

from svmcore.allowed import require
from svmcore.gram.multiply import multiply, multiply_add, multiply_sum
from svmcore.gram.threads import CORES, cut, one_blas_thread, side_by_side
from svmcore.gram.tiles import GROUP, Rows, Tiles, whole_steps
from svmcore.kernels import Kernel, Side, as_columns, far_features, squared_norms, taken_apart
from svmcore.kernels.apart import _finish_rows, all_near

LAYOUTS = ("dense", "sparse", "whole")
CROSSOVER = 0.5  # density below which real tiles are faster than sgemm
WIDTH = 1024  # examples that one call of sgemm multiplies with
FLOP = 3e9  # multiplications and additions of one native call at most, about 20 to 50 ms
LITTLE = 2e7  # of them that are not worth handing to another thread
WHOLE_GAIN = 8  # times as many in the same time where they are of whole numbers


class Operand:
    """X (n, d) float32, prepared once for many products against it.

    layout: "auto" takes "whole" where X allows it, else "sparse" or "dense" by the share of entries that are not zero.
    Attributes: X, n, d, layout, sq (n,) = |x|^2.
    """

    in_memory = True

    def __init__(self, X, layout: str = "auto"):
        require(layout in ("auto", *LAYOUTS), "layout", layout, f"'auto', {', '.join(map(repr, LAYOUTS))}")
        self.X = np.ascontiguousarray(X, np.float32)
        if self.X.ndim != 2:
            raise ValueError(f"expected examples in rows, (n, d); got an array of shape {self.X.shape}")
        self.n, self.d = self.X.shape
        self.sq = squared_norms(self.X)
        steps = whole_steps(self.X) if layout in ("auto", "whole") else None
        if layout == "whole" and steps is None:
            raise ValueError("layout = 'whole', but not every row of X is whole numbers from 0 to 255 times one step")
        if layout == "auto" and steps is None:
            layout = "sparse" if np.count_nonzero(self.X) < CROSSOVER * self.X.size else "dense"
        self.layout = "whole" if layout == "auto" else layout
        self._tiles = None if self.layout == "dense" else Tiles(self.X, steps)
        self._derived, self._apart = {}, {}

    @property
    def nbytes(self) -> int:
        """What the operand holds beside X: with the far features of kernels that it was asked for (`apart`)."""
        apart = sum(side.nbytes for _, side in list(self._apart.values()) if side.sq is not self.sq)
        return self.sq.nbytes + (self._tiles.nbytes if self._tiles else 0) + apart

    def apart(self, kernel: Kernel) -> tuple[np.ndarray, Side]:
        """The features (F,) that are far for a kernel, and the columns' Side (kernels/apart.py)."""
        if kernel.reach not in self._apart:
            if "_of" in self.__dict__:
                of, idx = self._of
                far, side = of.apart(kernel)
                found = far, Side(side.sq[idx] if len(far) else self.sq, np.take(side.far, idx, axis=1))
            else:
                far = far_features(self.X, kernel.reach, self.sq)
                found = far, as_columns(taken_apart(self.X, far, self.sq)[1])
            self._apart[kernel.reach] = found
        return self._apart[kernel.reach]

    def block(self, A, kernel: Kernel, out=None) -> np.ndarray:
        """Kernel values of every row of A (m, d) against every example: (m, n) float32, into `out` if given."""
        A = np.ascontiguousarray(A, np.float32)
        if A.ndim != 2 or A.shape[1] != self.d:
            raise ValueError(f"expected rows of {self.d} features; got an array of shape {A.shape}")
        return self.product(A, squared_norms(A), kernel, slice(0, self.n), out)

    def take(self, idx, kernel: Kernel, cols: slice | None = None, out=None) -> np.ndarray:
        """Kernel values of the examples `idx`, (m,) or a slice, against all, or those of the slice `cols` (step 1)."""
        start, stop, step = (cols or slice(None)).indices(self.n)
        if step != 1:
            raise ValueError(f"cols has step {step}; allowed: 1")
        cols = slice(start, max(start, stop))
        rows = self._own_rows(self, idx, kernel)
        if rows is None:
            return self.product(self.X[idx], self.sq[idx], kernel, cols, out)
        u = all_near(self.sq[idx])
        return self._into(out, len(u.sq), cols, lambda out: self._tiled(rows, u, kernel, cols, out))

    def subset(self, idx) -> "Operand":
        """The operand of the examples idx (m,), with this one's layout."""
        part = copy(self)
        part.__dict__.pop("X", None)
        part._of, part.sq, part.n, part._derived, part._apart = (self, idx), self.sq[idx], len(idx), {}, {}
        part._tiles = self._tiles and self._tiles.subset(idx)
        return part

    @cached_property
    def X(self) -> np.ndarray:  # noqa: N802
        """The examples of a subset, copied when they are first asked for."""
        operand, idx = self._of
        return operand.X[idx]

    in_all = subset

    def diag(self, kernel: Kernel) -> np.ndarray:
        """K_ii (n,) float32."""
        return self.derived(
            ("diagonal", kernel), lambda: kernel.diag(self.X) if kernel.fills else kernel.diag(self.X, self.sq)
        )

    def pieces(self):
        """All examples in their order: (which, operand)."""
        yield slice(0, self.n), self

    def at_hand(self, idx):
        """The examples idx (m,): (which of them, an operand that has these, where)."""
        yield slice(0, len(idx)), self, idx

    def derived(self, key, make):
        """What `make()` gives, computed once for each hashable `key`: what a kernel wants to know of these examples."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def product(self, A, sq, kernel: Kernel, cols: slice, out=None) -> np.ndarray:
        """As `block` against the examples of the slice `cols`, where sq (m,) stands for |a|^2; a kernel that is not a
        function of inner products brings `fill(operand, A, sq, cols, out)`."""

        def fill(out):
            if kernel.fills:
                kernel.fill(self, A, sq, cols, out)
                return
            near, u = taken_apart(A, self.apart(kernel)[0], sq)
            if (rows := self._tiles and self._tiles.rows(near)) is not None:
                self._tiled(rows, u, kernel, cols, out)
            else:
                self._dense(near, u, kernel, cols, out)

        return self._into(out, len(A), cols, fill)

    @staticmethod
    def _into(out, m: int, cols: slice, fill) -> np.ndarray:
        """out (m, n'), new where None is given, after fill(out); one whose rows have gaps is filled from a copy."""
        out = np.empty((m, cols.stop - cols.start), np.float32) if out is None else out
        if out.size == 0:
            return out
        if out.strides[1] != out.itemsize or out.strides[0] < out.shape[1] * out.itemsize:
            values = np.empty(out.shape, np.float32)
            fill(values)
            out[:] = values
        else:
            fill(out)
        return out

    def add_to(self, F, A, sq, kernel: Kernel, coef) -> None:
        """F (k, n) float64 += coef (k, m) float32 times the kernel values of the rows of A (m, d), sq (m,) = |a|^2."""
        coef = np.ascontiguousarray(coef)
        if not kernel.compiled:
            F += coef @ self.product(A, sq, kernel, slice(0, self.n))
            return
        far, v = self.apart(kernel)
        A, u = taken_apart(A, far, sq)
        if (rows := self._tiles and self._tiles.rows(A)) is not None:
            self._add_tiled(F, rows, u, kernel, coef)
        else:
            rest = kernel.code(), u, v
            calls = [(A, self.X[p], *rest, p.start, coef, F[:, p]) for p in self._columns(len(A), self.n)]
            with one_blas_thread:
                side_by_side(_multiply_add_dense, calls)

    def sums(self, A, kernel: Kernel, coef) -> np.ndarray:
        """coef (k, n) float64 times the kernel values of the rows of A (m, d), m some hundreds: (m, k) float64.

        Values are float32, products and sums of them float64; none is kept.
        """
        A = np.ascontiguousarray(A, np.float32)
        if not kernel.compiled:
            return self.product(A, squared_norms(A), kernel, slice(0, self.n)).astype(np.float64) @ coef.T
        far, v = self.apart(kernel)
        A, u = taken_apart(A, far)
        if (rows := self._tiles and self._tiles.rows(A)) is not None:
            parts = self._groups(slice(0, self.n), len(A))
            sums = np.zeros((len(parts), len(A), len(coef)))
            of = self._tiles.data, self._tiles.step
            rest = kernel.code(), u, v, np.ascontiguousarray(coef)
            calls = [(rows, *of, g.start, g.stop, *rest, out) for g, out in zip(parts, sums, strict=True)]
            side_by_side(multiply_sum, calls)
        else:
            parts, code = _pieces(self.n, WIDTH), kernel.code()
            sums = np.zeros((len(parts), len(A), len(coef)))
            least = LITTLE / (2 * max(self.d, 1) * max(self.n, 1))  # few examples leave cores to the rows
            rows = _pieces(len(A), len(A) if len(parts) >= CORES else max(len(A) / CORES, least))
            of = [(out, self.X[p], p.start, coef[:, p]) for out, p in zip(sums, parts, strict=True)]
            calls = [(A[r], X, code, u.rows(r), v, at, c, out[r]) for out, X, at, c in of for r in rows]
            with one_blas_thread:
                side_by_side(_multiply_sum_dense, calls)
        return sums.sum(axis=0)

    def add_own_to(self, F, operand: "Operand", idx, kernel: Kernel, coef) -> None:
        """As `add_to` with the examples idx (m,) of an operand: cheaper where this one is a subset of it."""
        rows = self._own_rows(operand, idx, kernel) if kernel.compiled else None
        if rows is None:
            self.add_to(F, operand.X[idx], operand.sq[idx], kernel, coef)
        else:
            self._add_tiled(F, rows, all_near(operand.sq[idx]), kernel, np.ascontiguousarray(coef))

    def _own_rows(self, operand: "Operand", idx, kernel: Kernel) -> Rows | None:
        """The examples idx (m,) of an operand as rows for these tiles, listed once for all its examples: whole numbers
        alone, and of operands that have their examples from the same; else None, and for a kernel that fills or has
        far features."""
        if not (self._tiles and self._tiles.whole and operand._tiles) or kernel.fills or len(self.apart(kernel)[0]):
            return None
        at = np.arange(operand.n)[idx] if isinstance(idx, slice) else np.asarray(idx)
        while "_of" in operand.__dict__:
            operand, within = operand._of
            at = within[at]
        if self._tiles.used is not operand._tiles.used:
            return None
        return operand.derived("rows", lambda: operand._tiles.own_rows(operand.X)).at(at)

    def _dense(self, A, u, kernel, cols, out):
        B, v, code = self.X[cols], self.apart(kernel)[1], kernel.code()
        with one_blas_thread:
            for r in _pieces(len(A), self._at_once):
                some, pieces = u.rows(r), self._columns(r.stop - r.start, len(B))
                calls = [(A[r], B[p], code, some, v, cols.start + p.start, out[r, p]) for p in pieces]
                side_by_side(_multiply_dense, calls)
        _finish_by_pieces(kernel, out, u, v.sq[cols])

    def _tiled(self, rows, u, kernel, cols, out):
        tiles, v = (self._tiles.data, self._tiles.step), self.apart(kernel)[1]
        for part in _pieces(len(u.sq), self._at_once):
            some = rows.between(part)
            rest = cols.start, cols.stop, kernel.code(), u.rows(part), v, _in_whole_rows(out[part])
            groups = self._groups(cols, part.stop - part.start)
            side_by_side(multiply, [(some, *tiles, g.start, g.stop, *rest) for g in groups])
        _finish_by_pieces(kernel, out, u, v.sq[cols])

    def _add_tiled(self, F, rows, u, kernel, coef):
        tiles, rest = (self._tiles.data, self._tiles.step), (kernel.code(), u, self.apart(kernel)[1], coef, F)
        groups = self._groups(slice(0, self.n), len(u.sq))
        side_by_side(multiply_add, [(rows, *tiles, g.start, g.stop, *rest) for g in groups])

    def _columns(self, m: int, n: int) -> list[slice]:
        """n columns cut into calls of sgemm with m rows: of WIDTH at most, and no fewer than cores where it is worth
        it."""
        return _pieces(n, min(WIDTH, max(-(-n // CORES), LITTLE / (2 * max(self.d, 1) * max(m, 1)))))

    @property
    def _at_once(self) -> float:
        """Rows that one native call multiplies with a group at most."""
        return FLOP / (2 * max(self.d, 1) * GROUP)

    def _groups(self, cols: slice, m: int) -> list[slice]:
        """The groups of tiles that hold the examples `cols`, cut into calls for m rows."""
        first, last = cols.start // GROUP, -(-cols.stop // GROUP)
        work = 2 * max(self.d, 1) * GROUP * max(m, 1) / (WHOLE_GAIN if self.layout == "whole" else 1)  # of one group
        width = min(FLOP / work, max((last - first) / (2 * CORES), LITTLE / work))
        return [slice(first + g.start, first + g.stop) for g in _pieces(last - first, width)]


def _pieces(n: int, size: float) -> list[slice]:
    """range(n) cut into equal pieces of at most `size` (at least 1), as many for each core where there are several."""
    count = -(-n // max(int(size), 1))
    count = count if count == 1 else min(-(-count // CORES) * CORES, n)
    return cut(n, count)


def _finish_by_pieces(kernel: Kernel, out, u: Side, sv) -> None:
    """Inner products `out` (m, n') become values of a kernel that the compiled pass does not know."""
    if not kernel.compiled:
        side_by_side(kernel.finish, [(out[:, p], u.sq, sv[p]) for p in _pieces(out.shape[1], WIDTH)])


def _in_whole_rows(out):
    """`out` (m, n') and what follows each row up to the next one: compiled loops over an array without gaps vectorise,
    those over a part of its columns do not. What follows is not `out`'s, nor after the last row anyone's."""
    return as_strided(out, (len(out), out.strides[0] // out.itemsize))


def _multiply_dense(A, B, code, u, v, first, out):
    out[:] = _dense_values(A, B, code, u, v, first)


def _multiply_add_dense(A, B, code, u, v, first, coef, F):
    F += coef @ _dense_values(A, B, code, u, v, first)


def _multiply_sum_dense(A, B, code, u, v, first, coef, sums):
    np.matmul(_dense_values(A, B, code, u, v, first).astype(np.float64), coef.T, out=sums)


def _dense_values(A, B, code, u, v, first):
    block = A @ B.T
    _finish_rows(code, block, u, v, first)
    return block
