"""The user's own pictures with objects: a shelf in home/own/pictures, listed as own:pictures:<slug>.

A file has all pixels in one row, the sizes of the pictures, and their objects.
"""

from pathlib import Path

import numpy as np

from data.dataset import DataError
from data.loaders import bundle, npz
from data.loaders.images import MAX_SIDE
from data.loaders.objects import MAX_CATEGORY, MAX_OBJECTS
from data.loaders.pictures import MAX_NAME, MAX_PICTURES, Upload
from data.pictures.kinds import ONE_CATEGORY, Contents, Picture, PictureEntry, PictureSet, leave_out
from data.shelf import ACCEPTED, Members, Shelf, Words, is_count, is_text, one_line

PREFIX = "own:pictures:"
MAX_PARTS = 4
MAX_WORD = 30  # characters of the name of an object
_ARRAYS = ("pixels", "sizes", "boxes", "category", "picture")


def draft(title: str, upload: Upload, object_name: str = "object") -> PictureSet:
    """The set that `keep` would store under this title. Raises DataError for a title without letters or digits."""
    description = _description(title, upload, object_name)
    entry = _SHELF.draft(title, description, sum(image.nbytes for image in upload.images))
    return entry.described(_contents(_pictures(description["names"], upload)))


def keep(title: str, upload: Upload, object_name: str = "object", *, replace: bool = False) -> PictureEntry:
    """Store the pictures under home/own/pictures. Raises DataError for a taken name, unless `replace`."""
    arrays = {
        "pixels": np.concatenate([image.ravel() for image in upload.images]),
        "sizes": np.array([image.shape for image in upload.images], np.int64),
        "boxes": upload.boxes,
        "category": upload.category,
        "picture": upload.picture,
    }
    return _SHELF.keep(title, _description(title, upload, object_name), arrays, replace)


def _description(title: str, upload: Upload, object_name: str) -> dict:
    """The description that is stored with the arrays, and from which the entry is built."""
    title, object_name = one_line(title), " ".join(object_name.split())
    if not 1 <= len(object_name) <= MAX_WORD:
        raise DataError(f"An object cannot be called {object_name[:40]!r}", f"a name of 1 to {MAX_WORD} characters")
    return {
        "title": title,
        "shape": upload.shape,
        "object_name": object_name,
        "names": list(upload.names),
        "categories": np.unique(upload.category).tolist(),
        "n_objects": len(upload.boxes),
    }


def _entry(description: dict, known: dict) -> PictureEntry:
    only = description["categories"] == [1]
    return PictureEntry(
        **known,
        shape=description["shape"],
        object_name=description["object_name"],
        unit="picture",
        n_pictures=len(description["names"]),
        n_objects=description["n_objects"],
        categories=ONE_CATEGORY if only else {c: f"category {c}" for c in description["categories"]},
    )


def _contents(pictures: tuple[Picture, ...]) -> Contents:
    n_parts = min(MAX_PARTS, len(pictures))
    title = f"A: {n_parts} folds, each tested on a model trained on the others"
    return Contents(pictures, {"A": leave_out(pictures, "A", title, n_parts)})


def _pictures(names: list[str], arrays) -> tuple[Picture, ...]:
    """Pictures from an Upload, or from an object with the same `images`, `boxes`, `category` and `picture`."""
    rows = [arrays.picture == k for k in range(len(names))]
    return tuple(
        Picture(name, image.copy(), arrays.boxes[own_rows], arrays.category[own_rows], 1.0, int(own_rows.sum()))
        for name, image, own_rows in zip(names, arrays.images, rows)
    )


def _is_list(value, most: int, is_good) -> bool:
    return isinstance(value, list) and 0 < len(value) <= most and all(map(is_good, value))


def _check(path: Path, description: dict, members: Members) -> None:
    """DataError unless the headers of the arrays have the shapes of the described pictures and objects."""
    n, m = len(description["names"]), description["n_objects"]
    wanted = {"sizes": ((n, 2), "i8"), "boxes": ((m, 4), "f8"), "category": ((m,), "i8"), "picture": ((m,), "i8")}
    for name, (shape, dtype) in wanted.items():
        if npz.announced(members[name]) != (shape, np.dtype(dtype)):
            declared = npz.announced(members[name])
            raise DataError(
                f"{name} in {path.name} has the type {declared[1]} and the shape {declared[0]}",
                f"{np.dtype(dtype)} of the shape {shape}",
            )
    shape, dtype = npz.announced(members["pixels"])
    if dtype != np.uint8 or len(shape) != 1 or shape[0] > bundle.MAX_BYTES:
        raise DataError(
            f"pixels in {path.name} has the type {dtype} and the shape {shape}",
            f"up to {bundle.MAX_BYTES:,} numbers of uint8 in one dimension",
        )


def _read(path: Path, description: dict, members: Members) -> Contents:
    _check(path, description, members)
    return _contents(_unpacked(description, *(npz.parse(name, members[name].read()) for name in _ARRAYS)))


def _unpacked(description: dict, pixels, sizes, boxes, category, picture) -> tuple[Picture, ...]:
    """The pictures of a stored file. DataError if its numbers are inconsistent."""
    if not ((sizes >= 1) & (sizes <= MAX_SIDE)).all() or sizes.prod(1).sum() != len(pixels):
        raise DataError("The pictures do not have the declared sizes", ACCEPTED)
    if not np.isfinite(boxes).all() or not (boxes[:, :2] < boxes[:, 2:]).all():
        raise DataError("Some boxes have no extent or are not finite", ACCEPTED)
    if not ((picture >= 0) & (picture < len(sizes))).all() or len(np.unique(picture)) < 2:
        raise DataError("Objects refer to missing pictures, or to one picture only", ACCEPTED)
    if np.unique(category).tolist() != description["categories"]:
        raise DataError(f"The objects do not match the declared categories, {description['categories']}", ACCEPTED)
    starts = np.concatenate([[0], np.cumsum(sizes.prod(1))])
    images = [pixels[a:b].reshape(size) for a, b, size in zip(starts, starts[1:], sizes)]
    return _pictures(description["names"], Upload("", (), tuple(images), "", boxes, category, picture))


_SHELF = Shelf(
    folder="own/pictures",
    prefix=PREFIX,
    words=Words("a set of pictures", "The pictures", "There are no pictures"),
    arrays=_ARRAYS,
    most=2 * bundle.MAX_BYTES,
    fields={
        "shape": lambda value: value in ("box", "circle"),
        "object_name": lambda value: is_text(value, MAX_WORD),
        "names": lambda value: _is_list(value, MAX_PICTURES, lambda name: is_text(name, MAX_NAME)) and len(value) > 1,
        "categories": lambda value: _is_list(value, MAX_CATEGORY, lambda c: is_count(c, 1, MAX_CATEGORY)),
        "n_objects": lambda value: is_count(value, 1, MAX_OBJECTS),
    },
    entry=_entry,
    check=_check,
    read=_read,
)
entries, damaged, forget = _SHELF.entries, _SHELF.damaged, _SHELF.forget
