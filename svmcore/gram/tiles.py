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

from svmcore._jit import greater, inner, native
from svmcore.gram.registers import FOURS, REAL_TILE, STREAMS, TILE
from svmcore.gram.threads import side_by_side

GROUP = 256  # examples finished together (inner products -> kernel values), a whole number of tiles
ROWS = 256  # rows that pass over a tile before the next tile: they and the tile stay in L2
LISTED = 1024  # rows whose lists one call makes
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
            _fill_whole(X, self.used, self.step, *_levels(self.data.shape[1]), self.data)
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
            return Rows(*self._entries(A), *rest)
        steps = whole_steps(A)
        return None if steps is None else Rows(*self._entries(A, steps), steps)

    def _entries(self, A, steps=None) -> tuple:
        """(start, line, factor) of Rows, and base of whole ones, whose steps are given."""
        start, lines = np.zeros(len(A) + 1, np.int64), self.data.shape[1]
        room = (lines + STREAMS) * len(A)
        line, factor = np.zeros(room, np.int32), np.zeros(room, self.data.dtype)
        if steps is None:
            entries = _real_entries(A, self.used, start, line, factor)
            return start, line[:entries], factor[:entries]
        base = np.empty(len(A), np.int32)
        entries = _whole_entries(A, steps, self.used, *_levels(lines), start, line, factor, base)
        return start, line[:entries], factor[:entries], base

    def own_rows(self, X) -> Rows:
        """X (n, d) itself, which these whole tiles were made of, ready for multiply.py."""
        parts = [slice(start, start + LISTED) for start in range(0, len(X), LISTED)]
        found = [None] * len(parts)

        def list_entries(i, part):
            found[i] = tuple(map(np.copy, self._entries(X[part], self.step[part])))

        side_by_side(list_entries, list(enumerate(parts)))
        starts, *rest = zip(*found, strict=True)
        lengths = np.concatenate([np.diff(start) for start in starts])
        start = np.concatenate([[0], np.cumsum(lengths)])
        return Rows(start, *map(np.concatenate, rest), self.step)


def whole_steps(X) -> np.ndarray | None:
    """(n,) float32 such that X (n, d) / steps is whole numbers from 0 to LEVELS, to float32's precision, or None."""
    steps, values = np.empty(len(X), np.float32), np.empty(X.shape[1], np.float32)
    return steps if X.shape[1] <= WHOLE_FEATURES and _find_steps(X, values, steps) else None


def _levels(lines: int) -> tuple[np.ndarray, np.ndarray]:
    """Room for the features of an example as whole numbers, uint8, and the same by fours, int32: (lines,) of them."""
    levels = np.zeros(FOURS * lines, np.uint8)
    return levels, levels.view(np.int32)


def _aligned(shape, kind):
    """Zeros that begin on a cache line: loads that straddle two cost double."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(kind).reshape(shape)


@native()
def _fill_real(X, used, tiles):
    """tiles[t, k, c] = feature used[k] of example t REAL_TILE + c."""
    for i in range(len(X)):
        tile, column, row = tiles[i // REAL_TILE], i % REAL_TILE, X[i]
        for k in range(len(used)):
            tile[k, column] = row[used[k]]


@native()
def _fill_whole(X, used, steps, levels, fours, tiles):
    """tiles[t, k, c] = the features used[4 k] ... used[4 k + 3] of example t TILE + c, in steps of its row."""
    for i in range(X.shape[0]):
        tile, column = tiles[i // TILE], i % TILE
        _to_levels(X[i], used, steps[i], levels)
        for k in range(fours.shape[0]):
            tile[k, column] = fours[k] ^ FLIPPED


@inner()
def _to_levels(row, used, step, levels):
    """levels (at least len(used),) uint8 = the used features of a row in its steps."""
    scale = np.float32(1) / step
    for k in range(used.shape[0]):
        levels[k] = np.uint8(np.rint(row[used[k]] * scale))


@native()
def _copy_lists(start, line, factor, idx, start_out, line_out, factor_out):
    for i in range(len(idx)):
        p, q = start[idx[i]], start_out[i]
        for entry in range(start_out[i + 1] - q):
            line_out[q + entry], factor_out[q + entry] = line[p + entry], factor[p + entry]


@native()
def _copy_examples(tiles, idx, out):
    width = tiles.shape[2]
    for i in range(len(idx)):
        tile, column, of, at = out[i // width], i % width, tiles[idx[i] // width], idx[i] % width
        for k in range(tile.shape[0]):
            tile[k, column] = of[k, at]


@native()
def _find_steps(X, values, steps):
    """Fill steps (n,); False at the first row that is not whole. values (d,): room for what is not 0 of a row."""
    for i in range(X.shape[0]):
        count, largest = np.int64(0), np.float32(0)
        for k in range(X.shape[1]):
            x = X[i, k]
            if x != 0:
                values[count], largest = x, greater(x, largest)
                count += 1
        if count == 0:
            steps[i] = 1
            continue
        if largest < SMALLEST:
            return False
        level = _largest_level(values, count, largest)
        if level == 0:
            return False
        steps[i] = largest / level
    return True


@inner()
def _largest_level(values, count, largest):
    """The largest value as a whole number; 0 where none makes all of them whole."""
    for level in range(LEVELS, 0, -1):
        scale, whole = level / largest, True
        for k in range(count):
            scaled = values[k] * scale
            if not (scaled > 0 and abs(scaled - np.rint(scaled)) <= PRECISION * level):
                whole = False
                break
        if whole:
            return level
    return 0


@native()
def _real_entries(A, used, start, line, factor):
    """Fill start (m + 1,), and line and factor, which are 0; the number of entries."""
    p = 0
    for i in range(A.shape[0]):
        for k in range(used.shape[0]):
            value = A[i, used[k]]
            if value != 0:
                line[p], factor[p] = k, value
                p += 1
        p += -p % STREAMS
        start[i + 1] = p
    return p


@native()
def _whole_entries(A, steps, used, levels, fours, start, line, factor, base):
    """As `_real_entries`, of whole numbers; base (m,) too."""
    p = 0
    for i in range(A.shape[0]):
        _to_levels(A[i], used, steps[i], levels)
        total = np.int32(0)
        for k in range(levels.shape[0]):
            total += np.int32(levels[k])
        base[i] = MIDDLE * total
        for k in range(fours.shape[0]):
            line[p], factor[p] = k, fours[k]
            p += fours[k] != 0
        for q in range(p, p + STREAMS):
            factor[q] = 0
        p += -p % STREAMS
        start[i + 1] = p
    return p
