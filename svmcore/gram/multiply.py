"""Rows against tiles (tiles.py): products as they are, weighted and added up for every column, or for every row.

    block[i, j] = K(a_i, x_j),  F[c, j] += sum_i coef[c, i] K(a_i, x_j),  sums[i, c] += sum_j coef[c, j] K(a_i, x_j)

Inner products become kernel values, by groups of examples, while they are in cache; of the latter two none is written
out. rows: see `Rows`; tiles (t, lines, TILE); m rows, n examples, k machines; block float32, F and sums float64.
"""

import numpy as np
from numba import njit

from svmcore._jit import FAST
from svmcore.gram.registers import add_lines, fetch
from svmcore.gram.tiles import GROUP, ROWS
from svmcore.kernels import _finish
from svmcore.kernels.apart import _subtract_far


@njit(cache=True, nogil=True)
def multiply(rows, tiles, step, first, last, start, stop, code, u, v, out):
    """Kernel values of `rows` with the groups first <= g < last of `tiles`, into columns of out.

    Columns of out are the examples start <= j < stop; u, v the Sides of the rows and of all n examples; step (n,) that
    of the examples.
    """
    m, n, width = u.sq.shape[0], stop - start, tiles.shape[2]
    edge = np.empty(width, np.float32)
    for g in range(first, last):
        a, b = max(g * GROUP - start, 0), min((g + 1) * GROUP - start, n)
        for r in range(0, m, ROWS):
            for t in range(g * GROUP // width, (g + 1) * GROUP // width):
                _multiply_tile(rows, r, tiles, t, t * width - start, edge, out[:m], n)
            for i in range(r, min(r + ROWS, m)):
                _scale(out[i, a:b], rows.step[i], step[start + a : start + b])
                _subtract_far(out[i, a:b], u.far[i], v.far, start + a)
                _finish(code, out[i, a:b], u.sq[i], v.sq[start + a : start + b])


@njit(cache=True, nogil=True)
def multiply_add(rows, tiles, step, first, last, code, u, v, coef, F):
    """F (k, n) float64 += coef (k, m) times what `multiply` gives for these groups, which is never written out.

    Most of coef is 0: an example is a support vector of two machines of ten, say.
    """
    (k, m), n = coef.shape, F.shape[1]
    block, sums = np.empty((m, GROUP), np.float32), np.empty((k, GROUP), np.float32)
    for g in range(first, last):
        a, b = g * GROUP, min((g + 1) * GROUP, n)
        multiply(rows, tiles, step, g, g + 1, a, b, code, u, v, block)
        sums[:] = np.float32(0)
        for i in range(m):
            for c in range(k):
                if coef[c, i] != 0:
                    _add_multiple(coef[c, i], block[i, : b - a], sums[c])
        for c in range(k):
            for j in range(a, b):
                F[c, j] += sums[c, j - a]


@njit(cache=True, nogil=True)
def multiply_sum(rows, tiles, step, first, last, code, u, v, coef, sums):
    """sums (m, k) float64 += what `multiply` gives for these groups times coef (k, n) float64, in double precision.

    Machines that have no coefficient in a group cost nothing there.
    """
    (m, k), n = sums.shape, coef.shape[1]
    block, weights, active = np.zeros((m, GROUP), np.float32), np.zeros((k, GROUP)), np.empty(k, np.int64)
    for g in range(first, last):
        a, b, count = g * GROUP, min((g + 1) * GROUP, n), 0
        for c in range(k):
            weights[count, : b - a], active[count] = coef[c, a:b], c
            weights[count, b - a :] = 0
            count += np.any(weights[count])
        multiply(rows, tiles, step, g, g + 1, a, b, code, u, v, block)
        _add_dots(block, weights, active[:count], sums)


@njit(cache=True, nogil=True, fastmath=FAST)
def _add_dots(block, weights, active, sums):
    for i in range(block.shape[0]):
        for place in range(active.shape[0]):
            total = 0.0
            for j in range(GROUP):
                total += weights[place, j] * block[i, j]
            sums[i, active[place]] += total


@njit(cache=True, nogil=True)
def _add_multiple(weight, values, sums):
    for j in range(values.shape[0]):
        sums[j] += weight * values[j]


@njit(cache=True, nogil=True)
def _multiply_tile(rows, r, tiles, t, column, edge, out, n):
    """Sums of ROWS rows from r with tile t, whose first example is `column` of out; of one that juts out, what fits
    between columns 0 and n. Meanwhile the next tile is fetched."""
    tile, following = tiles[t], tiles[min(t + 1, len(tiles) - 1)].ravel()
    share = -(-following.size // ROWS)
    a, b = max(column, 0), min(column + tile.shape[1], n)
    inside = b - a == tile.shape[1]
    for i in range(r, min(r + ROWS, out.shape[0])):
        fetch(following, (i - r) * share, min((i - r + 1) * share, following.size))
        if inside:
            add_lines(rows.line, rows.factor, rows.start[i], rows.start[i + 1], rows.base[i], tile, out[i, a:b])
        else:
            add_lines(rows.line, rows.factor, rows.start[i], rows.start[i + 1], rows.base[i], tile, edge)
            for j in range(a, b):
                out[i, j] = edge[j - column]


@njit(cache=True, nogil=True)
def _scale(sums, step, steps):
    """Sums of whole numbers become inner products."""
    for j in range(sums.shape[0]):
        sums[j] *= step * steps[j]
