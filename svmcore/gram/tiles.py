"""Inner products of rows that have many zeros, or only whole numbers, with a transposed and tiled X (n, d).

    sums[0:TILE] = sum over the nonzero a[k] of a[k] * tile[k, 0:TILE]          tile = TILE examples, features in lines

The sums stay in vector registers while a row's nonzeros are gone through, and neighbouring rows share most of theirs,
so that the lines they read again lie in L1. `Tiles` keeps X (n, d) float32 in one of two forms:

    real     float32, one feature a line: work in proportion to the share of a row's features that are not zero;
    whole    x = step * q with q in 0 ... 255: one byte a value, two features a line, multiplied and added in pairs as
             whole numbers, which is exact, twice as fast and a quarter of the memory. Grey images are of this form
             after any scaling of each example; so are binary features.

A whole sum stays below 2^31 for d up to WHOLE_FEATURES.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

from svmcore.kernels import _finish

TILE = 32  # examples a tile
STREAMS = 2  # sums kept apart and added at the end, so that additions need not wait for each other
GROUP = 256  # examples finished together (inner products -> kernel values), a whole number of tiles
ROWS = 256  # rows that pass over a tile before the next tile: they and the tile stay in L2
LEVELS = 255
SMALLEST = 1e-30  # of a row's largest value, so that its step can be divided by
PRECISION = 5e-7  # relative: a value may have been rounded to float32 a few times on its way
WHOLE_FEATURES = 2**31 // LEVELS**2


class Rows(NamedTuple):
    """Rows of A as lists of (line, factor); their number is a multiple of STREAMS."""

    start: np.ndarray  # (m + 1,) int64, where each row's list begins
    line: np.ndarray  # (entries,) int32
    factor: np.ndarray  # (entries,) float32; whole numbers: int32 of two int16, the lower half the first feature
    step: np.ndarray  # (m,) float32, what a whole number stands for; 1 in the real form


class Tiles:
    """X (n, d) float32, tiled: `steps` (n,) makes it whole (see `whole_steps`), None real. nbytes: what it takes."""

    def __init__(self, X, steps=None):
        self.whole = steps is not None
        self.step = steps if self.whole else np.ones(len(X), np.float32)
        width, kind = (2, np.uint8) if self.whole else (1, np.float32)
        self.used = np.flatnonzero(X.any(axis=0))
        lines = -(-len(self.used) // width)
        self.features = np.resize(self.used, (lines, width))  # of each line; a last line that lacks one repeats another
        self._fill(X, np.arange(len(X)), (lines, TILE, width), kind)

    def subset(self, X, idx) -> Tiles:
        """Tiles of the examples idx (m,) of X alone."""
        part = copy(self)
        part.step = self.step[idx]
        part._fill(X, idx, self.data.shape[1:], self.data.dtype)
        return part

    def _fill(self, X, idx, shape, kind) -> None:
        self.data = _aligned((-(-len(idx) // GROUP) * GROUP // TILE, *shape), kind)
        self.nbytes = self.data.nbytes + self.step.nbytes
        _fill_tiles(X, idx, self.used, self.step, self.data)

    def rows(self, A) -> Rows | None:
        """A (m, d) float32 ready for `multiply`; None if the tiles are whole and A is not."""
        if not self.whole:
            return Rows(*_real_entries(A, self.features), np.ones(len(A), np.float32))
        steps = whole_steps(A)
        return None if steps is None else Rows(*_whole_entries(A, steps, self.features), steps)


def whole_steps(X) -> np.ndarray | None:
    """(n,) float32 such that X (n, d) / steps is whole numbers from 0 to LEVELS, to float32's precision, or None."""
    steps = np.empty(len(X), np.float32)
    return steps if X.shape[1] <= WHOLE_FEATURES and _find_steps(X, steps) else None


