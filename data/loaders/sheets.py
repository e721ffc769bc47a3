"""Tables in binary formats: Excel workbooks and Parquet files, converted to comma-separated values in UTF-8.

workbook(name, content), parquet(name, content) -> text, notes        DataError, TooLarge
"""

import csv
import io
import zipfile
from collections.abc import Iterable
from datetime import date, datetime, time

from data.dataset import DataError, in_words
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED
from data.loaders.sieve import TooLarge

PARQUET = b"PAR1"  # the first bytes of a Parquet file
WORKBOOK = "xl/workbook.xml"  # the zip member that identifies a workbook
MAX_CELLS = 1 << 23  # of a workbook; each cell is an object while it is read
MAX_VALUES = 1 << 26  # of a Parquet file
ACCEPTED = "a table with a header and one example per row, saved as xlsx, Parquet or csv"


def is_workbook(content: bytes) -> bool:
    """Whether the content is a zip with a workbook."""
    if content[:2] != b"PK":
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return WORKBOOK in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return False


def workbook(name: str, content: bytes) -> tuple[bytes, list[str]]:
    """The first sheet of a workbook with a table; formulas have the values saved with them."""
    from openpyxl import load_workbook  # 0.2 s to import

    with in_words(f"{name} cannot be read as an Excel workbook", ACCEPTED):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
        if unpacked > MAX_BYTES:
            raise TooLarge(f"{name} unpacks to {unpacked >> 20} MB", SIZE_ACCEPTED)
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        for sheet in book.worksheets:
            rows = _filled(name, sheet.iter_rows(values_only=True))
            if len(rows) > 1 and len(rows[0]) > 1:
                more = len(book.sheetnames) - 1
                others = f"; {more} other sheet{'s are' if more > 1 else ' is'} ignored" if more else ""
                return _as_csv(name, rows), [f"The sheet {sheet.title!r} is read{others}"]
    raise DataError(f"{name} has no sheet with two rows and two columns", ACCEPTED)


def parquet(name: str, content: bytes) -> tuple[bytes, list[str]]:
    """The table of a Parquet file."""
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
        n = file.metadata.num_rows * file.metadata.num_columns
        if n > MAX_VALUES:
            raise TooLarge(f"{name} has {n:,} values", f"at most {MAX_VALUES:,}")
        frame = file.read().to_pandas(ignore_metadata=True)
        out = _Bounded(name)
        frame.to_csv(out, index=False)
        return out.getvalue().encode(), []


class _Bounded(io.StringIO):
    """A text of at most MAX_BYTES characters. Raises TooLarge."""

    def __init__(self, name: str):
        super().__init__()
        self._name, self._written = name, 0

    def write(self, text: str) -> int:
        self._written += len(text)
        if self._written > MAX_BYTES:
            raise TooLarge(f"{self._name} becomes more than {MAX_BYTES >> 20} MB of text", SIZE_ACCEPTED)
        return super().write(text)


def _filled(name: str, rows: Iterable[tuple]) -> list[list]:
    """The rows that are not empty, without the empty columns around them."""
    filled, n, first, last = [], 0, None, 0
    for row in rows:
        n += len(row)
        if n > MAX_CELLS:
            raise TooLarge(
                f"{name} has a sheet of more than {MAX_CELLS:,} cells", f"at most {MAX_CELLS:,} cells, or a csv"
            )
        there = [k for k, value in enumerate(row) if value is not None and value != ""]
        if there:
            filled.append(row)
            first = there[0] if first is None else min(first, there[0])
            last = max(last, there[-1])
    return [[*row[first : last + 1], *(max(0, last + 1 - len(row)) * [None])] for row in filled]


def _as_csv(name: str, rows: list[list]) -> bytes:
    out = _Bounded(name)
    csv.writer(out, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue().encode()


def _cell(value) -> object:
    if isinstance(value, datetime):
        return value.isoformat(" ") if value.time() != time() else value.date().isoformat()
    return value.isoformat() if isinstance(value, date | time) else value
