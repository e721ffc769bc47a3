"""Text formats: comma-separated values, libsvm's sparse text, and the USPS digits as a textbook gave them.

    csv      label,x1,...,xd      one example a line, the label in a named, the first or the last column
    libsvm   label i:x_i j:x_j    one example a line, indices from 1 (or 0), what is not listed is 0
    usps     label x1 ... x256    values in [-1, 1], -1 = background

References: Chang and Lin, "LIBSVM: a library for support vector machines", README; Hastie, Tibshirani and Friedman,
"The Elements of Statistical Learning", data sets, "ZIP code".
"""

import gzip
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data.dataset import DataError
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED

CSV_ACCEPTED = "UTF-8 text, one example a line: its label and the same number of numeric values"
LIBSVM_ACCEPTED = "UTF-8 text with lines like `+1 3:0.5 17:1`"
SAMPLE = 4000  # rows, evenly spread, by which the column of the labels is told
LABEL_NAMES = ("label", "class", "target", "y", "digit")
_DELIMITERS = ";\t,"  # else white space
_NOT_DIGITS = re.compile(r"[^\d\s,;]")
_BAD_CELL = re.compile(r"could not convert string '(.*)' to .* at row (\d+)")
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
    """X (n, d) float32 or uint8, y (n,) str, which column gave the labels, and the names (d,) of the others, or ()."""

    X: np.ndarray
    y: np.ndarray
    column: str
    features: tuple[str, ...]


def parse_csv(name: str, text: str, label: str | None = None) -> Table:
    """The examples of a table.

    label : a column's name, "first" or "last"; by default a column named like a label, else the first or last column,
            whichever looks more like one: not numeric, or fewer distinct whole numbers (at least two)
    """
    lines = [line for line in text.splitlines() if line.strip()]
    delimiter = next((mark for mark in _DELIMITERS if mark in lines[0]), None)
    first = [cell.strip().strip('"') for cell in lines[0].split(delimiter)]
    if len(first) < 2:
        raise DataError(f"{name} has one column only", CSV_ACCEPTED)
    header = first if sum(map(_is_number, first)) < len(first) - 1 else []
    rows, first_line = lines[bool(header) :], 1 + bool(header)
    if not rows:
        raise DataError(f"{name} has a header and no examples", CSV_ACCEPTED)
    _check_ragged(name, rows, delimiter, first_line, len(first))
    read = partial(_columns, name, rows, delimiter, first_line)
    edges = _columns(name, rows[:: 1 + len(rows) // SAMPLE], delimiter, first_line, (0, len(first) - 1), str)
    column = _label_column(name, label, header, edges, len(first))
    y = np.char.strip(read([column], str)[:, 0])
    others = [k for k in range(len(first)) if k != column]
    X = _values(rows, partial(read, others))
    where = f"column {header[column]!r}" if header else f"column {column + 1} of {len(first)}"
    return Table(X, y, where, tuple(header[k] or f"x{k + 1}" for k in others) if header else ())


def _values(rows: list[str], read: Callable[[type], np.ndarray]) -> np.ndarray:
    """The features, as uint8 where every cell is a small whole number: that reads thirty times faster."""
    if not any(_NOT_DIGITS.search(row) for row in rows):
        with suppress(DataError):
            return read(np.uint8)
    return read(np.float32)


def _columns(name: str, rows: list[str], delimiter: str | None, first_line: int, chosen, dtype) -> np.ndarray:
    """(n, len(chosen)) the values of the chosen columns."""
    try:
        return np.loadtxt(rows, dtype, delimiter=delimiter, quotechar='"', comments=None, usecols=chosen, ndmin=2)
    except ValueError as error:
        cell = _BAD_CELL.search(str(error))
        where = f"line {int(cell[2]) + first_line} has {cell[1]!r} where a number is needed" if cell else str(error)
        raise DataError(f"{name}: {where}", CSV_ACCEPTED) from error


def _check_ragged(name: str, rows: list[str], delimiter: str | None, first_line: int, expected: int) -> None:
    for number, row in enumerate(rows, first_line):
        found = row.count(delimiter) + 1 if delimiter else len(row.split())
        if found != expected and '"' not in row:
            raise DataError(f"Line {number} of {name} has {found} values, the first line {expected}", CSV_ACCEPTED)


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
