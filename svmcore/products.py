"""Blocks of kernel values against a fixed set of examples, by whichever product its values make fastest.

    block[i, j] = K(a_i, x_j),    A (m, d) and X (n, d) float32, block (m, n) float32

Layouts of X:
    dense     as it is: sgemm by pieces, each finished (inner products become kernel values) while it is in cache
    sparse    real tiles (see tiles.py): work in proportion to the density of A, faster than sgemm below CROSSOVER
    whole     whole-number tiles: steps of one size a row, 0 to 255 of them; exact, and faster than sgemm

Processor time beside the dense layout's, degree 9 kernel values included, on two Zen 3 cores (AVX2), 784 features:
MNIST digits (19 % of the pixels not zero) whole 0.17, sparse 0.28; beside sgemm without the kernel 0.23 and 0.37. With
random zeros, sparse at density 0.2, 0.3, 0.4, 0.5, 0.6: 0.37, 0.59, 0.71, 0.91, 1.09; whole 0.4 to 0.6 at any density.
Tried and not better on digits: tiles of 16, 48, 64 or more examples, two or four similar rows sharing the union of
their nonzeros, and examples sorted so that tiles have empty lines to skip.
Operands are immutable once built; products may be asked of one by several threads.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
from numba import njit

from svmcore.kernels import Kernel, _finish, squared_norms
from svmcore.tiles import GROUP, Tiles, multiply, whole_steps

LAYOUTS = ("dense", "sparse", "whole")
CROSSOVER = 0.5  # density below which real tiles are faster than sgemm
FAR = 10  # squared length of the mean over the total variance from which distances are taken after centring
FLOP = 3e9  # multiplications and additions of one native call at most, about 20 to 50 ms


@cache
def pool() -> ThreadPoolExecutor:
    """The process's one pool for compiled kernels: they release the GIL, so threads are enough."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="svmcore")


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
        """Kernel values of the examples `idx` (m,) against all, or against those of the slice `cols` (step 1)."""
        start, stop, step = (cols or slice(None)).indices(self.n)
        if step != 1:
            raise ValueError(f"cols has step {step}; allowed: 1")
        return self.product(self.X[idx], self.sq[idx], kernel, slice(start, max(start, stop)), out)

    def derived(self, key, make):
        """What `make()` gives, computed once for each hashable `key`: what a kernel wants to know of these examples."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def product(self, A, sq, kernel: Kernel, cols: slice, out=None) -> np.ndarray:
        """As `block` against the examples of the slice `cols`, where sq (m,) stands for |a|^2; a kernel that is not a
        function of inner products brings `fill(operand, A, sq, cols, out)`."""
        out = np.empty((len(A), cols.stop - cols.start), np.float32) if out is None else out
        if out.size == 0:
            return out
        if hasattr(kernel, "fill"):
            kernel.fill(self, A, sq, cols, out)
            return out
        if kernel.translation_invariant and self.centre is not None:
            twin = self.derived("centred", lambda: Operand(self.X - self.centre))
            A = A - self.centre
            return twin.product(A, squared_norms(A), kernel, cols, out)
        code = kernel.code()
        for part in _pieces(len(A), FLOP / (2 * max(self.d, 1) * GROUP)):
            rows = self._tiles.rows(A[part]) if self._tiles else None
            if rows is None:
                self._dense(A[part], sq[part], code, cols, out[part])
            else:
                self._tiled(rows, sq[part], code, cols, out[part])
        return out

    def _dense(self, A, sq, code, cols, out):
        B, sv = self.X[cols], self.sq[cols]
        for part in _pieces(len(B), FLOP / (2 * max(self.d, 1) * len(A))):
            np.matmul(A, B[part].T, out=out[:, part])
            calls = _pieces(len(A), max(len(A) / pool()._max_workers, 1))
            _run(_finish_block, [(code, out[rows, part], sq[rows], sv[part]) for rows in calls])

    def _tiled(self, rows, sq, code, cols, out):
        first, last = cols.start // GROUP, -(-cols.stop // GROUP)
        width = min(FLOP / (2 * max(self.d, 1) * GROUP * len(sq)), (last - first) / (2 * pool()._max_workers))
        columns = cols.start, code, sq, self.sq[cols], out
        tiles = self._tiles.data, self._tiles.step[cols]
        calls = (slice(first + g.start, first + g.stop) for g in _pieces(last - first, width))
        _run(multiply, [(rows, *tiles, groups.start, groups.stop, *columns) for groups in calls])


def _pieces(n: int, size: float) -> list[slice]:
    """range(n) cut into equal pieces of at most `size` (at least 1)."""
    count = -(-n // max(int(size), 1))
    bounds = [n * i // count for i in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(bounds)]


def _run(kernel, calls):
    """Call a nogil kernel with each tuple of arguments, on the pool where there are several."""
    if len(calls) == 1:
        kernel(*calls[0])
        return
    for future in [pool().submit(kernel, *call) for call in calls]:
        future.result()


@njit(cache=True, nogil=True)
def _finish_block(code, block, su, sv):
    for i in range(block.shape[0]):
        _finish(code, block[i], su[i], sv)
