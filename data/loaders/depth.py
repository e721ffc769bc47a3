"""Images with 16 bits per pixel as 8-bit ones.

All are brought to 8 bits on one common scale: their values are divided by the power of two that suits the largest value
of all of them, which uses 8, 10, 12, 14 or 16 bits. If fewer bits suffice then, the smallest value of all is subtracted
first, and up to one pixel an image, or CUT of all, become black or white at either end; the range that is left has no
more bits than it needs, and fills the 8. Notes say so, and how many levels are left if they are few.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from data.dataset import DataError

_FILLED = (8, 10, 12, 14, 16)  # bits that sensors of cameras, microscopes and scanners use of 16
DARKER = 4  # times smaller than the range of all are the values of an image that is named
CUT = 1e-4  # of all pixels, or one an image: as many hot or dead ones at either end may be cut off
MOST, FEW_LEVELS = 0.98, 32  # share of the pixels that keep fewer levels than are enough, for a note
_COLOURS_ACCEPTED = "8-bit colours, 16-bit colours that use all 16 bits (multiply the values by {}), or grey images"


class Decoded(NamedTuple):
    """An image uint8, or (h, w) uint16 if it has 16 bits; upper: the largest value of 16-bit colours, else 0."""

    pixels: np.ndarray
    upper: int = 0


def on_one_scale(
    images: Sequence[Decoded], names: Sequence[str], what: str = "images"
) -> tuple[list[np.ndarray], list[str]]:
    """Images as uint8, those with 16 bits on one scale, and notes. DataError for colours with too few bits."""
    scale = DeepScale()
    for image, name in zip(images, names, strict=True):
        scale.add(image, name)
    scale.settle(len(images), what)
    return [scale.applied(image) for image in images], scale.notes(what, len(images))


class DeepScale:
    """Brings images of 16 bits to 8 bits on one scale: `add` each, `settle`, then `applied`."""

    def __init__(self):
        self._counts = np.zeros(1 << 16, np.int64)  # of pixels with each value; of colours, all lower bits are set
        self._n, self._colours, self._scale = 0, False, None
        self._largest: list[tuple[int, str]] = []  # value of each image, and its name

    def add(self, image: Decoded, name: str) -> None:
        """Count the values of an image; of one with 8 bits nothing."""
        if image.upper:
            self._counts[255::256] += np.bincount(image.pixels.ravel(), minlength=256)
            self._counts[image.upper] += 1  # which no pixel has if the image has been converted to grey
        elif image.pixels.dtype == np.uint16:
            self._counts += np.bincount(image.pixels.ravel(), minlength=1 << 16)
        else:
            return
        self._n, self._colours = self._n + 1, self._colours or bool(image.upper)
        self._largest.append((image.upper or int(image.pixels.max()), name))

    def settle(self, n_images: int, what: str = "images") -> None:
        """Choose the scale. DataError for colour images of which too few bits can be read."""
        if not self._n:
            return
        self._scale = scale = _scale(self._counts, self._colours, self._n)
        if self._colours and scale.bits < 16:  # Pillow reads only the upper 8 bits of colours
            reason = f"{self._summary(what, n_images)}, but only the upper 8 bits of colours can be read"
            raise DataError(reason, _COLOURS_ACCEPTED.format(1 << 16 - scale.bits))

    def applied(self, image: Decoded) -> np.ndarray:
        """The pixels as uint8."""
        return self._scale.applied(image.pixels) if image.pixels.dtype == np.uint16 else image.pixels

    def notes(self, what: str, n_images: int) -> list[str]:
        """What was done to `n_images` images, of which those that were added may be a part."""
        if not self._n:
            return []
        summary = self._summary(what, n_images)
        if self._scale.low or self._scale.cut:
            low, high = np.flatnonzero(self._counts)[[0, -1]]
            summary = f"{self._which(what, n_images)} 16 bits per pixel, with values from {low:,} to {high:,}"
        return [f"{summary}: {self._scale}", *_few_levels(self._counts, self._scale, self._colours, what),
                *self._darker(what)]  # fmt: skip

    def _darker(self, what: str) -> list[str]:
        """Notes on the images that have far smaller values than the others, as of a sensor with fewer bits."""
        top, by_bits = self._scale.low + (1 << self._scale.bits), defaultdict(list)
        for largest, name in self._largest:
            if largest < top // DARKER:
                by_bits[_filled(largest)].append((largest, name))
        notes = []
        for bits, images in sorted(by_bits.items()):
            largest, name = max(images)
            if bits > self._scale.bits:  # it was subtracted from, or cut off
                continue
            levels, factor = int(self._scale.applied(np.array([largest]))[0]) + 1, 1 << self._scale.bits - bits
            those = f"1 of these {what} has" if len(images) == 1 else f"{len(images):,} of these {what} have"
            notes.append(
                f"{those} only values up to {largest:,}, such as {name[:60]}: at most {levels} of 256 levels are left, "
                f"because all {what} have the same scale. If their range is {bits} bits, multiply their values by "
                f"{factor}"
            )
        return notes

    def _which(self, what: str, n_images: int) -> str:
        which = f"The {what}" if self._n == n_images else f"{self._n:,} of {n_images:,} {what}"
        return f"{which} {'has' if n_images == 1 or self._n == 1 < n_images else 'have'}"

    def _summary(self, what: str, n_images: int) -> str:
        bits = self._scale.bits
        used = f", of which {bits} are used" if bits < 16 else ""
        return f"{self._which(what, n_images)} 16 bits per pixel{used}"


class _Scale(NamedTuple):
    """How 16-bit values become 8-bit ones: `low` is subtracted, and the difference, of `bits` bits, is divided or
    multiplied by a power of two. cut: number of pixels outside this range, which become 0 or 255."""

    low: int
    bits: int
    cut: int

    def applied(self, values: np.ndarray) -> np.ndarray:
        """uint8 of the same shape."""
        above = np.minimum(np.maximum(values, self.low) - self.low, (1 << self.bits) - 1)
        return (above >> self.bits - 8 if self.bits > 8 else above << 8 - self.bits).astype(np.uint8)

    def __str__(self) -> str:
        steps = [f"{self.low:,} is subtracted"] if self.low else []
        if self.bits != 8:
            steps += [f"values are {'divided' if self.bits > 8 else 'multiplied'} by {1 << abs(self.bits - 8)}"]
        last, n = self.low + (1 << self.bits) - 1, self.cut
        pixels, become = ("1 pixel", "becomes") if n == 1 else (f"{n:,} pixels", "become")
        ends = f"; {pixels} outside {self.low:,} to {last:,} {become} black or white" if n else ""
        return (" and ".join(steps) or "values stay as they are") + ends


def _scale(counts: np.ndarray, colours: bool, n_images: int) -> _Scale:
    """The simplest scale that keeps most levels: from 0, from the smallest value, or without a few extreme pixels."""
    low, high = np.flatnonzero(counts)[[0, -1]].tolist()
    total = np.cumsum(counts)
    most = min(max(n_images, int(CUT * total[-1])), total[-1] // 100)  # of small images no whole part
    darkest, brightest = int(np.searchsorted(total, most, "right")), int(np.searchsorted(total, total[-1] - most))
    ranges = (
        [(0, high)] if colours else [(0, high), (low, high), (0, brightest), (low, brightest), (darkest, brightest)]
    )
    first, last = min(ranges, key=lambda ends: _filled(ends[1] - ends[0]))
    bits = max(1, (last - first).bit_length()) if first else _filled(last)
    return _Scale(first, bits, int(counts[:first].sum() + counts[first + (1 << bits) :].sum()))


def _filled(largest: int) -> int:
    """The number of bits assumed for images whose values range from 0 to this."""
    return next(bits for bits in _FILLED if largest >> bits == 0)


def _few_levels(counts: np.ndarray, scale: _Scale, colours: bool, what: str) -> list[str]:
    """A note if the scale leaves most pixels few of the levels that they had."""
    total = np.cumsum(counts)
    low, high = np.searchsorted(total, [(1 - MOST) / 2 * total[-1], (1 + MOST) / 2 * total[-1]]).tolist()
    before = np.count_nonzero(counts[low : high + 1]) * (256 if colours else 1)
    first, last = scale.applied(np.array([low, high], np.uint16)).tolist()
    n = last - first + 1
    if n >= min(FEW_LEVELS, before):
        return []
    left = "a single level" if n == 1 else f"only {n} levels"
    because = "only the upper 8 bits of colours can be read" if colours else "other pixels are far darker or brighter"
    way_out = f"To keep more levels, save the {what} as 8-bit images with the contrast that you need"
    return [f"{100 * MOST:g} % of the pixels keep {left} of brightness, because {because}. {way_out}"]
