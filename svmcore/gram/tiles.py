"""Inner products of rows that have many zeros, or only whole numbers, with a transposed and tiled X (n, d).

    sums[0:TILE] = base + sum over the lines k where a is not zero of a[k] * tile[k, 0:TILE]      tile = TILE examples

The sums stay in vector registers while a row's lines are gone through (registers.py, multiply.py), and neighbouring
rows share most of theirs, so that the lines they read again lie in L1. `Tiles` keeps X (n, d) float32 in one of two
forms:

    real     float32, one feature a line: work in proportion to the share of a row's features that are not zero;
    whole    x = step * q with q in 0 ... 255: one byte a value, four features a line, multiplied and added by fours as
             whole numbers, which is exact, many times as fast and a quarter of the memory. Grey images are of this
             form after any scaling of each example; so are binary features.

Processors multiply unsigned bytes by signed ones. So a tile holds q - MIDDLE, while a row's factors are q itself, which
makes its zeros cost nothing, and MIDDLE times their sum is the `base` that makes up for what was taken away. A whole
sum is below 2^31 for d up to WHOLE_FEATURES; int32 may wrap around on the way there, and back.
"""

from copy import copy
from typing import NamedTuple

import numpy as np
from numba import njit

from svmcore.gram.registers import FOURS, REAL_TILE, STREAMS, TILE
from svmcore.gram.threads import side_by_side

GROUP = 256  # examples finished together (inner products -> kernel values), a whole number of tiles
ROWS = 256  # rows that pass over a tile before the next tile: they and the tile stay in L2
LEVELS, MIDDLE = 255, 128
FLIPPED = np.int32(-0x7F7F7F80)  # the top bit of each byte, which makes q a signed q - MIDDLE
SMALLEST = 1e-30  # of a row's largest value, so that its step can be divided by
PRECISION = 5e-7  # relative: a value may have been rounded to float32 a few times on its way
WHOLE_FEATURES = 2**31 // LEVELS**2


class Rows(NamedTuple):
    """Rows of A as lists of (line, factor); a list's length is a multiple of STREAMS."""

    start: np.ndarray  # (m + 1,) int64, where each row's list begins, and where the last ends
    line: np.ndarray  # (entries,) int32
    factor: np.ndarray  # (entries,) float32; whole numbers: int32 of four bytes, the lowest the first feature
    base: np.ndarray  # (m,) what sums begin with, of the factors' type
    step: np.ndarray  # (m,) float32, what a whole number stands for; 1 in the real form

    def between(self, part: slice) -> "Rows":
        return Rows(self.start[part.start : part.stop + 1], self.line, self.factor, self.base[part], self.step[part])

    def at(self, idx) -> "Rows":
        """The rows idx (m',), side by side."""
        lengths = self.start[idx + 1] - self.start[idx]
        start = np.concatenate([[0], np.cumsum(lengths)])
        line, factor = np.empty(start[-1], np.int32), np.empty(start[-1], self.factor.dtype)
        _copy_lists(self.start, self.line, self.factor, idx, start, line, factor)
        return Rows(start, line, factor, self.base[idx], self.step[idx])


