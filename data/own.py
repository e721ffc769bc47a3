"""The user's own datasets: a shelf in home/own, listed in the catalogue as own:<slug>."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from data.album import Album, Stored
from data.dataset import Arrays, DataError, Dataset
from data.entry import Entry
from data.loaders import bundle, npz
from data.loaders.check import MAX_CLASSES, MAX_FEATURES
from data.manifest import of_json
from data.shelf import ACCEPTED, MAX_ENTRY, Members, Shelf, Words, in_utf8, is_count, one_line

PREFIX = "own:"  # begins the names of the user's own datasets
MAX_NAME = 200  # characters of the name of a column, or of a file with its folder; longer names are cut
MAX_NAMES = 3 * MAX_ENTRY // 4  # bytes of all column names as stored; if they exceed it, none is stored


def draft(title: str, arrays: Arrays, features: Sequence[str] = ()) -> Dataset:
    """The dataset that `keep` would store under this title. Raises DataError for a title without letters or digits."""
    size = sum(array.nbytes for array in _stored(arrays).values())
    return Dataset.of(_SHELF.draft(title, _description(title, arrays, features), size), arrays)


def keep(title: str, arrays: Arrays, features: Sequence[str] = (), *, replace: bool = False) -> Entry:
    """Store the arrays under home/own and return their entry. Raises DataError for a taken name, unless `replace`.

    features: names of the columns of a table, where they are known.
    """
    return _SHELF.keep(title, _description(title, arrays, features), _stored(arrays), replace)


def _stored(arrays: Arrays) -> dict[str, np.ndarray]:
    """The arrays of a file by name."""
    return (
        dict(zip(_ARRAYS, arrays.examples, strict=True))
        | (arrays.album.arrays() if arrays.album else {})
        | ({} if arrays.groups is None else {"groups": arrays.groups})
        | ({} if arrays.files is None else {"files": np.array([name[-MAX_NAME:] for name in arrays.files.tolist()])})
    )


def _description(title: str, arrays: Arrays, features: Sequence[str]) -> dict:
    """The description that is stored with the arrays, and from which the entry is built."""
    named = [] if arrays.X_train.ndim > 2 else _distinct([" ".join(str(n).split())[:MAX_NAME] for n in features])
    if in_utf8(json.dumps(named, ensure_ascii=False)) > MAX_NAMES:
        named = []
    image = arrays.X_train.ndim > 2
    return {
        "title": one_line(title),
        "kind": "images" if image else "features",
        "shape": arrays.X_train.shape[1:],
        "classes": np.unique(arrays.y_train).tolist(),
        "n_train": len(arrays.y_train),
        "unlabelled": len(arrays.X_train) - len(arrays.y_train),
        "n_test": len(arrays.X_test),
        "groups": 0 if arrays.groups is None else int(arrays.groups.max()) + 1,
        # bright strokes on a dark background: most pixels are dark
        "ink": bool(arrays.X_train.ndim == 3 and np.median(arrays.X_train[:200]) < 0.1 * arrays.X_train.max()),
        "features": named,
    }


def _distinct(names: list[str]) -> list[str]:
    """Column names with repeated ones numbered: a, a (2), a (3)."""
    seen: dict[str, int] = {}
    for at, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[at] = f"{name} ({seen[name]})"
    return names if len(set(names)) == len(names) else []


def _entry(description: dict, known: dict) -> Entry:
    """The entry from a description; older ones lack column names and the number of unlabelled examples."""
    fields = {name: description[name] for name in _SHELF.fields if description.get(name) is not None}
    return Entry(**known, **of_json(fields))


def _are_classes(value) -> bool:
    """Whether a value is a list of 2 to MAX_CLASSES different labels, all whole numbers or all texts."""
    if not isinstance(value, list) or not 2 <= len(value) <= MAX_CLASSES:
        return False
    alike = all(is_count(c, -(2**63)) for c in value) or all(isinstance(c, str) for c in value)
    return alike and len(set(value)) == len(value)


def _are_names(value) -> bool:
    """Whether a value is a list of column names, or None as in older sets."""
    if value is None:
        return True
    return isinstance(value, list) and all(isinstance(name, str) and len(name) <= MAX_NAME + 9 for name in value)


def _check(path: Path, description: dict, members: Members) -> None:
    """DataError unless the described shape fits the kind, and the headers of all arrays match the description."""
    if len(description["shape"]) not in ((2, 3) if description["kind"] == "images" else (1,)):
        raise DataError(
            f"{path.name} declares {description['kind']} of the shape {description['shape']}, which is not possible",
            ACCEPTED,
        )
    if len(named := description.get("features") or ()) not in (0, description["shape"][0]):
        raise DataError(
            f"{path.name} names {len(named)} columns, but its table has {description['shape'][0]}", ACCEPTED
        )
    unlabelled = {"train": description.get("unlabelled") or 0, "test": 0}
    for part, more in unlabelled.items():
        n = description[f"n_{part}"]
        shape = (n + more, *description["shape"])
        (X_shape, X_type), (y_shape, y_type) = (npz.announced(members[f"{name}_{part}"]) for name in ("X", "y"))
        if X_shape != shape or X_type not in (np.uint8, np.float32, np.float64):
            raise DataError(
                f"X_{part} has the type {X_type} and the shape {X_shape}", f"uint8 or floats of the shape {shape}"
            )
        if y_shape != (n,) or y_type.kind not in "iU":
            raise DataError(f"y_{part} has the type {y_type} and the shape {y_shape}", f"{n} whole numbers or texts")
    n = sum(description[f"n_{part}"] + more for part, more in unlabelled.items())
    if "groups" in members and npz.announced(members["groups"]) != ((n,), np.int64):
        raise DataError(f"The groups of {path.name} do not match its {n} examples", ACCEPTED)
    if "files" in members:
        shape, type_ = npz.announced(members["files"])
        if shape != (n,) or type_.kind != "U":
            raise DataError(f"The file names in {path.name} do not match its {n} examples", ACCEPTED)
    if "album" in members:
        (content, bytes_), (ends, _), (of, _) = (npz.announced(members[name]) for name in _ALBUM)
        if len(content) != 1 or bytes_ != np.uint8 or len(ends) != 1 or of != (n,):
            raise DataError(f"The pictures of {path.name} do not match its {n} examples", ACCEPTED)


def _read(path: Path, description: dict, members: Members) -> Arrays:
    classes = tuple(description["classes"])
    arrays = Arrays(*(npz.parse(name, members[name].read()) for name in _ARRAYS))
    if "album" in members:
        arrays = arrays._replace(album=_album(path, members))
    if "groups" in members:
        arrays = arrays._replace(groups=npz.parse("groups", members["groups"].read()))
    if "files" in members:
        arrays = arrays._replace(files=npz.parse("files", members["files"].read()))
    if not all(np.isfinite(X).all() for X in (arrays.X_train, arrays.X_test)):
        raise DataError("The dataset has missing or infinite values", ACCEPTED)
    if tuple(np.unique(arrays.y_train)) != classes or not np.isin(arrays.y_test, classes).all():
        raise DataError(f"The labels do not match the declared classes, {str(classes)[:60]}", ACCEPTED)
    return arrays


def _album(path: Path, members: Members) -> Album:
    """The pictures of a stored set; their bytes stay in its file. DataError if they are not where it says."""
    _, ends, of = (name in _ALBUM[1:] and npz.parse(name, members[name].read()) for name in _ALBUM)
    offset, size = bundle.place(path, "album.npy")
    shape, _, _, start = npz.header("album", members["album"].start(npz.MAX_HEADER), size)
    steps, m = np.diff(ends), len(ends) - 1
    if m < 1 or ends[0] or (steps < 0).any() or ends[-1] != shape[0] or of.min() < 0 or of.max() >= m:
        raise DataError("the stored positions do not fit its pictures", ACCEPTED)
    status = path.stat()
    return Album(of, ends, Stored(path, offset + start, (status.st_mtime_ns, status.st_size)))


_ARRAYS, _ALBUM = Arrays._fields[:4], ("album", "album_ends", "album_of")
_SHELF = Shelf(
    folder="own",
    prefix=PREFIX,
    words=Words("a dataset", "The dataset", "There is no dataset"),
    arrays=_ARRAYS,
    most=6 * bundle.MAX_BYTES,  # training and test set, in single precision, and pictures
    fields={
        "kind": lambda value: value in ("images", "features"),
        "shape": lambda value: isinstance(value, list) and all(is_count(n, 1, MAX_FEATURES) for n in value),
        "classes": _are_classes,
        "n_train": lambda value: is_count(value, 2),
        "n_test": lambda value: is_count(value, 0),
        "unlabelled": lambda value: value is None or is_count(value, 0),  # missing in older sets
        "groups": lambda value: value is None or is_count(value, 0),  # likewise
        "ink": lambda value: isinstance(value, bool),
        "features": _are_names,
    },
    entry=_entry,
    check=_check,
    read=_read,
)
entries, damaged, forget, place = _SHELF.entries, _SHELF.damaged, _SHELF.forget, _SHELF.place
