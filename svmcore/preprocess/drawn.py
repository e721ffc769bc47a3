"""A drawn digit made into an example: as MNIST, or another set of written digits, was made of scanned ones.

    ink      I(p) = clip(w / 2 + 1/2 - |p - strokes|, 0, 1)                    pen of width w, edges one pixel soft
    crop     the smallest rectangle that holds all ink
    fit      resized so that its longer side is `box` pixels, each the mean of the area that it covers
    centre   moved by whole pixels onto (side, side): centre of mass at side / 2, or the rectangle in the middle

Symbols: strokes, lists of points (k, 2) as (x, y) with y downwards on a canvas SIDE x SIDE; ink (h, w) float32 in
[0, 1], 1 where there is ink; sides in pixels.

Source: LeCun, Bottou, Bengio and Haffner, Proc. IEEE 86 (1998), section III.A, of MNIST: size-normalised into 20 x 20
pixels with the aspect kept, grey by anti-aliasing, and centred in 28 x 28 by the centre of mass. USPS and the 8 x 8
digits fill their frame; the latter are stretched to three quarters of its width, whatever the digit.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.ndimage import distance_transform_edt
from skimage.draw import line
from skimage.transform import resize_local_mean

SIDE = 256  # of the canvas: coordinates fit in a byte
FAINT = 0.02  # ink below this does not count when the rectangle is found


class Convention(NamedTuple):
    """How a set of written digits was made: pictures (side, side), in which the rectangle of the ink is fitted into a
    box (height, width); kept: its aspect stays as it is; by_mass: centred by the centre of mass."""

    side: int
    box: tuple[int, int]
    kept: bool = True
    by_mass: bool = False

    @property
    def words(self) -> str:
        """What is done, for a caption."""
        how = "keeping its aspect ratio" if self.kept else "without keeping its aspect ratio"
        where = "by its centre of mass" if self.by_mass else "by its frame"
        return f"fitted into {self.box[0]} × {self.box[1]} {how}, centred {where} in {self.side} × {self.side}"


class Stages(NamedTuple):
    """A drawing on its way: ink as it was drawn, cropped, fitted into the box, and centred, each (h, w) float32."""

    drawn: np.ndarray
    cropped: np.ndarray
    fitted: np.ndarray
    centred: np.ndarray


MNIST = Convention(28, (20, 20), by_mass=True)
DIGITS_8X8 = Convention(8, (8, 6), kept=False)


def convention(shape: tuple[int, ...]) -> Convention | None:
    """The convention of grey images of this shape, by their size alone: 28 x 28 as MNIST, 8 x 8 as the digits of
    scikit-learn; others fill their frame, as USPS does. None for images that are not square and grey, or too small."""
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 8:
        return None
    known = {MNIST.side: MNIST, DIGITS_8X8.side: DIGITS_8X8}
    return known.get(shape[0], Convention(shape[0], (shape[0], shape[0])))


def rasterise(strokes: Sequence[np.ndarray], pen: float) -> np.ndarray:
    """Ink (SIDE, SIDE) float32 of strokes, each (k, 2) whole numbers (x, y) in [0, SIDE), by a round pen of this width.

    A stroke of one point is a dot. ValueError for a point off the canvas.
    """
    off = np.ones((SIDE, SIDE), bool)
    for stroke in strokes:
        points = np.asarray(stroke, np.int64).reshape(-1, 2)
        if len(points) and not 0 <= points.min() <= points.max() < SIDE:
            raise ValueError(f"a stroke leaves the canvas; allowed: coordinates from 0 to {SIDE - 1}")
        off[points[:1, 1], points[:1, 0]] = False
        for (x0, y0), (x1, y1) in pairwise(points):
            off[line(y0, x0, y1, x1)] = False
    if off.all():
        return np.zeros((SIDE, SIDE), np.float32)
    return np.clip(pen / 2 + 0.5 - distance_transform_edt(off), 0, 1).astype(np.float32)


def stages(ink: np.ndarray, how: Convention) -> Stages:
    """The drawing `ink` (h, w) made into a picture by a convention. ValueError where there is no ink."""
    seen = ink > FAINT * max(float(ink.max(initial=0)), 1e-9)
    if not seen.any():
        raise ValueError("the drawing is empty; allowed: at least one dot")
    rows, columns = (np.flatnonzero(seen.any(axis=axis)) for axis in (1, 0))
    cropped = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    wanted = np.array(how.box, float)
    if how.kept:
        wanted = np.array(cropped.shape) * (wanted / cropped.shape).min()
    shape = tuple(np.maximum(np.rint(wanted).astype(int), 1))
    fitted = resize_local_mean(cropped.astype(np.float64), shape).astype(np.float32)
    return Stages(ink, cropped, fitted, _centred(fitted, how))


def like(picture: np.ndarray, low: float, high: float, dtype) -> np.ndarray:
    """A picture of ink in [0, 1] on a dataset's grey scale, from paper `low` to ink `high`, in its type."""
    grey = low + (high - low) * np.asarray(picture, np.float64)
    return np.rint(grey).astype(dtype) if np.issubdtype(dtype, np.integer) else grey.astype(dtype)


def _centred(ink: np.ndarray, how: Convention) -> np.ndarray:
    """Ink (h, w) put on (side, side); what a centre of mass far from the middle would push over the edge is cut off."""
    shape, side = np.array(ink.shape), how.side
    at = (side - shape) // 2
    if how.by_mass:
        total = ink.sum(dtype=np.float64)
        mass = np.array([(ink.sum(axis=1) @ np.arange(shape[0])), (ink.sum(axis=0) @ np.arange(shape[1]))]) / total
        at = np.rint(side / 2 - mass).astype(int)
    out = np.zeros((side, side), np.float32)
    low, high = np.maximum(at, 0), np.minimum(at + shape, side)
    out[low[0] : high[0], low[1] : high[1]] = ink[low[0] - at[0] : high[0] - at[0], low[1] - at[1] : high[1] - at[1]]
    return out
