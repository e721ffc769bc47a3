"""Tables in binary formats: Excel workbooks and Parquet files, as pandas holds them.

taken_apart(name, content, is_number) -> format, (header, Cells), notes        DataError, TooLarge
"""

import io
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import TYPE_CHECKING

import numpy as np

from data.dataset import DataError, in_words
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED
from data.loaders.check import MAX_LABEL
from data.loaders.sieve import TooLarge
from data.loaders.text import Blocks, names_columns

if TYPE_CHECKING:
    from pandas import DataFrame, Series

PARQUET = b"PAR1"  # the first bytes of a Parquet file
WORKBOOK = "xl/workbook.xml"  # the zip member that identifies a workbook
MAX_CELLS = 1 << 23  # of a workbook; each cell is an object while it is read
MAX_VALUES = 1 << 26  # of a Parquet file
ACCEPTED = "a table with a header and one example per row, saved as xlsx, Parquet or csv"


@dataclass(frozen=True)
class Cells(Blocks):
    """The rows of a table whose cells are known: the same to a reader of tables as `text.Rows`.

    frame : one column of numbers or of anything else, which is read as text, for each column of the table
    """

    name: str
    frame: "DataFrame"
    number: Sequence[int]  # of each row in the file
    mark = ""

    def take(self, which: Sequence[int]) -> "Cells":
        """The rows at these positions, in this order."""
        return replace(self, frame=self.frame.iloc[list(which)], number=[self.number[k] for k in which])

    def uneven(self, expected: int) -> dict[int, DataError]:
        """No row: all have a cell in each column."""
        return {}

    def with_points(self) -> None:
        """Nothing: a number in a cell has no decimal mark."""

    def numbers(self, chosen: Sequence[int]) -> np.ndarray:
        """(n, len(chosen)) values; bytes where all are whole numbers from 0 to 255. DataError for a column that has
        not only numbers."""
        columns = self.frame.iloc[:, list(chosen)]
        if not all(map(_is_numeric, columns.dtypes)):
            raise DataError(f"{self.name} has cells that are not numbers", ACCEPTED)
        whole = all(dtype.kind in "iu" for dtype in columns.dtypes)
        small = whole and columns.min().min() >= 0 and columns.max().max() <= 255
        return columns.to_numpy(np.uint8 if small else np.float64)

    def cut_off(self, chosen: Sequence[int]) -> list[np.ndarray]:
        """The chosen columns (n,): float64, or texts cut to one character more than a label may have."""
        columns = (self.frame.iloc[:, k] for k in chosen)
        return [
            column.to_numpy(np.float64) if _is_numeric(column.dtype) else _texts(column, MAX_LABEL + 1)
            for column in columns
        ]

    def texts(self, chosen: Sequence[int]) -> np.ndarray:
        """(n, len(chosen)) cells as texts, cut likewise."""
        return np.column_stack([_texts(self.frame.iloc[:, k], MAX_LABEL + 1) for k in chosen])

    def cells(self, k: int) -> list[str]:
        """The cells of one row."""
        return [str(_texts(self.frame.iloc[k : k + 1, j])[0]) for j in range(self.frame.shape[1])]


Table = tuple[list[str], Cells]  # its header and rows


def _is_numeric(dtype) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iuf"


def _texts(column: "Series", longest: int | None = None) -> np.ndarray:
    """(n,) the cells of a column as texts, empty for missing ones, cut to `longest` characters."""
    there, cells = column.notna(), column.astype(str)
    return np.array([_line(cell)[:longest] if known else "" for cell, known in zip(cells, there)], str)


def _line(text: str) -> str:
    return " ".join(text.split("\n")).strip()


def taken_apart(name: str, content: bytes, is_number: Callable[[str], bool]) -> tuple | None:
    """The format, the header (empty if at most one cell of the first line is not a number) and the rows, and notes;
    None for another format."""
    if content.startswith(PARQUET):
        return "parquet", _parquet(name, content), []
    if _is_workbook(content):
        return "xlsx", *_workbook(name, content, is_number)
    return None


