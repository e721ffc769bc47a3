"""The reader's own data sets: one .npz each under home/own, listed in the catalogue as own:<slug>.

A file holds the four arrays and a JSON text with the title and what the catalogue shows; it is written whole or not at
all, and read without unpickling. When the sets are listed, what each file announces is checked: its entry, and the
types, shapes and sizes of its arrays; the numbers themselves are when they are read.
"""

import json
import re
import shutil
import unicodedata
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data import places
from data.dataset import Arrays, DataError, Dataset
from data.entry import Entry
from data.loaders import bundle, npz
from data.loaders.check import MAX_CLASSES, MAX_FEATURES

PREFIX = "own:"
MAX_TITLE = 60
MAX_ENTRY = 1 << 20  # bytes of the text that describes a set
MAX_STORED = 4 * bundle.MAX_BYTES  # both parts of a set, in single precision
ACCEPTED = "a file that this program wrote"


_found: dict[tuple, DataError] = {}  # path, stamp -> what reading all of a file has shown


class Damaged(NamedTuple):
    """A file among the reader's own sets that is none: its name in the catalogue, and what is wrong."""

    name: str
    reason: str


def draft(title: str, arrays: Arrays) -> Dataset:
    """The data set that `keep` would store under this title. Raises DataError for a title without letters or digits."""
    title = " ".join(title.split())
    image = arrays.X_train.ndim > 2
    shown = {
        "title": title,
        "kind": "images" if image else "features",
        "shape": arrays.X_train.shape[1:],
        "classes": np.unique(arrays.y_train).tolist(),
        "n_train": len(arrays.X_train),
        "n_test": len(arrays.X_test),
        "ink": image and _looks_like_ink(arrays.X_train),
    }
    return Dataset(_entry(_path(title), shown, sum(array.nbytes for array in arrays)), *arrays)


def keep(title: str, arrays: Arrays, *, replace: bool = False) -> Entry:
    """Store the arrays under home/own and return their entry. Raises DataError for a taken name, unless `replace`."""
    entry = draft(title, arrays).entry
    path = _path(title)
    if path.exists() and not replace:
        raise DataError(f"There is already a data set {entry.name!r}", "another name, or permission to replace it")
    shown = {name: getattr(entry, name) for name in ("title", "kind", "shape", "classes", "n_train", "n_test", "ink")}
    try:
        with places.replacing(path) as file:
            np.savez(file, **arrays._asdict(), entry=np.array(json.dumps(shown)))
    except OSError as error:
        raise DataError(f"The data set could not be stored ({error})", "a home folder that can be written") from error
    return next(entry for entry in entries() if entry.name == PREFIX + path.stem)


def forget(name: str) -> None:
    """Remove one of the reader's own sets, or what is left of it, for good; DataError if there is none of this name."""
    path = next((path for path in _files() if PREFIX + path.stem == name), None)
    if path is None:
        raise DataError(f"There is no data set of yours named {name!r}", "one of the names that start with own:")
    remove(path)


def remove(path: Path) -> None:
    """Remove a stored file, or a folder in its place, for good; DataError where that is not allowed."""
    try:
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    except OSError as error:
        raise DataError(
            f"{path.name} could not be removed ({error.strerror})", "a folder that may be changed"
        ) from error


def entries() -> list[Entry]:
    """The stored sets by name, without the damaged ones."""
    return [entry for entry in map(_look, _files()) if isinstance(entry, Entry)]


def damaged() -> list[Damaged]:
    """The files that lie among the stored sets and cannot be read."""
    looks = [(path, _look(path)) for path in _files()]
    return [Damaged(PREFIX + path.stem, str(error)) for path, error in looks if isinstance(error, DataError)]


def slug(title: str) -> str:
    """Lower-case ASCII letters and digits joined by hyphens: safe as a file name, in a URL and as a part of a name."""
    plain = unicodedata.normalize("NFKD", title[:MAX_TITLE]).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if not name:
        raise DataError(f"The name {title!r} has no letter a-z and no digit", "a name such as `my digits 2`")
    return name


def _looks_like_ink(images: np.ndarray) -> bool:
    """Whether grey images are bright strokes on a dark ground: most pixels of them dark."""
    return bool(images.ndim == 3 and np.median(images[:200]) < 0.1 * images.max())


def _path(title: str) -> Path:
    return places.home() / "own" / f"{slug(title)}.npz"


def _entry(path: Path, shown: dict, size: int) -> Entry:
    return Entry(
        name=PREFIX + path.stem,
        title=shown["title"],
        kind=shown["kind"],
        shape=tuple(shown["shape"]),
        classes=tuple(shown["classes"]),
        n_train=shown["n_train"],
        n_test=shown["n_test"],
        licence="yours",
        citation="",
        sources=("your own data",),
        size_mb=size / 1e6,
        ink=shown["ink"],
        parse=partial(_read, tuple(shown["classes"])),
        paths=partial(list, [path]),
    )


