"""Magellan radar images of Venus with labelled volcanoes, in the formats of the JARtool experiment.

    .spr    text header: axes, then size, offset and scale of each, then the type (0 = uint8)
    .sdt    the pixels, row after row: I[y, x]
    .lxyr   one volcano per line: category (1 definitely, 2 probably, 3 possibly, 4 pit), x, y, radius in pixels of 75 m
    Experiments_Images_Table        lines like `A1; TRN = [2,3,4]; TST = [1];`, a range of images as 13:42
    Experiments_Scoring_Table       experiment, number of splits, km^2, volcanoes that count
    Images_Area_Volcanoes_Table     image, usable km^2, volcanoes that count

Lines that start with % are comments. Every error names the file, the line, the column and what is accepted.

Reference: Burl et al., "Learning to recognize volcanoes on Venus", Machine Learning 30, 1998.
"""

import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data import places
from data.dataset import DataError, in_words

CATEGORIES = {1: "definitely", 2: "probably", 3: "possibly", 4: "pit"}
MAX_SIDE, MAX_TEXT = 8192, 1 << 20  # pixels of an image's side, bytes of a table
MAX_IMAGE = 9999  # the largest image number
ACCEPTED = "an .sdt file of bytes with its .spr header"
PART_ACCEPTED = (
    "a line such as `A1; TRN = [2,3,4]; TST = [1];`, with image numbers separated by commas and ranges as 13:42"
)
_PART = re.compile(r"([A-Za-z]+)(\d+)\s*;\s*TRN\s*=\s*\[([^\]]*)\]\s*;\s*TST\s*=\s*\[([^\]]*)\]\s*;?")
_RANGE = re.compile(r"(\d{1,4})(?::(\d{1,4}))?")


class Column(NamedTuple):
    """A column of a table: its name, the bounds of its values, and whether they must be whole numbers."""

    name: str
    low: float
    high: float
    whole: bool = True

    def read(self, where: str, text: str) -> float:
        kind = "a whole number" if self.whole else "a number"
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not self.low <= value <= self.high or (self.whole and value % 1):
            raise DataError(f"{where}: invalid value {text[:40]!r}", f"{kind} from {self.low:g} to {self.high:g}")
        return value


class TablePart(NamedTuple):
    """A line of the table of experiments: experiment A, split A1, training images and test images."""

    experiment: str
    name: str
    train: tuple[int, ...]
    test: tuple[int, ...]


def read_image(sdt: Path, spr: Path) -> np.ndarray:
    """(h, w) uint8. DataError if the header has another type or does not match the file size."""
    words = [word for _, line in _lines(spr) for word in line.split()]
    with in_words(f"{spr.name} is not the header of a two-axis image", ACCEPTED, ValueError):
        axes, width, _, _, height, _, _, kind = map(float, words)
    sizes = width, height
    if (axes, kind) != (2, 0) or not all(1 <= size <= MAX_SIDE and size % 1 == 0 for size in sizes):
        reason = f"{spr.name} declares an image that cannot be read: {' '.join(words)}"[:200]
        raise DataError(reason, f"{ACCEPTED}, up to {MAX_SIDE} pixels a side")
    pixels = np.frombuffer(_content(sdt, int(width * height)), np.uint8)
    if len(pixels) != width * height:
        raise DataError(
            f"{sdt.name} does not have the {width:.0f} x {height:.0f} bytes that its header declares", ACCEPTED
        )
    return pixels.reshape(int(height), int(width))


def read_truth(lxyr: Path, image_shape: tuple[int, int] = (MAX_SIDE, MAX_SIDE)) -> np.ndarray:
    """(m, 4) float64: category, x, y, radius of each labelled volcano of an image (h, w); m may be 0."""
    h, w = image_shape
    columns = (
        Column("category", 1, max(CATEGORIES)),
        Column("x", 0, w, whole=False),
        Column("y", 0, h, whole=False),
        Column("radius", 0.5, max(h, w), whole=False),
    )
    return np.array([row for _, row in _rows(lxyr, columns)], float).reshape(-1, 4)