def _is_workbook(content: bytes) -> bool:
    """Whether the content is a zip with a workbook."""
    if content[:2] != b"PK":
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return WORKBOOK in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return False


def _workbook(name: str, content: bytes, is_number: Callable[[str], bool]) -> tuple[Table, list[str]]:
    """The first sheet of a workbook with a table, and notes; formulas have the values saved with them."""
    from openpyxl import load_workbook  # 0.2 s to import
    from pandas import DataFrame

    with in_words(f"{name} cannot be read as an Excel workbook", ACCEPTED):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
        if unpacked > MAX_BYTES:
            raise TooLarge(f"{name} unpacks to {unpacked >> 20} MB", SIZE_ACCEPTED)
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        for sheet in book.worksheets:
            rows, number = _filled(name, sheet.iter_rows(values_only=True))
            if len(rows) < 2 or len(rows[0]) < 2:
                continue
            more = len(book.sheetnames) - 1
            others = f"; {more} other sheet{'s are' if more > 1 else ' is'} ignored" if more else ""
            first = ["" if value is None else _line(str(value)) for value in rows[0]]
            start = int(names_columns(first, is_number))
            table = start * first, Cells(name, DataFrame(rows[start:]), number[start:])
            return table, [f"The sheet {sheet.title!r} is read{others}"]
    raise DataError(f"{name} has no sheet with two rows and two columns", ACCEPTED)


def _parquet(name: str, content: bytes) -> Table:
    """The table of a Parquet file; its rows are numbered as the lines of a csv would be, after the header."""
    from pyarrow import types
    from pyarrow.parquet import ParquetFile  # 0.2 s to import

    with in_words(f"{name} cannot be read as a Parquet file", ACCEPTED):
        schema = ParquetFile(io.BytesIO(content)).schema_arrow
        for column in schema:
            if types.is_nested(column.type):
                raise DataError(
                    f"{name}: column {column.name!r} has the type {column.type}", "columns of numbers and texts"
                )
        texts = [c.name for c in schema if types.is_string(c.type) or types.is_large_string(c.type)]
        file = ParquetFile(io.BytesIO(content), read_dictionary=texts)  # repeated texts are stored once
        about = file.metadata
        if (n := about.num_rows * about.num_columns) > MAX_VALUES:
            raise TooLarge(f"{name} has {n:,} values", f"at most {MAX_VALUES:,}")
        unpacked = sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
        if unpacked > MAX_BYTES:
            raise TooLarge(f"{name} unpacks to {unpacked >> 20} MB", SIZE_ACCEPTED)
        frame = file.read().to_pandas(ignore_metadata=True)
    if frame.shape[1] < 2:
        raise DataError(f"{name} has only one column", ACCEPTED)
    if not len(frame):
        raise DataError(f"{name} has a header but no examples", ACCEPTED)
    return [str(title) for title in frame.columns], Cells(name, frame, range(2, len(frame) + 2))


def _filled(name: str, rows: Iterable[tuple]) -> tuple[list[list], list[int]]:
    """The rows that are not empty, without the empty columns around them, and their numbers in the sheet."""
    filled, number, n, first, last = [], [], 0, None, 0
    for at, row in enumerate(rows, 1):
        n += len(row)
        if n > MAX_CELLS:
            raise TooLarge(
                f"{name} has a sheet of more than {MAX_CELLS:,} cells", f"at most {MAX_CELLS:,} cells, or a csv"
            )
        there = [k for k, value in enumerate(row) if value is not None and value != ""]
        if there:
            filled.append(row)
            number.append(at)
            first = there[0] if first is None else min(first, there[0])
            last = max(last, there[-1])
    cells = [[*map(_cell, row[first : last + 1]), *[None] * max(0, last + 1 - len(row))] for row in filled]
    return cells, number


def _cell(value) -> object:
    """Numbers as they are; a date as its text, without a time where that is midnight; an empty text is no value."""
    if isinstance(value, datetime):
        return value.isoformat(" ") if value.time() != time() else value.date().isoformat()
    return value.isoformat() if isinstance(value, date | time) else None if value == "" else value
