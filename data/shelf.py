"""A shelf: a folder of the user's own sets, one .npz file each, listed as <prefix><slug of the title>.

A file has the arrays of a set and `entry`, a JSON text with the title and what the catalogue shows. It is written
completely or not at all, and read without unpickling. Listing a shelf checks the description of each file and the
types, shapes and sizes of its arrays; the numbers are checked when they are read. A new file is read in the same way
before it gets its name, so that no unreadable file is stored or replaces an older one.
"""

import json
import os
import re
import shutil
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from data import permission, places
from data.dataset import DataError, in_words
from data.loaders import bundle, npz

MAX_TITLE = 60  # characters of a title that are used for the file name
MAX_TEXT = 10_000  # characters of a title
MAX_ENTRY = 1 << 20  # bytes, in UTF-8, of the text that describes a set
HALF = re.compile("[\ud800-\udfff]")  # surrogates: halves of characters, which have no UTF-8
LETTER = 4  # bytes per character in an array
ACCEPTED = "a file written by this program"

E = TypeVar("E")  # type of the entries: Entry, PictureEntry
Members = dict[str, bundle.Member]  # the arrays of a stored file by name, not yet read

_damage: dict[tuple, DataError] = {}  # (path, stamp) -> the error of reading the whole file


class DamagedSet(NamedTuple):
    """A stored file that cannot be used: its name in the catalogue, and the reason."""

    name: str
    reason: str


class Words(NamedTuple):
    """The words for a set in error messages."""

    a_set: str  # "a dataset"
    the_set: str  # "The dataset"
    no_set: str  # "There is no dataset"


@dataclass(frozen=True, eq=False)
class Shelf(Generic[E]):
    """A folder of sets of one kind. The description of a set is a dict that is stored as JSON."""

    folder: str  # below the home folder
    prefix: str  # of the names in the catalogue
    words: Words
    arrays: tuple[str, ...]  # names of the arrays of a file, besides `entry`
    most: int  # largest unpacked size in bytes
    fields: dict[
        str, Callable[[object], bool]
    ]  # fields of the description, besides the title -> whether a value is valid
    entry: Callable[[dict, dict], E]  # (description, fields set by the shelf) -> entry
    check: Callable[[Path, dict, Members], None]  # DataError unless the array headers match the description
    read: Callable[[Path, dict, Members], object]  # the content of a file; DataError if damaged

    def draft(self, title: str, description: dict, size: int) -> E:
        """The entry that `keep` would return, with a size in bytes. Raises DataError if `keep` would."""
        path = self._path(title)
        return self._entry(path, self._described(path, _text(description)), size)

    def place(self, title: str, replace: bool) -> Path:
        """Where a set of this title may be saved. DataError for a title without letters and, unless `replace`, a name
        that is taken."""
        permission.require("change")
        path = self._path(title)
        if path.exists() and not replace:
            reason = f"There is already {self.words.a_set} {self.prefix + path.stem!r}"
            raise DataError(reason, "another name, or replacing the existing one")
        return path

    def keep(self, title: str, description: dict, arrays: dict[str, np.ndarray], replace: bool) -> E:
        """Save a set and return its entry. DataError as of `place`, or if the saved file could not be read back; then
        nothing is changed."""
        path, text = self.place(title, replace), _text(description)
        try:
            with places.replacing(path) as file:
                np.savez(file, **arrays, entry=np.array(text))
                file.flush()
                written = Path(file.name)
                try:
                    self.read(written, *self._announced(written))
                except DataError as error:
                    reason = f"{self.words.the_set} could not be read back after saving: {error.reason}"
                    raise DataError(reason, "arrays as an upload gives them") from error
                self.place(title, replace)  # another one may have taken the name meanwhile
        except OSError as error:
            reason = f"{self.words.the_set} could not be saved ({error})"
            raise DataError(reason, "a home folder (SVMLAB_HOME) with write permission and free space") from error
        return self._entry(path, json.loads(text), path.stat().st_size)

    def forget(self, name: str) -> None:
        """Delete a set permanently, or a folder in its place. DataError if there is none, or it cannot be deleted."""
        permission.require("change")
        path = next((path for path in self._files() if self.prefix + path.stem == name), None)
        if path is None:
            raise DataError(
                f"{self.words.no_set} of yours named {name!r}", f"one of the names that start with {self.prefix}"
            )
        with in_words(f"{path.name} could not be deleted", "a folder with write permission", OSError):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def entries(self) -> list[E]:
        """The stored sets by name, except damaged ones, that whoever asks may read."""
        entries = map(self._entry_or_error, self._files())
        return [one for one in entries if not isinstance(one, DataError) and permission.may("read", one.name)]

    def damaged(self) -> list[DamagedSet]:
        """The stored files that cannot be read."""
        listed = [(path, self._entry_or_error(path)) for path in self._files()]
        damaged = [(self.prefix + path.stem, str(error)) for path, error in listed if isinstance(error, DataError)]
        return [DamagedSet(*one) for one in damaged if permission.may("read", one[0])]

    def _path(self, title: str) -> Path:
        return places.home() / self.folder / f"{slug(title)}.npz"

    def _files(self) -> list[Path]:
        folder = places.home() / self.folder
        return sorted(folder.glob("[!.]*.npz")) if os.path.isdir(folder) else []

    def _entry_or_error(self, path: Path) -> E | DataError:
        """The entry of a stored file, or the error of reading it."""
        try:
            stamp = _stamp(path)
        except OSError as error:
            return DataError(f"{path.name} cannot be read ({error.strerror})", ACCEPTED)
        return _damage.get((path, stamp)) or _entry_of(self, path, stamp)

    def _entry(self, path: Path, description: dict, size: int) -> E:
        known = {
            "name": self.prefix + path.stem,
            "title": description["title"],
            "licence": "yours",
            "sources": ("your own data",),
            "size_mb": size / 1e6,
            "parse": partial(self._parse, description),
            "paths": partial(list, [path]),
        }
        return self.entry(description, known)

    def _members(self, path: Path) -> Members:
        members = {member.name.removesuffix(".npy"): member for member in bundle.from_path(path, self.most)}
        if missing := {*self.arrays, "entry"} - members.keys():
            raise DataError(f"{path.name} has no array {min(missing)}", ACCEPTED)
        return members

    def _announced(self, path: Path) -> tuple[dict, Members]:
        """The description of a stored file and its arrays, whose headers match it. Raises DataError."""
        if not path.is_file():
            raise DataError(f"{path.name} is not a file", ACCEPTED)
        members = self._members(path)
        if members["entry"].size > LETTER * MAX_ENTRY + npz.MAX_HEADER:
            raise DataError(f"The description in {path.name} is longer than {MAX_ENTRY:,} characters", ACCEPTED)
        description = self._described(path, str(npz.parse("entry", members["entry"].read())))
        self.check(path, description, members)
        return description, members

    def _described(self, path: Path, text: str) -> dict:
        """The description in a JSON text. DataError unless it has valid values for all fields of an entry."""
        if path.stem != slug(path.stem):
            raise DataError(
                f"{path.name} is not a valid file name for a saved set", "lower-case letters, digits and hyphens"
            )
        with in_words(f"{path.name} has no readable description", ACCEPTED, ValueError, RecursionError):
            description = json.loads(text)
        if not isinstance(description, dict):
            raise DataError(f"{path.name} has no readable description", ACCEPTED)
        _text(description)  # JSON may contain escapes of incomplete characters
        for name, is_good in {"title": lambda value: is_text(value, MAX_TEXT), **self.fields}.items():
            if not is_good(description.get(name)):
                raise DataError(
                    f"The description in {path.name} has an invalid value: {name} = {repr(description.get(name))[:60]}",
                    ACCEPTED,
                )
        return description

    def _parse(self, description: dict, paths: list[Path]):
        path, stamp = paths[0], _stamp(paths[0])
        try:
            return self.read(path, description, self._members(path))
        except DataError as error:
            damage = DataError(f"{path.name} is damaged: {error.reason}", "the same data, uploaded again")
            _damage[path, stamp] = damage
            raise damage from error


