"""Text formats: comma-separated values, libsvm's sparse text, and the USPS digits as a textbook gave them.

    csv      label,x1,...,xd      one example a line, the label in a named, the first or the last column
    libsvm   label i:x_i j:x_j    one example a line, indices from 1 (or 0), what is not listed is 0
    usps     label x1 ... x256    values in [-1, 1], -1 = background

References: Chang and Lin, "LIBSVM: a library for support vector machines", README; Hastie, Tibshirani and Friedman,
"The Elements of Statistical Learning", data sets, "ZIP code".
"""

import csv
import gzip
import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data.dataset import DataError
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED
from data.loaders.sieve import Sieve

CSV_ACCEPTED = "UTF-8 text, one example a line: its label and the same number of numeric values"
LIBSVM_ACCEPTED = "UTF-8 text with lines like `+1 3:0.5 17:1`"
SAMPLE = 4000  # rows, evenly spread, by which the column of the labels is told
LARGEST = float(np.finfo(np.float32).max)
LABEL_NAMES = ("label", "class", "target", "y", "digit")
_DELIMITERS = ";\t,"  # else white space
_NOT_DIGITS = re.compile(r"[^\d\s,;]")
_PAIR = re.compile(r"^\s*\S+\s+\d+:")


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


def is_libsvm(text: str) -> bool:
    return bool(_PAIR.match(text.lstrip()[:1000]))


# ------------------------------------------------------------------------------------------------------------- csv


class Table(NamedTuple):
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

    def cells(self, k: int) -> list[str]:
        """The values of one row, which may be ragged."""
        row = self.lines[k]
        try:
            return next(csv.reader([row], delimiter=self.delimiter)) if self.delimiter else row.split()
        except csv.Error:  # a cell without end
            return []


def parse_csv(name: str, text: str, label: str | None = None, skip: bool = False) -> Table:
    """The examples of a table.

    label : a column's name, "first" or "last"; by default a column named like a label, else the first or last column,
            whichever looks more like one: not numeric, or fewer distinct whole numbers (at least two)
    skip : leave out the rows that are bad, and say so, instead of refusing the table for them
    """
    numbered = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
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
    edges = rows.take(range(0, len(rows.lines), 1 + len(rows.lines) // SAMPLE)).columns((0, len(first) - 1), str)
    column = _label_column(name, label, header, edges, len(first))
    others = [k for k in range(len(first)) if k != column]
    rows, X = _values(rows, others, column, sieve)
    notes = sieve.notes(total, "rows")
    y = np.char.strip(rows.columns([column], str)[:, 0])
    where = f"column {header[column]!r}" if header else f"column {column + 1} of {len(first)}"
    return Table(X, y, where, tuple(header[k] or f"x{k + 1}" for k in others) if header else (), tuple(notes))


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


def _values(rows: _Rows, others: list[int], column: int, sieve: Sieve) -> tuple[_Rows, np.ndarray]:
    """The rows that hold finite numbers in the columns `others` and a label, and these numbers: as uint8 where every
    cell is a small whole number, which reads thirty times faster."""
    small = not any(_NOT_DIGITS.search(row) for row in rows.lines)
    labelled = (np.char.strip(rows.columns([column], str)) != "").all()
    for dtype in (np.uint8, np.float32) if small else (np.float32,):
        with suppress(DataError):
            X = rows.columns(others, dtype)
            if labelled and np.isfinite(X).all():
                return rows, X
            break
    bad = {}
    for k in range(len(rows.lines)):
        if why := _complaint(rows.cells(k), others, column):
            bad[k] = f"{rows.name}: line {rows.number[k]} {why}"
    rows = _without(rows, bad, sieve)
    return rows, rows.columns(others, np.float32)


def _complaint(cells: list[str], others: list[int], column: int) -> str:
    """What is wrong with a row of these columns; empty when nothing is."""
    if len(cells) != len(others) + 1:
        return f"has {len(cells)} values, the first line {len(others) + 1}"
    if not cells[column].strip():
        return "has no label"
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


# ---------------------------------------------------------------------------------------------------------- libsvm


def parse_libsvm(name: str, text: str, n_features: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) float32 and y (n,) float64; d is the largest index found, or n_features if that is larger."""
    lines = [line.split("#", 1)[0] for line in text.splitlines()]
    lines = [line for line in lines if line.strip()]
    pairs = np.array([line.count(":") for line in lines])
    tokens = " ".join(lines).replace(":", " ").split()
    starts = np.concatenate([[0], np.cumsum(1 + 2 * pairs)])
    if len(tokens) != starts[-1]:
        odd = next(i for i, line in enumerate(lines) if len(line.replace(":", " ").split()) != 1 + 2 * line.count(":"))
        raise DataError(f"Line {odd + 1} of {name} is not a label and index:value pairs", LIBSVM_ACCEPTED)
    try:
        numbers = np.array(tokens, dtype=np.float64)
    except ValueError as error:
        raise DataError(f"{name}: {error}", LIBSVM_ACCEPTED) from error
    y = numbers[starts[:-1]]
    listed = np.delete(numbers, starts[:-1])
    index, value = listed[::2], listed[1::2]
    if not (index >= 0).all() or (index % 1).any():
        raise DataError(f"{name} has an index that is not a whole number from 0", LIBSVM_ACCEPTED)
    base = 0 if (index == 0).any() else 1
    d = max(int(index.max(initial=0)) + 1 - base, n_features)
    if len(y) * d * 4 > MAX_BYTES:
        raise DataError(f"{name} has {len(y)} examples of {d} features, {len(y) * d * 4 >> 20} MB", SIZE_ACCEPTED)
    X = np.zeros((len(y), d), np.float32)
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as such
        X[np.repeat(np.arange(len(y)), pairs), index.astype(np.int64) - base] = value
    return X, y


def read_libsvm(path: Path, n_features: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """`parse_libsvm` of a file on disk, gzipped or not."""
    return parse_libsvm(path.name, read_text(path), n_features)


# ------------------------------------------------------------------------------------------------------------ usps


def read_usps(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 16, 16) float32 moved from [-1, 1] to [0, 1], so that background is 0, and digits (n,) int64."""
    rows = np.loadtxt(path, np.float32)
    return (rows[:, 1:].reshape(-1, 16, 16) + 1) / 2, rows[:, 0].astype(np.int64)


def read_text(path: Path) -> str:
    """The text of a file on disk, gzipped or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        return file.read()
