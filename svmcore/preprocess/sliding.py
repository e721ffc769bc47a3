"""Histograms of gradient directions of many windows of one picture, without computing again what windows share.

    F[a, b, k] = sum_y G_a(y) sum_x G_b(x) m(y0 + y, x0 + x) share_k(y0 + y, x0 + x)         the window at (y0, x0)

A pixel's gradient is the same in all windows that have it inside. At a window's border it is another one, since a
derivative is 0 where a neighbour is missing: its first and last column change downwards alone, its first and last row
across alone, its corners not at all. So these are the numbers of the windows cut out (cells.py), to rounding, and a
machine may be trained on chips that have nothing around them.

    once a picture      m and direction of each pixel (slope)
    a block of windows  planes[k, y, x]: m share_k; what the first and the last column change downwards, by its sign
    windows of one row  V[a, k, x] = sum_y G_a(y) planes[k, y0 + y, x], with the first and the last row
    each window         F[a, b, k] = sum_x G_b(x) V[a, k, x0 + x], for all windows of the row at a time

With 19 x 19 pixels, stride 2 and 7 x 7 x 8 numbers a window takes 1.5 us instead of 36.

Symbols: level (h, w) uint8; G (side, cells) float32; planes (D + 4, rows, columns) float32; F (n, cells, cells, D).
References: Dalal and Triggs, CVPR (2005): cells of a whole picture; the sums of cells.py.
"""

from collections.abc import Callable

import numpy as np

from svmcore._jit import inner, native

PIECE = 1 << 17  # pixels that one native call finds the gradients of: 4 ms
LANES = 256  # windows whose sums are made at a time
RIGHT, DOWN, LEFT, UP = range(4)  # directions in which a picture becomes lighter along an axis


def cut(level: np.ndarray, ys: np.ndarray, xs: np.ndarray, side: int) -> np.ndarray:
    """The windows (n, side, side) of a level, as they are there."""
    return np.lib.stride_tricks.sliding_window_view(level, (side, side))[ys, xs]


