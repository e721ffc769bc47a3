"""The reader's own pictures with objects: one .npz each under home/own/pictures, listed as own:pictures:<slug>.

A file holds all pixels in one row, the sizes of the pictures, their objects, and a JSON text with the title and what
the catalogue shows; it is written whole or not at all, and read without unpickling. When the sets are listed, what each
file announces is checked; the numbers themselves are when they are read (compare data.own).
"""

import json
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from data import places
from data.dataset import DataError
from data.loaders import bundle, npz
from data.loaders.boxes import MAX_CATEGORY, MAX_OBJECTS
from data.loaders.pictures import MAX_NAME, MAX_PICTURES, MAX_SIDE, Upload
from data.own import ACCEPTED, MAX_ENTRY, Damaged, remove, slug
from data.pictures.entry import Contents, PictureEntry
from data.pictures.kinds import ONE_CATEGORY, Picture, PictureSet, leave_out

PREFIX = "own:pictures:"
MAX_PARTS = 4
MAX_TEXT = 10_000  # letters of a title
MAX_WORD = 30  # letters of what an object is called
_ARRAYS = ("pixels", "sizes", "boxes", "category", "picture")

_found: dict[tuple, DataError] = {}  # path, stamp -> what reading all of a file has shown


def draft(title: str, upload: Upload, object_name: str = "object") -> PictureSet:
    """The set that `keep` would store under this title. Raises DataError for a title without letters or digits."""
    shown = _shown(title, upload, object_name)
    entry = _entry(_path(title), shown, sum(image.nbytes for image in upload.images))
    return entry.described(_contents(_pictures(shown["names"], upload)))


def keep(title: str, upload: Upload, object_name: str = "object", *, replace: bool = False) -> PictureEntry:
    """Store the pictures under home/own/pictures. Raises DataError for a taken name, unless `replace`."""
    shown, path = _shown(title, upload, object_name), _path(title)
    if path.exists() and not replace:
        name = PREFIX + path.stem
        raise DataError(f"There is already a set of pictures {name!r}", "another name, or permission to replace it")
    arrays = {
        "pixels": np.concatenate([image.ravel() for image in upload.images]),
        "sizes": np.array([image.shape for image in upload.images], np.int64),
        "boxes": upload.boxes,
        "category": upload.category,
        "picture": upload.picture,
    }
    try:
        with places.replacing(path) as file:
            np.savez(file, **arrays, entry=np.array(json.dumps(shown)))
    except OSError as error:
        raise DataError(f"The pictures could not be stored ({error})", "a home folder that can be written") from error
    return next(entry for entry in entries() if entry.name == PREFIX + path.stem)


def forget(name: str) -> None:
    """Remove one of the reader's own sets, or what is left of it, for good; DataError if there is none of this name."""
    path = next((path for path in _files() if PREFIX + path.stem == name), None)
    if path is None:
        raise DataError(f"There are no pictures of yours named {name!r}", f"one of the names that start with {PREFIX}")
    remove(path)


def entries() -> list[PictureEntry]:
    """The stored sets by name, without the damaged ones."""
    return [entry for entry in map(_look, _files()) if isinstance(entry, PictureEntry)]


def damaged() -> list[Damaged]:
    """The files that lie among the stored sets and cannot be read."""
    looks = [(path, _look(path)) for path in _files()]
    return [Damaged(PREFIX + path.stem, str(error)) for path, error in looks if isinstance(error, DataError)]


def _shown(title: str, upload: Upload, object_name: str) -> dict:
    """What is stored beside the arrays, and what an entry is made of."""
    title, object_name = " ".join(title.split()), " ".join(object_name.split())
    if len(title) > MAX_TEXT:
        raise DataError(f"The name has {len(title):,} letters", f"at most {MAX_TEXT:,}")
    if not 1 <= len(object_name) <= MAX_WORD:
        raise DataError(f"An object cannot be called {object_name[:40]!r}", f"a word of up to {MAX_WORD} letters")
    return {
        "title": title,
        "shape": upload.shape,
        "object_name": object_name,
        "names": list(upload.names),
        "categories": np.unique(upload.category).tolist(),
        "n_objects": len(upload.boxes),
    }


def _path(title: str) -> Path:
    return places.home() / "own" / "pictures" / f"{slug(title)}.npz"


def _files() -> list[Path]:
    return sorted((places.home() / "own" / "pictures").glob("[!.]*.npz"))


def _entry(path: Path, shown: dict, size: int) -> PictureEntry:
    only = shown["categories"] == [1]
    return PictureEntry(
        name=PREFIX + path.stem,
        title=shown["title"],
        shape=shown["shape"],
        object_name=shown["object_name"],
        unit="picture",
        n_pictures=len(shown["names"]),
        n_objects=shown["n_objects"],
        licence="yours",
        citation="",
        sources=("your own data",),
        size_mb=size / 1e6,
        categories=ONE_CATEGORY if only else {c: f"category {c}" for c in shown["categories"]},
        parse=partial(_read, shown),
        paths=partial(list, [path]),
    )


def _contents(pictures: tuple[Picture, ...]) -> Contents:
    n_parts = min(MAX_PARTS, len(pictures))
    title = f"A: {n_parts} parts, each tests what the others train on"
    return Contents(pictures, {"A": leave_out(pictures, "A", title, n_parts)})


def _pictures(names: list[str], arrays) -> tuple[Picture, ...]:
    """Pictures of an Upload, or of what has `images`, `boxes`, `category` and `picture` as one has."""
    rows = [arrays.picture == k for k in range(len(names))]
    return tuple(
        Picture(name, image.copy(), arrays.boxes[mine], arrays.category[mine], 1.0, int(mine.sum()))
        for name, image, mine in zip(names, arrays.images, rows)
    )


