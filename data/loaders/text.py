"""Text formats: comma-separated values, and the USPS digits as a textbook gave them.

    csv      label,x1,...,xd      one example a line, the label in a named, the first or the last column
    usps     label x1 ... x256    values in [-1, 1], -1 = background

Reference: Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning", data sets, "ZIP code".
"""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data.dataset import DataError
from data.loaders.check import MAX_LABEL
from data.loaders.sieve import Sieve

MAX_LINES = 1 << 22
MAX_LINE = 1 << 25  # bytes: three million values, as many as an example may have
LINES_ACCEPTED = f"at most {MAX_LINES:,} lines of at most {MAX_LINE >> 20} MB"
CSV_ACCEPTED = "UTF-8 text, one example a line: its label and the same number of numeric values"
SAMPLE = 4000  # rows, evenly spread, by which the column of the labels is told
BLOCK = 1 << 16  # cells taken apart at a time
LARGEST = float(np.finfo(np.float32).max)
LABEL_NAMES = ("label", "class", "target", "y", "digit")
_DELIMITERS = ";\t,"  # else white space
_NOT_DIGITS = re.compile(r"[^\d\s,;]")


def unix(name: str, content: bytes) -> bytes:
    """A text with one kind of line ends. DataError for so many lines, or such long ones, that taking them apart would
    need far more memory than they do."""
    content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    longest, n = 0, 0
    for line in io.BytesIO(content):
        longest, n = max(longest, len(line)), n + 1
    if n > MAX_LINES or longest > MAX_LINE:
        raise DataError(f"{name} has {n:,} lines, the longest of {longest:,} bytes", LINES_ACCEPTED)
    return content


def decoded(name: str, content: bytes) -> str:
    """The text of a file, or DataError if it is not UTF-8 (or UTF-16, which would show NULs)."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name} is not UTF-8 text (byte {error.start})", CSV_ACCEPTED) from error
    if "\0" in text:
        raise DataError(f"{name} is not UTF-8 text (it holds zero bytes)", CSV_ACCEPTED)
    if not text.strip():
        raise DataError(f"{name} is empty", CSV_ACCEPTED)
    return text


class TextTable(NamedTuple):
    """X (n, d) float32 or uint8, y (n,) str, which column gave the labels, the names (d,) of the others, or (), and
    notes on the rows left out."""

    X: np.ndarray
    y: np.ndarray
    column: str
    features: tuple[str, ...]
    notes: tuple[str, ...] = ()


class _Rows(NamedTuple):
    """Lines of a table that hold values, their numbers in the file, and how to read them."""

    name: str
    lines: list[str]
    number: list[int]
    delimiter: str | None

    def take(self, which) -> "_Rows":
        return self._replace(lines=[self.lines[k] for k in which], number=[self.number[k] for k in which])

    def columns(self, chosen, dtype) -> np.ndarray:
        """(n, len(chosen)) the values of the chosen columns. DataError for a cell that is no number."""
        how = {"delimiter": self.delimiter, "quotechar": '"', "comments": None, "usecols": chosen, "ndmin": 2}
        try:
            with np.errstate(over="ignore"):  # what is too large becomes infinite
                return np.loadtxt(self.lines, dtype, **how)
        except ValueError as error:
            raise DataError(f"{self.name}: {error}", CSV_ACCEPTED) from error

    def parts(self, n_columns: int) -> Iterator[tuple[range, "_Rows"]]:
        """The rows a few at a time: so many that `n_columns` of them are BLOCK cells."""
        step = max(1, BLOCK // n_columns)
        for start in range(0, len(self.lines), step):
            block = range(start, min(start + step, len(self.lines)))
            yield block, self.take(block)

    def texts(self, chosen) -> np.ndarray:
        """(n, len(chosen)) the cells of the chosen columns, no more than one letter longer than a label may be."""
        blocks = [np.char.strip(part.columns(chosen, f"U{MAX_LABEL + 1}")) for _, part in self.parts(len(chosen))]
        longest = max(int(np.char.str_len(block).max()) for block in blocks)
        return np.concatenate([block.astype(f"U{max(longest, 1)}") for block in blocks])

    def cells(self, k: int) -> list[str]:
        """The values of one row, which may be ragged."""
        row = self.lines[k]
        try:
            return next(csv.reader([row], delimiter=self.delimiter)) if self.delimiter else row.split()
        except csv.Error:  # a cell without end
            return []


def parse_csv(name: str, text: str, label: str | None = None, skip: bool = False) -> TextTable:
    """The examples of a table.

    label : a column's name, "first" or "last"; by default a column named like a label, else the first or last column,
            whichever looks more like one: not numeric, or fewer distinct whole numbers (at least two)
    skip : leave out the rows that are bad, and say so, instead of refusing the table for them
    """
    numbered = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    number, lines = map(list, zip(*numbered))
    delimiter = next((mark for mark in _DELIMITERS if mark in lines[0]), None)
    first = [cell.strip().strip('"') for cell in lines[0].split(delimiter)]
    if len(first) < 2:
        raise DataError(f"{name} has one column only", CSV_ACCEPTED)
    header = first if sum(map(_is_number, first)) < len(first) - 1 else []
    rows = _Rows(name, lines[bool(header) :], number[bool(header) :], delimiter)
    if not rows.lines:
        raise DataError(f"{name} has a header and no examples", CSV_ACCEPTED)
    sieve, total = Sieve(skip), len(rows.lines)
    rows = _even(rows, len(first), sieve)
    edges = rows.take(range(0, len(rows.lines), 1 + len(rows.lines) // SAMPLE)).texts((0, len(first) - 1))
    column = _label_column(name, label, header, edges, len(first))
    others = [k for k in range(len(first)) if k != column]
    rows, X, y = _values(rows, others, column, sieve)
    notes = sieve.notes(total, "rows")
    where = f"column {header[column]!r}" if header else f"column {column + 1} of {len(first)}"
    return TextTable(X, y, where, tuple(header[k] or f"x{k + 1}" for k in others) if header else (), tuple(notes))


def _even(rows: _Rows, expected: int, sieve: Sieve) -> _Rows:
    """The rows that have as many values as the first line; the others are the sieve's."""
    ragged = {}
    for k, row in enumerate(rows.lines):
        found = row.count(rows.delimiter) + 1 if rows.delimiter else len(row.split())
        if found != expected and '"' in row:
            found = len(rows.cells(k))
        if found != expected:
            ragged[k] = f"Line {rows.number[k]} of {rows.name} has {found} values, the first line {expected}"
    return _without(rows, ragged, sieve)


