"""Blocks of kernel values against a fixed set of examples, below the cost of a dense product where zeros allow it.

    block[i, j] = K(a_i, x_j),    A (m, d) and X (n, d) float32, block (m, n) float32

Dense layout: sgemm by pieces, each finished (inner products become kernel values) by one compiled pass while it is in
cache. Sparse layout: X lies transposed in tiles of TILE examples, (n / TILE, features, TILE); the inner products of a
row of A with a tile are a sum of the tile's lines, one for each nonzero of the row, kept in registers:

    acc[0:TILE] += a[k] * tile[k, 0:TILE]      for the k with a[k] != 0

Neighbouring rows of A share most of their nonzeros, so the lines that are read again lie in L1. The work is in
proportion to A's density, but reaches fewer flops a second than sgemm; CROSSOVER is the density at which the two meet.
Operands are immutable once built; products may be asked of one by several threads.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

from svmcore.kernels import Kernel, _finish, squared_norms

TILE = 32  # examples a tile: four AVX2 registers of sums; 200 lines of a tile fit in L1
GROUP = 256  # examples finished together, a whole number of tiles
ROWS = 256  # rows of A that pass over a tile before the next tile: they and the tile stay in L2
CROSSOVER = 0.4  # density below which the sparse layout is faster
FAR = 10  # squared length of the mean over the total variance from which distances are taken after centring
FLOP = 3e9  # multiplications and additions of one native call at most, about 20 to 50 ms


@cache
def pool() -> ThreadPoolExecutor:
    """The process's one pool for compiled kernels: they release the GIL, so threads are enough."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="svmcore")


class Operand:
    """X (n, d) float32, prepared once for many products against it.

    layout: "dense", "sparse", or "auto": whichever is faster at X's density, the share of entries that are not zero.
    Attributes: X, n, d, density, layout, sq (n,) = |x|^2, nbytes = what the operand holds beside X.
    """

    def __init__(self, X, layout: str = "auto"):
        if layout not in ("auto", "dense", "sparse"):
            raise ValueError(f"layout = {layout!r}; allowed: 'auto', 'dense', 'sparse'")
        self.X = np.ascontiguousarray(X, np.float32)
        if self.X.ndim != 2:
            raise ValueError(f"expected examples in rows, (n, d); got an array of shape {self.X.shape}")
        self.n, self.d = self.X.shape
        self.sq = squared_norms(self.X)
        self.density = np.count_nonzero(self.X) / max(self.X.size, 1)
        self.layout = layout if layout != "auto" else "sparse" if self.density < CROSSOVER else "dense"
        if self.layout == "sparse":
            self._features, self._tiles = _tiled(self.X)
        self.centre = _far_centre(self.X)
        self._derived = {}
        self.nbytes = self.sq.nbytes + (self._tiles.nbytes if self.layout == "sparse" else 0)

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
        multiply = self._sparse if self.layout == "sparse" else self._dense
        for rows in _pieces(len(A), FLOP / (2 * max(self.d, 1) * GROUP)):
            multiply(A[rows], sq[rows], code, cols, out[rows])
        return out

    def _dense(self, A, sq, code, cols, out):
        B, sv = self.X[cols], self.sq[cols]
        for part in _pieces(len(B), FLOP / (2 * max(self.d, 1) * len(A))):
            np.matmul(A, B[part].T, out=out[:, part])
            calls = _pieces(len(A), max(len(A) / pool()._max_workers, 1))
            _run(_finish_block, [(code, out[rows, part], sq[rows], sv[part]) for rows in calls])

    def _sparse(self, A, sq, code, cols, out):
        start, index, value = _compress(A, self._features)
        first, last = cols.start // GROUP, -(-cols.stop // GROUP)
        width = min(FLOP / (2 * max(self.d, 1) * GROUP * len(A)), (last - first) / (2 * pool()._max_workers))
        calls = [slice(first + g.start, first + g.stop) for g in _pieces(last - first, width)]
        rows = start, index, value, self._tiles
        columns = cols.start, code, sq, self.sq[cols], out
        _run(_sparse_block, [(*rows, groups.start, groups.stop, *columns) for groups in calls])


def _far_centre(X) -> np.ndarray | None:
    """The mean of X's rows where it is long beside their spread: |u - v|^2 from u.v would then lose its digits."""
    if not len(X):
        return None
    mean = X.mean(axis=0, dtype=np.float64)
    far = mean @ mean > FAR * X.var(axis=0, dtype=np.float64).sum()
    return mean.astype(np.float32) if far else None


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


