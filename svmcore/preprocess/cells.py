"""Histograms in the cells of a grid: of gradient directions, of local binary patterns, of colours.

Gradients: how much ink changes, and which way.

    (gy, gx)(p)      Sobel: differences of the neighbours, smoothed 1 2 1 across; or the differences alone
    m = |(gy, gx)|,  t = angle / turn * D mod D,    a turn of 360 degrees, or of 180 where opposite ways are one
    share_k(p)       max(0, 1 - |t - k|) round the circle: between the two nearest of D directions; or all to floor(t)
    F[a, b, k]       (sum_p G_a(y) G_b(x) m(p) share_k(p)) ^ power
    G_a(y)           exp(-(y - c_a)^2 / 2 s^2) over their sum,  c_a the middle of cell a, s = smoothing * its side;
                     with smoothing 0 the mean over the pixels of the cell
    blocks           every b x b cells side by side, divided by sqrt(|.|^2 + 1e-10); without blocks F as it is

Of several channels a pixel counts in the one with the largest m. A derivative is 0 where a neighbour is missing; a
margin of background round the picture (`upright.background`) shows what ends at its border. With smoothing = 0,
power = 1, signed = sobel = shared = margin = 0, sides that are multiples of `cells`, and blocks, these are the numbers
of scikit-image: hog(image, directions, (h / cells, w / cells), (b, b), block_norm="L2").

Patterns and colours: F[a, b, k] is the share of the pixels of cell (a, b) with pattern or colour k.

    patterns    of each pixel: which of `points` neighbours on a circle are at least as light. Patterns with at most two
                changes round the circle count by how many are light, all others together: K = points + 2
    colours     of each pixel: L*, a*, b* of CIELAB, each cut into as many levels: K = levels^3 boxes

Symbols: images (n, h, w, c) float32; F (n, cells, cells, K) float32, K = D for gradients; features (n, 1, d, 1),
d = cells^2 K, or (cells - b + 1)^2 b^2 D with blocks.
References: Liu, Nakashima, Sako and Fujisawa, Pattern Recognition 36 (2003), 2271-2285: Sobel, shares of the nearest
directions, Gaussian cells, power 1/2. Dalal and Triggs, CVPR (2005): histograms of gradients and blocks. Ojala,
Pietikäinen and Mäenpää, IEEE PAMI 24 (2002): uniform patterns. Swain and Ballard, International Journal of Computer
Vision 7 (1991): colour histograms.
"""

import math
import warnings
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
from skimage.color import lab2rgb, rgb2lab
from skimage.feature import local_binary_pattern

from svmcore._jit import native
from svmcore.preprocess.sliding import cut, sliding, slope
from svmcore.preprocess.upright import background

PIECE = 1 << 19  # pixels that are worked on at a time: some 20 ms of gradients
DRAWN = 120  # pixels of a side of a drawing of gradients, about
PETAL = 1.2  # pixels of half a petal's width, its edge one pixel soft
TILE = 15  # pixels of a side of another cell's drawing
FLAT = 1e-10  # added to the square of a block's length, as scikit-image does
LOW, HIGH = np.array([0.0, -100.0, -100.0]), np.array([100.0, 100.0, 100.0])  # of L*, a* and b* of almost all colours
BRIGHT = 2.0  # values above are no shares of full light: whole greys up to 255, say


