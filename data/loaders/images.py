"""Images in one folder per class: the folder name is the label; a folder `test` above the classes is the test set.
Alternatively, images with a table of their names and classes (loaders.labelled). Images in a folder `unlabelled` or
`unknown`, or with an empty class in the table, are unlabelled.

The headers are read first (`survey`); they decide the size that is proposed. Images of other sizes are brought to it
(loaders.fitted), those with 16 bits per pixel to one common scale of 8 bits (loaders.depth), and an album holds them as
they are shown.

cats/1.png  dogs/1.png      or      train/cats/1.png  test/cats/7.png      or      1.png  2.png  labels.csv
"""

import io
import math
import os
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError, features

from data import album
from data.album import Album
from data.dataset import Arrays, DataError, in_words, mixed_order
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED, TEXT, Member, is_about, is_text, unread
from data.loaders.cells import is_number
from data.loaders.check import MAX_LABEL
from data.loaders.depth import Decoded, DeepScale, on_one_scale
from data.loaders.fitted import WAYS, Fit, proposed
from data.loaders.labelled import ClassTable
from data.loaders.sieve import Sieve, TooLarge
from data.transfers import Report, quiet

ACCEPTED = (
    "images (png, jpg, bmp, gif, tif, webp, avif, pgm, ppm) of any size, with one folder per class or a csv of file "
    "names and classes"
)
SUFFIXES = {".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".avif", ".pgm",
            ".ppm", ".pnm"}  # fmt: skip
MAX_SIDE = 4096
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM", *(["AVIF"] * features.check("avif")))
_FOREIGN = {  # formats that are not read: suffix -> name
    **dict.fromkeys((".heic", ".heif", ".hif"), "HEIC"), **dict.fromkeys((".dcm", ".dicom"), "DICOM"),
    **dict.fromkeys((".cr2", ".cr3", ".nef", ".arw", ".dng", ".orf", ".rw2", ".raf"), "raw"),
    **dict.fromkeys((".jp2", ".j2k"), "JPEG 2000"), ".jxl": "JPEG XL", ".svg": "SVG", ".psd": "Photoshop",
    ".exr": "OpenEXR", ".nii": "NIfTI", ".ico": "icon", ".fits": "FITS",
}  # fmt: skip
_BRANDS = re.compile(rb"....ftyp(?:(hei[cfx]|hev[cmx]|mif1|msf1)|(avif|avis))", re.DOTALL)  # first bytes of HEIC, AVIF
# First bytes of images; of a bitmap also its four empty ones, since a table may begin with "BMI,"
_SIGNS = re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8|BM.{4}\0{4}|II\*\0|MM\0\*", re.DOTALL)
_GREY = ("1", "L", "LA", "I", "I;16", "I;16B", "I;16L", "I;16N", "F")  # modes without colours
_DEEP = ("I", "I;16", "I;16B", "I;16L", "I;16N", "F")  # modes with more than 8 bits per pixel
_ORIENTATION = 274  # the number of this EXIF field; 5 to 8: on its side
_BITS = 258  # the number of the TIFF field that has the bits of each channel
_THREADS = min(os.cpu_count() or 1, 8)
_TEST_FOLDERS, _VALIDATION_FOLDERS = {"test", "testing"}, {"val", "valid", "validation", "dev"}
_PARTS = {"train", "training"} | _TEST_FOLDERS | _VALIDATION_FOLDERS
_UNLABELLED_FOLDERS = {"unlabelled", "unlabeled", "unknown"}


