"""What the columns of a table hold where not every cell is a plain number, and how each becomes numbers.

    numbers       12   1.5e3   1,234.5   with a decimal comma 1.234,5   12 %   5 kg   thousands apart by spaces or '
    categories    few texts: a column of 0 and 1 for each of them, one column where there are two
    dates         2024-03-31   31.3.24   3/31/2024 9:30 PM   become days since 1970, times of day parts of a day
    texts, nothing       left out, and said
    empty cells   refused with their lines, filled (the median, the commonest category), or filled and told by a column
                  of their own

A column holds what more than half of its cells are; the lines of the others are named.

A word behind a number is its unit where it is one of KNOWN: behind a gap, or of two letters or more (5 kg, 5kg). Where
every cell of a column is a number with a word, other words are units too: all of KNOWN, be they a single small letter
without a gap (5g) or one of CAPITALS behind one (5 V); or any word behind a gap, the same in all cells (5 boxes). What
else there is, such as 3rd, 5a, 12A, or 12 A beside 12 B, is a text. Unlike units in a column, or a unit in some of its
cells, are refused: 5 kg is not 5 g.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache, partial
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from data.dataset import DataError
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED
from data.loaders.sieve import TooLarge
from data.loaders.text import ACCEPTED, Rows

REFUSE, FILL, TELL = "refuse", "fill", "tell"  # what becomes of empty cells
EMPTY_ACCEPTED = "rows without empty cells, or a way to fill them, chosen under How to read it"
COMMA = "Numbers are read with a decimal comma"
EPOCH = datetime(1970, 1, 1)
MAX_LEVELS = 20  # texts of a column of categories
MAX_MEASURE = 60  # letters of a number and its unit
NAMED = 5  # columns that a note names
LARGEST = float(np.finfo(np.float32).max)
_MISSING = frozenset(
    ("", "-", "--", "?", ".", "na", "n/a", "#n/a", "#nv", "nan", "null", "none", "nil", "k.a.", "missing")
)
_UNIT = re.compile(r"^(?:[€$£]|EUR|USD)\s*|\s*(?:[€$£%]|EUR|USD)$")
CAPITALS = frozenset("VAWJKCF")  # units that may be a part of a code as well
KNOWN = CAPITALS | frozenset(
    (
        *("kg", "g", "mg", "µg", "ng", "t", "lb", "oz", "km", "m", "cm", "mm", "µm", "nm", "in", "ft", "yd", "mi"),
        *("s", "sec", "ms", "µs", "ns", "min", "h", "hr", "l", "ml", "cl", "dl", "µl", "m2", "cm2", "mm2", "km2", "ha"),
        *("m3", "cm3", "mm3", "km/h", "m/s", "mph", "kph", "°", "°C", "°F", "deg", "rad", "Hz", "kHz", "MHz", "GHz"),
        *("mV", "kV", "mA", "µA", "mW", "kW", "MW", "Wh", "kWh", "kJ", "MJ", "cal", "kcal", "eV", "keV", "MeV", "ohm"),
        *("Pa", "hPa", "kPa", "MPa", "bar", "mbar", "mmHg", "psi", "dB", "ppm", "ppb", "bpm", "rpm", "kB", "KB", "MB"),
        *("GB", "TB", "mol", "mmol", "mg/dl", "g/dl", "g/l", "mg/l", "µg/l", "ng/ml", "µg/ml", "mmol/l", "µmol/l"),
        *("mol/l", "kg/m2", "kg/m3", "g/cm3", "mg/kg", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "GBP", "HUF"),
        *("INR", "JPY", "NOK", "PLN", "SEK"),
    )
)
_MEASURE = re.compile(r"([^a-zA-Z]*[\d.,](?:[eE][-+]?\d+)?)([\s\u00a0\u202f]*)((?:[^\W\d_]|°)[\w°/·^*.-]{0,11})")
_SPELLED = str.maketrans("μ²³", "µ23")
_POINT = re.compile(
    r"[-+]?(?:[1-9]\d{0,2}(?:([ ',\u00a0\u202f’])\d{3})(?:\1\d{3})*|\d+|(?=\.\d))(?:\.\d*)?(?:[eE][-+]?\d+)?"
)
_COMMA = re.compile(
    r"[-+]?(?:[1-9]\d{0,2}(?:([ '.\u00a0\u202f’])\d{3})(?:\1\d{3})*|\d+|(?=,\d))(?:,\d*)?(?:[eE][-+]?\d+)?"
)
_DATE = re.compile(
    r"(?:(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})"
    r"|(?P<one>\d{1,2})[-/.](?P<two>\d{1,2})[-/.](?P<last>\d{4}|\d{2}))?"
    r"(?:(?:^|[T ]+)(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d(?:[.,]\d+)?))?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?P<zone>Z|[-+]\d{2}:?\d{2})?)?"
)
_APART = str.maketrans("", "", " '\u00a0\u202f’")


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.strip().lower() in _MISSING


def is_number(cell: str) -> bool:
    """Whether a cell is a number, in either way of writing, or says that there is none."""
    return is_missing(cell) or not np.isnan(number(cell, False)) or not np.isnan(number(cell, True))


@lru_cache(1 << 16)
def unit(cell: str) -> str:
    """The unit that a cell is written with, "" for none; a currency by its sign, however it is written."""
    marks = "".join(_UNIT.findall(cell.strip())).strip()
    return {"EUR": "€", "USD": "$"}.get(marks, marks)


class Measure(NamedTuple):
    """What may be a number with a unit, "" for none, and whether it is one whatever else its column holds."""

    values: tuple[float, float]  # by a decimal point, by a comma; NaN where it is none
    unit: str
    sure: bool


@lru_cache(1 << 16)
def measure(cell: str) -> Measure | None:
    """A cell as a number with a unit; None where it is no such thing."""
    if _any_number(values := (number(cell, False), number(cell, True))):
        return Measure(values, unit(cell), True)
    match = _MEASURE.fullmatch(cell.strip()) if len(cell) <= MAX_MEASURE else None
    if not match or unit(match[1]) or not _any_number(values := (number(match[1], False), number(match[1], True))):
        return None
    word = _one_spelling(match[3])
    if not match[2] and (word not in KNOWN or word in CAPITALS):
        return None
    sure = word in KNOWN and (len(word) > 1 or (bool(match[2]) and word not in CAPITALS))
    return Measure(values, word, sure)


def _any_number(values: tuple[float, float]) -> bool:
    """Whether a cell is a number in either way of writing."""
    return values[0] == values[0] or values[1] == values[1]  # NaN is not


def _one_spelling(word: str) -> str:
    """A unit as it is compared: in the singular, litres small, powers as digits."""
    word = word.translate(_SPELLED).rstrip(".")
    for spelling in (word, word.replace("L", "l"), word.removesuffix("s")):
        if spelling in KNOWN:
            return spelling
    return word.removesuffix("s") if len(word) > 3 else word


def value(cell: str, comma: bool, unsure: bool) -> float:
    """The number of a cell without its unit, NaN for none; unsure: also where the unit alone does not tell that."""
    if (plain := number(cell, comma)) == plain:  # no NaN
        return plain
    quantity = measure(cell)
    return quantity.values[comma] if quantity and (quantity.sure or unsure) else np.nan


@lru_cache(1 << 16)
def number(cell: str, comma: bool) -> float:
    """The value of a cell, `comma` saying that decimals follow a comma; NaN for what is none."""
    bare = _UNIT.sub("", cell.strip().replace("\u2212", "-"))
    if (_COMMA if comma else _POINT).fullmatch(bare):
        bare = bare.translate(_APART)
        return float(bare.replace(".", "").replace(",", ".") if comma else bare.replace(",", ""))
    try:
        return np.nan if comma or "_" in bare else float(bare)  # inf, and what Python knows beside
    except ValueError:
        return np.nan


@lru_cache(1 << 16)
def days(cell: str, day_first: bool) -> float:
    """The days from 1970 to a date, `day_first` saying that the day stands before the month where the year is last; of
    a time alone, the part of the day that has passed. NaN for what is none, or not in the calendar."""
    match = _DATE.fullmatch(cell.strip())
    if not match or not match[0]:
        return np.nan
    day, month, year = match["day"], match["month"], match["year"]
    if match["last"]:
        (day, month), year = match.group("one", "two") if day_first else match.group("two", "one"), match["last"]
    try:
        if year and len(year) == 2:  # of this century or the last one, as strptime takes it
            year = datetime.strptime(year, "%y").year
        date = datetime(int(year), int(month), int(day)) if year else EPOCH
    except ValueError:
        return np.nan
    hour, second = int(match["hour"] or 0), float((match["second"] or "0").replace(",", "."))
    if match["half"]:
        hour = hour % 12 + 12 * (match["half"].lower() == "pm")
    seconds = 3600 * hour + 60 * int(match["minute"] or 0) + second
    if match["zone"] and match["zone"] != "Z":
        sign, zone = match["zone"][0], match["zone"][1:].replace(":", "")
        seconds -= int(f"{sign}60") * (60 * int(zone[:2]) + int(zone[2:]))
    return (date - EPOCH).days + seconds / 86400


@dataclass
class _Seen:
    """What the cells of a column were so far."""

    n: int = 0
    missing: int = 0
    numbers: Counter[tuple[bool, bool]] = field(default_factory=Counter)  # (sure, decimal comma) -> cells written so
    measured: int = 0  # cells that are numbers, those with a unit that is not sure too
    by_day: int = 0  # cells that are dates with the day before the month
    by_month: int = 0
    levels: dict[str, int] = field(default_factory=dict)  # text -> how often, of the first MAX_LEVELS + 1
    sure: dict[str, str] = field(default_factory=dict)  # unit of numbers -> the first cell written with it
    unsure: dict[str, str] = field(default_factory=dict)  # likewise, of those whose units alone do not tell

    def add(self, cells: np.ndarray) -> None:
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
                for comma in (False, True):
                    self.numbers[quantity.sure, comma] += count * (not np.isnan(quantity.values[comma]))
            self.by_day += count * (not np.isnan(days(cell, True)))
            self.by_month += count * (not np.isnan(days(cell, False)))
            if cell in self.levels or len(self.levels) <= MAX_LEVELS:
                self.levels[cell] = self.levels.get(cell, 0) + count

    @property
    def in_units(self) -> bool:
        """Whether every cell is a number with a word, and the words can be units."""
        words = self.sure.keys() | self.unsure.keys()
        return self.measured == self.n - self.missing and (len(words) == 1 or words <= KNOWN)

    @property
    def units(self) -> dict[str, str]:
        """Unit of the numbers, "" for none -> the first cell written with it."""
        return self.sure | self.unsure if self.in_units else self.sure

    def written(self, comma: bool) -> int:
        """Cells that are numbers, `comma` saying that decimals follow a comma."""
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
        """How numbers are written: "point", "comma", or nothing where both ways fit."""
        by_point, by_comma = self.written(False), self.written(True)
        return "" if by_point == by_comma else "point" if by_point > by_comma else "comma"


class _Column(NamedTuple):
    """A column that becomes numbers: its place in the table and name, what gives the value of a cell and what that is,
    and levels where it holds categories."""

    at: int
    name: str
    value: Callable[[str], float] | None  # none for categories
    what: str = "number"
    levels: tuple[str, ...] = ()
    commonest: str = ""

    @property
    def coded(self) -> tuple[str, ...]:
        """The levels that get a column of 0 and 1."""
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    @property
    def names(self) -> list[str]:
        return [f"{self.name} = {level}" for level in self.coded] or [self.name]

    def values(self, cells: np.ndarray) -> np.ndarray:
        """(n, len(names)) float64, NaN where a cell is missing or no number, infinite where it is too large."""
        distinct, inverse = np.unique(cells, return_inverse=True)
        if self.levels:
            rows = [[np.nan if is_missing(cell) else cell == s for s in self.coded] for cell in distinct]
            numbers = np.array(rows, float)
        else:
            numbers = np.array([[self.value(cell)] for cell in distinct])
        return numbers[inverse.ravel()]

    def usual(self, there: np.ndarray) -> np.ndarray:
        """(len(names),) what stands in for an empty cell, by the values (m, len(names)) of the others."""
        return self.values(np.array([self.commonest]))[0] if self.levels else np.median(there, axis=0)

    def complaint(self, where: str, cell: str, filled: bool) -> DataError | None:
        """What is wrong with a cell; nothing where it may be filled."""
        if is_missing(cell):
            problem = f"has {cell!r}, a missing or infinite value" if cell else "has an empty cell"
            return None if filled else DataError(f"{where} {problem} in column {self.name!r}", EMPTY_ACCEPTED)
        if np.isnan(value := self.value(cell)):
            return DataError(f"{where} has {cell[:40]!r} instead of a {self.what} in column {self.name!r}", ACCEPTED)
        if abs(value) <= LARGEST:
            return None
        return DataError(
            f"{where} has {cell[:40]!r}, a missing or infinite value, in column {self.name!r}", EMPTY_ACCEPTED
        )


class Columns:
    """The columns of a table that become numbers, told by all of its cells.

    notes : one sentence each, on what was decided
    """

    def __init__(self, rows: Rows, chosen: Sequence[int], names: Sequence[str]):
        """chosen: the columns to look at; names: of all columns."""
        seen = [_Seen() for _ in chosen]
        for _, part in rows.parts(len(chosen)):
            for column, cells in zip(seen, part.cut_off(chosen).T):
                column.add(cells)
        marks = {column.decimal_mark for column in seen if column.kind == "numbers"}
        usual = "comma" if "comma" in marks and "point" not in marks else "point"
        self._used: list[_Column] = []
        dates, units = [], []
        for k, column in zip(chosen, seen):
            if column.kind == "numbers":
                _require_one_unit(column, names[k])
                comma = (column.decimal_mark or usual) == "comma"
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
        self._slices = [slice(*pair) for pair in pairwise(ends)]  # of the numbers that each becomes
        self.names = tuple(name for column in self._used for name in column.names)
        self.notes = [COMMA] if "comma" in marks else []
        self.notes += _left_out(seen, [names[k] for k in chosen])
        if coded := [f"{column.name} ({len(column.levels)})" for column in self._used if column.levels]:
            self.notes.append(f"Categories become columns of 0 and 1: {_listed(coded)}")
        if units:
            self.notes.append(f"Numbers are read without their units: {_listed(units)}")
        if dates:
            self.notes.append(f"Dates become days since 1970: {_listed(dates)}")

    def numbers(self, rows: Rows, empty: str) -> tuple[np.ndarray, dict[int, DataError]]:
        """X (n, len(names)) float64, NaN where a cell is empty, and what is wrong with a row. Raises TooLarge."""
        n, d = len(rows.lines), len(self.names)
        if n * d * 4 > MAX_BYTES:
            raise TooLarge(f"{rows.name} becomes a table of {n:,} x {d:,} numbers", SIZE_ACCEPTED)
        X, bad, chosen = np.empty((n, d)), {}, [column.at for column in self._used]
        for block, part in rows.parts(len(chosen)) if chosen else ():
            cells = part.cut_off(chosen)
            for j, (column, which) in enumerate(zip(self._used, self._slices)):
                X[block.start : block.stop, which] = column.values(cells[:, j])
                for i in np.flatnonzero(~(np.abs(X[block.start : block.stop, which.start]) <= LARGEST)):
                    where = f"{rows.name}: line {part.number[i]}"
                    if why := column.complaint(where, str(cells[i, j]), empty != REFUSE):
                        bad.setdefault(block.start + int(i), why)
        return X, bad

    def filled(self, X: np.ndarray, tell: bool) -> tuple[np.ndarray, tuple[str, ...], list[str]]:
        """X and names without empty cells, with a column for each that had some where `tell`, and a note."""
        filled_counts, gaps, more = [], [], []
        for column, which in zip(self._used, self._slices):
            empty = np.isnan(X[:, which.start])
            if not empty.any():
                continue
            X[empty, which] = column.usual(X[~empty, which])
            filled_counts.append(f"{column.name} {empty.sum():,}")
            gaps.append(empty)
            more.append(f"{column.name} is empty")
        if not filled_counts:
            return X, self.names, []
        note = "Empty cells are filled with the median of the column, or its most frequent category, over all rows, "
        note += f"including those used for testing ({_listed(filled_counts)})"
        if not tell:
            return X, self.names, [note]
        return np.column_stack([X, *gaps]), (*self.names, *more), [note]


def _require_one_unit(column: _Seen, name: str) -> None:
    """DataError for a column some of whose numbers have another unit than others, or none: 5 % is not 5."""
    if len(column.units) > 1:
        cells = " and ".join(repr(cell[:40]) for cell in list(column.units.values())[:2])
        raise DataError(
            f"Column {name!r} has numbers in different units, {cells}",
            "one unit, or none, per column",
        )


def _left_out(seen: list[_Seen], names: list[str]) -> list[str]:
    """Notes on the columns that become no numbers."""
    words = {"texts": f"texts with more than {MAX_LEVELS} different values, or few repeats", "nothing": "no values"}
    notes = []
    for kind, what in words.items():
        if which := [repr(name) for column, name in zip(seen, names) if column.kind == kind]:
            notes.append(f"Columns left out, because they have {what}: {_listed(which)}")
    return notes


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(islice((name[:60] for name in names), NAMED)) + more