class Tiles:
    """X (n, d) float32, tiled: `steps` (n,) makes it whole (see `whole_steps`), None real. nbytes: what it takes."""

    def __init__(self, X, steps=None):
        self.whole = steps is not None
        self.step = steps if self.whole else np.ones(len(X), np.float32)
        self.used = np.flatnonzero(X.any(axis=0))
        if self.whole:
            self._hold(len(X), -(-len(self.used) // FOURS), np.int32)
            _fill_whole(X, self.used, self.step, self.data)
        else:
            self._hold(len(X), len(self.used), np.float32)
            _fill_real(X, self.used, self.data)

    def subset(self, idx) -> "Tiles":
        """Tiles of the examples idx (m,) alone."""
        part = copy(self)
        part.step = self.step[idx]
        part._hold(len(idx), self.data.shape[1], self.data.dtype)
        _copy_examples(self.data, idx, part.data)
        return part

    def _hold(self, n, lines, kind) -> None:
        width = TILE if self.whole else REAL_TILE
        self.data = _aligned((-(-n // GROUP) * GROUP // width, lines, width), kind)
        self.nbytes = self.data.nbytes + self.step.nbytes

    def rows(self, A) -> Rows | None:
        """A (m, d) float32 ready for multiply.py; None if the tiles are whole and A is not."""
        if not self.whole:
            rest = np.zeros(len(A), np.float32), np.ones(len(A), np.float32)
            return Rows(*_real_entries(A, self.used), *rest)
        steps = whole_steps(A)
        return None if steps is None else Rows(*_whole_entries(A, steps, self.used), steps)

    def own_rows(self, X) -> Rows:
        """X (n, d) itself, which these whole tiles were made of, ready for multiply.py."""
        parts = [slice(start, start + ROWS) for start in range(0, len(X), ROWS)]
        found = [None] * len(parts)

        def list_entries(i, part):
            found[i] = tuple(map(np.copy, _whole_entries(X[part], self.step[part], self.used)))

        side_by_side(list_entries, list(enumerate(parts)))
        starts, *rest = zip(*found, strict=True)
        lengths = np.concatenate([np.diff(start) for start in starts])
        start = np.concatenate([[0], np.cumsum(lengths)])
        return Rows(start, *map(np.concatenate, rest), self.step)


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


@njit(cache=True, nogil=True)
def _fill_real(X, used, tiles):
    """tiles[t, k, c] = feature used[k] of example t REAL_TILE + c."""
    for i in range(len(X)):
        tile, column, row = tiles[i // REAL_TILE], i % REAL_TILE, X[i]
        for k in range(len(used)):
            tile[k, column] = row[used[k]]


@njit(cache=True, nogil=True)
def _fill_whole(X, used, steps, tiles):
    """tiles[t, k, c] = the features used[4 k] ... used[4 k + 3] of example t TILE + c, in steps of its row."""
    levels = np.zeros(FOURS * tiles.shape[1], np.uint8)
    fours = levels.view(np.int32)
    for i in range(len(X)):
        tile, column = tiles[i // TILE], i % TILE
        _to_levels(X[i], used, steps[i], levels)
        for k in range(len(fours)):
            tile[k, column] = fours[k] ^ FLIPPED


@njit(cache=True, nogil=True)
def _to_levels(row, used, step, levels):
    """levels (at least len(used),) uint8 = the used features of a row in its steps."""
    scale = np.float32(1) / step
    for k in range(len(used)):
        levels[k] = np.uint8(np.rint(row[used[k]] * scale))


@njit(cache=True, nogil=True)
def _copy_lists(start, line, factor, idx, start_out, line_out, factor_out):
    for i in range(len(idx)):
        p, q = start[idx[i]], start_out[i]
        for entry in range(start_out[i + 1] - q):
            line_out[q + entry], factor_out[q + entry] = line[p + entry], factor[p + entry]


@njit(cache=True, nogil=True)
def _copy_examples(tiles, idx, out):
    width = tiles.shape[2]
    for i in range(len(idx)):
        tile, column, of, at = out[i // width], i % width, tiles[idx[i] // width], idx[i] % width
        for k in range(tile.shape[0]):
            tile[k, column] = of[k, at]


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
def _real_entries(A, used):
    """(start, line, factor) of Rows, real form."""
    start, room = np.zeros(len(A) + 1, np.int64), A.size + (STREAMS - 1) * len(A)
    line, factor = np.zeros(room, np.int32), np.zeros(room, np.float32)
    p = 0
    for i in range(len(A)):
        for k in range(len(used)):
            value = A[i, used[k]]
            if value != 0:
                line[p], factor[p] = k, value
                p += 1
        p += -p % STREAMS
        start[i + 1] = p
    return start, line[:p], factor[:p]


@njit(cache=True, nogil=True)
def _whole_entries(A, steps, used):
    """(start, line, factor, base) of Rows, whole form."""
    levels = np.zeros(-(-len(used) // FOURS) * FOURS, np.uint8)
    fours = levels.view(np.int32)
    start, room = np.zeros(len(A) + 1, np.int64), (len(fours) + STREAMS) * len(A)
    line, factor, base = np.zeros(room, np.int32), np.zeros(room, np.int32), np.empty(len(A), np.int32)
    p = 0
    for i in range(len(A)):
        _to_levels(A[i], used, steps[i], levels)
        base[i] = MIDDLE * levels.astype(np.int32).sum()
        for k in range(len(fours)):
            line[p], factor[p] = k, fours[k]
            p += fours[k] != 0
        factor[p : p + STREAMS] = 0
        p += -p % STREAMS
        start[i + 1] = p
    return start, line[:p], factor[:p], base
