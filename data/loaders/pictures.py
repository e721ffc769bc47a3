"""A reader's own pictures with objects: a zip, or several files, of images and one table of objects (loaders.boxes).

    read_pictures([(name, bytes), ...]) -> Upload        DataError(reason, accepted)

A table names a picture by its path in the upload, or by its file name alone where there is one of that name. Complaints
about an object name the table, its line, the column and what is allowed.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from pathlib import PurePosixPath

import numpy as np

from data.dataset import DataError
from data.loaders import boxes, bundle, images
from data.loaders.boxes import Objects
from data.loaders.bundle import Member
from data.loaders.sieve import Sieve, TooLarge

ACCEPTED = "images (png, jpg, gif, bmp, tif, webp, pgm), or a zip of them, and one csv table of boxes or circles"
MAX_SIDE, MIN_SIDE, MAX_PICTURES = 4096, 16, 500
MAX_NAME = 300  # letters of a picture's path
MIN_OBJECT = 2  # pixels, the shortest side of a box
LEAST = "at least two pictures with objects, so that one can train and another test"
SUGGESTED, ENDS = 20, 40  # wrong names for which a similar one is looked for, and by how many last letters
_TABLES = {".csv", ".tsv", ".txt"}


@dataclass(frozen=True, eq=False)
class Upload:
    """Pictures and objects that can be drafted (`pictures.draft`) and kept (`pictures.keep`)."""

    title: str
    names: tuple[str, ...]
    images: tuple[np.ndarray, ...]  # (h, w) uint8
    shape: str  # "box" or "circle"
    boxes: np.ndarray  # (m, 4) float64
    category: np.ndarray  # (m,) int64
    picture: np.ndarray  # (m,) int64, position in `images`
    notes: tuple[str, ...] = ()  # what was decided for the reader, one sentence each


def read_pictures(files: Sequence[tuple[str, bytes]], skip: bool = False) -> Upload:
    """Read and check the files of one upload, given as (name, content).

    skip : leave out the images that cannot be read, with their objects, and the lines of the table that are bad
    Raises DataError; Unusable, one of them, where `skip` would help.
    """
    with _of_pictures():
        members = [member for name, content in files for member in bundle.from_bytes(name, content)]
    sieve, total = Sieve(skip), len(members)
    table, members = _sorted_out(members, sieve)
    total -= len(sieve.bad)
    objects = boxes.read(table.name, table.read(), sieve)
    total += len(objects.line) + len(sieve.bad)  # its lines, those among them that are bad
    decoded, coloured = _decoded(members, sieve)
    objects, position = _placed(objects, decoded, [member.name for member in members], sieve)
    notes = sieve.notes(total, "files and lines")
    kept = [k for k, picture in enumerate(decoded) if picture is not None]
    position, decoded = np.searchsorted(kept, position), [decoded[k] for k in kept]
    if len(set(position)) < 2:
        raise DataError(f"{table.name} has objects in one picture only", LEAST)
    return Upload(
        PurePosixPath(files[0][0]).name.split(".")[0] or "pictures",
        tuple(members[k].name for k in kept),
        tuple(decoded),
        objects.shape,
        objects.boxes,
        objects.category,
        position,
        (*notes, *(["Colours are read as grey"] if coloured else []), *_notes(objects, decoded, position)),
    )


@contextmanager
def _of_pictures() -> Iterator[None]:
    """A refusal that asks for one folder a class asks for pictures and a table instead."""
    try:
        yield
    except TooLarge:
        raise
    except DataError as error:
        if error.accepted.startswith((bundle.ZIP_ACCEPTED, images.ACCEPTED)):
            raise DataError(error.reason, ACCEPTED) from error
        raise


def _sorted_out(members: list[Member], sieve: Sieve) -> tuple[Member, list[Member]]:
    """The table, and the images by name; what is neither is the sieve's. DataError for names that occur twice."""
    tables, pictures = [], []
    for member in sorted(members, key=lambda member: member.name):
        if PurePosixPath(member.name).suffix.lower() in _TABLES:
            tables.append(member)
        elif images.is_image(member.name):
            pictures.append(member)
        else:
            sieve.add(member.name, DataError(f"{member.name} is neither an image nor a table", ACCEPTED))
    if len(tables) != 1:
        found = "no table of objects" if not tables else "two tables, " + " and ".join(t.name for t in tables[:2])
        raise DataError(f"There is {found}" if not tables else f"There are {found}", ACCEPTED)
    if not pictures:
        raise DataError(f"There is a table, {tables[0].name}, and no image", ACCEPTED)
    if len(pictures) > MAX_PICTURES:
        raise DataError(f"There are {len(pictures)} images", f"at most {MAX_PICTURES} images")
    if long := [member.name for member in members if len(member.name) > MAX_NAME]:
        raise DataError(f"The name {long[0][:40]!r}... has {len(long[0])} letters", f"at most {MAX_NAME}")
    for one, other in pairwise(pictures):
        if one.name == other.name:
            raise DataError(f"There are two images named {one.name}", "each name once")
    return tables[0], pictures


