"""A user's own pictures with objects: a zip, or several files, of images and annotations.

    read_pictures([(name, bytes | path), ...]) -> Upload        DataError(reason, accepted)

Annotations name a picture by its path in the upload, by its file name if that is unique, or in the form of the
annotation tool (loaders.objects). Errors about an object name the file, the position in it and what is accepted.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise, takewhile
from pathlib import PurePosixPath
from urllib.parse import unquote

import numpy as np

from data.dataset import DataError, alike
from data.loaders import bundle, depth, images, labelled, objects
from data.loaders.bundle import Member
from data.loaders.objects import Object
from data.loaders.sieve import Sieve, TooLarge

ACCEPTED = (
    "images (png, jpg, gif, bmp, tif, webp, pgm), or a zip of them, and annotations of their objects: "
    f"{objects.ACCEPTED}"
)
MIN_SIDE, MAX_PICTURES = 16, 500
MAX_NAME = 300  # characters of the path of a picture
MIN_OBJECT = 2  # pixels, the shortest side of a box
LEAST = "at least two pictures with objects: one for training and one for testing"
SUGGESTED, ENDS = 20, 40  # wrong names for which similar ones are suggested, and how many last characters are compared
_PREFIX = re.compile(r"^(?:\?d=|[0-9a-f]{8}-)")  # prefix that Label Studio adds to file names
_ENDING = re.compile(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{1,3}$")  # suffix of an image file
MAX_ENCODED = 5  # how often a name may be URL-encoded


@dataclass(frozen=True, eq=False)
class Upload:
    """Checked pictures and objects, to be viewed (`pictures.draft`) and saved (`pictures.keep`)."""

    title: str
    names: tuple[str, ...]
    images: tuple[np.ndarray, ...]  # (h, w) uint8
    shape: str  # "box" or "circle"
    boxes: np.ndarray  # (m, 4) float64
    category: np.ndarray  # (m,) int64
    picture: np.ndarray  # (m,) int64, position in `images`
    notes: tuple[str, ...] = ()  # decisions made while reading, one sentence each
    kinds: tuple[str, ...] = ()  # names of the objects, the most frequent first


def are_pictures(files: Sequence[tuple[str, bytes | str]]) -> bool:
    """Whether an upload has images and annotations of objects, valid or not. Images in one folder with a table that has
    no classes are not examples of classes, so they count."""
    try:
        members = [member for pair in files for member in bundle.members_of(*pair, bundle.MAX_IMAGES)]
        pictures = [member.name for member in members if images.is_image(member.name)]
        if labelled.find_classes(members, pictures, strict=True):
            return False
        if len({PurePosixPath(name).parent for name in pictures}) == 1:
            others = [PurePosixPath(m.name) for m in members if not objects.about(m.name)]
            return any(path.suffix.lower() in objects.SUFFIXES for path in others)
        return bool(pictures) and objects.has_annotations(members, pictures)
    except DataError:
        return False


def read_pictures(files: Sequence[tuple[str, bytes | str]], skip: bool = False, kinds: Sequence[str] = ()) -> Upload:
    """Read and check the files of one upload, given as (name, content or path on this computer).

    skip : skip images that cannot be read, with their objects, and invalid objects
    kinds : read only objects with these names; all objects if empty
    Raises DataError; its subclass Unusable if `skip` would help.
    """
    with _of_pictures():
        members = [member for pair in files for member in bundle.members_of(*pair)]
    sieve, total = Sieve(skip), len(members)
    tables, members = _sorted_out(members, sieve)
    total -= len(sieve.bad)
    names = [member.name for member in members]
    annotated, format_notes = objects.read(tables, names, sieve)
    total += len(annotated) + len(sieve.bad)  # its lines, including bad ones
    called = tuple(kind for kind, _ in Counter(item.kind for item in annotated if item.kind).most_common())
    annotated = [item for item in annotated if item.kind in kinds] if kinds else annotated
    decoded, read = _decoded(members, sieve)
    annotated, position, resized = _placed(annotated, decoded, names, sieve)
    notes = [*sieve.notes(total, "files and lines"), *resized, *_several_files(annotated, position, names)]
    readable = [k for k, picture in enumerate(decoded) if picture is not None]
    position, decoded = np.searchsorted(readable, position), [decoded[k] for k in readable]
    if len(set(position)) < 2:
        own = [member.name for member in tables if not objects.about(member.name)]
        describe = f"{own[0]} describes" if len(own) == 1 else "The annotations describe"
        raise DataError(f"{describe} objects in fewer than two pictures that can be used", LEAST)
    boxes = np.array([item.box for item in annotated], np.float64)
    return Upload(
        PurePosixPath(files[0][0]).name.split(".")[0] or "pictures",
        tuple(members[k].name for k in readable),
        tuple(decoded),
        "circle" if all(item.circle for item in annotated) else "box",
        boxes,
        np.array([item.category for item in annotated], np.int64),
        position,
        (*(_alike_kinds(called, kinds) if kinds else format_notes), *notes, *read, *_notes(boxes, decoded, position)),
        called,
    )


def _alike_kinds(called: Sequence[str], kinds: Sequence[str]) -> list[str]:
    """A note on objects that are not read, with names like those of others that are."""
    for group in alike(called):
        if (read := [name for name in group if name in kinds]) and (others := [n for n in group if n not in kinds]):
            return [f"Objects named {others[0]!r} are not read, but objects named {read[0]!r} are. If both names mean "
                    "the same kind, choose both"]  # fmt: skip
    return []


@contextmanager
def _of_pictures() -> Iterator[None]:
    """Errors that ask for one folder per class ask for pictures and annotations instead."""
    try:
        yield
    except TooLarge:
        raise
    except DataError as error:
        if error.accepted.startswith((bundle.ZIP_ACCEPTED, images.ACCEPTED)):
            raise DataError(error.reason, ACCEPTED) from error
        raise


def _sorted_out(members: list[Member], sieve: Sieve) -> tuple[list[Member], list[Member]]:
    """The annotation files, and the images by name; other files go to the sieve. DataError for repeated names."""
    tables, pictures = [], []
    for member in sorted(members, key=lambda member: member.name):
        if images.is_image(member.name):
            pictures.append(member)
        elif PurePosixPath(member.name).suffix.lower() in objects.SUFFIXES or objects.about(member.name):
            tables.append(member)
        else:
            reason = images.foreign(member) or f"{member.name} is neither an image nor a file of annotations"
            sieve.add(member.name, DataError(reason, ACCEPTED))
    if all(objects.about(member.name) for member in tables):
        raise DataError("There are no annotations of objects", ACCEPTED)
    if not pictures:
        first = next(member.name for member in tables if not objects.about(member.name))
        raise DataError(f"There are annotations, {first}, but no image", ACCEPTED)
    if len(pictures) > MAX_PICTURES:
        raise DataError(f"There are {len(pictures)} images", f"at most {MAX_PICTURES} images")
    if long := [member.name for member in members if len(member.name) > MAX_NAME]:
        raise DataError(f"The file name {long[0][:40]!r}... has {len(long[0])} characters", f"at most {MAX_NAME}")
    for first, second in pairwise(pictures):
        if first.name == second.name:
            raise DataError(f"There are two images named {first.name}", "a different name for each image")
    return tables, pictures


class _Names:
    """The pictures of an upload by the names that annotations may give them."""

    def __init__(self, names: Sequence[str]):
        self.names, self.paths = names, {name: k for k, name in enumerate(names)}
        self.files: dict[str, list[int]] = {}
        self.stems: dict[str, list[int]] = {}
        for k, name in enumerate(names):
            self.files.setdefault(PurePosixPath(name).name, []).append(k)
            self.stems.setdefault(PurePosixPath(name).stem, []).append(k)

    def find(self, image: str, file: str) -> list[int]:
        """The pictures that an annotation in `file` may mean by `image`; of several, those nearest to the file."""
        image = bundle.composed(image)
        if image in self.paths:
            return [self.paths[image]]
        if image.startswith(".."):
            return []
        known = _spellings(image)
        matches = next((self.files[name] for name in known if name in self.files), None)
        known += [_ENDING.sub("", name) for name in known]
        matches = matches or next((self.stems[name] for name in known if name in self.stems), [])
        near = [_shared(self.names[k], file) for k in matches]
        return [k for k, n in zip(matches, near) if n == max(near)]


def _spellings(image: str) -> list[str]:
    """Possible file names for the path, URL or name in an annotation, the closest first."""
    decoded = [image]
    while len(decoded) <= MAX_ENCODED and (more := unquote(decoded[-1])) != decoded[-1]:
        decoded.append(more)
    last = [PurePosixPath(path.replace("\\", "/")).name for path in decoded]
    return [image, *(spelling for name in last for spelling in (name, _PREFIX.sub("", name)))]


def _shared(path: str, other: str) -> int:
    """The number of leading folders that two paths share."""
    both = zip(PurePosixPath(path).parts[:-1], PurePosixPath(other).parts[:-1])
    return len(list(takewhile(lambda pair: pair[0] == pair[1], both)))


def _placed(
    annotated: list[Object], pictures: list[np.ndarray | None], names: list[str], sieve: Sieve
) -> tuple[list[Object], np.ndarray, list[str]]:
    """The valid objects of readable pictures, in pixels, (m,) int64 the picture of each, and a note."""
    known, placed, position, seen, resized = _Names(names), [], [], {}, {}
    for item in annotated:
        where = item.spot.where
        with sieve.part(where()):
            there = known.find(item.image, item.spot.file)
            field = "image" if item.spot.tabled else ""
            if len(there) > 1:
                both = " or ".join(names[k] for k in there[:2])
                raise DataError(
                    f"{where(field)}: {item.image[:60]!r} is ambiguous: it may be {both}", "the path of one of them"
                )
            if not there:
                reason = f"{where(field)}: there is no image {item.image[:60]!r}"
                similar = _named(item.image, known.files) if len(sieve.bad) < SUGGESTED else ""
                raise DataError(reason, item.named or similar)
            if pictures[there[0]] is None:
                continue
            shape, stated = pictures[there[0]].shape, item
            item = item.scaled(shape)
            _check_place(item, shape)
            key = (there[0], *item.box)
            if key in seen:
                raise DataError(f"{where()}: the same object as in {seen[key]}", "each object once")
            seen[key] = item.spot.at if item.spot.file == annotated[0].spot.file else where()
            placed.append(item)
            position.append(there[0])
            if stated.is_scaled(shape):
                resized.setdefault(there[0], (shape, item.size))
    return placed, np.array(position, np.int64), _resized_note(names, resized)


def _several_files(placed: list[Object], position: np.ndarray, names: list[str]) -> list[str]:
    """A note on pictures with objects in several files, which may be those of several annotators."""
    files: dict[int, dict[str, None]] = {}
    for item, k in zip(placed, position.tolist()):
        files.setdefault(k, {})[item.spot.file] = None
    several = [k for k, of_one in files.items() if len(of_one) > 1]
    if not several:
        return []
    which = "1 picture has" if len(several) == 1 else f"{len(several):,} pictures have"
    two = " and ".join(file[:60] for file in list(files[several[0]])[:2])
    first = names[several[0]][:60]
    return [f"{which} objects in several files, such as {first} in {two}: the objects of all files count"]


def _resized_note(names: list[str], resized: dict[int, tuple]) -> list[str]:
    """A note on pictures that have another size, (h, w), than the annotations state. resized: both, by picture."""
    if not resized:
        return []
    (first, ((h, w), (H, W))), n = next(iter(resized.items())), len(resized)
    which = "1 picture has" if n == 1 else f"{n:,} pictures have"
    return [
        f"{which} another size than the annotations state, such as {names[first][:60]} with {w} x {h} instead of "
        f"{W} x {H} pixels: the objects are scaled to the picture"
    ]


def _named(image: str, files: dict[str, list[int]]) -> str:
    ends = {name[-ENDS:]: name for name in files}
    close = [ends[end] for end in get_close_matches(image[-ENDS:], ends, 3, 0.5)] or list(files)[:3]
    return f"the name of an image of this upload, such as {', '.join(name[:60] for name in close)}"


def _decoded(members: list[Member], sieve: Sieve) -> tuple[list[np.ndarray | None], list[str]]:
    """Every image in grey, None if it is damaged, too large or too small, and notes on the conversion."""
    decoded, total, coloured = [], 0, False
    for member in members:
        image = None
        with sieve.part(member.name):
            with _of_pictures():
                original = images.decode(member.name, member.read())
            h, w = original.pixels.shape[:2]
            if min(h, w) < MIN_SIDE:
                raise DataError(f"{member.name} has {w} x {h} pixels", f"images of at least {MIN_SIDE} x {MIN_SIDE}")
            coloured = coloured or original.pixels.ndim == 3
            image = original._replace(pixels=images.grey(original.pixels))
            total += image.pixels.size
        if total > bundle.MAX_BYTES:
            raise TooLarge(f"The images take more than {bundle.MAX_BYTES >> 20} MB as pixels", bundle.SIZE_ACCEPTED)
        decoded.append(image)
    read = [(image, member.name) for image, member in zip(decoded, members) if image]
    pixels, notes = depth.on_one_scale(*zip(*read), "pictures") if read else ([], [])
    left = iter(pixels)
    return [image and next(left) for image in decoded], [
        *(["Colour images are converted to grey"] if coloured else []),
        *notes,
    ]


def _check_place(item: Object, shape: tuple[int, int]) -> None:
    """DataError for an object whose centre is outside its picture (h, w), or which is too large or too small."""
    box, (h, w) = item.box, shape
    for low, side, axis in ((0, w, "x"), (1, h, "y")):
        centre, across = (box[low] + box[low + 2]) / 2, box[low + 2] - box[low]
        field = item.fields[low if centre < 0 else low + 2]
        if not 0 <= centre <= side:
            reason = (
                f"{item.spot.where(field)}: the centre of the object, {axis} = {centre:g}, is outside {item.image[:60]}"
            )
            raise DataError(reason, f"a centre within its {w} x {h} pixels")
        if not MIN_OBJECT <= across <= 2 * side:
            reason = f"{item.spot.where(item.across or field)}: the object is {across:g} pixels across"
            raise DataError(reason, f"{MIN_OBJECT} to {2 * side} pixels across in {item.image[:60]}")


def _notes(boxes: np.ndarray, pictures: list[np.ndarray], position: np.ndarray) -> list[str]:
    h, w = np.array([picture.shape for picture in pictures]).T[:, position]
    out = (boxes[:, :2] < 0).any(1) | (boxes[:, 2] > w) | (boxes[:, 3] > h)
    notes = []
    if bare := len(pictures) - len(set(position)):
        notes.append(
            f"{bare} {'picture has' if bare == 1 else 'pictures have'} no object: any detection there is a false alarm"
        )
    if out.any():
        notes.append(
            f"{out.sum()} {'object extends' if out.sum() == 1 else 'objects extend'} beyond the edge of the picture"
        )
    return notes