class Cells(SimpleNamespace):
    """A grid of cells on a picture and the numbers of one kind of histogram: attributes by the names of the step's
    parameters.

    A kind has a `name`, `kinds` K, `count(images)` -> F, and `draw(F)` -> (n, H, W, c) float32, for looking at.
    """

    margin = block = 0

    def features(self, images: np.ndarray) -> np.ndarray:
        """(n, 1, d, 1) float32 of images. ValueError for images that the cells do not fit."""
        shape = self.shape(images.shape[1:])
        out = np.empty((len(images), *shape), np.float32)
        step = max(1, PIECE // images[:1, :, :, 0].size) if len(images) else 1
        for start in range(0, len(images), step):
            out[start : start + step] = self.finished(self.count(images[start : start + step]))
        return out

    def windows(self, level: np.ndarray, side: int, run: Callable) -> Callable:
        """Features (n, 1, d, 1) float32 of the windows of side x side pixels of a level (h, w) uint8 of a picture, as a
        function of their corners ys, xs (n,). run(kernel, calls): calls it with each of several arguments."""
        return lambda ys, xs: self.features(cut(level, ys, xs, side)[..., None].astype(np.float32))

    def finished(self, F: np.ndarray) -> np.ndarray:
        """The features (n, 1, d, 1) of histograms F."""
        made = _blocks(F, self.block) if self.block else F
        return made.reshape(len(F), 1, math.prod(made.shape[1:]), 1)

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """(1, d, 1) of images (h, w, ...). ValueError for cells or blocks that do not fit."""
        cells, block = self.cells, self.block or 1
        if cells > (most := min(shape[:2]) + 2 * self.margin):
            raise ValueError(
                f"preprocessing step '{self.name}': cells = {cells} per side, but the shorter side of images of "
                f"{shape[0]} x {shape[1]} has {most} pixel{'s' * (most != 1)}; allowed: cells of 1 to {most}"
            )
        if block > cells:
            raise ValueError(
                f"preprocessing step '{self.name}': block = {block} cells per side, but the grid has {cells}; allowed: "
                f"0 (no blocks) to {cells}"
            )
        return 1, (cells - block + 1) ** 2 * block**2 * self.kinds, 1

    def drawings(self, features: np.ndarray) -> np.ndarray:
        """(n, H, W, c) float32 of features (n, ...); a cell of several blocks is their mean."""
        block, shape = self.block or 1, (self.cells, self.cells, self.kinds)
        side = self.cells - block + 1
        parts = features.reshape(-1, side, side, block, block, self.kinds)
        F, times = np.zeros((len(parts), *shape), np.float32), np.zeros(shape, np.float32)
        for dy, dx in np.ndindex(block, block):
            F[:, dy : dy + side, dx : dx + side] += parts[:, :, :, dy, dx]
            times[dy : dy + side, dx : dx + side] += 1
        return self.draw((F / times).clip(0))


class Gradients(Cells):
    name = "gradients"
    kinds = property(lambda self: self.directions)
    turn = property(lambda self: 2 * np.pi if self.signed else np.pi)  # radians until directions repeat

    def count(self, images: np.ndarray) -> np.ndarray:
        cells, margin = self.cells, self.margin
        images = np.ascontiguousarray(images, np.float32)
        images = _framed(images, margin) if margin else images
        n, h, w = images.shape[:3]
        across, down = (_weights(side, cells, self.smoothing) for side in (w, h))
        F, rows = np.empty((n, cells, cells, self.kinds), np.float32), np.empty((h, cells, self.kinds))
        _gradients(images, down, across, bool(self.sobel), bool(self.shared), self.turn, rows, F)
        return self._raised(F)

    def windows(self, level: np.ndarray, side: int, run: Callable) -> Callable:
        """What does not depend on a window is computed once, for the level: see sliding.py. A margin is of the window's
        own background, so that nothing is shared."""
        if self.margin or side < 3:
            return super().windows(level, side, run)
        how = {name: getattr(self, name) for name in ("sobel", "shared", "turn", "directions")}
        sums = sliding(level, _weights(side, self.cells, self.smoothing), run=run, **how)
        return lambda ys, xs: self.finished(self._raised(sums(ys, xs)))

    def _raised(self, F: np.ndarray) -> np.ndarray:
        """F to the power, in its place; by the square root, which is several times as fast, where it is one half."""
        return np.sqrt(F, out=F) if self.power == 0.5 else np.power(F, np.float32(self.power), out=F)

    def draw(self, F: np.ndarray) -> np.ndarray:
        """In each cell a petal towards each direction of rising brightness, relative to the picture's largest."""
        n, cells, _, directions = F.shape
        size = max(5, (DRAWN // cells - 1) | 1)  # odd: a petal begins in the middle
        lengths = _beside_largest(F)[:, :, None, :, None] * (size - 1) / 2  # (n, cells, 1, cells, 1, directions)
        drawn = np.zeros((n, cells, size, cells, size), np.float32)
        y, x = np.mgrid[:size, :size] - (size - 1) / 2
        for k in range(directions):
            angle = (k + (0 if self.shared else 0.5)) / directions * self.turn
            along, beside = x * np.cos(angle) + y * np.sin(angle), np.abs(y * np.cos(angle) - x * np.sin(angle))
            along = along if self.signed else np.abs(along)
            wide = ((along >= 0) * np.clip(PETAL - beside, 0, 1))[:, None]
            petal = np.clip(lengths[..., k] - along[:, None] + 0.5, 0, 1) * wide * (lengths[..., k] > 0)
            np.maximum(drawn, petal, out=drawn)
        return drawn.reshape(n, cells * size, cells * size, 1)


class Patterns(Cells):
    name = "patterns"
    kinds = property(lambda self: self.points + 2)

    def count(self, images: np.ndarray) -> np.ndarray:
        """Of colour pictures the mean over channels."""
        codes = np.empty(images.shape[:3], np.int64)
        for code, image in zip(codes, images, strict=True):
            # scaled to 16 bits: the interpolation on the circle compares with a rounding error otherwise
            grey = image.mean(axis=2, dtype=np.float64)
            span = max(float(np.ptp(grey)), 1e-30)
            grey = np.rint((grey - grey.min()) / span * 65535).astype(np.uint16)
            code[:] = local_binary_pattern(grey, self.points, self.radius, "uniform")
        return _shares(codes, self.cells, self.kinds)

    def draw(self, F: np.ndarray) -> np.ndarray:
        """Bars of the shares of each cell beside the picture's largest."""
        n, cells, _, kinds = F.shape
        heights = np.arange(TILE, 0, -1)[:, None, None] - 0.5
        drawn = _beside_largest(F)[:, :, None] * (TILE - 1) > heights  # (n, cells, T, cells, K)
        return drawn.astype(np.float32).reshape(n, cells * TILE, cells * kinds, 1)


class Colours(Cells):
    name = "colours"
    kinds = property(lambda self: self.levels**3)

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """As of all kinds. ValueError for images without three channels, too."""
        if len(shape) < 3 or shape[2] != 3:
            raise ValueError(
                f"preprocessing step 'colours': images of shape {' x '.join(map(str, shape))} do not have three "
                "channels; allowed: colour pictures (height, width, 3); use gradients or patterns for grey pictures"
            )
        return super().shape(shape)

    def count(self, images: np.ndarray) -> np.ndarray:
        """Of values from 0 to 1, others cut off. ValueError for much larger ones."""
        if images.max(initial=0) > BRIGHT:
            raise ValueError(
                f"preprocessing step 'colours': values up to {images.max():g}; allowed: 0 to 1, with scale01 before it"
            )
        lab, levels = rgb2lab(images.clip(0, 1)), self.levels
        at = np.clip((lab - LOW) / (HIGH - LOW) * levels, 0, levels - 1).astype(np.int64)
        return _shares((at[..., 0] * levels + at[..., 1]) * levels + at[..., 2], self.cells, self.kinds)

    def draw(self, F: np.ndarray) -> np.ndarray:
        """Each cell in stripes of its colours, as wide as their shares."""
        (n, cells, _, kinds), levels = F.shape, self.levels
        ends = np.cumsum(F, axis=3) / np.maximum(F.sum(axis=3, keepdims=True), 1e-30)
        middle = (np.stack(np.unravel_index(np.arange(kinds), (levels,) * 3), axis=-1) + 0.5) / levels
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of colours that no screen has
            palette = lab2rgb(LOW + middle * (HIGH - LOW)).astype(np.float32)
        stripes = (np.arange(TILE) + 0.5) / TILE
        which = np.minimum((ends[:, :, :, None] < stripes[:, None]).sum(axis=4), kinds - 1)  # (n, cells, cells, T)
        return np.repeat(palette[which].reshape(n, cells, cells * TILE, 3), TILE, axis=1)


def _beside_largest(F: np.ndarray) -> np.ndarray:
    """F as shares of each picture's largest."""
    return F / np.maximum(F.max(axis=(1, 2, 3), keepdims=True), 1e-30)


def _bounds(side: int, cells: int) -> np.ndarray:
    """(cells + 1,) int64: the first pixel of each cell along a side, and the end of the last."""
    return np.rint(np.arange(cells + 1) * side / cells).astype(np.int64)


def _shares(codes: np.ndarray, cells: int, kinds: int) -> np.ndarray:
    """F of codes (n, h, w) from 0 to kinds - 1: their shares in each cell."""
    n, h, w = codes.shape
    F = np.empty((n, cells, cells, kinds), np.float32)
    rows, columns = _bounds(h, cells), _bounds(w, cells)
    for a, b in np.ndindex(cells, cells):
        cell = codes[:, rows[a] : rows[a + 1], columns[b] : columns[b + 1]]
        counted = np.bincount((cell + kinds * np.arange(n)[:, None, None]).ravel(), minlength=n * kinds)
        F[:, a, b] = counted.reshape(n, kinds) / cell[0].size
    return F


def _framed(images: np.ndarray, margin: int) -> np.ndarray:
    """Images with a margin of their background on each side; margin: its pixels."""
    n, h, w, c = images.shape
    out = np.empty((n, h + 2 * margin, w + 2 * margin, c), np.float32)
    out[:] = background(images)[:, None, None]
    out[:, margin:-margin, margin:-margin] = images
    return out


def _weights(side: int, cells: int, smoothing: float) -> np.ndarray:
    """G (side, cells) float64: of each pixel in each cell along one side."""
    width, at = side / cells, np.arange(side)[:, None]
    if smoothing:
        middle = (np.arange(cells) + 0.5) * width - 0.5
        weights = np.exp(-((at - middle) ** 2) / (2 * (smoothing * width) ** 2))
    else:
        ends = _bounds(side, cells)
        weights = ((at >= ends[:-1]) & (at < ends[1:])).astype(float)
    return weights / weights.sum(axis=0)


def _blocks(F: np.ndarray, block: int) -> np.ndarray:
    """(n, s, s, b, b, D), s = cells - b + 1: every block of F, of length 1."""
    windows = np.lib.stride_tricks.sliding_window_view(F, (block, block), axis=(1, 2))
    blocks = windows.transpose(0, 1, 2, 4, 5, 3).astype(np.float64)
    squares = np.square(blocks).sum(axis=(3, 4, 5), keepdims=True)
    return (blocks / np.sqrt(squares + FLAT)).astype(np.float32)


@native()
def _gradients(images, down, across, sobel, shared, turn, rows, out):
    # (n, h, w, c), (h, cells), (w, cells), flags, radians, scratch (h, cells, D), (n, cells, cells, D)
    n, h, w, _ = images.shape
    cells, D = out.shape[2:]
    for i in range(n):
        rows[:] = 0
        for y in range(h):
            for x in range(w):
                size, at = slope(images[i], y, x, sobel, shared, turn, D)
                if size > 0:
                    low = np.floor(at)
                    part = at - low
                    first = int(low) % D
                    second = (first + 1) % D
                    for g in range(cells):
                        weight = across[x, g] * size
                        rows[y, g, first] += weight * (1 - part)
                        rows[y, g, second] += weight * part
        for a in range(cells):
            for b in range(cells):
                for k in range(D):
                    total = 0.0
                    for y in range(h):
                        total += down[y, a] * rows[y, b, k]
                    out[i, a, b, k] = total