def _placed(
    objects: Objects, pictures: list[np.ndarray | None], names: list[str], sieve: Sieve
) -> tuple[Objects, np.ndarray]:
    """The objects that lie well in a picture that can be read, and (m,) int64 the picture of each."""
    paths = {name: k for k, name in enumerate(names)}
    files: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        files.setdefault(PurePosixPath(name).name, []).append(k)
    rows, position, seen = [], [], {}
    for row, image in enumerate(objects.image):
        with sieve.part(objects.where(row)):
            found = [paths[image]] if image in paths else files.get(image, [])
            if len(found) > 1:
                both = " and ".join(names[k] for k in found[:2])
                reason = f"{objects.where(row, 'image')}: {image[:60]!r} may be {both}"
                raise DataError(reason, "the path of one of them")
            if not found:
                reason = f"{objects.where(row, 'image')}: there is no image {image[:60]!r}"
                raise DataError(reason, _named(image, files) if len(sieve.bad) < SUGGESTED else "")
            if pictures[found[0]] is None:
                continue
            _check_place(objects, row, pictures[found[0]].shape)
            key = (found[0], *objects.boxes[row].tolist())
            if key in seen:
                reason = f"{objects.where(row)}: the same object as in line {seen[key]}"
                raise DataError(reason, "each object once")
            seen[key] = objects.line[row]
            rows.append(row)
            position.append(found[0])
    return objects.take(rows), np.array(position, np.int64)


def _named(image: str, files: dict[str, list[int]]) -> str:
    ends = {name[-ENDS:]: name for name in files}
    close = [ends[end] for end in get_close_matches(image[-ENDS:], ends, 3, 0.5)] or list(files)[:3]
    return f"the name of an image of this upload, such as {', '.join(name[:60] for name in close)}"


def _decoded(members: list[Member], sieve: Sieve) -> tuple[list[np.ndarray | None], bool]:
    """Every image in grey, None for those that are damaged, large or small, and whether one has colours."""
    decoded, total, coloured = [], 0, False
    for member in members:
        image = None
        with sieve.part(member.name):
            with _of_pictures():
                found = images.decode(member.name, member.read(), MAX_SIDE)
            h, w = found.shape[:2]
            if min(h, w) < MIN_SIDE:
                raise DataError(f"{member.name} has {w} x {h} pixels", f"images of at least {MIN_SIDE} x {MIN_SIDE}")
            image, coloured = images.grey(found), coloured or found.ndim == 3
            total += image.nbytes
        if total > bundle.MAX_BYTES:
            raise TooLarge(f"The images take more than {bundle.MAX_BYTES >> 20} MB as pixels", bundle.SIZE_ACCEPTED)
        decoded.append(image)
    return decoded, coloured


def _check_place(objects: Objects, row: int, shape: tuple[int, int]) -> None:
    """DataError for an object centred outside its picture (h, w), larger than it, or too small to see."""
    circle, box, (h, w) = objects.shape == "circle", objects.boxes[row], shape
    for low, high, side, axis in ((box[0], box[2], w, "x"), (box[1], box[3], h, "y")):
        column = axis if circle else f"{axis}min" if low + high < 0 else f"{axis}max"
        if not 0 <= (low + high) / 2 <= side:
            reason = f"{objects.where(row, column)}: the object's centre, {axis} = {(low + high) / 2:g}, lies outside"
            raise DataError(f"{reason} {objects.image[row][:60]}", f"a centre within its {w} x {h} pixels")
        if not MIN_OBJECT <= high - low <= 2 * side:
            reason = f"{objects.where(row, 'radius' if circle else column)}: the object is {high - low:g} pixels across"
            raise DataError(reason, f"{MIN_OBJECT} to {2 * side} pixels across in {objects.image[row][:60]}")


def _notes(objects: Objects, pictures: list[np.ndarray], position: np.ndarray) -> list[str]:
    h, w = np.array([picture.shape for picture in pictures]).T[:, position]
    out = (objects.boxes[:, :2] < 0).any(1) | (objects.boxes[:, 2] > w) | (objects.boxes[:, 3] > h)
    notes = []
    if bare := len(pictures) - len(set(position)):
        notes.append(
            f"{bare} {'picture has' if bare == 1 else 'pictures have'} no object: false alarms are counted there"
        )
    if out.any():
        notes.append(f"{out.sum()} {'object reaches' if out.sum() == 1 else 'objects reach'} beyond the picture's edge")
    return notes
