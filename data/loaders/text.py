"""Splitting text: its encoding, its lines, the separator of the cells, and a header.

    taken_apart(name, in_utf8(name, content)) -> header, Rows

The output of spreadsheets is supported: byte order marks, UTF-16, Windows-1252, `sep=;`, quoted cells with line breaks.
"""

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from data.dataset import DataError
from data.loaders.cells import is_number
from data.loaders.check import MAX_LABEL

MAX_LINES = 1 << 22
MAX_LINE = 1 << 25  # bytes, enough for the three million values that an example may have
MAX_JOINED = 50  # lines that one cell may span
ACCEPTED = "UTF-8 text with one example per line: a label and numeric values, equally many in each line"
BLOCK = 1 << 16  # cells split at a time
_MARKS = ";\t,"  # separators; otherwise white space
_DECIMALS = re.compile(r"\d,(?!\d{3}(?!\d))\d")
_NOT_DIGITS = re.compile(r"[^\d\s,;]")
_QUOTED = re.compile(r'"[^"]*"')
_SEPARATOR = re.compile(r'"?sep=(.)"?$', re.IGNORECASE)
_COMMENT = re.compile(r"^\s*#+ *(?=[^\s;,])")  # the marks before the text of a comment
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # bytes that do not occur in texts of single-byte encodings


def in_utf8(name: str, content: bytes, accepted: str = ACCEPTED) -> tuple[bytes, list[str]]:
    """A text in UTF-8 with line ends `\\n`, and a note if its encoding was guessed.

    DataError if it is not text, or if it has so many or such long lines that splitting them would take far more memory
    than the text.
    """
    notes = []
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            content = content.decode("utf-16").encode()
        except UnicodeDecodeError as error:
            raise DataError(f"{name} is not UTF-16 text (byte {error.start})", accepted) from error
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        decoded = content.decode()
        if not unicodedata.is_normalized("NFC", decoded):  # as names of files are
            content = unicodedata.normalize("NFC", decoded).encode()
    except UnicodeDecodeError as error:
        try:
            if _CONTROL.search(content):
                raise error
            content = content.decode("cp1252").encode()
        except UnicodeDecodeError:
            raise DataError(f"{name} is not UTF-8 text (byte {error.start})", accepted) from error
        notes = ["The file is not UTF-8 text. It is read as Windows-1252, the encoding of Excel in Western Europe"]
    if b"\0" in content:
        raise DataError(f"{name} is not UTF-8 text (it contains zero bytes)", accepted)
    if not content.strip():
        raise DataError(f"{name} is empty", accepted)
    return _unix(name, content), notes


def _unix(name: str, content: bytes) -> bytes:
    content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    longest, n = 0, 0
    for line in io.BytesIO(content):
        longest, n = max(longest, len(line)), n + 1
    if n > MAX_LINES or longest > MAX_LINE:
        reason = f"{name} has {n:,} lines, the longest of {longest:,} bytes"
        raise DataError(reason, f"at most {MAX_LINES:,} lines of at most {MAX_LINE >> 20} MB")
    return content


