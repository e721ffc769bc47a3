"""Images in one folder per class: the folder name is the label; a folder `test` above the classes is the test set.
Alternatively, images with a table of their names and classes (loaders.labelled). Images in a folder `unlabelled` or
`unknown`, or with an empty class in the table, are unlabelled.

All images with 16 bits per pixel are reduced to 8 bits on one common scale: their values are divided by the power of
two that suits the largest value of all of them, which uses 8, 10, 12, 14 or 16 bits.

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
_COLOURS_ACCEPTED = "colours of 8 bits, or of 16 bits that are all used (multiply the values by {}), or grey images"
_TEST_FOLDERS = {"test", "testing"}
_UNLABELLED_FOLDERS = {"unlabelled", "unlabeled", "unknown"}


class Depth(NamedTuple):
    """Of an image with 16 bits: used: how many bits its values use, one of _FILLED; shifted: the shift applied."""

    used: int
    shifted: int


class Decoded(NamedTuple):
    """An image (h, w) or (h, w, 3) uint8; depth: for images with 16 bits, from its own largest value."""

    pixels: np.ndarray
    depth: Depth | None = None


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
            total += image.pixels.nbytes
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
    """The pixels of images, those with 16 bits divided by one power of two, and a note. DataError for colour images of
    which too few bits can be read."""
    depths = [image.depth for image in images if image.depth]
    if not depths:
        return [image.pixels for image in images], []
    used = max(depth.used for depth in depths)
    which = f"The {what}" if len(depths) == len(images) else f"{len(depths):,} of {len(images):,} {what}"
    has = "has" if len(images) == 1 or len(depths) == 1 < len(images) else "have"
    summary = f"{which} {has} 16 bits per pixel" + (f", of which {used} are used" if used < 16 else "")
    if any(depth.shifted > used - 8 for depth in depths):  # Pillow reads only the upper 8 bits of colours
        reason = f"{summary}, but only the upper 8 bits of colours can be read"
        raise DataError(reason, _COLOURS_ACCEPTED.format(1 << 16 - used))
    more = [used - 8 - image.depth.shifted if image.depth else 0 for image in images]
    pixels = [image.pixels >> shift if shift else image.pixels for image, shift in zip(images, more)]
    return pixels, [
        f"{summary}: values are divided by {1 << used - 8}" if used > 8 else f"{summary}: values stay as they are"
    ]


def decode(name: str, content: bytes, most: int = MAX_SIDE) -> Decoded:
    """Decode an image with sides of up to `most` pixels."""
    with opened(name, content) as image:
        if max(image.size) > most:
            width, height = image.size
            raise DataError(f"{name} has {width} x {height} pixels", f"images of up to {most} x {most}")
        flattened, depth = flat(image)
        return Decoded(pixels(flattened), depth)


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


def flat(image: Image.Image) -> tuple[Image.Image, Depth | None]:
    """An opened image in mode L or RGB, as viewers show it: upright, with transparent parts on white; and its depth, if
    it has 16 bits. Raises ValueError for values that are not whole numbers from 0 to 65535."""
    deep_colours = image.mode not in _DEEP and any(";16" in str(tile[3]) for tile in image.tile)
    image = _upright(image)
    if image.mode in _DEEP:
        return _in_8_bits(np.asarray(image))
    if image.mode != "L" or image.has_transparency_data:
        if image.has_transparency_data:
            image = image.convert("RGBA")
            image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
        image = image.convert("RGB")
    return image, Depth(_filled(255 + 256 * int(np.asarray(image).max())), 8) if deep_colours else None


def _in_8_bits(values: np.ndarray) -> tuple[Image.Image, Depth]:
    """Pixels (h, w) of 16 bits, divided by the power of two that suits their largest value."""
    low, high = values.min(), values.max()
    if not (low >= 0 and high <= 65535):  # false for NaN
        raise ValueError(f"its values range from {low:g} to {high:g}: save it with values from 0 to 65535")
    if values.dtype.kind == "f" and np.mod(values, 1).any():
        raise ValueError("its values are not whole numbers: save it with whole numbers from 0 to 65535")
    used = _filled(int(high))
    shifted = (values.astype(np.uint16) >> used - 8).astype(np.uint8)
    return Image.fromarray(shifted), Depth(used, used - 8)


def _filled(largest: int) -> int:
    """The number of bits assumed for images with this largest value."""
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
