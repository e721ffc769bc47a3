"""The Gram matrix of shifted images, computed and stored by relative shift only.

    K[(a, u), (b, v)] = k(<T_a R_r u, T_b R_s v>) = blocks[r, s, t_b - t_a][u, v]

u, v are n0 images, example (a, u) = a n0 + u is form a of image u: first the transformation R_r, r = index[a], then the
translation T_a by offsets[a]. On a canvas that no ink leaves, shifting both images changes no inner product, so that
only b - a counts: the 3 x 3 shifts of n0 images make 81 n0 x n0 products, 25 of them different, 13 up to transposition.
Nothing is expanded: a row of K is J segments (smo.py). Norms do not change with a shift either, so that images are
normalised before it.

No larger canvas is stored: u stands unshifted within its frame, so that what a relative shift moves out of the frame of
T v is multiplied with zeros. What differs from shifting within the frame is that clipped images would be renormalised:
1.4 % of MNIST's digits have ink on the rim. After DeCoste and Schölkopf (2002), section 5.1.1.
"""

import math
from itertools import groupby

import numpy as np

from svmcore.gram.moves import transpose_into
from svmcore.gram.products import Operand
from svmcore.gram.sources import Gram, Work, steps
from svmcore.gram.threads import CORES, side_by_side
from svmcore.kernels import Kernel, squared_norms


class Orbit(Gram):
    """bases (R, n0, d) float32: images after each R_r, normalised; image_shape (h, w) or (h, w, c), d = h w [c]; index
    (J,) which base a form begins with, offsets (J, 2) its translation (dy, dx). The kernel is a function of inner
    products and norms. `memory`: where the blocks lie, float32, at least `block_bytes`; new memory where None is given.
    """

    whole = double = True

    def __init__(self, bases, image_shape, index, offsets, kernel: Kernel, work: Work, memory=None):
        self.bases, self.image_shape, self.kernel = bases, tuple(image_shape), kernel
        self.index, self.offsets = np.asarray(index), np.asarray(offsets)
        self.n0 = bases.shape[1]
        self.n = len(self.index) * self.n0
        keys, self.which = relative(self.index, self.offsets)
        norms = np.array([squared_norms(base) for base in bases])
        shape = len(keys), self.n0, self.n0
        self.blocks = np.empty(shape, np.float32) if memory is None else memory[: math.prod(shape)].reshape(shape)
        number = {key: i for i, key in enumerate(keys)}
        mirror = [number[s, r, -dy, -dx] for r, s, dy, dx in keys]
        halves = [(s, dy, dx, r, i) for (r, s, dy, dx), i in number.items() if r > s or (r == s and mirror[i] >= i)]
        for (s, dy, dx), group in groupby(sorted(halves), key=lambda half: half[:3]):
            operand = Operand(shifted(bases[s], self.image_shape, dy, dx))
            operand.sq = norms[s]
            for *_, r, i in group:
                block = self.blocks[i]
                self._fill(block, bases[r], norms[r], operand, mirror[i] == i, work)
                transpose_into(block if mirror[i] == i else self.blocks[mirror[i]], block)
        self.diag = np.concatenate([kernel.diag(bases[r]) for r in self.index])

    def rows(self, idx, work):
        idx = np.asarray(idx)
        out = np.empty((len(idx), self.n), np.float32)
        for row, i in zip(out, idx, strict=True):
            a, u = divmod(int(i), self.n0)
            row[:] = self.blocks[self.which[a], u].ravel()
        work.count(hits=len(idx))
        return out

    def exact_sums(self, idx, cols, coef, work):
        """Form b by form b of the columns: (a, u) against (b, v) is u shifted by t_a - t_b against v, in float64."""
        idx, cols = np.asarray(idx), np.asarray(cols)
        sums, (column_forms, column_images) = np.zeros(len(idx)), np.divmod(cols, self.n0)
        for part in steps(np.arange(len(idx))):
            for b in np.unique(column_forms):
                U, su = self._shifted_back(idx[part], self.offsets[b])
                base, of_b = self.bases[self.index[b]], np.flatnonzero(column_forms == b)

                def add(some, out, U=U, su=su, base=base):
                    V = base[column_images[some]].astype(np.float64)
                    out[:] = self.kernel.value(U @ V.T, su[:, None], squared_norms(V)) @ coef[some]

                calls = [(some, np.empty(len(part))) for some in steps(of_b)]
                for few in (calls[at : at + CORES] for at in range(0, len(calls), CORES)):
                    work.check()
                    side_by_side(add, few)
                sums[part] += sum(out for _, out in calls)
        work.count(evaluations=len(idx) * len(cols))
        return sums

    def _shifted_back(self, idx, offset) -> tuple[np.ndarray, np.ndarray]:
        """The examples idx as they lie relative to a form that is moved by `offset`: (m, d) float64, and |u|^2 (m,)."""
        forms, images = np.divmod(idx, self.n0)
        U, su = np.empty((len(idx), self.bases.shape[2])), np.empty(len(idx))
        for a in np.unique(forms):
            rows = np.flatnonzero(forms == a)
            own = self.bases[self.index[a]][images[rows]].astype(np.float64)
            U[rows], su[rows] = shifted(own, self.image_shape, *(self.offsets[a] - offset)), squared_norms(own)
        return U, su

    def _fill(self, block, A, sq, operand, own_mirror, work) -> None:
        """K of A's images with the operand's; right of the block diagonal only where the block is symmetric."""
        for part in steps(np.arange(self.n0)):
            work.check()
            rows = slice(part[0], part[-1] + 1)
            cols = slice(part[0] if own_mirror else 0, self.n0)
            operand.product(A[rows], sq[rows], self.kernel, cols, block[rows, cols])
            work.count(evaluations=len(part) * (cols.stop - cols.start))


def relative(index, offsets) -> tuple[list[tuple[int, int, int, int]], np.ndarray]:
    """The distinct (r, s, dy, dx) among all pairs of forms, and their number for each pair: (J, J) int64."""
    J = len(index)
    pairs = [(a, b) for a in range(J) for b in range(J)]
    keys = [(int(index[a]), int(index[b]), *(int(o) for o in offsets[b] - offsets[a])) for a, b in pairs]
    distinct = sorted(set(keys))
    number = {key: i for i, key in enumerate(distinct)}
    return distinct, np.array([number[key] for key in keys]).reshape(J, J)


def block_bytes(n0: int, index, offsets) -> int:
    """Memory that the blocks of an Orbit take."""
    return 4 * n0 * n0 * len(relative(np.asarray(index), np.asarray(offsets))[0])


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
