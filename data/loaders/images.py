"""Images in one folder per class: the folder name is the label; a folder `test` above the classes is the test set.
Alternatively, images with a table of their names and classes (loaders.labelled). Images in a folder `unlabelled` or
`unknown`, or with an empty class in the table, are unlabelled.

All images with 16 bits per pixel are reduced to 8 bits on one common scale: their values are divided by the power of
two that suits the largest value of all of them, which uses 8, 10, 12, 14 or 16 bits. If fewer bits suffice then, the
smallest value of all is subtracted first, and up to one pixel an image, or CUT of all, become black or white at either
end. Notes say so, and how many levels are left if they are few.

cats/1.png  dogs/1.png      or      train/cats/1.png  test/cats/7.png      or      1.png  2.png  labels.csv
"""

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from data.dataset import Arrays, DataError, in_words, mixed_order
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED, Member
from data.loaders.check import MAX_LABEL
from data.loaders.labelled import ClassTable
from data.loaders.sieve import Sieve, TooLarge

ACCEPTED = (
    "images (png, jpg, bmp, gif, tif, webp, pgm, ppm) of one size, with one folder per class or a csv of file names "
    "and classes"
)
SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pnm"}
MAX_SIDE = 1024
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
_DEEP = ("I", "I;16", "I;16B", "I;16L", "I;16N", "F")  # modes with more than 8 bits per pixel
_FILLED = (8, 10, 12, 14, 16)  # bits that sensors of cameras, microscopes and scanners use of 16
CUT = 1e-4  # of all pixels, or one an image: as many hot or dead ones at either end may be cut off
MOST, FEW_LEVELS = 0.98, 32  # share of the pixels that keep fewer levels than are enough, for a note
_COLOURS_ACCEPTED = "colours of 8 bits, or of 16 bits that are all used (multiply the values by {}), or grey images"
_TEST_FOLDERS = {"test", "testing"}
_UNLABELLED_FOLDERS = {"unlabelled", "unlabeled", "unknown"}


class Decoded(NamedTuple):
    """An image (h, w) or (h, w, 3) uint8, or (h, w) uint16 if it has 16 bits; upper: the largest value of colours of 16
    bits, the upper 8 of which are the pixels, else 0."""

    pixels: np.ndarray
    upper: int = 0


