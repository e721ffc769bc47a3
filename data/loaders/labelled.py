"""The classes of images from a table in the same upload: one column has the image name, another the class.

    id_code,diagnosis          images may be named with or without folders and suffix

A table has classes if most of its rows name an image of the upload; a table with columns for boxes has objects instead
(loaders.objects). Another column may say which images belong together (loaders.table).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from data.dataset import DataError
from data.loaders import objects, text
from data.loaders.bundle import Member, unread
from data.loaders.table import GROUP_NAMES, LABEL_NAMES, can_group

SUFFIXES = (".csv", ".tsv", ".txt")
MAX_BYTES = 1 << 24
_NUMBERED = re.compile(r"column \d+")  # what a column without a name is called
MOST = 0.5  # least fraction of rows that name an image


class ClassTable(NamedTuple):
    """A table of classes. columns: by name, each the cell by image name in the upload; column: the one with the
    classes; file: the table; twice: by column, images with two different cells; unknown: names that no image has."""

    columns: Mapping[str, Mapping[str, str]]
    column: str
    file: str
    twice: Mapping[str, Mapping[str, tuple[str, str]]] = MappingProxyType({})
    unknown: tuple[str, ...] = ()

    @property
    def classes(self) -> Mapping[str, str]:
        """Class by image name."""
        return self.columns[self.column]

    @property
    def others(self) -> dict[str, Mapping[str, str]]:
        """The columns beside that of the classes."""
        return {name: values for name, values in self.columns.items() if name != self.column}

    def by(self, column: str) -> "ClassTable":
        """The same with the classes in another column. DataError for an unknown one."""
        if column not in self.columns:
            names = ", ".join([*self.columns][:20])
            raise DataError(f"{self.file} has no column {column!r} besides the names of images", f"one of {names}")
        return self._replace(column=column)

    def grouped(self, column: str | None) -> tuple[Mapping[str, str] | None, list[str]]:
        """The group of each image by a column ("": none; None: one with a name of GROUP_NAMES), and notes. DataError
        for an unknown column."""
        if column and column not in self.others:
            names = ", ".join(list(self.others)[:20])
            accepted = f"one of {names}" if names else "no group column, as the table has only images and classes"
            raise DataError(f"{self.file} has no column {column!r} besides images and classes", accepted)
        if column is None:
            column = next(
                (name for name, values in self.others.items()
                 if name.strip().lower() in GROUP_NAMES and len(values) == len(self.classes)
                 and can_group([*values.values()], [self.classes[image] for image in values])), None
            )  # fmt: skip
        named = self.column if _NUMBERED.fullmatch(self.column) else f"column {self.column!r}"
        notes = [f"The classes are in {named} of {self.file}"]
        if column:
            notes.append(f"Images with the same value in column {column!r} form one group")
        if others := [repr(name) for name in self.others if name != column]:
            notes.append(unread("Columns", others))
        if self.unknown:
            n, name = len(self.unknown), self.unknown[0]
            rows = "1 row names" if n == 1 else f"{n:,} rows name"
            notes.append(f"{rows} no image of the upload, such as {name[:60]!r}")
        return self.others[column] if column else None, notes


def find_classes(members: Sequence[Member], images: Sequence[str], strict: bool = False) -> ClassTable | None:
    """The classes of images from the first file that has them; None if there is none. strict: DataError for a table of
    the classes of other images, if all these are in one folder, which gives them no classes."""
    keys, others = _keys(images), None
    for member in members if keys else ():
        path = PurePosixPath(member.name)
        if path.suffix.lower() not in SUFFIXES or objects.about(member.name) or member.size > MAX_BYTES:
            continue
        try:
            content, _ = text.in_utf8(member.name, member.read())
            classes = None if objects.table.is_table(content) else _of_table(member.name, content.decode(), keys)
        except DataError:
            continue
        if isinstance(classes, ClassTable):
            return classes
        others = others or classes
    if others and strict and len({PurePosixPath(name).parent for name in images}) == 1:
        raise others
    return None


def _keys(images: Sequence[str]) -> dict[str, str]:
    """Possible spelling -> image name, for spellings that fit only one image; in small letters, too."""
    spellings = []
    for of in (str, lambda path: path.name, lambda path: path.stem):
        for spelled in (str, str.lower):
            named = [(spelled(of(PurePosixPath(name))), name) for name in images]
            often = Counter(key for key, _ in named)
            spellings.append({key: name for key, name in named if often[key] == 1})
    return {key: name for names in reversed(spellings) for key, name in names.items()}


def _image(cell: str, keys: Mapping[str, str]) -> str | None:
    """The image that a cell names, if it does."""
    return keys.get(cell) or keys.get(cell.lower())


def _of_table(name: str, content: str, keys: dict[str, str]) -> ClassTable | DataError | None:
    """The classes of a table; a DataError to raise if it has those of other images; None for another table."""
    header, rows = text.taken_apart(name, content)
    lines = [[cell.strip() for cell in rows.cells(k)] for k in range(rows.n)]
    if header and any(_image(cell, keys) for cell in header):  # not a header
        header, lines = [], [header, *lines]
    width = len(header) or len(lines[0])
    lines = [cells for cells in lines if len(cells) == width]
    at = max(range(width), key=lambda k: sum(_image(cells[k], keys) is not None for cells in lines))
    known = [cells for cells in lines if _image(cells[at], keys)]
    if len(known) < max(2, MOST * len(lines)):
        return _of_others(name, header, lines, keys)
    column = _classes(header, known, at)
    if column is None:
        return None
    names = header or [f"column {k + 1}" for k in range(width)]
    images, columns, twice = [_image(cells[at], keys) for cells in known], {}, defaultdict(dict)
    for k in sorted({*range(width)} - {at}, key=lambda k: k != column):  # the first of two columns of one name
        if names[k] in columns:
            continue
        values = columns[names[k]] = {}
        for image, cells in zip(images, known):
            if values.setdefault(image, cells[k]) != cells[k]:
                twice[names[k]][image] = values[image], cells[k]
    unknown = tuple(cells[at] for cells in lines if not _image(cells[at], keys))
    return ClassTable(columns, names[column], name, dict(twice), unknown)


def _of_others(name: str, header: list[str], lines: list[list[str]], keys: dict[str, str]) -> DataError | None:
    """What is wrong with a table that has file names of images, few of them of the upload, and classes."""
    endings = {PurePosixPath(key.lower()).suffix for key in keys} - {""}
    for k in range(len(lines[0]) if lines else 0):
        paths = [cells[k] for cells in lines]
        if 2 * sum(PurePosixPath(path.lower()).suffix in endings for path in paths) > len(lines):
            unknown = [path for path in paths if not _image(path, keys)]
            if not unknown or _classes(header, lines, k) is None:
                return None
            some = f"only {len(lines) - len(unknown):,} of {len(lines):,} rows name an image of the upload"
            return DataError(
                f"{name}: {some}; there is no image {unknown[0][:60]!r}",
                "a table with the names of the images and a class for each",
            )
    return None


def _classes(header: list[str], lines: list[list[str]], image: int) -> int | None:
    """The column of the classes: by its name, otherwise the one with the fewest different values, if they repeat."""
    others = [k for k in range(len(lines[0])) if k != image]
    if named := [k for k in others if header and header[k].lower() in LABEL_NAMES]:
        return named[0]
    distinct = {k: len({cells[k] for cells in lines}) for k in others}
    fitting = [k for k in others if 2 <= distinct[k] <= max(2, len(lines) // 2)]
    return min(fitting, key=distinct.get, default=None)
