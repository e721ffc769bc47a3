"""The reader's own data sets: one .npz each under home/own, listed in the catalogue as own:<slug>.

A file holds the four arrays and a JSON text with the title and what the catalogue shows; it is written whole or not at
all, and read without unpickling.
"""

import json
import logging
import re
import unicodedata
import zipfile
from functools import partial
from pathlib import Path

import numpy as np

from data import places
from data.dataset import Arrays, DataError, Dataset
from data.entry import Entry

PREFIX = "own:"
MAX_TITLE = 60
log = logging.getLogger("svmlab.data")


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
    """Remove one of the reader's own sets for good; DataError if there is none of this name."""
    path = _path(name.removeprefix(PREFIX))
    if not path.exists():
        raise DataError(f"There is no data set of yours named {name!r}", "one of the names that start with own:")
    path.unlink()


def entries() -> list[Entry]:
    """The stored sets by name; a damaged file is logged and left out."""
    found = []
    for path in sorted((places.home() / "own").glob("[!.]*.npz")):
        try:
            with np.load(path, allow_pickle=False) as file:
                shown = json.loads(str(file["entry"]))
            found.append(_entry(path, shown, path.stat().st_size))
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            log.warning("%s is not a stored data set: %s", path, error)
    return found


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
        parse=_read,
        paths=partial(list, [path]),
    )


def _read(paths: list[Path]) -> Arrays:
    try:
        with np.load(paths[0], allow_pickle=False) as file:
            return Arrays(*(file[name] for name in Arrays._fields))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"{paths[0].name} is damaged ({error})", "the set, uploaded once more") from error
