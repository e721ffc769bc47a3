"""Histograms of what is seen in each cell of a grid: local binary patterns, colours.

    patterns    of each pixel: which of `points` neighbours on a circle are at least as light. Patterns with at most two
                changes round the circle count by how many are light, all others together: points + 2 patterns
    colours     of each pixel: L*, a*, b* of CIELAB, each cut into as many levels; levels^3 boxes

F[a, b, k] is the share of the pixels of cell (a, b) with pattern or colour k.

Symbols: images (n, h, w, c) float32; features (n, 1, d, 1), d = cells^2 times the kinds.
References: Ojala, Pietikäinen and Mäenpää, IEEE PAMI 24 (2002): uniform patterns; Swain and Ballard, International
Journal of Computer Vision 7 (1991): colour histograms.
"""

import warnings

import numpy as np
from skimage.color import lab2rgb, rgb2lab
from skimage.feature import local_binary_pattern

LOW, HIGH = np.array([0.0, -100.0, -100.0]), np.array([100.0, 100.0, 100.0])  # of L*, a* and b* of almost all colours
BRIGHT = 2.0  # values above are no shares of full light: whole greys up to 255, say
TILE = 15  # pixels of a cell's drawing
PIECE = 256  # images worked on at a time


def patterns(images: np.ndarray, cells: float, points: float, radius: float) -> np.ndarray:
    """Features (n, 1, cells^2 (points + 2), 1) of images, the mean over channels of colour pictures. ValueError for
    cells that the images are too small for."""
    shape = patterns_shape(images.shape[1:], cells, points, radius)
    codes = np.empty(images.shape[:3], np.int64)
    for code, image in zip(codes, images, strict=True):
        # scaled to 16 bits: the interpolation on the circle compares with a rounding error otherwise
        grey = image.mean(axis=2, dtype=np.float64)
        span = max(float(np.ptp(grey)), 1e-30)
        grey = np.rint((grey - grey.min()) / span * 65535).astype(np.uint16)
        code[:] = local_binary_pattern(grey, int(points), radius, "uniform")
    return _histograms(codes, int(cells), int(points) + 2).reshape(len(images), *shape)


def patterns_shape(shape: tuple[int, ...], cells: float, points: float, radius: float) -> tuple[int, ...]:
    """(1, d, 1) of images (h, w, ...). ValueError for cells that they are too small for."""
    return 1, require_cells("patterns", shape, cells) * (int(points) + 2), 1


def patterns_shown(features: np.ndarray, shape, cells: float, points: float, radius: float) -> np.ndarray:
    """Drawings (n, cells T, cells (points + 2), 1): bars of the shares of each cell beside the picture's largest."""
    kinds, cells = int(points) + 2, int(cells)
    shares = features.reshape(len(features), cells, cells, kinds).clip(0)
    shares = shares / np.maximum(shares.max(axis=(1, 2, 3), keepdims=True), 1e-30)
    heights = np.arange(TILE, 0, -1)[:, None, None] - 0.5
    drawn = (shares[:, :, None] * (TILE - 1) > heights).astype(np.float32)  # (n, cells, T, cells, kinds)
    return drawn.reshape(len(features), cells * TILE, cells * kinds, 1)


def colours(images: np.ndarray, cells: float, levels: float) -> np.ndarray:
    """Features (n, 1, cells^2 levels^3, 1) of colour pictures with values from 0 to 1, others cut off. ValueError for
    pictures without three channels, for larger values, or cells that the images are too small for."""
    shape, levels = colours_shape(images.shape[1:], cells, levels), int(levels)
    if images.max(initial=0) > BRIGHT:
        raise ValueError(
            f"preprocessing step 'colours': values up to {images.max():g}; allowed: 0 to 1, with scale01 before it"
        )
    out = np.empty((len(images), *shape), np.float32)
    for start in range(0, len(images), PIECE):
        lab = rgb2lab(images[start : start + PIECE].clip(0, 1))
        at = np.clip((lab - LOW) / (HIGH - LOW) * levels, 0, levels - 1).astype(np.int64)
        codes = (at[..., 0] * levels + at[..., 1]) * levels + at[..., 2]
        out[start : start + PIECE] = _histograms(codes, int(cells), levels**3).reshape(len(codes), *shape)
    return out


def colours_shape(shape: tuple[int, ...], cells: float, levels: float) -> tuple[int, ...]:
    """(1, d, 1) of images (h, w, 3). ValueError for others, and for cells that they are too small for."""
    if len(shape) < 3 or shape[2] != 3:
        raise ValueError(
            f"preprocessing step 'colours': images of shape {' x '.join(map(str, shape))} have no three channels; "
            "allowed: colour pictures (height, width, 3), or gradients, patterns for grey ones"
        )
    return 1, require_cells("colours", shape, cells) * int(levels) ** 3, 1


def colours_shown(features: np.ndarray, shape, cells: float, levels: float) -> np.ndarray:
    """Drawings (n, cells T, cells T, 3): each cell in stripes of its colours, as wide as their shares."""
    levels, cells = int(levels), int(cells)
    shares = features.reshape(-1, levels**3).clip(0)
    ends = np.cumsum(shares, axis=1) / np.maximum(shares.sum(axis=1, keepdims=True), 1e-30)
    middle = (np.stack(np.unravel_index(np.arange(levels**3), (levels,) * 3), axis=-1) + 0.5) / levels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of colours that no screen has
        palette = lab2rgb(LOW + middle * (HIGH - LOW)).astype(np.float32)
    stripes = (np.arange(TILE) + 0.5) / TILE
    which = np.minimum((ends[:, None] < stripes[:, None]).sum(axis=2), levels**3 - 1)  # (n cells^2, T)
    drawn = palette[which].reshape(-1, cells, 1, cells, TILE, 3)
    return np.broadcast_to(drawn, (len(drawn), cells, TILE, cells, TILE, 3)).reshape(-1, cells * TILE, cells * TILE, 3)


def require_cells(step: str, shape: tuple[int, ...], cells: float, margin: int = 0) -> int:
    """The number of cells of a grid on images (h, w, ...); margin: pixels added on each side. ValueError where a side
    has more cells than pixels."""
    most = min(shape[:2]) + 2 * margin
    if cells > most:
        raise ValueError(
            f"preprocessing step '{step}': cells = {cells:g} per side, but the shorter side of images of {shape[0]} x "
            f"{shape[1]} has {most} pixel{'s' * (most != 1)}; allowed: cells of 1 to {most}"
        )
    return int(cells) ** 2


def bounds(side: int, cells: int) -> np.ndarray:
    """(cells + 1,) int64: the first pixel of each cell along a side, and the end of the last."""
    return np.rint(np.arange(cells + 1) * side / cells).astype(np.int64)


def _histograms(codes: np.ndarray, cells: int, kinds: int) -> np.ndarray:
    """Shares (n, cells, cells, kinds) float32 of codes (n, h, w) in each cell."""
    n, h, w = codes.shape
    out = np.empty((n, cells, cells, kinds), np.float32)
    rows, columns = bounds(h, cells), bounds(w, cells)
    for a, b in np.ndindex(cells, cells):
        cell = codes[:, rows[a] : rows[a + 1], columns[b] : columns[b + 1]]
        counted = np.bincount((cell + kinds * np.arange(n)[:, None, None]).ravel(), minlength=n * kinds)
        out[:, a, b] = counted.reshape(n, kinds) / cell[:1].size if n else 0
    return out
