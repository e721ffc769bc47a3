"""Small random deformations of images: what leaves a digit the digit that it is, drawn anew for every step.

    out(r) = image(M r + t + a u(r)),    r a pixel's place from the middle, bilinear between pixels, edges go on outside

M rotates, shears and zooms a little, t shifts by a fraction of a pixel in every direction, u is a smooth random field
of unit size (elastic deformation). Rows keep their length where all have one, so that unit vectors stay unit vectors.

Reference: Simard, Steinkraus and Platt, Best practices for convolutional neural networks (ICDAR 2003), section 2.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.ndimage import gaussian_filter

from svmcore.kernels import squared_norms

FIELDS, FEWEST = 1000, 50  # random fields for images of 28 x 28, drawn from for every image; of large images fewer
SMOOTH = 1 / 7  # of the image's height: the deviation of the Gaussian that smooths a field
SHIFT, ELASTIC = 1.0, 1.2  # pixels at most, at strength 1, of an image of 28 pixels
TURN, ZOOM = np.deg2rad(8.0), 0.06  # at most, at strength 1; shear as rotation
ONE_LENGTH = 1e-3  # relative spread of the squared lengths below which they count as one


class Drawn(NamedTuple):
    """Deformations of n images."""

    field: np.ndarray  # (n,) int64, number of the random field
    moved: np.ndarray  # (n, 7) float32: M row by row, t, a


class Deformations:
    """Deformations of the rows of X (n, d) as images of `shape`, (h, w) or (h, w, c); strength 1 is that of the head
    of this file. ValueError where shape and d disagree."""

    def __init__(self, X, shape, strength: float, rng: np.random.Generator):
        if len(shape) not in (2, 3) or np.prod(shape) != X.shape[1]:
            raise ValueError(f"image_shape = {shape} for rows of {X.shape[1]} numbers; allowed: (h, w) or (h, w, c)")
        self.X, self.shape, self.strength, self.rng = X, (*shape, 1)[:3], strength, rng
        h, w = shape[:2]
        smooth, n = (0, 0, SMOOTH * h, SMOOTH * w), max(FEWEST, min(FIELDS, FIELDS * 28 * 28 // (h * w)))
        fields = gaussian_filter(rng.standard_normal((n, 2, h, w), np.float32), smooth, mode="constant")
        self.fields = fields / fields.std()
        squares = squared_norms(X[:: max(1, len(X) // 1000)].astype(np.float64))
        self.length = float(np.sqrt(squares.mean())) if np.ptp(squares) <= ONE_LENGTH * squares.mean() else 0.0

    def draw(self, n: int) -> Drawn:
        """Deformations of n images."""
        s, pixel = self.strength, self.shape[0] / 28
        turn, shear, high, wide, down, right, amount = (
            self.rng.uniform(-1, 1, (7, n))
            * s
            * np.array([TURN, TURN, ZOOM, ZOOM, SHIFT * pixel, SHIFT * pixel, 0])[:, None]
        )
        amount = s * ELASTIC * pixel * self.rng.uniform(0, 1, n)
        cos, sin = np.cos(turn), np.sin(turn)
        M = ((1 + high) * cos, -(1 + high) * sin, (1 + wide) * (sin + shear), (1 + wide) * cos)
        moved = np.stack([*M, down, right, amount], axis=1).astype(np.float32)
        return Drawn(self.rng.integers(0, len(self.fields), n), moved)

    def rows(self, idx, drawn: Drawn) -> np.ndarray:
        """The images idx (n,) deformed: (n, d) float32."""
        out = np.empty((len(idx), self.X.shape[1]), np.float32)
        _deform(self.X, idx, self.fields, drawn.field, drawn.moved, self.shape, np.float32(self.length), out)
        return out


@njit(cache=True, nogil=True, fastmath=True)
def _deform(X, idx, fields, number, moved, shape, length, out):
    h, w, channels = shape
    middle_y, middle_x = np.float32(0.5 * (h - 1)), np.float32(0.5 * (w - 1))
    for i in range(len(idx)):
        source, target, field, m = X[idx[i]], out[i], fields[number[i]], moved[i]
        square = np.float32(0)
        for r in range(h):
            for c in range(w):
                y, x = np.float32(r) - middle_y, np.float32(c) - middle_x
                from_y = m[0] * y + m[1] * x + m[4] + m[6] * field[0, r, c] + middle_y
                from_x = m[2] * y + m[3] * x + m[5] + m[6] * field[1, r, c] + middle_x
                from_y = min(max(from_y, np.float32(0)), np.float32(h - 1))
                from_x = min(max(from_x, np.float32(0)), np.float32(w - 1))
                top, left = int(from_y), int(from_x)
                below, right = min(top + 1, h - 1), min(left + 1, w - 1)
                dy, dx = from_y - np.float32(top), from_x - np.float32(left)
                for k in range(channels):
                    a, b = source[(top * w + left) * channels + k], source[(top * w + right) * channels + k]
                    c_, d = source[(below * w + left) * channels + k], source[(below * w + right) * channels + k]
                    upper, lower = a + dx * (b - a), c_ + dx * (d - c_)
                    value = upper + dy * (lower - upper)
                    target[(r * w + c) * channels + k] = value
                    square += value * value
        if length > 0 and square > 0:
            scale = length / np.sqrt(square)
            for j in range(len(target)):
                target[j] *= scale
