"""Tables in binary formats: Excel workbooks and Parquet files, as pandas holds them.

taken_apart(name, content) -> Sheet        DataError, TooLarge

A column of a Parquet file may hold lists of numbers, such as embeddings, or one image for each row: its bytes, or a
struct of bytes and path, as the datasets of Hugging Face have it. The names of classes are read from their metadata.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from data.dataset import DataError, in_words, megabytes
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED, Member
from data.loaders.check import MAX_LABEL
from data.loaders.sieve import TooLarge
from data.loaders.text import Blocks, names_columns

if TYPE_CHECKING:
    from pandas import DataFrame, Series
    from pyarrow import DataType, Field
    from pyarrow import Table as Table_

PARQUET = b"PAR1"  # the first bytes of a Parquet file
WORKBOOK = "xl/workbook.xml"  # the zip member that identifies a workbook
MAX_CELLS = 1 << 23  # of a workbook; each cell is an object while it is read
MAX_VALUES = 1 << 26  # of a Parquet file
COLUMNS_ACCEPTED = "columns of numbers, texts and lists of numbers, and one column of images (bytes, or bytes and path)"
LISTS_ACCEPTED = "a list of the same length in every row, such as an embedding"
ACCEPTED = "a table with a header and one example per row, saved as xlsx, Parquet or csv"


@dataclass(frozen=True)
class Cells(Blocks):
    """The rows of a table whose cells are known: the same to a reader of tables as `text.Rows`.

    frame : one column of numbers or of anything else, which is read as text, for each column of the table
    """

    name: str
    frame: "DataFrame"
    number: Sequence[int]  # of each row in the file
    line: str = "line"  # what a row of the file is called
    bad: Mapping[int, DataError] = field(default_factory=dict)  # rows that cannot be used, by their number
    mark = ""

    def take(self, which: Sequence[int]) -> "Cells":
        """The rows at these positions, in this order."""
        return replace(self, frame=self.frame.iloc[list(which)], number=[self.number[k] for k in which])

    def uneven(self, expected: int) -> dict[int, DataError]:
        """The rows that cannot be used; all others have a cell in each column."""
        return {k: self.bad[number] for k, number in enumerate(self.number) if number in self.bad} if self.bad else {}

    def with_points(self) -> None:
        """Nothing: a number in a cell has no decimal mark."""

    def numbers(self, chosen: Sequence[int]) -> np.ndarray:
        """(n, len(chosen)) values; bytes if all are whole numbers from 0 to 255. DataError for a column that is not
        only numbers."""
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


class Sheet(NamedTuple):
    """A table with its format: the header is empty if at most one cell of the first line is not a number.

    pictures : of the rows in order, if they have any; embedded: whether some columns were lists
    """

    format: str
    table: Table
    notes: list[str]
    pictures: list[Member] | None = None
    embedded: bool = False


def taken_apart(name: str, content: bytes) -> Sheet | None:
    """The table in a workbook or Parquet file; None for another format."""
    if content.startswith(PARQUET):
        return _parquet(name, content)
    if _is_workbook(content):
        return Sheet("xlsx", *_workbook(name, content))
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


def _workbook(name: str, content: bytes) -> tuple[Table, list[str]]:
    """The first sheet of a workbook with a table, and notes; formulas have the values saved with them."""
    from openpyxl import load_workbook  # 0.2 s to import
    from pandas import DataFrame

    with in_words(f"{name} cannot be read as an Excel workbook", ACCEPTED):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
        if unpacked > MAX_BYTES:
            raise TooLarge(f"{name} unpacks to {megabytes(unpacked)}", SIZE_ACCEPTED)
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        for sheet in book.worksheets:
            rows, number = _filled(name, sheet.iter_rows(values_only=True))
            if len(rows) < 2 or len(rows[0]) < 2:
                continue
            more = len(book.sheetnames) - 1
            others = f"; {more} other sheet{'s are' if more > 1 else ' is'} ignored" if more else ""
            first = ["" if value is None else _line(str(value)) for value in rows[0]]
            start = int(names_columns(first))
            table = start * first, Cells(name, DataFrame(rows[start:]), number[start:])
            return table, [f"The sheet {sheet.title!r} is read{others}"]
    raise DataError(f"{name} has no sheet with at least two rows and two columns", ACCEPTED)


def _parquet(name: str, content: bytes) -> Sheet:
    """The table of a Parquet file; its rows are numbered from 0, as pandas and Hugging Face do."""
    from pyarrow import types
    from pyarrow.parquet import ParquetFile  # 0.2 s to import

    with in_words(f"{name} cannot be read as a Parquet file", ACCEPTED):
        schema = ParquetFile(io.BytesIO(content)).schema_arrow
        kinds = {column.name: _kind(name, column) for column in schema}
        texts = [c.name for c in schema if types.is_string(c.type) or types.is_large_string(c.type)]
        file = ParquetFile(io.BytesIO(content), read_dictionary=texts)  # repeated texts are stored once
        about = file.metadata
        if (n := about.num_rows * about.num_columns) > MAX_VALUES:
            raise TooLarge(f"{name} has {n:,} values", f"at most {MAX_VALUES:,}")
        unpacked = sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
        if unpacked > MAX_BYTES:
            raise TooLarge(f"{name} unpacks to {megabytes(unpacked)}", SIZE_ACCEPTED)
        whole = file.read()
    names = _class_names(schema.metadata or {})
    frame, pictures, bad = _columns_of(name, whole, kinds, names)
    if not frame.shape[1]:
        raise DataError(f"{name} has images, but no column of classes", COLUMNS_ACCEPTED)
    if frame.shape[1] < 2 and pictures is None:
        raise DataError(f"{name} has only one column", ACCEPTED)
    if not len(frame):
        raise DataError(f"{name} has a header but no examples", ACCEPTED)
    table = [str(title) for title in frame.columns], Cells(name, frame, range(len(frame)), "row", bad)
    return Sheet("parquet", table, [], pictures, "list" in kinds.values())


def _kind(name: str, column: "Field") -> str:
    """What a column holds: "list", "picture" or "plain". DataError for other nested columns."""
    from pyarrow import types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        inner = kind.value_type
        if types.is_integer(inner) or types.is_floating(inner):
            return "list"
    elif _is_bytes(kind):
        return "picture"
    elif types.is_struct(kind):
        fields = {kind.field(k).name: kind.field(k).type for k in range(kind.num_fields)}
        if "bytes" in fields and _is_bytes(fields["bytes"]) and fields.keys() <= {"bytes", "path"}:
            return "picture"
    elif not types.is_nested(kind):
        return "plain"
    raise DataError(f"{name}: column {column.name!r} has the type {kind}", COLUMNS_ACCEPTED)


def _is_bytes(kind: "DataType") -> bool:
    """Whether a type has bytes of any length, in one of Arrow's layouts."""
    from pyarrow import types

    return types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)