def _tiled(X):
    """(features (d,) int32: each feature's line, -1 where X is always 0; tiles (n / TILE, lines, TILE) float32)."""
    used = np.flatnonzero(X.any(axis=0))
    features = np.full(X.shape[1], -1, np.int32)
    features[used] = np.arange(len(used))
    groups = -(-len(X) // GROUP)
    size = groups * GROUP * len(used)
    memory = np.zeros(size + 16, np.float32)  # 64 bytes more, to start on a cache line: straddling loads cost double
    offset = -memory.ctypes.data % 64 // 4
    tiles = memory[offset : offset + size].reshape(groups * GROUP // TILE, len(used), TILE)
    for t in range(-(-len(X) // TILE)):
        part = X[t * TILE : (t + 1) * TILE]
        tiles[t, :, : len(part)] = part[:, used].T
    return features, tiles


def _add_lines(index, value, start, stop, tile, sums):
    """sums (TILE,) = sum of value[p] * tile[index[p]] for start <= p < stop."""
    sums[:] = value[start:stop] @ tile[index[start:stop]]


@intrinsic
def _add_lines_in_registers(typing_context, index, value, start, stop, tile, sums):
    """The loop of `_add_lines` with all sums in vector registers, which no plain loop over an array compiles to."""

    def generate(context, builder, signature, args):
        kinds = signature.args
        data = {i: make_array(kinds[i])(context, builder, args[i]).data for i in (0, 1, 4, 5)}
        int64, vector = ir.IntType(64), ir.VectorType(ir.FloatType(), TILE)
        zero, lane0 = ir.Constant(vector, None), ir.Constant(ir.IntType(32), 0)
        undefined = ir.Constant(vector, ir.Undefined)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), TILE), None)
        before = builder.block
        body, after = builder.append_basic_block("line"), builder.append_basic_block("stored")
        builder.cbranch(builder.icmp_signed("<", args[2], args[3]), body, after)

        builder.position_at_end(body)
        p, acc = builder.phi(int64), builder.phi(vector)
        line = builder.zext(builder.load(builder.gep(data[0], [p])), int64)
        factor = builder.insert_element(undefined, builder.load(builder.gep(data[1], [p])), lane0)
        factor = builder.shuffle_vector(factor, undefined, everywhere)
        address = builder.gep(data[4], [builder.mul(line, ir.Constant(int64, TILE))])
        values = builder.load(builder.bitcast(address, vector.as_pointer()))
        values.align = 4
        product = builder.fmul(factor, values, flags=["contract"])
        total = builder.fadd(product, acc, flags=["contract"])
        following = builder.add(p, ir.Constant(int64, 1))
        builder.cbranch(builder.icmp_signed("<", following, args[3]), body, after)
        for phi, first, later in ((p, args[2], following), (acc, zero, total)):
            phi.add_incoming(first, before)
            phi.add_incoming(later, body)

        builder.position_at_end(after)
        result = builder.phi(vector)
        result.add_incoming(zero, before)
        result.add_incoming(total, body)
        builder.store(result, builder.bitcast(data[5], vector.as_pointer())).align = 4
        return context.get_dummy_value()

    return types.void(index, value, start, stop, tile, sums), generate


@overload(_add_lines)
def _compiled_add_lines(index, value, start, stop, tile, sums):
    return lambda index, value, start, stop, tile, sums: _add_lines_in_registers(index, value, start, stop, tile, sums)


@njit(cache=True, nogil=True)
def _compress(A, features):
    """Rows of A as (start (m + 1,), line (nnz,), value (nnz,)); entries without a line are left out."""
    start = np.zeros(len(A) + 1, np.int64)
    index, value = np.empty(A.size, np.int32), np.empty(A.size, np.float32)
    p = 0
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            if A[i, k] != 0 and features[k] >= 0:
                index[p], value[p] = features[k], A[i, k]
                p += 1
        start[i + 1] = p
    return start, index[:p], value[:p]


@njit(cache=True, nogil=True)
def _finish_block(code, block, su, sv):
    for i in range(block.shape[0]):
        _finish(code, block[i], su[i], sv)


@njit(cache=True, nogil=True)
def _sparse_block(start, index, value, tiles, first, last, offset, code, su, sv, out):
    """Columns of the groups first <= g < last into out (m, n'), whose column 0 is example `offset`; sv (n',)."""
    m, n = out.shape
    sums = np.empty(TILE, np.float32)
    for g in range(first, last):
        for r in range(0, m, ROWS):
            for t in range(g * GROUP // TILE, (g + 1) * GROUP // TILE):
                at = t * TILE - offset
                a, b = max(at, 0), min(at + TILE, n)
                if a < b:
                    for i in range(r, min(r + ROWS, m)):
                        _add_lines(index, value, start[i], start[i + 1], tiles[t], sums)
                        out[i, a:b] = sums[a - at : b - at]
            a, b = max(g * GROUP - offset, 0), min((g + 1) * GROUP - offset, n)
            for i in range(r, min(r + ROWS, m)):
                _finish(code, out[i, a:b], su[i], sv[a:b])