def is_image(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in SUFFIXES


def read(members: list[Member], table: ClassTable | None = None, skip: bool = False) -> tuple[Arrays, list[str]]:
    """The images of all members, grey unless one of them is coloured, and notes on what was skipped.

    table : the classes by image; without one, the folders give the classes
    skip : skip files that are not images, cannot be read, have no class or another size than most
    Raises Unusable with the bad files, DataError if no file is left.
    """
    sieve, decoded, total = Sieve(skip), [], 0
    members = [member for member in members if table is None or member.name != table.file]
    for member in members:
        with sieve.part(member.name):
            parts = _path(member, table)
            image = decode(member.name, member.read())
            decoded.append((parts, image))
            total += image.pixels.size
        if total > MAX_BYTES:
            raise TooLarge(f"The images take more than {MAX_BYTES >> 20} MB as pixels", SIZE_ACCEPTED)
    decoded = _of_one_size(decoded, sieve)
    notes = [f"The classes are in column {table.column} of {table.file}"] if table else []
    notes += sieve.notes(len(members), "files")
    paths, decoded = [path for path, _ in decoded], [image for _, image in decoded]
    decoded, scale = on_one_scale(decoded)
    notes += scale
    X, y = _stacked(decoded), np.array([path[-2] for path in paths])
    if not table:
        folders = np.isin(np.char.lower(y), list(_UNLABELLED_FOLDERS))
        notes += [f"Images in the folder {name!r} have no label" for name in np.unique(y[folders]).tolist()]
        y[folders] = ""
    test = np.array([bool(_TEST_FOLDERS & {part.lower() for part in path[:-2]}) for path in paths]) & (y != "")
    if test[y != ""].all():
        test[:] = False
    train_order, test_order = (np.flatnonzero(part)[mixed_order(y[part])] for part in (~test, test))
    return Arrays(X[train_order], y[train_order], X[test_order], y[test_order]), notes


def _path(member: Member, table: ClassTable | None) -> tuple[str, ...]:
    """The folders and the name of an image, the last folder being its class. DataError if it is not an image, or has no
    class."""
    parts = PurePosixPath(member.name).parts
    if not is_image(member.name):
        raise DataError(f"{member.name} is not an image", ACCEPTED)
    if table is not None:
        if member.name not in table.classes:
            raise DataError(f"{member.name} has no class in {table.file}", ACCEPTED)
        parts = (*parts[:-1], table.classes[member.name], parts[-1])
    if len(parts) < 2:
        raise DataError(f"{member.name} is not in a folder, so its label is missing", ACCEPTED)
    if len(parts[-2]) > MAX_LABEL:
        raise DataError(
            f"{member.name[:60]}... has a class name of {len(parts[-2]):,} characters",
            f"at most {MAX_LABEL} characters",
        )
    return parts


def _of_one_size(decoded: list[tuple], sieve: Sieve) -> list[tuple]:
    """The images with the most common size; the others go to the sieve. DataError if no size has the majority."""
    sizes = Counter(image.pixels.shape[:2] for _, image in decoded)
    if len(sizes) < 2:
        return decoded
    (size, n), *_ = sizes.most_common(1)
    if 2 * n <= len(decoded):
        common = ", ".join(f"{w} x {h} ({k} images)" for (h, w), k in sizes.most_common(3))
        raise DataError(f"The images have {len(sizes)} different sizes: {common}", ACCEPTED)
    for parts, image in decoded:
        if image.pixels.shape[:2] != size:
            (h, w), name = image.pixels.shape[:2], "/".join(parts)
            reason = f"{name} has {w} x {h} pixels, but most images have {size[1]} x {size[0]}"
            sieve.add(name, DataError(reason, ACCEPTED))
    return [item for item in decoded if item[1].pixels.shape[:2] == size]


def on_one_scale(images: Sequence[Decoded], what: str = "images") -> tuple[list[np.ndarray], list[str]]:
    """The pixels of images as uint8, those with 16 bits on one scale, and notes on it. DataError for colour images of
    which too few bits can be read."""
    deep = [image for image in images if image.upper or image.pixels.dtype == np.uint16]
    if not deep:
        return [image.pixels for image in images], []
    counts, colours = _counted(deep), any(image.upper for image in deep)
    scale = _scale(counts, colours, len(deep))
    which = f"The {what}" if len(deep) == len(images) else f"{len(deep):,} of {len(images):,} {what}"
    has = "has" if len(images) == 1 or len(deep) == 1 < len(images) else "have"
    summary = f"{which} {has} 16 bits per pixel" + (f", of which {scale.bits} are used" if scale.bits < 16 else "")
    if colours and scale.bits < 16:  # Pillow reads only the upper 8 bits of colours
        reason = f"{summary}, but only the upper 8 bits of colours can be read"
        raise DataError(reason, _COLOURS_ACCEPTED.format(1 << 16 - scale.bits))
    pixels = [scale.applied(image.pixels) if image.pixels.dtype == np.uint16 else image.pixels for image in images]
    if scale.low or scale.cut:
        low, high = np.flatnonzero(counts)[[0, -1]]
        summary = f"{which} {has} 16 bits per pixel, with values from {low:,} to {high:,}"
    return pixels, [f"{summary}: {scale}", *_few_levels(counts, scale, colours, what)]


class _Scale(NamedTuple):
    """How 16-bit values become 8-bit ones: `low` is subtracted, and the difference, of `bits` bits, is divided by a
    power of two. cut: number of pixels outside this range, which become 0 or 255."""

    low: int
    bits: int
    cut: int

    def applied(self, values: np.ndarray) -> np.ndarray:
        """uint8 of the same shape."""
        above = np.minimum(np.maximum(values, self.low) - self.low, (1 << self.bits) - 1)
        return (above >> self.bits - 8).astype(np.uint8)

    def __str__(self) -> str:
        steps = [f"{self.low:,} is subtracted"] if self.low else []
        steps += [f"values are divided by {1 << self.bits - 8}"] if self.bits > 8 else []
        last, n = self.low + (1 << self.bits) - 1, self.cut
        pixels_become = "1 pixel becomes" if n == 1 else f"{n:,} pixels become"
        ends = f"; outside {self.low:,} to {last:,}, {pixels_become} black or white" if n else ""
        return (" and ".join(steps) or "values stay as they are") + ends


def _counted(deep: Sequence[Decoded]) -> np.ndarray:
    """(65536,) the number of pixels with each value of 16 bits; colours, whose lower bits are unknown, have all set."""
    counts = np.zeros(1 << 16, np.int64)
    for image in deep:
        if image.upper:
            counts[255::256] += np.bincount(image.pixels.ravel(), minlength=256)
            counts[image.upper] += 1  # which no pixel has if the image has been converted to grey
        else:
            counts += np.bincount(image.pixels.ravel(), minlength=1 << 16)
    return counts


def _scale(counts: np.ndarray, colours: bool, n_images: int) -> _Scale:
    """The scale that keeps most levels, the simplest one of several: from 0 to the largest value, with the smallest one
    subtracted, or without the few pixels that are far from all others."""
    low, high = np.flatnonzero(counts)[[0, -1]].tolist()
    total = np.cumsum(counts)
    most = min(max(n_images, int(CUT * total[-1])), total[-1] // 100)  # of small images no whole part
    darkest, brightest = int(np.searchsorted(total, most, "right")), int(np.searchsorted(total, total[-1] - most))
    ranges = (
        [(0, high)] if colours else [(0, high), (low, high), (0, brightest), (low, brightest), (darkest, brightest)]
    )
    first, last = min(ranges, key=lambda ends: _filled(ends[1] - ends[0]))
    bits = _filled(last - first)
    return _Scale(first, bits, int(counts[:first].sum() + counts[first + (1 << bits) :].sum()))


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
    because = "only the upper 8 bits of colours can be read" if colours else "others are far darker or brighter"
    way_out = f"To keep more levels, save the {what} as 8-bit images with the contrast that you need"
    return [f"{100 * MOST:g} % of these pixels keep {left} of brightness, because {because}. {way_out}"]


def decode(name: str, content: bytes, most: int = MAX_SIDE) -> Decoded:
    """Decode an image with sides of up to `most` pixels."""
    with opened(name, content) as image:
        if max(image.size) > most:
            width, height = image.size
            raise DataError(f"{name} has {width} x {height} pixels", f"images of up to {most} x {most}")
        return flat(image)


@contextmanager
def opened(
    name: str, content: bytes, formats: Sequence[str] = _FORMATS, accepted: str = ACCEPTED
) -> Iterator[Image.Image]:
    """Open an image, reading only its header; errors in the block become a DataError that names the file."""
    reason = f"{name} cannot be read as an image"
    with in_words(reason, accepted):
        try:
            image = Image.open(io.BytesIO(content), formats=formats)
        except UnidentifiedImageError as error:  # its message names an object in memory
            raise DataError(f"{reason} (its content is not an image)", accepted) from error
        with image:
            yield image


def flat(image: Image.Image) -> Decoded:
    """An opened image, grey or with three colours, as viewers show it: upright, with transparent parts on white. Raises
    ValueError for values that are not whole numbers from 0 to 65535."""
    deep_colours = image.mode not in _DEEP and any(";16" in str(tile[3]) for tile in image.tile)
    image = _upright(image)
    if image.mode in _DEEP:
        return Decoded(_whole(np.asarray(image)))
    if image.mode != "L" or image.has_transparency_data:
        if image.has_transparency_data:
            image = image.convert("RGBA")
            image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
        image = image.convert("RGB")
    return Decoded(pixels(image), 255 + 256 * int(np.asarray(image).max()) if deep_colours else 0)


def _whole(values: np.ndarray) -> np.ndarray:
    """(h, w) uint16. ValueError for other values."""
    low, high = values.min(), values.max()
    if not (low >= 0 and high <= 65535):  # false for NaN
        raise ValueError(f"its values range from {low:g} to {high:g}: save it with values from 0 to 65535")
    if values.dtype.kind == "f" and np.mod(values, 1).any():
        raise ValueError("its values are not whole numbers: save it with whole numbers from 0 to 65535")
    return values.astype(np.uint16)


def _filled(largest: int) -> int:
    """The number of bits assumed for images whose values range from 0 to this."""
    return next(bits for bits in _FILLED if largest >> bits == 0)


def pixels(image: Image.Image) -> np.ndarray:
    """(h, w) if every pixel is grey, else (h, w, 3)."""
    colours = np.asarray(image)
    return colours[..., 0] if colours.ndim == 3 and (colours == colours[..., :1]).all() else colours


def _upright(image: Image.Image) -> Image.Image:
    """The image, loaded and rotated by its EXIF orientation, or not rotated if the EXIF cannot be read."""
    image.load()
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # any error: the pixels can be used without the orientation
        return image


def grey(image: np.ndarray) -> np.ndarray:
    """(h, w) uint8: an image (h, w) unchanged, or the luminance of (h, w, 3)."""
    if image.ndim == 2:
        return image
    return np.rint(image @ [0.2125, 0.7154, 0.0721]).astype(np.uint8)


def _stacked(images: list[np.ndarray]) -> np.ndarray:
    """Images of one size stacked: (n, h, w), or (n, h, w, 3) if one of them is coloured."""
    if any(image.ndim == 3 for image in images):
        images = [image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2) for image in images]
    return np.stack(images)