# ---------------------------------------------------------------------------------------------------------- stored


def _look(path: Path) -> PictureEntry | DataError:
    """The entry of a stored file, or what is wrong with it."""
    try:
        stat = path.stat()
    except OSError as error:
        return DataError(f"{path.name} cannot be read ({error.strerror})", ACCEPTED)
    stamp = stat.st_mtime_ns, stat.st_size
    return _found.get((path, stamp)) or _entry_of(path, stamp)


@lru_cache(maxsize=128)
def _entry_of(path: Path, stamp: tuple[int, int]) -> PictureEntry | DataError:
    try:
        if not path.is_file():
            raise DataError(f"{path.name} is not a file", ACCEPTED)
        members = _members(path)
        if members["entry"].size > MAX_ENTRY:
            raise DataError(f"The text in {path.name} is longer than {MAX_ENTRY >> 10} kB", ACCEPTED)
        shown = json.loads(str(npz.parse("entry", members["entry"].read())))
        _check_shown(path, shown)
        _check_announced(path, members, len(shown["names"]), shown["n_objects"])
        return _entry(path, shown, stamp[1])
    except DataError as error:
        return error
    except (ValueError, RecursionError) as error:
        return DataError(f"{path.name} does not say what it holds ({error})", ACCEPTED)


def _members(path: Path) -> dict[str, bundle.Member]:
    """The arrays of a stored file by name, not yet read."""
    members = {member.name.removesuffix(".npy"): member for member in bundle.from_path(path, 2 * bundle.MAX_BYTES)}
    if missing := {*_ARRAYS, "entry"} - members.keys():
        raise DataError(f"{path.name} has no {min(missing)}", ACCEPTED)
    return members


def _check_shown(path: Path, shown) -> None:
    """DataError unless a stored description has what an entry takes from it."""
    if path.stem != slug(path.stem):
        raise DataError(f"{path.name} has a name that no stored set can have", "small letters, digits and hyphens")
    good = {
        "title": lambda value: _is_text(value, MAX_TEXT),
        "shape": lambda value: value in ("box", "circle"),
        "object_name": lambda value: _is_text(value, MAX_WORD),
        "names": lambda value: _is_list(value, MAX_PICTURES, lambda name: _is_text(name, MAX_NAME)) and len(value) > 1,
        "categories": lambda value: _is_list(value, MAX_CATEGORY, lambda c: _is_count(c, MAX_CATEGORY)),
        "n_objects": lambda value: _is_count(value, MAX_OBJECTS),
    }
    if not isinstance(shown, dict):
        raise DataError(f"{path.name} does not say what it holds", ACCEPTED)
    for name, is_good in good.items():
        if not is_good(shown.get(name)):
            raise DataError(f"{path.name} says {name} = {repr(shown.get(name))[:60]}", ACCEPTED)


def _is_text(value, most: int) -> bool:
    return isinstance(value, str) and 0 < len(value) <= most


def _is_list(value, most: int, is_good) -> bool:
    return isinstance(value, list) and 0 < len(value) <= most and all(map(is_good, value))


def _is_count(value, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _check_announced(path: Path, members: dict[str, bundle.Member], n: int, m: int) -> None:
    """DataError unless the arrays announce the shapes of n pictures and m objects."""
    wanted = {"sizes": ((n, 2), "i8"), "boxes": ((m, 4), "f8"), "category": ((m,), "i8"), "picture": ((m,), "i8")}
    for name, (shape, dtype) in wanted.items():
        if npz.announced(members[name]) != (shape, np.dtype(dtype)):
            found = npz.announced(members[name])
            raise DataError(f"{name} in {path.name} is {found[1]} of the shape {found[0]}", f"the shape {shape}")
    shape, dtype = npz.announced(members["pixels"])
    if dtype != np.uint8 or len(shape) != 1 or shape[0] > bundle.MAX_BYTES:
        raise DataError(f"pixels in {path.name} is {dtype} of the shape {shape}", "a row of bytes")


def _read(shown: dict, paths: list[Path]) -> Contents:
    path, stat = paths[0], paths[0].stat()
    try:
        members = _members(path)
        _check_announced(path, members, len(shown["names"]), shown["n_objects"])
        return _contents(_unpacked(shown, *(npz.parse(name, members[name].read()) for name in _ARRAYS)))
    except DataError as error:
        damage = DataError(f"{path.name} is damaged: {error.reason}", "the set, uploaded once more")
        _found[path, (stat.st_mtime_ns, stat.st_size)] = damage
        raise damage from error


def _unpacked(shown: dict, pixels, sizes, boxes, category, picture) -> tuple[Picture, ...]:
    """The pictures of a stored file; DataError where its numbers do not fit together."""
    if not ((sizes >= 1) & (sizes <= MAX_SIDE)).all() or sizes.prod(1).sum() != len(pixels):
        raise DataError("Its pictures do not have the sizes that it says", ACCEPTED)
    if not np.isfinite(boxes).all() or not (boxes[:, :2] < boxes[:, 2:]).all():
        raise DataError("It has boxes without a size", ACCEPTED)
    if not ((picture >= 0) & (picture < len(sizes))).all() or len(np.unique(picture)) < 2:
        raise DataError("It has objects in pictures that there are not, or in one only", ACCEPTED)
    if np.unique(category).tolist() != shown["categories"]:
        raise DataError(f"It has other categories than it says, {shown['categories']}", ACCEPTED)
    starts = np.concatenate([[0], np.cumsum(sizes.prod(1))])
    images = [pixels[a:b].reshape(size) for a, b, size in zip(starts, starts[1:], sizes)]
    return _pictures(shown["names"], Upload("", (), tuple(images), "", boxes, category, picture))
