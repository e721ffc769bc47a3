"""Blocks of kernel values against a fixed set of examples, by whichever product its values make fastest.

    block[i, j] = K(a_i, x_j),    A (m, d) and X (n, d) float32, block (m, n) float32

Layouts of X:
    dense     as it is: sgemm by pieces, each finished (inner products become kernel values) while it is in cache
    sparse    real tiles (see tiles.py): work in proportion to the density of A, faster than sgemm below CROSSOVER
    whole     whole-number tiles: steps of one size a row, 0 to 255 of them; exact, and faster than sgemm

Their times, and what was tried beside them, are in tests/bench/NOTES.md.
Operands are immutable once built; products may be asked of one by several threads.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from itertools import pairwise

import numpy as np
from numba import njit
from numpy.lib.stride_tricks import as_strided

from svmcore.gram.multiply import multiply, multiply_add, multiply_sum
from svmcore.gram.threads import CORES, one_blas_thread, side_by_side
from svmcore.gram.tiles import GROUP, Rows, Tiles, whole_steps
from svmcore.kernels import Kernel, _finish, squared_norms

LAYOUTS = ("dense", "sparse", "whole")
CROSSOVER = 0.5  # density below which real tiles are faster than sgemm
FAR = 10  # squared length of the mean over the total variance from which distances are taken after centring
WIDTH = 1024  # examples that one call of sgemm multiplies with
FLOP = 3e9  # multiplications and additions of one native call at most, about 20 to 50 ms
LITTLE = 2e7  # of them that are not worth handing to another thread


class Operand:
    """X (n, d) float32, prepared once for many products against it.

    layout: "auto" takes "whole" where X allows it, else "sparse" or "dense" by its density.
    Attributes: X, n, d, density (share of entries that are not zero), layout, sq (n,) = |x|^2, nbytes = what the
    operand holds beside X.
    """

    def __init__(self, X, layout: str = "auto"):
        if layout not in ("auto", *LAYOUTS):
            raise ValueError(f"layout = {layout!r}; allowed: 'auto', {', '.join(map(repr, LAYOUTS))}")
        self.X = np.ascontiguousarray(X, np.float32)
        if self.X.ndim != 2:
            raise ValueError(f"expected examples in rows, (n, d); got an array of shape {self.X.shape}")
        self.n, self.d = self.X.shape
        self.sq = squared_norms(self.X)
        self.density = np.count_nonzero(self.X) / max(self.X.size, 1)
        steps = whole_steps(self.X) if layout in ("auto", "whole") else None
        if layout == "whole" and steps is None:
            raise ValueError("layout = 'whole', but not every row of X is whole numbers 0 to 255 of one step")
        by_density = "sparse" if self.density < CROSSOVER else "dense"
        self.layout = layout if layout != "auto" else by_density if steps is None else "whole"
        self._tiles = None if self.layout == "dense" else Tiles(self.X, steps)
        self._derived = {}
        self.nbytes = self.sq.nbytes + (self._tiles.nbytes if self._tiles else 0)

    @cached_property
    def centre(self) -> np.ndarray | None:
        """The mean of X's rows (d,) where it is long beside their spread, else None: |u - v|^2 from u.v would then
        lose its digits."""
        if not self.n:
            return None
        mean = self.X.mean(axis=0, dtype=np.float64)
        square = mean @ mean
        spread = self.sq.mean(dtype=np.float64) - square
        return mean.astype(np.float32) if square > FAR * spread else None

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
        sq = self.sq[idx]
        return self._into(out, len(sq), cols, lambda out: self._tiled(rows, sq, kernel.code(), cols, out))

    def subset(self, idx) -> Operand:
        """The operand of the examples idx (m,), with this one's layout."""
        part = copy(self)
        part.__dict__.pop("X", None)
        part._of, part.sq, part.n, part.centre, part._derived = (self, idx), self.sq[idx], len(idx), self.centre, {}
        part._tiles = self._tiles and self._tiles.subset(idx)
        part.nbytes = part.sq.nbytes + (part._tiles.nbytes if part._tiles else 0)
        return part

    @cached_property
    def X(self) -> np.ndarray:  # noqa: N802
        """The examples of a subset, copied when they are first asked for."""
        operand, idx = self._of
        return operand.X[idx]

    def derived(self, key, make):
        """What `make()` gives, computed once for each hashable `key`: what a kernel wants to know of these examples."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def product(self, A, sq, kernel: Kernel, cols: slice, out=None) -> np.ndarray:
        """As `block` against the examples of the slice `cols`, where sq (m,) stands for |a|^2; a kernel that is not a
        function of inner products brings `fill(operand, A, sq, cols, out)`."""

        def fill(out):
            if hasattr(kernel, "fill"):
                kernel.fill(self, A, sq, cols, out)
            elif (twin := self._twin(kernel)) is not None:
                centred = A - self.centre
                twin.product(centred, squared_norms(centred), kernel, cols, out)
            elif (rows := self._tiles and self._tiles.rows(A)) is not None:
                self._tiled(rows, sq, kernel.code(), cols, out)
            else:
                self._dense(A, sq, kernel.code(), cols, out)

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
        coef, plain = np.ascontiguousarray(coef), self._plain(kernel)
        rows = self._tiles.rows(A) if self._tiles and plain else None
        if not plain:
            F += coef @ self.product(A, sq, kernel, slice(0, self.n))
        elif rows is None:
            calls = [(A, self.X[p], kernel.code(), sq, self.sq[p], coef, F[:, p]) for p in _pieces(self.n, WIDTH)]
            with one_blas_thread:
                side_by_side(_multiply_add_dense, calls)
        else:
            self._add_tiled(F, rows, sq, kernel, coef)

    def sums(self, A, kernel: Kernel, coef) -> np.ndarray:
        """coef (k, n) float64 times the kernel values of the rows of A (m, d), m some hundreds: (m, k) float64.

        Values are float32, products and sums of them float64; none is kept.
        """
        A, sq, plain = np.ascontiguousarray(A, np.float32), squared_norms(A), self._plain(kernel)
        rows = self._tiles.rows(A) if self._tiles and plain else None
        if not plain:
            return self.product(A, sq, kernel, slice(0, self.n)).astype(np.float64) @ coef.T
        if rows is None:
            parts = _pieces(self.n, WIDTH)
            sums = np.zeros((len(parts), len(A), len(coef)))
            of = [(self.X[p], kernel.code(), sq, self.sq[p], coef[:, p]) for p in parts]
            with one_blas_thread:
                side_by_side(_multiply_sum_dense, [(A, *these, out) for these, out in zip(of, sums, strict=True)])
        else:
            parts = self._groups(slice(0, self.n), len(A))
            sums = np.zeros((len(parts), len(A), len(coef)))
            of = self._tiles.data, self._tiles.step
            rest = kernel.code(), sq, self.sq, np.ascontiguousarray(coef)
            calls = [(rows, *of, g.start, g.stop, *rest, out) for g, out in zip(parts, sums, strict=True)]
            side_by_side(multiply_sum, calls)
        return sums.sum(axis=0)

    def add_own_to(self, F, operand: Operand, idx, kernel: Kernel, coef) -> None:
        """As `add_to` with the examples idx (m,) of an operand: cheaper where this one is a subset of it."""
        rows = self._own_rows(operand, idx, kernel)
        if rows is None:
            self.add_to(F, operand.X[idx], operand.sq[idx], kernel, coef)
        else:
            self._add_tiled(F, rows, operand.sq[idx], kernel, np.ascontiguousarray(coef))

    def _own_rows(self, operand: Operand, idx, kernel: Kernel) -> Rows | None:
        """The examples idx (m,) of an operand as rows for these tiles, listed once for all its examples: whole numbers
        alone, and of operands that have their examples from the same; else None, and for a kernel that fills."""
        if not (self._tiles and self._tiles.whole and self._plain(kernel)):
            return None
        at = np.arange(operand.n)[idx] if isinstance(idx, slice) else np.asarray(idx)
        while "_of" in operand.__dict__:
            operand, within = operand._of
            at = within[at]
        if self._tiles.used is not operand._tiles.used:
            return None
        return operand.derived("rows", lambda: operand._tiles.own_rows(operand.X)).at(at)

    def _plain(self, kernel: Kernel) -> bool:
        """Whether its values come from products with these examples as they are."""
        return not hasattr(kernel, "fill") and self._twin(kernel) is None

    def _twin(self, kernel: Kernel) -> Operand | None:
        """Where distances would lose their digits, the operand of the centred examples."""
        if not kernel.translation_invariant or self.centre is None:
            return None
        return self.derived("centred", lambda: Operand(self.X - self.centre))

    def _dense(self, A, sq, code, cols, out):
        B, sv = self.X[cols], self.sq[cols]
        with one_blas_thread:
            for r in _pieces(len(A), self._at_once):
                calls = [(A[r], B[p], code, sq[r], sv[p], out[r, p]) for p in _pieces(len(B), WIDTH)]
                side_by_side(_multiply_dense, calls)

    def _tiled(self, rows, sq, code, cols, out):
        tiles, columns = (self._tiles.data, self._tiles.step[cols]), self.sq[cols]
        for part in _pieces(len(sq), self._at_once):
            some = rows.between(part)
            rest = cols.start, code, sq[part], columns, _in_whole_rows(out[part])
            groups = self._groups(cols, part.stop - part.start)
            side_by_side(multiply, [(some, *tiles, g.start, g.stop, *rest) for g in groups])

    def _add_tiled(self, F, rows, sq, kernel, coef):
        tiles, code = (self._tiles.data, self._tiles.step), kernel.code()
        groups = self._groups(slice(0, self.n), len(sq))
        side_by_side(multiply_add, [(rows, *tiles, g.start, g.stop, code, sq, self.sq, coef, F) for g in groups])

    @property
    def _at_once(self) -> float:
        """Rows that one native call multiplies with a group at most."""
        return FLOP / (2 * max(self.d, 1) * GROUP)

    def _groups(self, cols: slice, m: int) -> list[slice]:
        """The groups of tiles that hold the examples `cols`, cut into calls for m rows."""
        first, last = cols.start // GROUP, -(-cols.stop // GROUP)
        work = 2 * max(self.d, 1) * GROUP * max(m, 1)  # of one group
        width = min(FLOP / work, max((last - first) / (2 * CORES), LITTLE / work))
        return [slice(first + g.start, first + g.stop) for g in _pieces(last - first, width)]


def _pieces(n: int, size: float) -> list[slice]:
    """range(n) cut into equal pieces of at most `size` (at least 1)."""
    count = -(-n // max(int(size), 1))
    bounds = [n * i // max(count, 1) for i in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(bounds)]


def _in_whole_rows(out):
    """`out` (m, n') and what follows each row up to the next one: compiled loops over an array without gaps vectorise,
    those over a part of its columns do not. What follows is not `out`'s, nor after the last row anyone's."""
    return as_strided(out, (len(out), out.strides[0] // out.itemsize))


def _multiply_dense(A, B, code, su, sv, out):
    block = A @ B.T
    _finish_block(code, block, su, sv)
    out[:] = block


def _multiply_add_dense(A, B, code, su, sv, coef, F):
    block = A @ B.T
    _finish_block(code, block, su, sv)
    F += coef @ block


def _multiply_sum_dense(A, B, code, su, sv, coef, sums):
    block = A @ B.T
    _finish_block(code, block, su, sv)
    np.matmul(block.astype(np.float64), coef.T, out=sums)


@njit(cache=True, nogil=True)
def _finish_block(code, block, su, sv):
    for i in range(block.shape[0]):
        _finish(code, block[i], su[i], sv)