def _class_names(metadata: dict[bytes, bytes]) -> dict[str, list[str]]:
    """The names of classes by column, as Hugging Face writes them; none where they cannot be read."""
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        labels = {name: about for name, about in features.items() if about.get("_type") == "ClassLabel"}
        return {name: [str(c) for c in about["names"]] for name, about in labels.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _columns_of(
    name: str, whole: "Table_", kinds: dict[str, str], classes: dict[str, list[str]]
) -> tuple["DataFrame", list[Member] | None, dict[int, DataError]]:
    """The columns of numbers and texts, the pictures of the rows, and the rows whose list is missing or of another
    length than most. DataError for two columns of pictures."""
    from pandas import DataFrame, concat
    from pyarrow import types

    pictured = [column for column, kind in kinds.items() if kind == "picture"]
    if len(pictured) > 1:
        raise DataError(f"{name} has {len(pictured)} columns of images: {', '.join(pictured[:5])}", COLUMNS_ACCEPTED)
    parts, pictures, bad = [DataFrame(index=range(whole.num_rows))], None, {}
    for column, kind in kinds.items():
        cells = whole.column(column)
        if kind == "picture":
            pictures = [_picture(name, k, cell) for k, cell in enumerate(cells.to_pylist())]
        elif kind == "list":
            lists = cells.combine_chunks()
            lengths = np.nan_to_num(lists.value_lengths().to_numpy(False), nan=0).astype(int)  # missing ones have none
            d = int(np.bincount(lengths[lengths > 0]).argmax()) if lengths.any() else 0
            for k in np.flatnonzero(lengths != d).tolist():
                has = f"a list of {lengths[k]} instead of {d:,} numbers" if lengths[k] else "no list"
                bad[k] = DataError(f"{name}: row {k} has {has} in column {column!r}", LISTS_ACCEPTED)
            numbers = np.full((whole.num_rows, d), np.nan)
            numbers[lengths == d] = lists.flatten().to_numpy(False)[np.repeat(lengths == d, lengths)].reshape(-1, d)
            parts.append(DataFrame(numbers, columns=[f"{column}[{j}]" for j in range(numbers.shape[1])]))
        elif column in classes:
            named = dict(enumerate(classes[column])) | {-1: "", None: ""}  # a label that is not known
            parts.append(DataFrame({column: [named.get(k, str(k)) for k in cells.to_pylist()]}))
        elif types.is_fixed_size_binary(cells.type):  # such as an identifier
            parts.append(DataFrame({column: [cell and cell.hex() for cell in cells.to_pylist()]}))
        else:
            parts.append(whole.select([column]).to_pandas(ignore_metadata=True))
    return concat(parts, axis=1), pictures, bad


def _picture(name: str, k: int, cell: bytes | dict | None) -> Member:
    """The image in a cell, called after the file, its row and its path."""
    path = cell.get("path") if isinstance(cell, dict) else None
    content = cell.get("bytes") if isinstance(cell, dict) else cell
    called = f"{name}: row {k}" + (f" ({PurePosixPath(path).name[:100]})" if path else "")
    if content:
        return Member(called, len(content), partial(io.BytesIO, content))
    reason = f"{called} has {'the path of an image, but not its bytes' if path else 'no image'}"
    return Member.missing(called, reason, "the bytes of each image, or a zip of the images with a csv of their classes")


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