def sliding(
    level: np.ndarray, G: np.ndarray, *, sobel: int, shared: int, turn: float, directions: int, run: Callable
) -> Callable:
    """F (n, cells, cells, directions) float32, not raised to any power, of windows of a level (h, w) uint8, as a
    function of their corners ys, xs (n,). G (side, cells); run(kernel, calls): calls it with each of several arguments.
    """
    G, D, (h, w) = G.astype(np.float32), directions, level.shape
    (side, cells), sobel = G.shape, bool(sobel)
    size, at = np.zeros((2, h, w), np.float32)
    bounds = range(0, h, max(1, PIECE // w))
    run(_slopes, [(level[..., None], sobel, bool(shared), turn, D, y, y + bounds.step, size, at) for y in bounds])
    axes = _axes(turn, D, shared)

    def sums(ys: np.ndarray, xs: np.ndarray) -> np.ndarray:
        F = np.empty((len(ys), cells, cells, D), np.float32)
        if not len(ys):
            return F
        top, left = ys.min(), xs.min()
        rows, columns = ys.max() - top + side, xs.max() - left + side
        planes, starts, place = np.empty((D + 4, rows, columns), np.float32), *np.empty((2, len(ys) + 1), np.int64)
        _planes(level, size, at, sobel, top, left, planes)
        runs, n = _runs(ys, xs, side, starts, place)
        starts[runs] = len(ys)
        V, ends = np.empty((cells, D + 4, n), np.float32), np.zeros((4, columns), np.float32)
        _down(level, planes, sobel, axes, top, left, ys, xs, starts[: runs + 1], place, G, ends, V)
        _across(V, axes, place[:-1], G, np.empty((side + cells * D, LANES), np.float32), F)
        return F

    return sums


def _axes(turn: float, D: int, shared: int) -> np.ndarray:
    """(4, D) float32: the shares of the D directions in RIGHT, DOWN, LEFT and UP."""
    at = np.arange(4) * (np.pi / 2) / turn * D % D
    low = np.floor(at)
    part = at - low if shared else np.zeros(4)
    axes, four = np.zeros((4, D), np.float32), np.arange(4)
    axes[four, low.astype(int) % D] += 1 - part
    axes[four, (low.astype(int) + 1) % D] += part
    return axes


@inner()
def slope(image, y, x, sobel, shared, turn, D):
    """How much the image (h, w, c) changes at (y, x), and in which of D directions: from 0 to D."""
    h, w, c = image.shape
    up, low, left, right = max(y - 1, 0), min(y + 1, h - 1), max(x - 1, 0), min(x + 1, w - 1)
    near, far = (2.0, 1.0) if sobel else (1.0, 0.0)
    down, across = (1.0 if 0 < y < h - 1 else 0.0), (1.0 if 0 < x < w - 1 else 0.0)
    gy = gx = most = 0.0
    for k in range(c):
        nw, n, ne = np.float64(image[up, left, k]), np.float64(image[up, x, k]), np.float64(image[up, right, k])
        west, east = np.float64(image[y, left, k]), np.float64(image[y, right, k])
        sw, s, se = np.float64(image[low, left, k]), np.float64(image[low, x, k]), np.float64(image[low, right, k])
        a = down * (near * (s - n) + far * (sw - nw + se - ne))
        b = across * (near * (east - west) + far * (ne - nw + se - sw))
        if a * a + b * b > most:
            gy, gx, most = a, b, a * a + b * b
    at = np.arctan2(gy, gx) / turn * D
    at -= np.floor(at / D) * D
    return np.sqrt(most), (at if shared else np.floor(at))


@native()
def _slopes(level, sobel, shared, turn, D, first, end, size, at):  # (h, w, 1), ..., rows -> (h, w), (h, w) float32
    h, w = size.shape
    for y in range(max(first, 1), min(end, h - 1)):
        for x in range(1, w - 1):
            much, where = slope(level, y, x, sobel, shared, turn, D)
            size[y, x], at[y, x] = much, where
            if at[y, x] >= D:  # rounded up
                at[y, x] = 0


@native(fastmath={"contract"})
def _planes(level, size, at, sobel, top, left, planes):  # (h, w), (h, w), (h, w), flag, the planes' corner, see above
    D, rows, columns = planes.shape[0] - 4, planes.shape[1], planes.shape[2]
    near, far = np.float32(3 if sobel else 1), np.float32(1 if sobel else 0)
    planes[:] = 0
    for r in range(max(0, 1 - top), min(rows, level.shape[0] - 1 - top)):
        y, down, up, down_last, up_last = top + r, planes[D, r], planes[D + 1, r], planes[D + 2, r], planes[D + 3, r]
        for c in range(columns):
            much, where = size[y, left + c], at[y, left + c]
            low = int(where)
            part = where - np.float32(low)
            planes[low, r, c] += much * (np.float32(1) - part)
            planes[low + 1 if low + 1 < D else 0, r, c] += much * part
        above, below = level[y - 1, left : left + columns], level[y + 1, left : left + columns]
        for c in range(columns):
            here = np.float32(below[c]) - np.float32(above[c])
            if c + 1 < columns:  # of a window's first column: its second one is beside it
                steep = near * here + far * (np.float32(below[c + 1]) - np.float32(above[c + 1]))
                down[c], up[c] = max(steep, np.float32(0)), max(-steep, np.float32(0))
            if c > 0:
                steep = near * here + far * (np.float32(below[c - 1]) - np.float32(above[c - 1]))
                down_last[c], up_last[c] = max(steep, np.float32(0)), max(-steep, np.float32(0))


@inner(fastmath={"contract"})
def _add(weight, row, total):
    for x in range(len(total)):
        total[x] += weight * row[x]


@inner(fastmath={"contract"})
def _add_rows(weights, rows, first, left, total):
    """total (n,) += weights (m,) @ m rows of a plane from (first, left), four at a time to touch total less often."""
    n, four = len(total), len(weights) // 4 * 4
    for z in range(0, four, 4):
        p, q, r, s = weights[z], weights[z + 1], weights[z + 2], weights[z + 3]
        a, b = rows[first + z, left : left + n], rows[first + z + 1, left : left + n]
        c, d = rows[first + z + 2, left : left + n], rows[first + z + 3, left : left + n]
        for x in range(n):
            total[x] += p * a[x] + q * b[x] + r * c[x] + s * d[x]
    for z in range(four, len(weights)):
        _add(weights[z], rows[first + z, left : left + n], total)


@native()
def _runs(ys, xs, side, starts, place):
    """Windows of one row from left to right: the first of each such run into starts, the first column of each window
    among those of all runs into place. The number of runs, and of columns."""
    runs = columns = 0
    for i in range(len(ys)):
        if i == 0 or ys[i] != ys[i - 1] or xs[i] < xs[i - 1]:
            columns += side if i else 0
            starts[runs] = i
            runs += 1
            place[i] = columns
        else:
            place[i] = place[i - 1] + xs[i] - xs[i - 1]
            columns += xs[i] - xs[i - 1]
    return runs, columns + side


@native(fastmath={"contract"})
def _down(level, planes, sobel, axes, top, left, ys, xs, starts, place, G, ends, V):
    # ..., (4, D), the planes' corner, (n,), (n,), (runs + 1,), (n,), (side, cells), scratch (4, longest run), V
    (side, cells), D = G.shape, axes.shape[1]
    V[:] = 0
    for r in range(len(starts) - 1):
        i, j = starts[r], starts[r + 1] - 1
        y, x, p, width = ys[i], xs[i], place[i], xs[j] - xs[i] + side
        _ends(level, y, x, width, side, sobel, ends)
        for k in range(D + 4):
            for a in range(cells):
                _add_rows(G[1 : side - 1, a], planes[k], y + 1 - top, x - left, V[a, k, p : p + width])
            for e in range(4 if k < D else 0):
                share = axes[LEFT if e % 2 else RIGHT, k]
                if share > 0:
                    for a in range(cells):
                        _add(G[0 if e < 2 else side - 1, a] * share, ends[e, :width], V[a, k, p : p + width])


@native(fastmath={"contract"})
def _across(V, axes, place, G, scratch, F):
    # (cells, D + 4, columns), (4, D), (n,), (side, cells), (side + cells D, LANES), F
    (side, cells), D, last = G.shape, axes.shape[1], G.shape[0] - 1
    lanes, totals = scratch[:side], scratch[side:]
    for start in range(0, len(place), lanes.shape[1]):
        at = place[start : start + lanes.shape[1]]
        n, some = len(at), F[start : start + lanes.shape[1]]
        for a in range(cells):
            down, up, down_last, up_last = V[a, D], V[a, D + 1], V[a, D + 2], V[a, D + 3]
            for k in range(D):
                plane = V[a, k]
                for x in range(1, last):
                    for j in range(n):
                        lanes[x, j] = plane[np.uint64(at[j] + x)]
                for j in range(n):
                    first, end = np.uint64(at[j]), np.uint64(at[j] + last)
                    lanes[0, j] = axes[DOWN, k] * down[first] + axes[UP, k] * up[first]
                    lanes[last, j] = axes[DOWN, k] * down_last[end] + axes[UP, k] * up_last[end]
                for b in range(cells):
                    total = totals[b * D + k, :n]
                    total[:] = 0
                    _add_rows(G[:, b], lanes, 0, 0, total)
            for j in range(n):  # window by window: a column of F at a time would leave the cache with each number
                for b in range(cells):
                    for k in range(D):
                        some[j, a, b, k] = totals[b * D + k, j]


@inner(fastmath={"contract"})
def _ends(level, y, left, width, side, sobel, ends):
    """What the first and the last row of the windows at row y change across: to the right and to the left, each."""
    near, far = np.float32(3 if sobel else 1), np.float32(1 if sobel else 0)
    for e in range(2):
        row = level[y + e * (side - 1), left : left + width]
        other = level[y + 1 + e * (side - 3), left : left + width]
        for c in range(1, width - 1):
            here = np.float32(row[c + 1]) - np.float32(row[c - 1])
            steep = near * here + far * (np.float32(other[c + 1]) - np.float32(other[c - 1]))
            ends[2 * e, c], ends[2 * e + 1, c] = max(steep, np.float32(0)), max(-steep, np.float32(0))