def _aligned(shape, kind):
    """Zeros that begin on a cache line: loads that straddle two cost double."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(kind).reshape(shape)


def _add_lines(line, factor, start, stop, tile, sums):
    """sums (TILE,) float32 = sum over start <= p < stop of factor[p] * tile[line[p]]; tile (lines, TILE, width)."""
    factors = factor[start:stop].view(np.int16) if tile.dtype == np.uint8 else factor[start:stop]
    sums[:] = np.einsum("pw,pcw->c", factors.reshape(-1, tile.shape[2]), tile[line[start:stop]], dtype=factor.dtype)


@overload(_add_lines)
def _compiled_add_lines(line, factor, start, stop, tile, sums):
    return lambda line, factor, start, stop, tile, sums: _add_in_registers(line, factor, start, stop, tile, sums)


@intrinsic
def _add_in_registers(typing_context, line, factor, start, stop, tile, sums):
    """The loop of `_add_lines` with every sum in a vector register, which no loop over an array compiles to."""
    whole = isinstance(tile.dtype, types.Integer)

    def generate(context, builder, signature, args):
        pointers = [make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 1, 4, 5)]
        lines, factors, values, result = pointers
        vector = ir.VectorType(ir.IntType(32) if whole else ir.FloatType(), TILE)
        streams = [cgutils.alloca_once_value(builder, ir.Constant(vector, None)) for _ in range(STREAMS)]
        with cgutils.for_range_slice(builder, args[2], args[3], args[2].type(STREAMS)) as (first, _):
            for stream, total in enumerate(streams):
                p = builder.add(first, first.type(stream))
                at = builder.sext(builder.load(builder.gep(lines, [p])), first.type)
                at = builder.gep(values, [builder.mul(at, at.type(2 * TILE if whole else TILE))])
                add = _add_pairs if whole else _add_product
                builder.store(add(builder, builder.load(builder.gep(factors, [p])), at, builder.load(total)), total)
        total = builder.load(streams[0])
        for stream in streams[1:]:
            total = (builder.add if whole else builder.fadd)(total, builder.load(stream))
        total = builder.sitofp(total, ir.VectorType(ir.FloatType(), TILE)) if whole else total
        builder.store(total, builder.bitcast(result, total.type.as_pointer())).align = 4
        return context.get_dummy_value()

    return types.void(line, factor, start, stop, tile, sums), generate


def _add_product(builder, factor, at, total):
    """total + factor * (the TILE float32 at `at`), as one instruction a register."""
    values = builder.load(builder.bitcast(at, total.type.as_pointer()))
    values.align = 4
    product = builder.fmul(_everywhere(builder, factor, TILE), values, flags=["contract"])
    return builder.fadd(product, total, flags=["contract"])


def _add_pairs(builder, factors, at, total):
    """total + the products of two int16 `factors` with TILE pairs of bytes; LLVM sees vpmaddwd in this on x86."""
    pairs = ir.VectorType(total.type.element, 2 * TILE)
    values = builder.load(builder.bitcast(at, ir.VectorType(ir.IntType(8), 2 * TILE).as_pointer()))
    values.align = 1
    factors = builder.bitcast(_everywhere(builder, factors, TILE), ir.VectorType(ir.IntType(16), 2 * TILE))
    products = builder.mul(builder.zext(values, pairs), builder.sext(factors, pairs))
    halves = [ir.Constant(ir.VectorType(ir.IntType(32), TILE), list(range(h, 2 * TILE, 2))) for h in (0, 1)]
    even, odd = (builder.shuffle_vector(products, products, half) for half in halves)
    return builder.add(builder.add(even, odd), total)


def _everywhere(builder, value, count):
    vector = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    lanes = ir.VectorType(ir.IntType(32), count)
    return builder.shuffle_vector(
        builder.insert_element(vector, value, lanes.element(0)), vector, ir.Constant(lanes, None)
    )


@njit(cache=True, nogil=True)
def multiply(rows, tiles, step, first, last, offset, code, su, sv, out):
    """Kernel values of `rows` with the groups first <= g < last of `tiles`, into the first n' columns of out.

    Column 0 of out is the example `offset`; su (m,), sv (n',) squared norms; step (n',) that of the columns.
    """
    m, n = su.shape[0], sv.shape[0]
    edge = np.empty(TILE, np.float32)
    for g in range(first, last):
        a, b = max(g * GROUP - offset, 0), min((g + 1) * GROUP - offset, n)
        for r in range(0, m, ROWS):
            for t in range(g * GROUP // TILE, (g + 1) * GROUP // TILE):
                _multiply_tile(rows, r, tiles[t], t * TILE - offset, edge, out[:m], n)
            for i in range(r, min(r + ROWS, m)):
                _scale(out[i, a:b], rows.step[i], step[a:b])
                _finish(code, out[i, a:b], su[i], sv[a:b])


@njit(cache=True, nogil=True)
def multiply_add(rows, tiles, step, first, last, code, su, sv, coef, F):
    """F (k, n') float64 += coef (k, m) times what `multiply` gives for these groups, which is never written out.

    Most of coef is 0: an example is a support vector of two machines of ten, say.
    """
    (k, m), n = coef.shape, F.shape[1]
    block, sums = np.empty((m, GROUP), np.float32), np.empty((k, GROUP), np.float32)
    for g in range(first, last):
        a, b = g * GROUP, min((g + 1) * GROUP, n)
        multiply(rows, tiles, step[a:b], g, g + 1, a, code, su, sv[a:b], block)
        sums[:] = np.float32(0)
        for i in range(m):
            for c in range(k):
                if coef[c, i] != 0:
                    _add_multiple(coef[c, i], block[i, : b - a], sums[c])
        for c in range(k):
            for j in range(a, b):
                F[c, j] += sums[c, j - a]


@njit(cache=True, nogil=True)
def _add_multiple(weight, values, sums):
    for j in range(values.shape[0]):
        sums[j] += weight * values[j]


@njit(cache=True, nogil=True)
def _multiply_tile(rows, r, tile, column, edge, out, n):
    """Sums of ROWS rows from r with a tile whose first example is `column` of out; of one that juts out, what fits
    between columns 0 and n."""
    a, b = max(column, 0), min(column + TILE, n)
    inside = b - a == TILE
    for i in range(r, min(r + ROWS, out.shape[0])):
        if inside:
            _add_lines(rows.line, rows.factor, rows.start[i], rows.start[i + 1], tile, out[i, a:b])
        else:
            _add_lines(rows.line, rows.factor, rows.start[i], rows.start[i + 1], tile, edge)
            for j in range(a, b):
                out[i, j] = edge[j - column]


@njit(cache=True, nogil=True)
def _scale(sums, step, steps):
    """Sums of whole numbers become inner products."""
    for j in range(sums.shape[0]):
        sums[j] *= step * steps[j]


@njit(cache=True, nogil=True)
def _fill_tiles(X, idx, used, steps, tiles):
    """tiles[t, k / width, c, k mod width] = feature used[k] of example idx[t TILE + c], in steps of its row."""
    width = tiles.shape[3]
    for i in range(len(idx)):
        tile, column, scale, row = tiles[i // TILE], i % TILE, np.float32(1) / steps[i], X[idx[i]]
        for k in range(len(used)):
            value = row[used[k]]
            if value != 0:
                tile[k // width, column, k % width] = value if width == 1 else np.rint(value * scale)


@njit(cache=True, nogil=True)
def _find_steps(X, steps):
    """Fill steps (n,); False at the first row that is not whole."""
    values = np.empty(X.shape[1], np.float32)
    for i in range(X.shape[0]):
        count, largest = 0, np.float32(0)
        for x in X[i]:
            if x != 0:
                values[count], largest = x, max(x, largest)
                count += 1
        if count == 0:
            steps[i] = 1
            continue
        if largest < SMALLEST:
            return False
        level = LEVELS  # the largest value as a whole number
        while level > 0 and not _are_whole(values[:count], level / largest, PRECISION * level):
            level -= 1
        if level == 0:
            return False
        steps[i] = largest / level
    return True


@njit(cache=True, nogil=True)
def _are_whole(values, scale, tolerance):
    for value in values:
        scaled = value * scale
        if not (scaled > 0 and abs(scaled - np.rint(scaled)) <= tolerance):
            return False
    return True


@njit(cache=True, nogil=True)
def _room(A):
    """Entries of all rows of A at most: each is filled up to a multiple of STREAMS."""
    return A.size + (STREAMS - 1) * len(A)


@njit(cache=True, nogil=True)
def _real_entries(A, features):
    """(start, line, factor) of Rows, real form."""
    start = np.zeros(len(A) + 1, np.int64)
    line, factor = np.zeros(_room(A), np.int32), np.zeros(_room(A), np.float32)
    p = 0
    for i in range(len(A)):
        for k in range(len(features)):
            value = A[i, features[k, 0]]
            if value != 0:
                line[p], factor[p] = k, value
                p += 1
        p += -p % STREAMS
        start[i + 1] = p
    return start, line[:p], factor[:p]


@njit(cache=True, nogil=True)
def _whole_entries(A, steps, features):
    """(start, line, factor) of Rows, whole form."""
    start = np.zeros(len(A) + 1, np.int64)
    line, factor = np.zeros(_room(A), np.int32), np.zeros(_room(A), np.int32)
    p = 0
    for i in range(len(A)):
        scale = np.float32(1) / steps[i]
        for k in range(len(features)):
            low, high = A[i, features[k, 0]], A[i, features[k, 1]]
            if low != 0 or high != 0:
                line[p], factor[p] = k, np.int32(np.rint(low * scale)) | np.int32(np.rint(high * scale)) << 16
                p += 1
        p += -p % STREAMS
        start[i + 1] = p
    return start, line[:p], factor[:p]