def _without(rows: _Rows, bad: dict[int, str], sieve: Sieve) -> _Rows:
    """The rows but those that are bad: row -> why."""
    if not bad:
        return rows
    for k, why in bad.items():
        sieve.add(f"line {rows.number[k]}", DataError(why, CSV_ACCEPTED), rows.number[k])
    if len(bad) == len(rows.lines):
        sieve.notes(len(sieve.bad), "rows")  # says that nothing is left
    return rows.take([k for k in range(len(rows.lines)) if k not in bad])


def _values(rows: _Rows, others: list[int], column: int, sieve: Sieve) -> tuple[_Rows, np.ndarray, np.ndarray]:
    """The rows that hold finite numbers in the columns `others` and a label, these numbers, as uint8 where every cell
    is a small whole number, which reads thirty times faster, and the labels (n,)."""
    found = _readable(rows, others, column)
    if found is not None:
        return rows, *found
    bad = {}
    for block, part in rows.parts(len(others) + 1):
        if _readable(part, others, column) is None:
            complaints = {k: _complaint(rows.cells(k), others, column) for k in block}
            bad |= {k: f"{rows.name}: line {rows.number[k]} {why}" for k, why in complaints.items() if why}
    rows = _without(rows, bad, sieve)
    return rows, rows.columns(others, np.float32), rows.texts([column])[:, 0]


def _readable(rows: _Rows, others: list[int], column: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Numbers and labels of rows, None where one of them is bad."""
    small = not any(_NOT_DIGITS.search(row) for row in rows.lines)
    with suppress(DataError):
        y = rows.texts([column])[:, 0]
        if (y == "").any() or np.char.str_len(y).max() > MAX_LABEL:
            return None
        for dtype in (np.uint8, np.float32) if small else (np.float32,):
            with suppress(DataError):
                X = rows.columns(others, dtype)
                return (X, y) if np.isfinite(X).all() else None
    return None


def _complaint(cells: list[str], others: list[int], column: int) -> str:
    """What is wrong with a row of these columns; empty when nothing is."""
    if len(cells) != len(others) + 1:
        return f"has {len(cells)} values, the first line {len(others) + 1}"
    if not cells[column].strip():
        return "has no label"
    if len(cells[column].strip()) > MAX_LABEL:
        return f"has a label of {len(cells[column]):,} letters, more than {MAX_LABEL}"
    for k in others:
        cell = cells[k].strip()
        if not _is_number(cell):
            return f"has {cell[:40]!r} where a number is needed"
        if not abs(float(cell)) <= LARGEST:
            return f"has {cell[:40]!r}, a missing or infinite value"
    return ""


def _label_column(name: str, label: str | None, header: list[str], edges: np.ndarray, n_columns: int) -> int:
    """Index of the label's column; `edges` (n, 2) are the first and the last column as text."""
    if label in ("first", "last"):
        return 0 if label == "first" else n_columns - 1
    if label is not None:
        if label not in header:
            raise DataError(f"{name} has no column {label!r}", f"first, last or one of {', '.join(header[:20])}")
        return header.index(label)
    named = [k for k, title in enumerate(header) if title.lower() in LABEL_NAMES]
    if named:
        return named[0]
    first, last = (_distinct_labels(column) for column in edges.T)
    return 0 if first < last else n_columns - 1


def _distinct_labels(column: np.ndarray) -> float:
    """How many labels a column would give: 0 for text (surely labels), infinite if it cannot hold labels."""
    distinct = np.unique(column)
    if not all(map(_is_number, distinct)):
        return 0
    whole = all(float(value).is_integer() for value in distinct if np.isfinite(float(value)))
    return len(distinct) if whole and len(distinct) > 1 else np.inf


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def read_usps(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 16, 16) float32 moved from [-1, 1] to [0, 1], so that background is 0, and digits (n,) int64."""
    rows = np.loadtxt(path, np.float32)
    return (rows[:, 1:].reshape(-1, 16, 16) + 1) / 2, rows[:, 0].astype(np.int64)
