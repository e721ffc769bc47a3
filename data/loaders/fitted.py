"""Pictures of many sizes brought to one, for a machine that takes vectors of one length.

    pad       the whole picture, as large as it fits; the rest has the median of its border
    crop      the largest part in its middle that has the shape
    stretch   the whole picture, its proportions changed

The size that is proposed is the median of the sides, reduced until n pictures of d values train in seconds:

    n d <= VALUES,    n^2 d <= PRODUCTS
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from PIL import Image
from skimage import transform

from data.dataset import DataError

WAYS = {"pad": "fit and pad", "crop": "crop the centre", "stretch": "stretch"}
VALUES = 1 << 26  # of all pictures, float32 while training: 256 MB
PRODUCTS = 1e11  # multiplications of one kernel matrix: about 10 s of two cores
LEAST, MOST = 16, 256  # pixels a side that are proposed
EASY = 1 << 26  # bytes of pictures of one size that stay as they are
FINER = 2  # pictures are averaged over whole pixels down to this many times the final size before they are resampled
SMALLEST, MAX_SIDE = 4, 1024  # pixels a side of what is trained on
SIZE_ACCEPTED = f"height x width, {SMALLEST} to {MAX_SIDE} pixels each, such as 64x64"


class Fit(NamedTuple):
    """One size for all pictures: height and width, how each is brought to it, and whether colours are kept."""

    height: int
    width: int
    how: str = "pad"
    colour: bool = True

    def checked(self) -> "Fit":
        """Itself; DataError for a size or a way that there is not."""
        if not all(SMALLEST <= side <= MAX_SIDE for side in self[:2]):
            raise DataError(f"The size {self.height} x {self.width} is not possible", SIZE_ACCEPTED)
        if self.how not in WAYS:
            raise DataError(f"There is no way {self.how!r} of bringing pictures to one size", " or ".join(WAYS))
        return self

    def share(self, size: tuple[int, int], side: int = 0) -> float:
        """Of the sides of a picture of this size, what is enough for `applied` and for a picture of `side` pixels."""
        (h, w), (height, width) = size, self[:2]
        return min(1.0, max(FINER * height / h, FINER * width / w, side / max(h, w)))

    def applied(self, picture: np.ndarray) -> np.ndarray:
        """(height, width) or (height, width, 3) uint8 of a picture (h, w) or (h, w, 3) uint8."""
        (h, w), (height, width) = picture.shape[:2], self[:2]
        if (h, w) == (height, width) or self.how == "stretch":
            return resized(picture, height, width)
        across = np.array([height / h, width / w])
        if self.how == "crop":
            high, wide = np.maximum(1, np.rint(np.array([height, width]) / across.max())).astype(int)
            top, left = (h - high) // 2, (w - wide) // 2
            return resized(picture[top : top + high, left : left + wide], height, width)
        high, wide = np.maximum(1, np.rint(across.min() * np.array([h, w]))).astype(int)
        border = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
        whole = np.empty((height, width, *picture.shape[2:]), np.uint8)
        whole[:] = np.median(border, axis=0)
        top, left = (height - high) // 2, (width - wide) // 2
        whole[top : top + high, left : left + wide] = resized(picture, high, wide)
        return whole


def of_text(size: str) -> tuple[int, int]:
    """Height and width of a text such as 48x64. DataError if it is no size."""
    found = re.fullmatch(r"\s*(\d{1,4})\s*[x×,]\s*(\d{1,4})\s*", size)
    if not found:
        raise DataError(f"The size {size[:40]!r} cannot be read", SIZE_ACCEPTED)
    return int(found[1]), int(found[2])


def resized(picture: np.ndarray, height: int, width: int) -> np.ndarray:
    """A picture uint8 resampled to height x width; smoothed before it is made smaller."""
    h, w = picture.shape[:2]
    if (h, w) == (height, width):
        return picture
    step = min(h // (FINER * height), w // (FINER * width))
    if step > 1:
        picture = np.asarray(Image.fromarray(picture).reduce(step))
    values = transform.resize(picture, (height, width), anti_aliasing=True, preserve_range=True)
    return np.rint(values.clip(0, 255)).astype(np.uint8)


def proposed(sizes: Sequence[tuple[int, int]], colour: bool) -> Fit:
    """The size proposed for n pictures of these heights and widths: their own if all have one and it is easy."""
    sides, channels, n = np.array(sizes), 3 if colour else 1, len(sizes)
    height, width = (int(side) for side in np.median(sides, axis=0))
    one = bool((sides == sides[0]).all()) and SMALLEST <= min(height, width) <= max(height, width) <= MAX_SIDE
    if one and n * height * width * channels <= EASY:
        return Fit(height, width, colour=colour)
    values = min(VALUES / n, PRODUCTS / n**2) / channels  # pixels of each
    scale = min(1.0, np.sqrt(values / (height * width)), MOST / max(height, width))
    height, width = (int(np.clip(round(scale * side), LEAST, MOST)) for side in (height, width))
    return Fit(height, width, colour=colour)
