"""A picture at every scale: what a window of one size is moved over to find objects of many sizes.

    scale of level k    s_k = step^k / enlarge      a pixel of level k covers s_k x s_k pixels of the picture

down to the level that a window of `side` pixels still fits into. Each level is made from the picture itself, by linear
interpolation where it enlarges and by averaging with a triangle s_k pixels wide to each side where it shrinks.

Reference: Osuna, Freund and Girosi, MIT AI memo 1602 (1997), section 4 (rescaling).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from svmcore._jit import native
from svmcore.allowed import require


class Level(NamedTuple):
    """One scale of a picture; a window at (y, x) of its image covers the picture from (y dy, x dx) on."""

    image: np.ndarray  # (h, w) uint8
    dy: float  # pixels of the picture for one of the level's, downwards
    dx: float


def pyramid(picture: np.ndarray, *, side: int, step: float = 1.2, enlarge: float = 1.25) -> Iterator[Level]:
    """The levels of a picture (h, w) uint8, largest first; none where it is too small for a window of `side` pixels.

    ValueError for a picture of another type or shape, a step that is not above 1, or an enlargement not above 0.
    """
    picture = np.asarray(picture)
    if picture.ndim != 2 or picture.dtype != np.uint8:
        raise ValueError(
            f"picture: {picture.dtype} of shape {picture.shape}; allowed: grey values, uint8 (height, width)"
        )
    require(step > 1, "step", step, "a number above 1, such as 1.2")
    require(enlarge > 0, "enlarge", enlarge, "a number above 0, such as 1.25")
    for shape in level_shapes(picture.shape, side=side, step=step, enlarge=enlarge):
        yield resized(picture, shape)


def level_shapes(shape: tuple[int, int], *, side: int, step: float, enlarge: float) -> Iterator[tuple[int, int]]:
    """Heights and widths of the levels of a picture (h, w), largest first."""
    scale, (h, w) = 1 / enlarge, shape
    while min(round(h / scale), round(w / scale)) >= side:
        yield round(h / scale), round(w / scale)
        scale *= step


def resized(picture: np.ndarray, shape: tuple[int, int]) -> Level:
    """A picture (h, w) uint8 at another size, rounded to whole greys."""
    (h, w), (rows, columns) = picture.shape, shape
    image = np.empty(shape, np.uint8)
    _resize(np.ascontiguousarray(picture), *_taps(h, rows), *_taps(w, columns), image)
    return Level(image, h / rows, w / columns)


def within(picture: np.ndarray, longest: int) -> np.ndarray:
    """A picture no side of which is longer than `longest` pixels: itself, or shrunk."""
    most = max(picture.shape)
    if most <= longest:
        return picture
    return resized(picture, tuple(max(1, round(s * longest / most)) for s in picture.shape)).image


def _taps(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Which of n pixels make each of m: the first (m,) int64, and weights (m, k) float32 of it and those after it."""
    width = max(n / m, 1.0)
    centre = (np.arange(m) + 0.5) * n / m - 0.5
    first = np.ceil(centre - width).astype(np.int64)
    at = first[:, None] + np.arange(int(np.floor(2 * width)) + 1)
    weight = np.maximum(1 - np.abs(at - centre[:, None]) / width, 0) * ((at >= 0) & (at < n))
    weight /= weight.sum(axis=1, keepdims=True)
    start = np.minimum(np.maximum(first, 0), n - 1)  # weights of pixels before the first are 0: moved to the front
    moved = np.zeros_like(weight)
    for i, skip in enumerate(start - first):
        moved[i, : weight.shape[1] - skip] = weight[i, skip:]
    return start, moved.astype(np.float32)


@native()
def _resize(picture, top, down, left, across, out):  # (h, w), (m,), (m, k), (n,), (n, l), (m, n)
    h, w = picture.shape
    m, n = out.shape
    line = np.empty(w, np.float32)
    for i in range(m):
        line[:] = 0
        for k in range(down.shape[1]):
            y, weight = top[i] + k, down[i, k]
            if weight > 0 and y < h:
                row = picture[y]
                for x in range(w):
                    line[x] += weight * row[x]
        for j in range(n):
            total = np.float32(0.5)
            for k in range(min(across.shape[1], w - left[j])):
                total += across[j, k] * line[left[j] + k]
            out[i, j] = np.uint8(min(total, np.float32(255)))