def read_experiments(path: Path) -> list[TablePart]:
    """The splits of all experiments, in the order of the table."""
    parts: dict[str, TablePart] = {}
    for number, line in _lines(path):
        where = f"{path.name}, line {number}"
        match = _PART.fullmatch(line)
        if match is None:
            raise DataError(f"{where}: invalid line {line[:60]!r}", PART_ACCEPTED)
        experiment, rest, train, test = match.groups()
        part = TablePart(experiment, experiment + rest, _images(where, "TRN", train), _images(where, "TST", test))
        if both := set(part.train) & set(part.test):
            raise DataError(f"{where}: image {min(both)} is in both TRN and TST", "each image in only one of them")
        if part.name in parts:
            raise DataError(f"{where}: {part.name} occurs a second time", "one line per split")
        parts[part.name] = part
    if not parts:
        raise DataError(f"{path.name} has no experiments", PART_ACCEPTED)
    return list(parts.values())


def read_scoring(path: Path) -> dict[str, tuple[int, float, int]]:
    """Experiment -> (number of splits, total km^2 searched, volcanoes that count)."""
    columns = (
        Column("Experiment", 0, 0),
        Column("Number of subexperiments", 1, 1000),
        Column("Total Image Area", 1, 1e9, whole=False),
        Column("Number of Detection Opportunities", 0, 1e7),
    )
    return _keyed(path, columns, name=re.compile(r"[A-Za-z]+"))


def read_areas(path: Path) -> dict[int, tuple[float, int]]:
    """Image number -> (usable km^2, volcanoes that count)."""
    columns = (
        Column("Image number", 1, MAX_IMAGE),
        Column("Usable area", 1, 1e7, whole=False),
        Column("Usable volcanoes", 0, 1e6),
    )
    return _keyed(path, columns)


def _keyed(path: Path, columns: tuple[Column, ...], name: re.Pattern | None = None) -> dict:
    """First column -> the others, with whole numbers as int. DataError for a repeated key."""
    table = {}
    for number, (key, *values) in _rows(path, columns, name):
        key = key if name else int(key)
        if key in table:
            raise DataError(
                f"{path.name}, line {number}, column 1 ({columns[0].name}): {key} occurs a second time",
                "each value once",
            )
        table[key] = tuple(int(v) if column.whole else v for v, column in zip(values, columns[1:]))
    return table


def _rows(path: Path, columns: tuple[Column, ...], name: re.Pattern | None = None) -> Iterator[tuple[int, list]]:
    """(line number, values) of a table with columns separated by white space; the first is a `name` or a number."""
    for number, line in _lines(path):
        cells = line.split()
        if len(cells) != len(columns):
            allowed = f"{len(columns)} values per line: {', '.join(column.name for column in columns)}"
            raise DataError(f"{path.name}, line {number}: {len(cells)} values instead of {len(columns)}", allowed)
        row = []
        for k, (cell, column) in enumerate(zip(cells, columns), 1):
            where = f"{path.name}, line {number}, column {k} ({column.name})"
            if name and k == 1:
                if not name.fullmatch(cell):
                    raise DataError(f"{where}: invalid value {cell[:40]!r}", "the letter of an experiment")
                row.append(cell)
            else:
                row.append(column.read(where, cell))
        yield number, row


def _images(where: str, column: str, text: str) -> tuple[int, ...]:
    """The image numbers in `5,6,13:42`, in this order. DataError for repeated ones."""
    numbers: dict[int, None] = {}
    for piece in text.replace(" ", "").split(","):
        match = _RANGE.fullmatch(piece)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            raise DataError(f"{where}, {column}: invalid value {piece[:40]!r}", "image numbers such as 5 or 13:42")
        count = len(numbers) + last + 1 - first
        numbers |= dict.fromkeys(range(first, last + 1))
        if len(numbers) < count:
            raise DataError(f"{where}, {column}: an image is listed twice", "each image once")
    return tuple(numbers)


def _lines(path: Path) -> list[tuple[int, str]]:
    """(number from 1, text) of the lines that are neither empty nor comments."""
    content = _content(path, MAX_TEXT)
    if len(content) > MAX_TEXT:
        raise DataError(f"{path.name} is larger than {MAX_TEXT >> 20} MB", "a table of the JARtool experiment")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} is not text (byte {error.start})", "ASCII or UTF-8 text") from error
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [(number, line) for number, line in lines if line and not line.startswith("%")]


def _content(path: Path, size: int) -> bytes:
    """The content of a file, decompressed if its name ends in .gz; at most `size` + 1 bytes."""
    with (
        in_words(f"{path.name} is damaged or cannot be read", "the published file", OSError, EOFError, zlib.error),
        places.opened(path) as file,
    ):
        return file.read(size + 1)
