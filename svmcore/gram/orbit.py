"""The Gram matrix of shifted images, computed and stored by relative shift only.

    K[(a, u), (b, v)] = k(<T_a R_r u, T_b R_s v>) = blocks[r, s, t_b - t_a][u, v]

u, v are n0 images, example (a, u) = a n0 + u is form a of image u: first the transformation R_r, r = index[a], then the
translation T_a by offsets[a]. Where no ink leaves the frame, shifting both images changes no inner product, so that
only b - a counts: the 3 x 3 shifts of n0 images make 81 n0 x n0 products, 25 of them different, 13 up to transposition.
Nothing is expanded: a row of K is J segments (smo.py). After DeCoste and Schölkopf (2002), section 5.1.1.

This holds for forms that are, as the kernel sees them, their base moved (`moved`). Of 1.4 % of MNIST's digits a shift
clips ink on the rim, and what is left is normalised to another image. Such a form follows the others as an example with
a row of its own (`rest`), so that K there is that of the examples as they are; its place among the others is not to be
used, by a box of C = 0.
"""

import math
from itertools import groupby

import numpy as np

from svmcore.gram.moves import transpose_into
from svmcore.gram.products import Operand
from svmcore.gram.sources import Streamed, Work, steps
from svmcore.kernels import Kernel, squared_norms

SAME = 1e-6  # times the largest value of an image, a difference that rounding makes


class Orbit(Streamed):
    """bases (R, n0, d) float32: images after each R_r, as the kernel sees them; image_shape (h, w) or (h, w, c),
    d = h w [c]; index (J,) which base a form begins with, offsets (J, 2) its translation (dy, dx); others (r, d)
    float32: the examples behind these forms. The kernel is a function of inner products and norms. `memory`: where K
    lies, float32, at least `block_bytes`; new memory where None is given.
    """

    def __init__(self, bases, image_shape, index, offsets, kernel: Kernel, work: Work, memory=None, others=None):
        n0, r = bases.shape[1], 0 if others is None else len(others)
        inside = len(index) * n0
        X = np.empty((inside + r, bases.shape[2]), np.float32)
        for a, (base, offset) in enumerate(zip(index, offsets, strict=True)):
            X[a * n0 : (a + 1) * n0] = shifted(bases[base], image_shape, *offset)
        X[inside:] = others if r else 0
        super().__init__(Operand(X, "dense"), kernel, whole=True)
        keys, self.which = relative(index, offsets)
        shapes = (len(keys), n0, n0), (r, self.n), (self.n, r)
        sizes = [math.prod(shape) for shape in shapes]
        memory = np.empty(sum(sizes), np.float32) if memory is None else memory
        parts = np.split(memory[: sum(sizes)], np.cumsum(sizes[:-1]))
        self.blocks, rows, columns = (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
        self.rest = rows, columns
        self._fill_blocks(keys, bases, image_shape, work)
        for part in steps(np.arange(r)):
            work.check()
            rows[part] = super().rows(inside + part, work)
        transpose_into(columns, rows)

    def _fill_blocks(self, keys, bases, image_shape, work) -> None:
        """The blocks of these relative shifts; one half is computed, the other one transposed."""
        norms = np.array([squared_norms(base) for base in bases])
        number = {key: i for i, key in enumerate(keys)}
        mirror = [number[s, r, -dy, -dx] for r, s, dy, dx in keys]
        halves = [(s, dy, dx, r, i) for (r, s, dy, dx), i in number.items() if r > s or (r == s and mirror[i] >= i)]
        for (s, dy, dx), group in groupby(sorted(halves), key=lambda half: half[:3]):
            operand = Operand(shifted(bases[s], image_shape, dy, dx))
            operand.sq = norms[s]
            for *_, r, i in group:
                block = self.blocks[i]
                self._fill(block, bases[r], norms[r], operand, mirror[i] == i, work)
                transpose_into(block if mirror[i] == i else self.blocks[mirror[i]], block)

    def rows(self, idx, work):
        idx, n0 = np.asarray(idx), self.blocks.shape[1]
        rows, columns = self.rest
        inside, out = self.n - len(rows), np.empty((len(idx), self.n), np.float32)
        for row, i in zip(out, idx, strict=True):
            if i >= inside:
                row[:] = rows[i - inside]
                continue
            a, u = divmod(int(i), n0)
            row[:inside], row[inside:] = self.blocks[self.which[a], u].ravel(), columns[i]
        work.count(hits=len(idx))
        return out

    def _fill(self, block, A, sq, operand, own_mirror, work) -> None:
        """K of A's images with the operand's; right of the block diagonal only where the block is symmetric."""
        for part in steps(np.arange(len(A))):
            work.check()
            rows = slice(part[0], part[-1] + 1)
            cols = slice(part[0] if own_mirror else 0, len(A))
            operand.product(A[rows], sq[rows], self.kernel, cols, block[rows, cols])
            work.count(evaluations=len(part) * (cols.stop - cols.start))


def relative(index, offsets) -> tuple[list[tuple[int, int, int, int]], np.ndarray]:
    """The distinct (r, s, dy, dx) among all pairs of forms, and their number for each pair: (J, J) int64."""
    J, offsets = len(index), np.asarray(offsets)
    pairs = [(a, b) for a in range(J) for b in range(J)]
    keys = [(int(index[a]), int(index[b]), *(int(o) for o in offsets[b] - offsets[a])) for a, b in pairs]
    distinct = sorted(set(keys))
    number = {key: i for i, key in enumerate(distinct)}
    return distinct, np.array([number[key] for key in keys]).reshape(J, J)


def block_bytes(n0: int, index, offsets, rest: int = 0) -> int:
    """Bytes of an Orbit's kernel values; rest: how many of its examples are in no block."""
    n = n0 * len(index) + rest
    return 4 * (n0 * n0 * len(relative(index, offsets)[0]) + 2 * rest * n)


def moved(forms, bases, image_shape, index, offsets) -> np.ndarray:
    """A mask (J, n0) of the forms (J, n0, d) that are their bases (R, n0, d) moved, with no ink clipped."""
    same = np.empty(forms.shape[:2], bool)
    for a, (form, r, offset) in enumerate(zip(forms, index, offsets, strict=True)):
        expected = shifted(bases[r], image_shape, *offset)
        same[a] = np.count_nonzero(expected, axis=1) == np.count_nonzero(bases[r], axis=1)
        same[a] &= abs(form - expected).max(axis=1, initial=0) <= SAME * abs(form).max(axis=1, initial=0)
    return same


def shifted(X, image_shape, dy: int, dx: int) -> np.ndarray:
    """Images X (n, d) moved down by dy and right by dx pixels over a background of 0, cropped to their frame."""
    h, w = image_shape[:2]
    images = X.reshape(len(X), h, w, math.prod(image_shape[2:]))
    out = np.zeros_like(images)
    if abs(dy) < h and abs(dx) < w:
        to = [slice(max(s, 0), size + min(s, 0)) for s, size in ((dy, h), (dx, w))]
        of = [slice(max(-s, 0), size + min(-s, 0)) for s, size in ((dy, h), (dx, w))]
        out[:, to[0], to[1]] = images[:, of[0], of[1]]
    return out.reshape(X.shape)
