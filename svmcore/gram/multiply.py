"""Rows against tiles (tiles.py): products as they are, weighted and added up for every column, or for every row.

    block[i, j] = K(a_i, x_j),  F[c, j] += sum_i coef[c, i] K(a_i, x_j),  sums[i, c] += sum_j coef[c, j] K(a_i, x_j)

Inner products become kernel values, by groups of examples, while they are in cache; of the latter two none is written
out. rows: see `Rows`; tiles (t, lines, TILE); m rows, n examples, k machines; block float32, F and sums float64.
"""

import numpy as np

from svmcore._jit import FAST, greater, inner, lesser, native
from svmcore.gram.registers import add_lines, fetch
from svmcore.gram.tiles import GROUP, ROWS
from svmcore.kernels import _finish
from svmcore.kernels.apart import _subtract_far


@native()
def multiply(rows, tiles, step, first, last, start, stop, code, u, v, out):
    """Kernel values of `rows` with the groups first <= g < last of `tiles`, into columns of out.

    Columns of out are the examples start <= j < stop; u, v the Sides of the rows and of all n examples; step (n,) that
    of the examples.
    """
    m, n, width = u.sq.shape[0], stop - start, tiles.shape[2]
    edge, each = np.empty(width, np.float32), GROUP // width
    for g in range(first, last):
        a, b = greater(g * GROUP - start, 0), lesser((g + 1) * GROUP - start, n)
        steps, sq = step[start + a : start + b], v.sq[start + a : start + b]
        for r in range(0, m, ROWS):
            bottom = lesser(r + ROWS, m)
            for t in range(g * each, (g + 1) * each):
                _multiply_tile(rows, r, bottom, tiles, t, t * width - start, edge, out, n)
            for i in range(r, bottom):
                row = out[i, a:b]
                _scale(row, rows.step[i], steps)
                _subtract_far(row, u.far[i], v.far, start + a)
                _finish(code, row, u.sq[i], sq)


def multiply_add(rows, tiles, step, first, last, code, u, v, coef, F) -> None:
    """F (k, n) float64 += coef (k, m) times what `multiply` gives for these groups, which is never written out.

    Most of coef is 0: an example is a support vector of two machines of ten, say.
    """
    block, sums = (np.empty((count, GROUP), np.float32) for count in coef.shape[::-1])
    _multiply_add(rows, tiles, step, first, last, code, u, v, coef, F, block, sums)


def multiply_sum(rows, tiles, step, first, last, code, u, v, coef, sums) -> None:
    """sums (m, k) float64 += what `multiply` gives for these groups times coef (k, n) float64, in double precision.

    Machines that have no coefficient in a group cost nothing there.
    """
    m, k = sums.shape
    block, weights, active = np.zeros((m, GROUP), np.float32), np.empty((k, GROUP)), np.empty(k, np.int64)
    _multiply_sum(rows, tiles, step, first, last, code, u, v, coef, sums, block, weights, active)


@native()
def _multiply_add(rows, tiles, step, first, last, code, u, v, coef, F, block, sums):
    (k, m), n = coef.shape, F.shape[1]
    for g in range(first, last):
        a, b = g * GROUP, lesser((g + 1) * GROUP, n)
        multiply(rows, tiles, step, g, g + 1, a, b, code, u, v, block)
        for c in range(k):
            _clear(sums[c])
        for i in range(m):
            for c in range(k):
                if coef[c, i] != 0:
                    _add_multiple(coef[c, i], block[i], sums[c], b - a)
        for c in range(k):
            for j in range(a, b):
                F[c, j] += sums[c, j - a]


@native()
def _multiply_sum(rows, tiles, step, first, last, code, u, v, coef, sums, block, weights, active):
    k, n = coef.shape
    for g in range(first, last):
        a, b, count = g * GROUP, lesser((g + 1) * GROUP, n), np.int64(0)
        for c in range(k):
            active[count] = c
            count += _copy(coef[c], a, b, weights[count])
        multiply(rows, tiles, step, g, g + 1, a, b, code, u, v, block)
        _add_dots(block, weights, active, count, sums)


@inner()
def _clear(values):
    for j in range(values.shape[0]):
        values[j] = np.float32(0)


@inner()
def _copy(values, first, last, out):
    """out[j] = values[first + j] up to `last`, and 0 behind; whether any is not 0."""
    some = False
    for j in range(out.shape[0]):
        out[j] = values[first + j] if first + j < last else 0.0
        some |= out[j] != 0
    return some


@inner(fastmath=FAST)
def _add_dots(block, weights, active, count, sums):
    for i in range(sums.shape[0]):
        for place in range(count):
            total = 0.0
            for j in range(GROUP):
                total += weights[place, j] * block[i, j]
            sums[i, active[place]] += total


@inner()
def _add_multiple(weight, values, sums, n):
    for j in range(n):
        sums[j] += weight * values[j]


@inner()
def _multiply_tile(rows, r, bottom, tiles, t, column, edge, out, n):
    """Sums of the rows r <= i < bottom, ROWS at most, with tile t, whose first example is `column` of out; of one that
    juts out, what fits between columns 0 and n. Meanwhile the next tile is fetched."""
    tile, following = tiles[t], tiles[lesser(t + 1, tiles.shape[0] - 1)]
    a, b, share = greater(column, 0), lesser(column + tile.shape[1], n), -(-tile.size // ROWS)
    inside = b - a == tile.shape[1]
    for i in range(r, bottom):
        fetch(following, (i - r) * share, lesser((i - r + 1) * share, tile.size))
        sums = out[i, a:b] if inside else edge
        add_lines(rows.line, rows.factor, rows.start[i], rows.start[i + 1], rows.base[i], tile, sums)
        if not inside:
            for j in range(a, b):
                out[i, j] = edge[j - column]


@inner()
def _scale(sums, step, steps):
    """Sums of whole numbers become inner products."""
    for j in range(sums.shape[0]):
        sums[j] *= step * steps[j]
