"""Values of a Gram matrix moved where they lie: picked, transposed, mirrored; by blocks that stay in cache."""

from __future__ import annotations

from itertools import pairwise

from numba import njit

from svmcore.gram.threads import CORES, side_by_side

STRIP = 256  # rows that one call moves


def transpose_into(target, source) -> None:
    """target = source.T; of one and the same matrix, its part right of the diagonal is mirrored."""
    n, same = len(source), target is source
    side_by_side(_transpose, [(target, source, top, min(top + STRIP, n), same) for top in range(0, n, STRIP)])


def mirror(K, top: int, bottom: int) -> None:
    """Columns top <= i < bottom of K become its rows i, from the diagonal up."""
    bounds = [bottom * i // CORES for i in range(CORES + 1)]
    side_by_side(_mirror, [(K, top, bottom, *part) for part in pairwise(bounds)])


@njit(cache=True, nogil=True)
def pick(rows, columns, places, out):
    """out[places[a], j] = rows[a, columns[j]]"""
    for a in range(places.shape[0]):
        row, target = rows[a], out[places[a]]
        for j in range(columns.shape[0]):
            target[j] = row[columns[j]]


@njit(cache=True, nogil=True)
def _mirror(K, top, bottom, left, right):
    """K[j, i] = K[i, j] for rows top <= i < bottom and columns left <= j < right with j < i, by blocks as below."""
    for start in range(left, right, 64):
        for i in range(top, bottom):
            row = K[i]
            for j in range(start, min(right, start + 64, i)):
                K[j, i] = row[j]


@njit(cache=True, nogil=True)
def _transpose(target, source, top, bottom, same):
    """Rows top <= i < bottom of source become columns of target, by blocks that stay in cache."""
    n = source.shape[0]
    for left in range(0, n, 64):
        for i in range(top, bottom):
            row = source[i]
            for j in range(max(left, i + 1) if same else left, min(n, left + 64)):
                target[j, i] = row[j]