def is_image(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in SUFFIXES


def foreign(member: Member) -> str:
    """What a file that is not read as an image is, if it is one: of another format, or without a suffix."""
    if what := _FOREIGN.get(PurePosixPath(member.name.lower()).suffix):
        return f"{member.name} is a picture in the format {what}, which is not supported: save it as jpg or png"
    with suppress(DataError):
        if _SIGNS.match(member.start(10)):
            return f"{member.name} is an image whose name does not end in one of {', '.join(sorted(SUFFIXES))}"
    return ""


class Found(NamedTuple):
    """An image of an upload whose header has been read."""

    path: tuple[str, ...]  # its folders and its name, the last folder being its class
    member: Member
    size: tuple[int, int]  # height and width, as it is shown
    deep: bool  # more than 8 bits per pixel
    colour: bool  # whether its header leaves room for colours
    converted: str = ""  # what is done to its colours, beside reading them


class Survey(NamedTuple):
    """The images of an upload by their headers alone, and the files that are none, with the reasons."""

    images: list[Found]
    bad: list[tuple[str, DataError]]
    total: int  # files
    beside: Sequence[str] = ()  # texts beside the images, which are left out

    @property
    def fit(self) -> Fit:
        """The size proposed for the images, of which there must be one."""
        return proposed([image.size for image in self.images], any(image.colour for image in self.images))


def survey(members: list[Member], table: ClassTable | None = None, report: Report = quiet) -> Survey:
    """The headers of all images. report: see `data.transfers`; table: the classes by image, else the folders."""
    members, images = [member for member in members if table is None or member.name != table.file], []
    sieve, beside, named = Sieve(skip=True), [], table.classes if table else ()
    for k, member in enumerate(members):
        report(k, len(members), f"Reading sizes, {k:,} of {len(members):,} files")
        with sieve.part(member.name):
            if not is_image(member.name) and member.name not in named and _is_note(member):
                beside.append(member.name)
                continue
            path = _path(member, table)
            with opened(member.name, member.read()) as image:
                deep, colour = _is_deep(image), image.mode not in _GREY  # before its EXIF, for which it may be loaded
                images.append(Found(path, member, _size(member.name, image), deep, colour, _conversion(image)))
    bad = [(name, error) for _, name, error in sieve.bad]
    return Survey(images, bad, len(members) - len(beside), beside)


def read(
    surveyed: Survey, table: ClassTable | None = None, skip: bool = False, fit: Fit | None = None,
    report: Report = quiet, group: str | None = None,
) -> tuple[Arrays, list[str]]:  # fmt: skip
    """The images, brought to one size, grey unless one of them is coloured, and notes on what was done and skipped.

    table : the classes by image; without one, the folders give the classes
    skip : skip files that are not images, cannot be read or have no class
    fit : the size, by default the one proposed
    group : the column of the table that says which images belong together, as in `ClassTable.grouped`
    Raises Unusable with the bad files, DataError if no file is left.
    """
    sieve, (groups, notes) = Sieve(skip), table.grouped(group) if table else (None, [])
    for name, error in surveyed.bad:
        sieve.add(name, error)
    if not surveyed.images:
        sieve.notes(surveyed.total, "files")
    fit = (fit or surveyed.fit).checked()
    n, channels = len(surveyed.images), 1 + 2 * (fit.colour and any(image.colour for image in surveyed.images))
    if n * fit.height * fit.width * channels > MAX_BYTES:
        raise TooLarge(f"{n:,} images of {fit.height} x {fit.width} take more than {MAX_BYTES >> 20} MB", SIZE_ACCEPTED)
    scale = _deep_scale(surveyed, report)
    same = all(image.size == fit[:2] for image in surveyed.images)
    whole = same and (fit.colour or not any(image.colour for image in surveyed.images))
    side = None if whole else album.side_of(n)
    names, paths, decoded, shown = [], [], [], []
    for k, (found, result) in enumerate(_in_threads(partial(_made, fit, scale, side), surveyed.images)):
        report(k, n, f"Reading images, {k:,} of {n:,}")
        with sieve.part(found.member.name):
            if isinstance(result, DataError):
                raise result
            if groups is not None and not groups.get(found.member.name):
                raise DataError(f"{found.member.name} has no group in {table.file}", "a group for each image")
            picture, original = result
            names.append(found.member.name)
            paths.append(found.path)
            decoded.append(picture)
            shown.append(original)
    notes += sieve.notes(surveyed.total, "files") + scale.notes("images", len(surveyed.images))
    notes += _conversions(surveyed.images) + ([] if same else _sizes_note(surveyed, fit))
    notes += [unread("Files", surveyed.beside)] if surveyed.beside else []
    X, y = stacked(decoded), np.array([path[-2] for path in paths])
    if not table:
        folders = np.isin(np.char.lower(y), list(_UNLABELLED_FOLDERS))
        notes += [f"Images in the folder {name!r} have no label" for name in np.unique(y[folders]).tolist()]
        y[folders] = ""
        notes += _folder_notes(paths)
    test = np.array([bool(_TEST_FOLDERS & {part.lower() for part in path[:-2]}) for path in paths]) & (y != "")
    if test[y != ""].all():
        test[:] = False
    train_order, test_order = (np.flatnonzero(part)[mixed_order(y[part])] for part in (~test, test))
    order = np.concatenate([train_order, test_order])
    pictures = Album.bound(shown).take(order) if any(shown) else None
    groups = groups and np.array([groups[name] for name in names])[order]
    parts = X[train_order], y[train_order], X[test_order], y[test_order]
    return Arrays(*parts, pictures, groups, np.array(names)[order]), notes


def _folder_notes(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """Notes on the images for validation, and on folders in several places that are one class."""
    notes, folders = [], defaultdict(set)
    n = sum(bool(_VALIDATION_FOLDERS & {part.lower() for part in path[:-2]}) for path in paths)
    if n:
        notes.append(f"Images for validation are added to the training set: {n:,}")
    for path in paths:
        above = [part for part in path[:-2] if part.lower() not in _PARTS]
        folders[path[-2]].add("/".join((*above, path[-2])))
    if several := [sorted(places) for places in folders.values() if len(places) > 1]:
        (first, second, *_), n = several[0], len(several)
        more = f" ({n:,} classes are in several folders)" if n > 1 else ""
        notes.append(f"Folders of the same name are one class, such as {first[:60]} and {second[:60]}{more}")
    return notes


def _made(fit: Fit, scale: DeepScale, side: int | None, found: Found) -> tuple[np.ndarray, bytes] | DataError:
    """An image as it is trained on and, if `side` says so or its colours are dropped, as it is shown; or its error."""
    try:
        whole = scale.applied(decode(found.member.name, found.member.read(), fit.share(found.size, side or 0)))
    except DataError as error:
        return error
    picture = whole if fit.colour else grey(whole)
    return fit.applied(picture), album.encoded(whole, side) if side else b""


def _in_threads(make: Callable, items: Sequence) -> Iterator[tuple]:
    """Each item and what `make` makes of it, in order, by a thread for each core; few results are held at a time."""
    with ThreadPoolExecutor(_THREADS) as threads:
        try:
            pending = deque()
            for item in items:
                pending.append((item, threads.submit(make, item)))
                if len(pending) > 4 * _THREADS:
                    item, result = pending.popleft()
                    yield item, result.result()
            for item, result in pending:
                yield item, result.result()
        finally:
            threads.shutdown(cancel_futures=True)


def album_of(files: Sequence[Member], skip: bool, report: Report) -> tuple[Album, np.ndarray, list[str]]:
    """The album of examples with a file each, which of them (n,) can be used, and notes. Unusable names the others."""
    sieve, side, shown = Sieve(skip), album.side_of(len(files)), []
    good = np.ones(len(files), bool)

    def make(file: Member) -> bytes | DataError:
        try:
            (whole,), _ = on_one_scale([decode(file.name, file.read())], [file.name])
            return album.encoded(whole, side)
        except DataError as error:
            return error

    for k, (file, result) in enumerate(_in_threads(make, files)):
        report(k, len(files), f"Reading images, {k:,} of {len(files):,}")
        with sieve.part(file.name):
            if isinstance(result, DataError):
                good[k] = False
                raise result
            shown.append(result)
    return Album.bound(shown), good, sieve.notes(len(files), "images")


def _conversion(image: Image.Image) -> str:
    """What is done to the colours of an opened image, beside reading them."""
    profile = image.info.get("icc_profile") or b""
    if image.mode == "CMYK":
        return "ink colours (CMYK), which are converted to RGB without a profile"
    if profile and b"sRGB" not in profile.replace(b"\0", b"") and image.mode not in _GREY:
        return "a colour profile that is damaged or not sRGB, and is ignored"
    return ""


def _conversions(images: list[Found]) -> list[str]:
    """A note on each of the conversions of colours."""
    notes = []
    for what in sorted({image.converted for image in images} - {""}):
        names = [image.member.name for image in images if image.converted == what]
        have = "1 image has" if len(names) == 1 else f"{len(names):,} images have"
        notes.append(f"{have} {what}, such as {names[0][:60]}. If the colours matter, save such images as sRGB first")
    return notes


def _sizes_note(surveyed: Survey, fit: Fit) -> list[str]:
    sizes = sorted({image.size for image in surveyed.images}, key=lambda size: size[0] * size[1])
    if len(sizes) == 1:
        return [f"The images have {_pixels(sizes[0])} pixels; they are brought to {_pixels(fit[:2])}: {WAYS[fit.how]}"]
    between = f"{len(sizes):,} sizes, from {_pixels(sizes[0])} to {_pixels(sizes[-1])} pixels (height x width)"
    return [f"The images have {between}; they are brought to {_pixels(fit[:2])}: {WAYS[fit.how]}"]


def _pixels(size: tuple[int, int]) -> str:
    """Height and width, as the form and the command line have them."""
    return f"{size[0]} x {size[1]}"


def _size(name: str, image: Image.Image) -> tuple[int, int]:
    """The height and width of an opened image as it is shown. DataError for one that is too large or animated."""
    width, height = image.size
    if max(image.size) > MAX_SIDE:
        raise DataError(
            f"{name} has {height} x {width} pixels (height x width), more than {MAX_SIDE} on a side",
            f"images of up to {MAX_SIDE} x {MAX_SIDE} pixels",
        )
    if image.format == "TIFF" and max(image.tag_v2.get(_BITS, (8,))) > 8 and not _is_deep(image):  # Pillow misreads it
        raise DataError(f"{name} has colours of more than 8 bits that are stored plane by plane without compression",
                        "TIFF files that are compressed, or that store the colours of each pixel together")  # fmt: skip
    if image.format != "MPO" and (frames := getattr(image, "n_frames", 1)) > 1:
        raise DataError(f"{name} has {frames} frames", "images that are not animated, and files with one page")
    try:
        known = image.format != "TIFF"  # whose size Pillow gives as it is shown
        known &= image.format != "PNG" or "exif" in image.info  # else it decodes the whole image to look behind it
        turned = known and image.getexif().get(_ORIENTATION) in (5, 6, 7, 8)
    except Exception:  # any error: the image is then shown as it is stored
        turned = False
    return (width, height) if turned else (height, width)


def _is_deep(image: Image.Image) -> bool:
    """Whether an opened image has more than 8 bits per pixel."""
    return image.mode in _DEEP or any(";16" in str(tile[3]) for tile in image.tile)


def _deep_scale(surveyed: Survey, report: Report) -> DeepScale:
    """The scale of the images with more than 8 bits, which are read once for it."""
    scale, deep = DeepScale(), [image for image in surveyed.images if image.deep]
    for k, found in enumerate(deep):
        report(k, len(deep), f"Finding the range of values, {k:,} of {len(deep):,} images")
        with suppress(DataError):  # it is reported when the image is read
            scale.add(decode(found.member.name, found.member.read()), found.member.name)
    scale.settle(len(surveyed.images), "images")
    return scale


def _path(member: Member, table: ClassTable | None) -> tuple[str, ...]:
    """Folders and name of an image; the last folder is its class. DataError if it is no image or has no class."""
    parts = PurePosixPath(member.name).parts
    if not is_image(member.name) and (table is None or member.name not in table.classes):
        raise DataError(foreign(member) or f"{member.name} is not an image", ACCEPTED)
    if table is not None:
        if two := table.twice.get(table.column, {}).get(member.name):
            both = " and ".join(map(repr, two))
            raise DataError(f"{member.name} has the classes {both} in {table.file}", "one class for each image")
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


def _is_note(member: Member) -> bool:
    """Whether a file beside images is a text about them. DataError for one of numbers, which may be examples."""
    if is_about(member.name) or not is_text(member):
        return is_about(member.name)
    cells = re.split(r"[,;\s]+", member.start(TEXT).decode("utf-8", "replace").strip())
    if 2 * sum(map(is_number, cells)) > len(cells) and not any(map(is_image, cells)):
        raise DataError(
            f"{member.name} is a table of numbers that names no image of the upload",
            "images without such a table, or with a table that names the images",
        )
    return True


def decode(name: str, content: bytes, share: float = 1.0) -> Decoded:
    """Decode an image. DataError for one that is too large, animated or damaged.

    share: of its sides, 0 to 1; a JPEG may be decoded at a half, a quarter or an eighth of its sides that is at least
    this, which takes a fraction of the time
    """
    with opened(name, content) as image:
        _size(name, image)
        image.draft(None, tuple(math.ceil(share * side) for side in image.size))
        return flat(image)


@contextmanager
def opened(
    name: str, content: bytes, formats: Sequence[str] = _FORMATS, accepted: str = ACCEPTED
) -> Iterator[Image.Image]:
    """Open an image, reading only its header; errors in the block become a DataError that names the file."""
    if not content:
        raise DataError(f"{name} is empty", accepted)
    reason = f"{name} cannot be read as an image"
    with in_words(reason, accepted):
        try:
            image = Image.open(io.BytesIO(content), formats=formats)
        except UnidentifiedImageError as error:  # its message names an object in memory
            brand = _BRANDS.match(content)
            what = "HEIC: save it as jpg or png" if brand and brand[1] else "not an image"
            what = "AVIF, which needs Pillow 11.3 or newer" if brand and brand[2] else what
            raise DataError(f"{reason} (its content is {what})", accepted) from error
        except Image.DecompressionBombError as error:
            raise DataError(
                f"{name} has more than {2 * Image.MAX_IMAGE_PIXELS:,} pixels",
                f"images of up to {MAX_SIDE} x {MAX_SIDE}",
            ) from error
        with image:
            yield image


def flat(image: Image.Image) -> Decoded:
    """An opened image, grey or RGB, upright, on white. ValueError for values that are no integers from 0 to 65535."""
    deep_colours = image.mode not in _DEEP and _is_deep(image)
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


def stacked(images: list[np.ndarray]) -> np.ndarray:
    """Images of one size stacked: (n, h, w), or (n, h, w, 3) if one of them is coloured."""
    if any(image.ndim == 3 for image in images):
        images = [image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2) for image in images]
    return np.stack(images)
