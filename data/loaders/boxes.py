"""Tables of objects in pictures: one object a line, as a box or as a circle, under a header.

    image,xmin,ymin,xmax,ymax[,category]        boxes in pixels of the picture, whose first pixel is (0, 0)
    image,x,y,radius[,category]                 circles

The marks between values may be commas, semicolons or tabs; lines end in any way; a category is a whole number from 1,
the surest. Every complaint names the file, the line, the column and what is allowed.
"""

import csv
import io
import math
from collections.abc import Iterator
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np

from data.dataset import DataError
from data.loaders.sieve import Sieve

BOX = ("xmin", "ymin", "xmax", "ymax")
CIRCLE = ("x", "y", "radius")
MAX_BYTES, MAX_OBJECTS, MAX_CATEGORY = 1 << 24, 100_000, 9
FAR = 1e6  # pixels: no picture is as large
ACCEPTED = (
    "UTF-8 text with the header `image,xmin,ymin,xmax,ymax` or `image,x,y,radius`, a category after it if you like"
)
_MARKS = ",;\t"


class Objects(NamedTuple):
    """The objects of a table, in its order."""

    shape: str  # "box" or "circle"
    image: list[str]
    boxes: np.ndarray  # (m, 4) float64
    category: np.ndarray  # (m,) int64
    line: list[int]  # of the table, from 1
    name: str  # of the file

    def take(self, rows: list[int]) -> "Objects":
        """Some of the objects, in this order."""
        image, line = ([values[k] for k in rows] for values in (self.image, self.line))
        return self._replace(image=image, boxes=self.boxes[rows], category=self.category[rows], line=line)

    def where(self, row: int, column: str = "") -> str:
        """`boxes.csv, line 7, column xmin`."""
        return f"{self.name}, line {self.line[row]}" + (f", column {column}" if column else "")


def read(name: str, content: bytes, sieve: Sieve | None = None) -> Objects:
    """The objects of a table. Raises DataError; of lines that are bad, where there is no sieve to collect them."""
    rows = _rows(name, _text(name, content))
    line, header = next(rows)
    columns = _columns(name, line, header)
    shape = "circle" if CIRCLE[-1] in columns else "box"
    images, numbers, lines = [], [], []
    for at, (line, cells) in enumerate(rows):
        where = f"{name}, line {line}"
        if at == MAX_OBJECTS:
            raise DataError(f"{where}: more than {MAX_OBJECTS:,} objects", f"{MAX_OBJECTS:,} objects")
        with sieve.part(where) if sieve else nullcontext():
            image, *found = _object(where, shape, columns, cells)
            images.append(image)
            lines.append(line)
            numbers.append(found)
    if not lines:
        if sieve and sieve.bad:
            sieve.notes(len(sieve.bad), "lines")  # says that nothing is left
        raise DataError(f"{name} has a header and no objects", "at least one object a table")
    table = np.array(numbers, np.float64)
    return Objects(shape, images, table[:, :4].copy(), table[:, 4].astype(np.int64), lines, name)


def _text(name: str, content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise DataError(f"{name} has {len(content) >> 20} MB", f"tables of at most {MAX_BYTES >> 20} MB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError(f"{name}, line {line}: not UTF-8 text", ACCEPTED) from error
    if "\0" in text:
        raise DataError(f"{name} is not UTF-8 text (it holds zero bytes)", ACCEPTED)
    return text


def _rows(name: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of the lines that are not empty, the header first; it decides what stands between values."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise DataError(f"{name} is empty", ACCEPTED)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(_MARKS, key=first.count))
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise DataError(f"{name}, line {reader.line_num}: it cannot be read ({error})", ACCEPTED) from error


def _columns(name: str, line: int, header: list[str]) -> list[str]:
    """The columns in the order of the file, checked."""
    columns = [cell.lower() for cell in header]
    for wanted in (("image", *BOX), ("image", *CIRCLE)):
        if sorted(columns) in (sorted(wanted), sorted((*wanted, "category"))):
            return columns
    shown = ", ".join(columns)[:100]
    raise DataError(f"{name}, line {line}: the header is {shown!r}", ACCEPTED)


def _object(where: str, shape: str, columns: list[str], cells: list[str]) -> tuple:
    """Image, xmin, ymin, xmax, ymax and category of one line."""
    if len(cells) != len(columns):
        raise DataError(f"{where}: {len(cells)} values", f"{len(columns)} values: {', '.join(columns)}")
    values = dict(zip(columns, cells))
    if not values["image"]:
        raise DataError(f"{where}, column image: it is empty", "the name of a picture")
    return values["image"], *_numbers(where, shape, values)


def _numbers(where: str, shape: str, values: dict[str, str]) -> tuple[float, ...]:
    """xmin, ymin, xmax, ymax and category of one line."""
    category = _category(f"{where}, column category", values.get("category", "1"))
    if shape == "circle":
        x, y, radius = (_number(where, name, values) for name in CIRCLE)
        if radius <= 0:
            raise DataError(f"{where}, column radius: {values['radius']}", "a radius above 0")
        return x - radius, y - radius, x + radius, y + radius, category
    box = tuple(_number(where, name, values) for name in BOX)
    for low, high in ((0, 2), (1, 3)):
        if box[high] <= box[low]:
            reason = f"{where}, column {BOX[high]}: {values[BOX[high]]} is not above {BOX[low]} {values[BOX[low]]}"
            raise DataError(reason, f"{BOX[high]} above {BOX[low]}")
    return *box, category


def _number(where: str, column: str, values: dict[str, str]) -> float:
    try:
        number = float(values[column])
    except ValueError:
        number = math.nan
    if not abs(number) <= FAR:
        raise DataError(
            f"{where}, column {column}: {values[column][:40]!r}", "a number of pixels, with a decimal point"
        )
    return number


def _category(where: str, text: str) -> int:
    if not (len(text) == 1 and "1" <= text <= str(MAX_CATEGORY)):
        raise DataError(f"{where}: {text[:40]!r}", f"a whole number from 1, the surest, to {MAX_CATEGORY}")
    return int(text)
