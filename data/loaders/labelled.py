"""The classes of images from a table in the same upload: one column has the image name, another the class.

    id_code,diagnosis          images may be named with or without folders and suffix

A table has classes if most of its rows name an image of the upload; a table with columns for boxes has objects instead
(loaders.objects).
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from data.dataset import DataError
from data.loaders import objects, table, text
from data.loaders.bundle import Member
from data.loaders.table import LABEL_NAMES

SUFFIXES = (".csv", ".tsv", ".txt")
MAX_BYTES = 1 << 24
MOST = 0.5  # least fraction of rows that name an image


class ClassTable(NamedTuple):
    """A table of classes. classes: class by image name in the upload, empty if it has none; file: the table; column:
    its column of classes."""

    classes: dict[str, str]
    file: str
    column: str


def find_classes(members: Sequence[Member], images: Sequence[str]) -> ClassTable | None:
    """The classes of images from the first file that has them; None if there is none."""
    keys = _keys(images)
    for member in members if keys else ():
        path = PurePosixPath(member.name)
        if path.suffix.lower() not in SUFFIXES or objects.about(member.name) or member.size > MAX_BYTES:
            continue
        try:
            content, _ = text.in_utf8(member.name, member.read())
            if not objects.table.is_table(content) and (classes := _of_table(member.name, content.decode(), keys)):
                return classes
        except DataError:
            continue
    return None


def _keys(images: Sequence[str]) -> dict[str, str]:
    """Possible spelling -> image name, for spellings that fit only one image."""
    spellings = [{name.lower(): name for name in images}]
    for short in (lambda path: path.name, lambda path: path.stem):
        named = [(short(PurePosixPath(name)).lower(), name) for name in images]
        often = Counter(key for key, _ in named)
        spellings.append({key: name for key, name in named if often[key] == 1})
    return {key: name for names in reversed(spellings) for key, name in names.items()}


def _of_table(name: str, content: str, keys: dict[str, str]) -> ClassTable | None:
    header, rows = table.taken_apart(name, content)
    lines = [[cell.strip() for cell in rows.cells(k)] for k in range(rows.n)]
    if header and any(cell.lower() in keys for cell in header):  # not a header
        header, lines = [], [header, *lines]
    width = len(header) or len(lines[0])
    lines = [cells for cells in lines if len(cells) == width]
    at = max(range(width), key=lambda k: sum(cells[k].lower() in keys for cells in lines))
    known = [cells for cells in lines if cells[at].lower() in keys]
    if len(known) < max(2, MOST * len(lines)):
        return None
    column = _classes(header, known, at)
    if column is None:
        return None
    classes = {keys[cells[at].lower()]: cells[column] for cells in known}
    return ClassTable(classes, name, repr(header[column]) if header else f"number {column + 1}")


def _classes(header: list[str], lines: list[list[str]], image: int) -> int | None:
    """The column of the classes: by its name, otherwise the one with the fewest different values, if they repeat."""
    others = [k for k in range(len(lines[0])) if k != image]
    if named := [k for k in others if header and header[k].lower() in LABEL_NAMES]:
        return named[0]
    distinct = {k: len({cells[k] for cells in lines}) for k in others}
    fitting = [k for k in others if 2 <= distinct[k] <= max(2, len(lines) // 2)]
    return min(fitting, key=distinct.get, default=None)
