"""Values of a Gram matrix moved where they lie: picked, transposed, mirrored; by blocks that stay in cache."""

from svmcore._jit import greater, lesser, native
from svmcore.gram.threads import CORES, cut, side_by_side

STRIP = 256  # rows that one call moves
BLOCK = 64  # rows and columns whose values stay in L1 between being read along rows and written along rows
FEW = 100_000  # values that are moved sooner than they are handed to another thread
ALL, ABOVE, BELOW = range(3)  # what is moved: all, what is right of the diagonal, what is left of it


def transpose_into(target, source) -> None:
    """target = source.T; of one and the same matrix, its part right of the diagonal is mirrored."""
    (n, m), part = source.shape, ABOVE if target is source else ALL
    tops = range(0, n, STRIP)
    side_by_side(_transpose, [(target, source, part, top, min(top + STRIP, n), 0, m) for top in tops])


def mirror(K, top: int, bottom: int, above: bool = False) -> None:
    """Rows top <= i < bottom of K, up to the diagonal, or `above`, from it on, become its columns i."""
    first, last, part = (top, len(K), ABOVE) if above else (0, bottom, BELOW)
    cores = CORES if (bottom - top) * (last - first) > FEW else 1
    parts = cut(last - first, cores)
    side_by_side(_transpose, [(K, K, part, top, bottom, first + p.start, first + p.stop) for p in parts])


@native()
def pick(rows, columns, places, out):
    """out[places[a], j] = rows[a, columns[j]]"""
    for a in range(places.shape[0]):
        row, target = rows[a], out[places[a]]
        for j in range(columns.shape[0]):
            target[j] = row[columns[j]]


@native()
def _transpose(target, source, part, top, bottom, left, right):
    """target[j, i] = source[i, j] for top <= i < bottom and left <= j < right, by blocks, each target row at a time."""
    for across in range(left, right, BLOCK):
        for down in range(top, bottom, BLOCK):
            for j in range(across, lesser(across + BLOCK, right)):
                first, last = down, lesser(down + BLOCK, bottom)
                if part == ABOVE:
                    last = lesser(last, j)
                elif part == BELOW:
                    first = greater(first, j + 1)
                row = target[j]
                for i in range(first, last):
                    row[i] = source[i, j]