class Blocks:
    """The rows of a table, of which `number` has that of each in the file, and `take` some of them."""

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.number)

    def parts(self, n_columns: int) -> Iterator[tuple[range, "Blocks"]]:
        """The rows in blocks whose `n_columns` columns have about BLOCK cells."""
        step = max(1, BLOCK // n_columns)
        for start in range(0, self.n, step):
            block = range(start, min(start + step, self.n))
            yield block, self.take(block)


@dataclass(frozen=True)
class Rows(Blocks):
    """The lines of a table, their numbers in the file, and the separator of their cells."""

    name: str
    lines: list[str]
    number: list[int]
    mark: str | None  # separator; None for white space
    line = "line"  # what a row of the file is called

    def take(self, which: Sequence[int]) -> "Rows":
        """The rows at these positions, in this order."""
        return replace(self, lines=[self.lines[k] for k in which], number=[self.number[k] for k in which])

    def uneven(self, expected: int) -> dict[int, DataError]:
        """The rows that have another number of values."""
        ragged = {}
        for k, row in enumerate(self.lines):
            n_values = row.count(self.mark) + 1 if self.mark else len(row.split())
            where = f"Line {self.number[k]} of {self.name}"
            if '"' in row and self.is_open(k):
                ragged[k] = DataError(f"{where} has a quote that is never closed", ACCEPTED)
                continue
            if n_values != expected and '"' in row:
                n_values = len(self.cells(k))
            if n_values != expected:
                ragged[k] = DataError(f"{where} has {n_values} values, but the first line has {expected}", ACCEPTED)
        return ragged

    def with_points(self) -> "Rows | None":
        """The rows with a decimal point in place of commas; None unless commas can only be decimal commas: there is no
        point, and some comma is not followed by exactly three digits, as a thousands separator is."""
        if self.mark not in (";", "\t") or any("." in row for row in self.lines):
            return None
        if not any(_DECIMALS.search(row) for row in self.lines):
            return None
        return replace(self, lines=[row.replace(",", ".") for row in self.lines])

    def numbers(self, chosen: Sequence[int]) -> np.ndarray:
        """(n, len(chosen)) values; bytes if every cell is a small whole number, which reads thirty times faster.
        DataError for a cell that is no number."""
        if not any(_NOT_DIGITS.search(row) for row in self.lines):
            with suppress(DataError):
                return self.columns(chosen, np.uint8)
        return self.columns(chosen, np.float64)

    def columns(self, chosen, dtype) -> np.ndarray:
        """(n, len(chosen)) values of the chosen columns. DataError for a cell that is not a number."""
        how = {"delimiter": self.mark, "quotechar": '"', "comments": None, "usecols": chosen, "ndmin": 2}
        try:
            with np.errstate(over="ignore"):  # too large values become infinite
                values = np.loadtxt(self.lines, dtype, **how)
        except ValueError as error:
            raise DataError(f"{self.name}: {error}", ACCEPTED) from error
        if len(values) != len(self.lines):
            raise DataError(f"{self.name}: a quote that is never closed joins lines", ACCEPTED)
        return values

    def is_open(self, k: int) -> bool:
        """Whether a row has a cell that begins with a quote and does not end with one."""
        row = self.lines[k]
        begins = re.search(rf'(?:^|{re.escape(self.mark) if self.mark else " "})\s*"', row)
        return bool(begins) and row.count('"') % 2 == 1

    def cut_off(self, chosen: Sequence[int]) -> np.ndarray:
        """(len(chosen), n) cells of the chosen columns, cut to one character more than a label may have."""
        return np.char.strip(self.columns(chosen, f"U{MAX_LABEL + 1}")).T

    def texts(self, chosen: Sequence[int]) -> np.ndarray:
        """(n, len(chosen)) of the same, for many rows, in an array only as wide as the longest cell."""
        blocks = [part.cut_off(chosen).T for _, part in self.parts(len(chosen))]
        longest = max(int(np.char.str_len(block).max()) for block in blocks)
        return np.concatenate([block.astype(f"U{max(longest, 1)}") for block in blocks])

    def cells(self, k: int) -> list[str]:
        """The cells of one row, whatever their number."""
        return _cells(self.lines[k], self.mark)


def taken_apart(name: str, text: str) -> tuple[list[str], Rows]:
    """The header and the rows. The header is empty if at most one cell of the first line is not a number."""
    numbered = [(number, line) for number, line in _whole(text.split("\n")) if line.strip()]
    number, lines = map(list, zip(*numbered))
    separator = _SEPARATOR.match(lines[0].strip())
    if separator:
        number, lines = number[1:], lines[1:]
    if not lines:
        raise DataError(f"{name} is empty", ACCEPTED)
    comments = next((k for k, line in enumerate(lines) if not line.lstrip().startswith("#")), 0)
    if comments:
        comments -= _is_header(name, lines[comments - 1], lines[comments], number[comments - 1])
        number, lines = number[comments:], [_COMMENT.sub("", lines[comments]), *lines[comments + 1 :]]
    bare = _QUOTED.sub("", lines[0])
    mark = separator[1] if separator else next((mark for mark in _MARKS if mark in bare), None)
    first = [cell.strip() for cell in _cells(lines[0], mark)]
    if len(first) < 2:
        raise DataError(f"{name} has only one column", ACCEPTED)
    header = first if names_columns(first) else []
    rows = Rows(name, lines[bool(header) :], number[bool(header) :], mark)
    if not rows.lines:
        raise DataError(f"{name} has a header but no examples", ACCEPTED)
    return header, rows


def names_columns(cells: list[str]) -> bool:
    """Whether more than one cell of a line is not a number."""
    return sum(map(is_number, cells)) < len(cells) - 1


def _is_header(name: str, comment: str, after: str, number: int) -> bool:
    """Whether the last comment before a table is its header, as NumPy writes it: it has as many cells as the next line.
    DataError if the next line could be the header too, as this is ambiguous."""
    mark = next((mark for mark in _MARKS if mark in after), None)
    cells = _cells(after, mark)
    if len(_cells(_COMMENT.sub("", comment), mark)) != len(cells):
        return False
    if names_columns([cell.strip() for cell in cells]):
        reason = f"{name}: line {number} begins with # and may be a comment or the column names"
        accepted = "the file without that line if it is a comment, or without the # if the line has the column names"
        raise DataError(reason, accepted)
    return True


def _whole(lines: list[str]) -> Iterator[tuple[int, str]]:
    """(number, line); lines with a quoted cell over several lines are joined, unless the quote is never closed."""
    k = 0
    while k < len(lines):
        joined, end = lines[k], k + 1
        while joined.count('"') % 2 and end < min(len(lines), k + MAX_JOINED):
            joined, end = f"{joined} {lines[end]}", end + 1
        whole = joined.count('"') % 2 == 0
        yield k + 1, joined if whole else lines[k]
        k = end if whole else k + 1


def _cells(line: str, mark: str | None) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=mark)) if mark else [cell.strip('"') for cell in line.split()]
    except csv.Error:  # a cell that is too long
        return []