def _files() -> list[Path]:
    return sorted((places.home() / "own").glob("[!.]*.npz"))


def _look(path: Path) -> Entry | DataError:
    """The entry of a stored file, or what is wrong with it."""
    try:
        stat = path.stat()
    except OSError as error:
        return DataError(f"{path.name} cannot be read ({error.strerror})", ACCEPTED)
    stamp = stat.st_mtime_ns, stat.st_size
    return _found.get((path, stamp)) or _entry_of(path, stamp)


@lru_cache(maxsize=512)
def _entry_of(path: Path, stamp: tuple[int, int]) -> Entry | DataError:
    try:
        if not path.is_file():
            raise DataError(f"{path.name} is not a file", ACCEPTED)
        members = _members(path)
        if members["entry"].size > MAX_ENTRY:
            raise DataError(f"The text in {path.name} is longer than {MAX_ENTRY >> 10} kB", ACCEPTED)
        shown = json.loads(str(npz.parse("entry", members["entry"].read())))
        _check_shown(path, shown)
        for part in ("train", "test"):
            _check_part(members, part, (shown[f"n_{part}"], *shown["shape"]))
        return _entry(path, shown, stamp[1])
    except DataError as error:
        return error
    except (ValueError, RecursionError) as error:
        return DataError(f"{path.name} does not say what it holds ({error})", ACCEPTED)


def _members(path: Path) -> dict[str, bundle.Member]:
    """The arrays of a stored file by name, not yet read."""
    members = {member.name.removesuffix(".npy"): member for member in bundle.from_path(path, MAX_STORED)}
    if missing := {*Arrays._fields, "entry"} - members.keys():
        raise DataError(f"{path.name} has no {min(missing)}", ACCEPTED)
    return members


def _check_shown(path: Path, shown) -> None:
    """DataError unless a stored description has what an Entry takes from it."""
    if path.stem != slug(path.stem):
        raise DataError(f"{path.name} has a name that no stored set can have", "small letters, digits and hyphens")
    good = {
        "title": lambda value: isinstance(value, str) and 0 < len(value) <= 10_000,
        "kind": lambda value: value in ("images", "features"),
        "shape": lambda value: isinstance(value, list) and all(_count(n, 1, MAX_FEATURES) for n in value),
        "classes": _are_classes,
        "n_train": lambda value: _count(value, 2),
        "n_test": lambda value: _count(value, 0),
        "ink": lambda value: isinstance(value, bool),
    }
    if not isinstance(shown, dict):
        raise DataError(f"{path.name} does not say what it holds", ACCEPTED)
    for name, is_good in good.items():
        if not is_good(shown.get(name)):
            raise DataError(f"{path.name} says {name} = {repr(shown.get(name))[:60]}", ACCEPTED)
    if len(shown["shape"]) not in ((2, 3) if shown["kind"] == "images" else (1,)):
        raise DataError(f"{path.name} says {shown['kind']} of the shape {shown['shape']}", ACCEPTED)


def _are_classes(value) -> bool:
    """Whether these are 2 to MAX_CLASSES different labels, all whole numbers or all texts."""
    if not isinstance(value, list) or not 2 <= len(value) <= MAX_CLASSES:
        return False
    alike = all(_count(c, -(2**63)) for c in value) or all(isinstance(c, str) for c in value)
    return alike and len(set(value)) == len(value)


def _count(value, least: int, most: int = 2**63 - 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _check_part(members: dict[str, bundle.Member], part: str, shape: tuple[int, ...]) -> None:
    """DataError unless the training or test part announces arrays of this shape."""
    (X_shape, X_type), (y_shape, y_type) = (npz.announced(members[f"{name}_{part}"]) for name in ("X", "y"))
    if X_shape != shape or X_type not in (np.uint8, np.float32):
        raise DataError(f"X_{part} is {X_type} of the shape {X_shape}", f"the shape {shape}")
    if y_shape != shape[:1] or y_type.kind not in "iU":
        raise DataError(f"y_{part} is {y_type} of the shape {y_shape}", f"{shape[0]} labels")


def _read(classes: tuple, paths: list[Path]) -> Arrays:
    path, stat = paths[0], paths[0].stat()
    try:
        members = _members(path)
        arrays = Arrays(*(npz.parse(name, members[name].read()) for name in Arrays._fields))
        if not all(np.isfinite(X).all() for X in (arrays.X_train, arrays.X_test)):
            raise DataError("It has missing or infinite values", ACCEPTED)
        if tuple(np.unique(arrays.y_train)) != classes or not np.isin(arrays.y_test, classes).all():
            raise DataError(f"It has other classes than it says, {str(classes)[:60]}", ACCEPTED)
        return arrays
    except DataError as error:
        damage = DataError(f"{path.name} is damaged: {error.reason}", "the set, uploaded once more")
        _found[path, (stat.st_mtime_ns, stat.st_size)] = damage
        raise damage from error
