"""A quick look that settles most windows: a small machine on block averages that lets nearly all objects pass.

    features    means of the g x g blocks of b x b pixels in the middle of a window, g = side // b, less the plane that
                fits them best, at unit length
    passes      f(features) >= threshold,    f a machine of degree 2, as its quadratic form

The machine is fitted to every other chip, and the threshold is the value that at most a stated share of the objects
among the rest stay below; all forms of a chip go with it. b = 3 takes 36 numbers where the large machine takes 283.

References: Osuna, Freund and Girosi, MIT AI memo 1602 (1997), section 4 (the cost of a decision);
Rowley, Baluja and Kanade, PAMI 20 (1998) (a quick first network).
"""

from dataclasses import dataclass

import numpy as np

from svmcore._jit import native
from svmcore.allowed import require
from svmcore.detection.quadratic import Quadratic, quadratic
from svmcore.kernels import Poly
from svmcore.preprocess.window import FLAT
from svmcore.svc import SVC


@dataclass(frozen=True, eq=False)
class Discard:
    """The quick look at windows of side x side pixels: which pass."""

    side: int
    block: int
    form: Quadratic
    threshold: float
    lost: float  # share of the held-out objects that do not pass

    def passes(self, averaged: np.ndarray, ys: np.ndarray, xs: np.ndarray) -> np.ndarray:
        """(n,) bool: the windows with corners (ys, xs) that need a second look; `averaged`: the level's block means."""
        return self.form.values(_features(averaged, ys, xs, self.side, self.block)) >= self.threshold


def fit_discard(chips, y, *, parent=None, block: int = 3, lost: float = 0.005, C: float = 1.0, monitor=None) -> Discard:
    """The quick look for objects y > 0 among chips (n, side, side) uint8, that loses at most the share `lost` of the
    objects that it was not fitted to.

    parent (n,): the row that a chip is a form of, its own for a chip as it came; without it all are as they came.
    ValueError for chips that are not square, or smaller than two blocks, or a share that is none.
    """
    chips, y = np.asarray(chips), np.asarray(y)
    side = chips.shape[-1]
    if chips.ndim != 3 or chips.shape[1] != side or side < 2 * block:
        raise ValueError(f"chips: shape {chips.shape}; allowed: (n, side, side) with a side of at least {2 * block}")
    require(0 <= lost < 1, "lost", lost, "a fraction from 0 to below 1")
    tall = np.ascontiguousarray(chips.reshape(-1, side))
    corners = side * np.arange(len(chips))
    X = _features(averages(tall, block), corners, np.zeros_like(corners), side, block)
    parent = np.arange(len(y)) if parent is None else np.asarray(parent)
    own = np.flatnonzero(parent == np.arange(len(y)))
    ranked = own[np.argsort(y[own] > 0, kind="stable")]  # every other one of each class
    held_out = np.isin(parent, ranked[1::2])
    svc = SVC(Poly(2, 1.0, 1.0), C=C, class_weight="balanced").fit(X[~held_out], y[~held_out] > 0, monitor=monitor)
    form = quadratic(svc.machine_)
    f = np.sort(form.values(X[held_out & (y > 0)]))
    below = int(lost * len(f))
    threshold = float(f[below]) if len(f) else -np.inf
    return Discard(side, block, form, threshold, float(np.mean(f < threshold)) if len(f) else 0.0)


def averages(level: np.ndarray, block: int) -> np.ndarray:
    """Means of all blocks of block x block pixels of (h, w) uint8: (h - block + 1, w - block + 1) float32."""
    out = np.empty((level.shape[0] - block + 1, level.shape[1] - block + 1), np.float32)
    _average(level, block, out)
    return out


def _features(averaged, ys, xs, side: int, block: int) -> np.ndarray:
    g = side // block
    out = np.empty((len(ys), g * g), np.float32)
    _block_features(averaged, ys, xs, block, (side - g * block) // 2, g, out)
    return out


@native()
def _average(level, block, out):  # (h, w) uint8, b, (h - b + 1, w - b + 1) float32
    h, w = out.shape
    scale = np.float32(1 / (block * block))
    sums = np.empty(level.shape[1], np.int64)
    for y in range(h):
        sums[:] = 0
        for k in range(block):
            row = level[y + k]
            for x in range(len(sums)):
                sums[x] += row[x]
        for x in range(w):
            total = 0
            for k in range(block):
                total += sums[x + k]
            out[y, x] = np.float32(total) * scale


@native(fastmath={"reassoc", "contract"})
def _block_features(
    averaged, ys, xs, block, margin, g, out
):  # (h', w'), (n,), (n,), b, pixels left of the blocks, g, (n, g g)
    centre = np.float32((g - 1) / 2)
    moment = np.float32(g * g * (g * g - 1) / 12)  # sum of (x - x0)^2 over the grid
    for i in range(len(ys)):
        row = out[i]
        plain = along = down = most = np.float32(0)
        for a in range(g):
            for b in range(g):
                v = averaged[ys[i] + margin + block * a, xs[i] + margin + block * b]
                row[a * g + b] = v
                plain += v
                down += v * (np.float32(a) - centre)
                along += v * (np.float32(b) - centre)
                most = max(most, v)
        mean, dy, dx = plain / np.float32(g * g), down / moment, along / moment
        square = np.float32(0)
        for a in range(g):
            for b in range(g):
                row[a * g + b] -= mean + dy * (np.float32(a) - centre) + dx * (np.float32(b) - centre)
                square += row[a * g + b] ** 2
        length = np.sqrt(square)
        if length > np.float32(FLAT * 10) * most:
            row /= length
        else:
            row[:] = 0
