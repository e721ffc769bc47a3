"""How f changes when a part of a picture is hidden: an occlusion map.

    D_c(p) = mean of  f_c(x) - f_c(x with S hidden)  over the squares S that cover pixel p

Positive where a part of the picture speaks for class c. Squares of `side` pixels stand at every `stride`-th place, also
over the border, so that all pixels are covered alike. The picture is hidden before preprocessing: a machine on features
of pictures is asked like one on pixels. What is hidden becomes background, as a jitter brings it in, or the mean of the
picture, where that would draw an edge of its own.

Reference: Zeiler and Fergus, ECCV (2014), section 4.2.
"""

from typing import NamedTuple

import numpy as np

from svmcore.explain.moved import PIECE, Prepare
from svmcore.model import Machine
from svmcore.preprocess import as_images, background

MOST = 1300  # squares asked about: a square of up to 8 pixels at every place of 28 x 28
FILLS = {"background": "Background", "mean": "Mean of the picture"}


class Hidden(NamedTuple):
    """What hiding parts does. Squares are numbered row by row."""

    f: np.ndarray  # (k,) of the whole picture
    change: np.ndarray  # (h, w, k) D of each pixel
    middle: np.ndarray  # (s, 2) float64 middle of each square (y, x)
    each: np.ndarray  # (s, k) f with this square hidden


def occlusion(
    machine: Machine, prepare: Prepare, X: np.ndarray, image_shape: tuple[int, ...], side: int, fill: str = "background"
) -> Hidden:
    """The map of one picture X (1, ...), as in the dataset. ValueError for an impossible side or an unknown fill."""
    picture = as_images(X, tuple(image_shape) if np.ndim(X) == 2 else None)
    h, w = picture.shape[1:3]
    if not (least := least_side(h, w)) <= side <= min(h, w):
        raise ValueError(f"side = {side}; allowed: {least} to {min(h, w)}, the shorter side of the picture")
    if fill not in FILLS:
        raise ValueError(f"fill = {fill!r}; allowed: {', '.join(FILLS)}")
    value = background(picture)[0] if fill == "background" else picture[0].mean(axis=(0, 1))
    places = (np.arange(1 - side, length, stride_of(h, w, side)) for length in (h, w))
    corners = np.stack(np.meshgrid(*places, indexing="ij"), axis=-1).reshape(-1, 2)
    pieces = (corners[start : start + PIECE] for start in range(0, len(corners), PIECE))
    rows = (_without(picture[0], piece, side, value).reshape(len(piece), -1) for piece in pieces)
    each = np.concatenate([machine.decision_values(prepare(some)) for some in rows])
    f = machine.decision_values(prepare(picture.reshape(1, -1)))[0]
    total, times = np.zeros((h, w, len(f))), np.zeros((h, w, 1))
    for (y, x), change in zip(corners, f - each, strict=True):
        part = slice(max(y, 0), y + side), slice(max(x, 0), x + side)
        total[part] += change
        times[part] += 1
    return Hidden(f, total / times, corners + (side - 1) / 2, each)


def least_side(h: int, w: int) -> int:
    """The least side of squares that cover a picture without being more than MOST."""
    return next((side for side in range(1, min(h, w)) if (h + side - 1) * (w + side - 1) <= MOST * side**2), min(h, w))


def stride_of(h: int, w: int, side: int) -> int:
    """The least distance of squares at which there are at most MOST, and each pixel is covered."""
    return next((s for s in range(1, side) if (h + side - 1) * (w + side - 1) <= MOST * s * s), side)


def _without(picture: np.ndarray, corners: np.ndarray, side: int, value: np.ndarray) -> np.ndarray:
    """Pictures (s, h, w, c) with the square at each corner hidden."""
    out = np.repeat(picture[None], len(corners), axis=0)
    for one, (y, x) in zip(out, corners, strict=True):
        one[max(y, 0) : y + side, max(x, 0) : x + side] = value
    return out
