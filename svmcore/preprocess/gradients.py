"""Histograms of gradient directions: how much ink changes, and which way, in each cell of a grid.

    (gy, gx)(p)      Sobel: differences of the neighbours, smoothed 1 2 1 across; or the differences alone
    m = |(gy, gx)|,  t = angle / turn * D mod D,    a turn of 360 degrees, or of 180 where opposite ways are one
    share_k(p)       max(0, 1 - |t - k|) round the circle: between the two nearest of D directions; or all to floor(t)
    F[a, b, k]       (sum_p G_a(y) G_b(x) m(p) share_k(p)) ^ power
    G_a(y)           exp(-(y - c_a)^2 / 2 s^2) over their sum,  c_a the middle of cell a, s = smoothing * its side;
                     with smoothing 0 the mean over the pixels of the cell
    blocks           every b x b cells side by side, divided by sqrt(|.|^2 + 1e-10); without blocks F as it is

Of several channels a pixel counts in the one with the largest m. A derivative is 0 where a neighbour is missing; a
margin of background round the picture (`upright.background`) shows what ends at its border.

With smoothing = 0, power = 1, signed = sobel = shared = margin = 0, sides that are multiples of `cells`, and blocks,
these are the numbers of scikit-image: hog(image, directions, (h / cells, w / cells), (b, b), block_norm="L2").

Symbols: images (n, h, w, c) float32; out (n, 1, d, 1), d = cells^2 D, or (cells - b + 1)^2 b^2 D with blocks.
References: Liu, Nakashima, Sako and Fujisawa, Pattern Recognition 36 (2003), 2271-2285: Sobel, shares of the nearest
directions, Gaussian cells, power 1/2. Dalal and Triggs, CVPR (2005): histograms of gradients and blocks.
"""

from typing import NamedTuple

import numpy as np

from svmcore._jit import inner, native
from svmcore.preprocess.textures import bounds, require_cells
from svmcore.preprocess.upright import background

PIECE = 1 << 19  # pixels that one native call works on: some 20 ms
PETAL = 1.2  # pixels of half a petal's width, its edge one pixel soft
DRAWN = 120  # pixels of a side of a drawing, about
FLAT = 1e-10  # added to the square of a block's length, as scikit-image does


class Grid(NamedTuple):
    """The fields of the step, in its order."""

    cells: float = 7
    directions: float = 8
    smoothing: float = 0.45
    power: float = 0.5
    block: float = 0
    margin: float = 0
    signed: float = 1
    sobel: float = 1
    shared: float = 1


