"""The columns of a table with cells that are not plain numbers, and their conversion to numbers.

    numbers, dates       as loaders.cells reads them
    categories    few different texts: a column of 0 and 1 for each (one-hot); a single column if there are two
    texts, nothing       left out, with a note
    empty cells   refused with their lines, filled (median, most frequent category), or filled with an indicator column

The type of a column is that of more than half of its cells; errors name the lines of the others.

A column with both 1,234 and 1.234 follows the decimal mark of the other columns, with a note; if they have none, or
both, it is refused.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from data.dataset import DataError, alike_note, megabytes
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED
from data.loaders.cells import KNOWN, days, is_missing, measure, value
from data.loaders.sheets import Cells
from data.loaders.sieve import TooLarge
from data.loaders.text import ACCEPTED, Rows

REFUSE, FILL, TELL = "refuse", "fill", "tell"  # handling of empty cells
EMPTY_ACCEPTED = "rows without empty cells, or a way to fill them (the setting Empty cells, or the option --empty)"
COMMA = "Numbers are read with a decimal comma"
MAX_LEVELS = 20  # largest number of different texts in a column of categories
NAMED = 5  # columns listed in a note
LARGEST = float(np.finfo(np.float32).max)


@dataclass
class _Seen:
    """Statistics of the cells of a column."""

    n: int = 0
    missing: int = 0
    numbers: Counter[tuple[bool, bool]] = field(default_factory=Counter)  # (sure, decimal comma) -> number of cells
    measured: int = 0  # cells that are numbers, including those with an uncertain unit
    by_day: int = 0  # cells that are dates with the day before the month
    by_month: int = 0
    levels: dict[str, int] = field(default_factory=dict)  # text -> count, for the first MAX_LEVELS + 1 texts
    sure: dict[str, str] = field(default_factory=dict)  # certain unit -> the first cell with it
    unsure: dict[str, str] = field(default_factory=dict)  # uncertain unit -> the first cell with it
    either: dict[str, str] = field(default_factory=dict)  # mark of a number that two readings differ on -> first cell

    def add(self, cells: np.ndarray) -> None:
        """Of float64, NaN where they are empty, or of texts."""
        if cells.dtype.kind == "f":
            there = int(np.count_nonzero(~np.isnan(cells)))
            self.n += len(cells)
            self.missing += len(cells) - there
            self.measured += there
            self.numbers += {(True, comma): there for comma in (False, True)}
            return
        distinct, counts = np.unique(cells, return_counts=True)
        for cell, count in zip(distinct.tolist(), counts.tolist()):
            self.n += count
            if is_missing(cell):
                self.missing += count
                continue
            if quantity := measure(cell):
                self.measured += count
                units = self.sure if quantity.sure else self.unsure
                if len(units) <= MAX_LEVELS:
                    units.setdefault(quantity.unit, cell)
                if len(set(quantity.values)) > 1 and not np.isnan(quantity.values).any():
                    self.either.setdefault("," if "," in cell else ".", cell)
                for comma in (False, True):
                    self.numbers[quantity.sure, comma] += count * (not np.isnan(quantity.values[comma]))
            self.by_day += count * (not np.isnan(days(cell, True)))
            self.by_month += count * (not np.isnan(days(cell, False)))
            if cell in self.levels or len(self.levels) <= MAX_LEVELS:
                self.levels[cell] = self.levels.get(cell, 0) + count

    @property
    def in_units(self) -> bool:
        """Whether every cell is a number with a word that can be a unit."""
        words = self.sure.keys() | self.unsure.keys()
        return self.measured == self.n - self.missing and (len(words) == 1 or words <= KNOWN)

    @property
    def units(self) -> dict[str, str]:
        """Unit of the numbers ("" for none) -> the first cell with it."""
        return self.sure | self.unsure if self.in_units else self.sure

    def written(self, comma: bool) -> int:
        """Number of cells that are numbers, with a decimal comma if `comma`."""
        return self.numbers[True, comma] + self.in_units * self.numbers[False, comma]

    @property
    def kind(self) -> str:
        there = self.n - self.missing
        if not there:
            return "nothing"
        if 2 * max(self.by_day, self.by_month) > there:
            return "dates"
        if 2 * max(self.written(False), self.written(True)) > there:
            return "numbers"
        few = len(self.levels) <= min(MAX_LEVELS, there // 2)
        return "categories" if few else "texts"

    @property
    def decimal_mark(self) -> str:
        """The decimal mark: "point", "comma", or "" if both fit equally."""
        by_point, by_comma = self.written(False), self.written(True)
        return "" if by_point == by_comma else "point" if by_point > by_comma else "comma"


class _Column(NamedTuple):
    """A column that becomes numbers: position, name, the value of a cell, its type in errors, and categories."""

    at: int
    name: str
    value: Callable[[str], float] | None  # none for categories
    what: str = "number"
    levels: tuple[str, ...] = ()
    commonest: str = ""

    @property
    def coded(self) -> tuple[str, ...]:
        """The categories that get a column of 0 and 1."""
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    @property
    def names(self) -> list[str]:
        return [f"{self.name} = {level}" for level in self.coded] or [self.name]

    def values(self, cells: np.ndarray) -> np.ndarray:
        """(n, len(names)) float64: NaN if a cell is missing or not a number, infinite if it is too large."""
        if cells.dtype.kind == "f":
            return cells[:, None]
        distinct, inverse = np.unique(cells, return_inverse=True)
        if self.levels:
            rows = [[np.nan if is_missing(cell) else cell == s for s in self.coded] for cell in distinct]
            numbers = np.array(rows, float)
        else:
            numbers = np.array([[self.value(cell)] for cell in distinct])
        return numbers[inverse.ravel()]

    def usual(self, there: np.ndarray) -> np.ndarray:
        """(len(names),) the replacement of an empty cell, from the values (m, len(names)) of the others."""
        return self.values(np.array([self.commonest]))[0] if self.levels else np.median(there, axis=0)

    def complaint(self, where: str, cell: str, filled: bool) -> DataError | None:
        """The error of a cell; None if it may be filled."""
        if is_missing(cell):
            problem = f"has {cell!r}, a missing value," if cell else "has an empty cell"
            return None if filled else DataError(f"{where} {problem} in column {self.name!r}", EMPTY_ACCEPTED)
        if np.isnan(value := self.value(cell)):
            return DataError(f"{where} has {cell[:40]!r} instead of a {self.what} in column {self.name!r}", ACCEPTED)
        if abs(value) <= LARGEST:
            return None
        return DataError(
            f"{where} has {cell[:40]!r}, an infinite or too large value, in column {self.name!r}",
            f"numbers from {-LARGEST:.1e} to {LARGEST:.1e}",
        )


class Columns:
    """The columns of a table that become numbers, determined from all cells.

    notes : the decisions made, one sentence each
    """

    def __init__(self, rows: Rows | Cells, chosen: Sequence[int], names: Sequence[str]):
        """chosen: the columns to use; names: the names of all columns."""
        seen = [_Seen() for _ in chosen]
        for _, part in rows.parts(len(chosen)):
            for column, cells in zip(seen, part.cut_off(chosen)):
                column.add(cells)
        marks = {column.decimal_mark for column in seen if column.kind == "numbers"}
        usual = "comma" if "comma" in marks and "point" not in marks else "point"
        decided = len(marks - {""}) == 1
        self._used: list[_Column] = []
        dates, units, thousands = [], [], []
        for k, column in zip(chosen, seen):
            if column.kind == "numbers":
                _require_one_unit(column, names[k])
                comma = (column.decimal_mark or usual) == "comma"
                mark = "." if comma else ","
                if mark in column.either and not column.decimal_mark:
                    _require_a_mark(column, names[k], decided)
                    thousands.append(f"{names[k]} ({column.either[mark]})")
                self._used.append(_Column(k, names[k], partial(value, comma=comma, unsure=column.in_units)))
                units += [f"{names[k]} ({of_all})" for of_all in column.units if of_all]
            elif column.kind == "dates":
                day_first = column.by_day >= column.by_month
                self._used.append(_Column(k, names[k], partial(days, day_first=day_first), "date"))
                dates.append(f"{names[k]} ({'day' if day_first else 'month'} first, unless the year comes first)")
            elif column.kind == "categories":
                levels = tuple(sorted(column.levels))
                commonest = max(levels, key=column.levels.get)
                self._used.append(_Column(k, names[k], None, levels=levels, commonest=commonest))
        ends = np.cumsum([0, *(len(column.names) for column in self._used)]).tolist()
        self._slices = [slice(*pair) for pair in pairwise(ends)]  # columns of X for each column of the table
        self.names = tuple(name for column in self._used for name in column.names)
        self.notes = [COMMA] if "comma" in marks else []
        if thousands:
            mark = "Points" if usual == "comma" else "Commas"
            self.notes.append(f"{mark} are read as marks for thousands: {_listed(thousands)}")
        self.notes += _left_out(seen, [names[k] for k in chosen])
        if coded := [f"{column.name} ({len(column.levels)})" for column in self._used if column.levels]:
            self.notes.append(f"Categories become columns of 0 and 1: {_listed(coded)}")
        for column in self._used:
            cure = "each becomes a column of its own. If they are one category, write them alike"
            self.notes += alike_note(f"In column {column.name!r}, the categories", sorted(column.levels), cure)
        if units:
            self.notes.append(f"Numbers are read without their units: {_listed(units)}")
        if dates:
            self.notes.append(f"Dates become days since 1970: {_listed(dates)}")

    def numbers(self, rows: Rows | Cells, empty: str) -> tuple[np.ndarray, dict[int, DataError]]:
        """X (n, len(names)) float64, NaN for empty cells, and the errors by row. Raises TooLarge."""
        n, d = rows.n, len(self.names)
        if n * d * 4 > MAX_BYTES:
            reason = f"{rows.name} becomes a table of {n:,} x {d:,} numbers, {megabytes(n * d * 4)}"
            raise TooLarge(reason, SIZE_ACCEPTED)
        X, bad, chosen = np.empty((n, d)), {}, [column.at for column in self._used]
        for block, part in rows.parts(len(chosen)) if chosen else ():
            cells = part.cut_off(chosen)
            for j, (column, which) in enumerate(zip(self._used, self._slices)):
                X[block.start : block.stop, which] = column.values(cells[j])
                for i in np.flatnonzero(~(np.abs(X[block.start : block.stop, which.start]) <= LARGEST)):
                    where = f"{rows.name}: {rows.line} {part.number[i]}"
                    cell = "" if cells[j][i] != cells[j][i] else str(cells[j][i])  # NaN, of a column of numbers
                    if why := column.complaint(where, cell, empty != REFUSE):
                        bad.setdefault(block.start + int(i), why)
        return X, bad

    def filled(self, X: np.ndarray, tell: bool) -> tuple[np.ndarray, tuple[str, ...], list[str]]:
        """X with empty cells filled, its names, a note. tell: adds an indicator per column with empty cells."""
        filled_counts, gaps, more = [], [], []
        for column, which in zip(self._used, self._slices):
            empty = np.isnan(X[:, which.start])
            if not empty.any():
                continue
            X[empty, which] = column.usual(X[~empty, which])
            filled_counts.append(f"{column.name} ({empty.sum():,})")
            gaps.append(empty)
            more.append(f"{column.name} is empty")
        if not filled_counts:
            return X, self.names, []
        note = "Empty cells are filled with the median or the most frequent category of their column: "
        note += f"{_listed(filled_counts)}. The rows used for testing contribute to these values"
        if not tell:
            return X, self.names, [note]
        return np.column_stack([X, *gaps]), (*self.names, *more), [note]


def _require_one_unit(column: _Seen, name: str) -> None:
    """DataError for a column with numbers in different units, or in a unit and without: 5 % is not 5."""
    if len(column.units) > 1:
        cells = " and ".join(repr(cell[:40]) for cell in list(column.units.values())[:2])
        raise DataError(
            f"Column {name!r} has numbers in different units, {cells}",
            "one unit, or none, per column",
        )


def _require_a_mark(column: _Seen, name: str, decided: bool) -> None:
    """DataError for a column with 1,234 and 1.234, unless other columns have decided which mark is the decimal one."""
    if len(column.either) > 1 and not decided:
        cells = " and ".join(repr(cell[:40]) for cell in column.either.values())
        raise DataError(
            f"Column {name!r} has {cells}: the decimal mark may be the point or the comma",
            "only one of the two marks in a column, or numbers without a mark for thousands",
        )


def _left_out(seen: list[_Seen], names: list[str]) -> list[str]:
    """Notes on the columns that are not used."""
    words = {
        "texts": f"texts with more than {MAX_LEVELS} different values, or texts that rarely repeat",
        "nothing": "no values",
    }
    notes = []
    for kind, what in words.items():
        if which := [repr(name) for column, name in zip(seen, names) if column.kind == kind]:
            notes.append(f"Columns left out because they contain {what}: {_listed(which)}")
    return notes


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(islice((name[:60] for name in names), NAMED)) + more