def slug(title: str) -> str:
    """Lower-case ASCII letters and digits joined by hyphens: safe in file names, URLs and names of datasets."""
    plain = unicodedata.normalize("NFKD", title[:MAX_TITLE]).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if not name:
        raise DataError(f"The name {title!r} contains no letter a-z and no digit", "a name such as `my digits 2`")
    return name


def one_line(title: str) -> str:
    """A title in one line. DataError if it is too long to be read back."""
    title = " ".join(title.split())
    if len(title) > MAX_TEXT:
        raise DataError(f"The name is too long: {len(title):,} characters", f"at most {MAX_TEXT:,}")
    return title


def is_text(value, most: int) -> bool:
    """Whether a value of a description is a text of 1 to `most` characters."""
    return isinstance(value, str) and 0 < len(value) <= most


def is_count(value, least: int, most: int = 2**63 - 1) -> bool:
    """Whether a value of a description is a whole number from `least` to `most`."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _text(description: dict) -> str:
    """A description as JSON. DataError if it is too long to be read back, or contains an incomplete character."""
    text = json.dumps(description, ensure_ascii=False)
    if half := HALF.search(text):
        raise DataError(f"A name contains an incomplete character (U+{ord(half[0]):X})", "names in valid Unicode")
    if (n := in_utf8(text)) > MAX_ENTRY:
        reason = f"The title and the names of columns, classes or pictures take {n:,} bytes in UTF-8"
        raise DataError(reason, f"at most {MAX_ENTRY:,} bytes: use fewer or shorter names")
    return text


def in_utf8(text: str) -> int:
    """Length of a text in UTF-8 in bytes, incomplete characters included."""
    return len(text.encode("utf-8", "surrogatepass"))


def _stamp(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=512)
def _entry_of(shelf: Shelf[E], path: Path, stamp: tuple[int, int]) -> E | DataError:
    try:
        return shelf._entry(path, shelf._announced(path)[0], stamp[1])
    except DataError as error:
        return error
    except ValueError as error:  # values of a hostile file, such as sizes that overflow
        return DataError(f"{path.name} has no readable description ({error})", ACCEPTED)