def gradients(images: np.ndarray, *fields: float) -> np.ndarray:
    """Features (n, 1, d, 1) float32 of images (n, h, w, c); fields: those of `Grid`. ValueError for cells that the
    images are too small for."""
    grid, n = Grid(*fields), len(images)
    shape = feature_shape(images.shape[1:], *fields)
    cells, directions, block, margin = (int(v) for v in (grid.cells, grid.directions, grid.block, grid.margin))
    h, w = (side + 2 * margin for side in images.shape[1:3])
    across, down = _weights(w, cells, grid.smoothing), _weights(h, cells, grid.smoothing)
    out = np.empty((n, *shape), np.float32)
    turn, rows = 2 * np.pi if grid.signed else np.pi, np.empty((h, cells, directions))
    step = max(1, PIECE // (h * w))
    for start in range(0, n, step):
        part = np.ascontiguousarray(images[start : start + step], np.float32)
        part = _framed(part, margin) if margin else part
        made = np.empty((len(part), cells, cells, directions), np.float32)
        _histograms(part, down, across, bool(grid.sobel), bool(grid.shared), turn, rows, made)
        np.power(made, np.float32(grid.power), out=made)
        out[start : start + step] = (_blocks(made, block) if block else made).reshape(len(part), *shape)
    return out


def feature_shape(shape: tuple[int, ...], *fields: float) -> tuple[int, ...]:
    """(1, d, 1) of images (h, w, ...). ValueError for cells or blocks that do not fit."""
    grid = Grid(*fields)
    cells, block = int(grid.cells), int(grid.block)
    require_cells("gradients", shape, cells, int(grid.margin))
    if block > cells:
        raise ValueError(
            f"preprocessing step 'gradients': block = {block} cells per side, of a grid of {cells}; allowed: 0 (no "
            f"blocks) to {cells}"
        )
    blocks = (cells - block + 1) ** 2 * block**2 if block else cells**2
    return 1, blocks * int(grid.directions), 1


def histograms(features: np.ndarray, *fields: float) -> np.ndarray:
    """The grids (n, cells, cells, directions) that features (n, ...) are of; a cell of several blocks is their mean."""
    grid = Grid(*fields)
    cells, directions, block = int(grid.cells), int(grid.directions), int(grid.block)
    if not block:
        return features.reshape(-1, cells, cells, directions)
    side = cells - block + 1
    parts = features.reshape(-1, side, side, block, block, directions)
    total, times = np.zeros((len(parts), cells, cells, directions), np.float32), np.zeros((cells, cells, 1), np.float32)
    for dy, dx in np.ndindex(block, block):
        total[:, dy : dy + side, dx : dx + side] += parts[:, :, :, dy, dx]
        times[dy : dy + side, dx : dx + side] += 1
    return total / times


def roses(features: np.ndarray, shape: tuple[int, ...], *fields: float) -> np.ndarray:
    """Drawings (n, cells S, cells S, 1) float32 of features: in each cell a petal towards each direction in which the
    picture becomes lighter, as long as its value beside the largest of the picture."""
    grid = Grid(*fields)
    size = max(5, (DRAWN // int(grid.cells) - 1) | 1)  # odd: a petal begins in the middle
    values = histograms(features, *fields).clip(0)
    n, cells, _, directions = values.shape
    values = values / np.maximum(values.max(axis=(1, 2, 3), keepdims=True), 1e-30)
    lengths = values[:, :, None, :, None] * (size - 1) / 2  # (n, cells, 1, cells, 1, directions)
    drawn = np.zeros((n, cells, size, cells, size), np.float32)
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    for k in range(directions):
        angle = (k + (0 if grid.shared else 0.5)) / directions * (2 * np.pi if grid.signed else np.pi)
        along, beside = x * np.cos(angle) + y * np.sin(angle), np.abs(y * np.cos(angle) - x * np.sin(angle))
        along = along if grid.signed else np.abs(along)
        wide = ((along >= 0) * np.clip(PETAL - beside, 0, 1))[:, None]
        petal = np.clip(lengths[..., k] - along[:, None] + 0.5, 0, 1) * wide * (lengths[..., k] > 0)
        np.maximum(drawn, petal, out=drawn)
    return drawn.reshape(n, cells * size, cells * size, 1)


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
        ends = bounds(side, cells)
        weights = ((at >= ends[:-1]) & (at < ends[1:])).astype(float)
    return weights / weights.sum(axis=0)


def _blocks(cells: np.ndarray, block: int) -> np.ndarray:
    """(n, s, s, b, b, D), s = cells - b + 1: every block of cells (n, cells, cells, D), of length 1."""
    windows = np.lib.stride_tricks.sliding_window_view(cells, (block, block), axis=(1, 2))
    blocks = windows.transpose(0, 1, 2, 4, 5, 3).astype(np.float64)
    squares = np.square(blocks).sum(axis=(3, 4, 5), keepdims=True)
    return (blocks / np.sqrt(squares + FLAT)).astype(np.float32)


@inner()
def _slopes(image, y, x, k, sobel):  # (h, w, c) -> derivatives down and across at (y, x) of channel k
    h, w = image.shape[:2]
    down = across = 0.0
    for side in range(-1, 2):
        weight = 2.0 if side == 0 else 1.0
        if not sobel:
            weight = 1.0 if side == 0 else 0.0
        if 0 < y < h - 1:
            at = min(max(x + side, 0), w - 1)
            down += weight * (np.float64(image[y + 1, at, k]) - image[y - 1, at, k])
        if 0 < x < w - 1:
            at = min(max(y + side, 0), h - 1)
            across += weight * (np.float64(image[at, x + 1, k]) - image[at, x - 1, k])
    return down, across


@native()
def _histograms(images, down, across, sobel, shared, turn, rows, out):
    # (n, h, w, c), (h, cells), (w, cells), flags, radians, scratch (h, cells, D), (n, cells, cells, D)
    n, h, w, c = images.shape
    cells, D = out.shape[2:]
    for i in range(n):
        rows[:] = 0
        for y in range(h):
            for x in range(w):
                gy = gx = most = 0.0
                for k in range(c):
                    a, b = _slopes(images[i], y, x, k, sobel)
                    if a * a + b * b > most:
                        gy, gx, most = a, b, a * a + b * b
                if most > 0:
                    at = np.arctan2(gy, gx) / turn * D
                    low = np.floor(at)
                    size, part = np.sqrt(most), (at - low if shared else 0.0)
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
