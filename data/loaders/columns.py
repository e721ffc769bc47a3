"""What the columns of a table hold where not every cell is a plain number, and how each becomes numbers.

    numbers       12   1.5e3   1,234.5   with a decimal comma 1.234,5   12 %   thousands apart by spaces or '
    categories    few texts: a column of 0 and 1 for each of them, one column where there are two
    dates, texts, nothing       left out, and said
    empty cells   refused with their lines, filled (the median, the commonest category), or filled and told by a column
                  of their own

A column holds what more than half of its cells are; the lines of the others are named.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED
from data.loaders.sieve import TooLarge
from data.loaders.text import Rows

REFUSE, FILL, TELL = "refuse", "fill", "tell"  # what becomes of empty cells
COMMA = "Numbers are written with a decimal comma"
MAX_LEVELS = 20  # texts of a column of categories
NAMED = 5  # columns that a note names
LARGEST = float(np.finfo(np.float32).max)
_MISSING = frozenset(
    ("", "-", "--", "?", ".", "na", "n/a", "#n/a", "#nv", "nan", "null", "none", "nil", "k.a.", "missing")
)
_UNIT = re.compile(r"^(?:[€$£]|EUR|USD)\s*|\s*(?:[€$£%]|EUR|USD)$")
_POINT = re.compile(
    r"[-+]?(?:[1-9]\d{0,2}(?:([ ',\u00a0\u202f’])\d{3})(?:\1\d{3})*|\d+|(?=\.\d))(?:\.\d*)?(?:[eE][-+]?\d+)?"
)
_COMMA = re.compile(
    r"[-+]?(?:[1-9]\d{0,2}(?:([ '.\u00a0\u202f’])\d{3})(?:\1\d{3})*|\d+|(?=,\d))(?:,\d*)?(?:[eE][-+]?\d+)?"
)
_DATE = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?\s*(?:Z|[-+]\d{2}:?\d{2}|[AaPp][Mm])?)?|\d{1,2}:\d{2}(?::\d{2})?"
)
_APART = str.maketrans("", "", " '\u00a0\u202f’")


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.strip().lower() in _MISSING


def is_number(cell: str) -> bool:
    """Whether a cell is a number, in either way of writing, or says that there is none."""
    return is_missing(cell) or not np.isnan(number(cell, False)) or not np.isnan(number(cell, True))


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


@dataclass
class _Seen:
    """What the cells of a column were so far."""

    n: int = 0
    missing: int = 0
    by_point: int = 0  # cells that are numbers with a decimal point
    by_comma: int = 0
    dates: int = 0
    levels: dict[str, int] = field(default_factory=dict)  # text -> how often, of the first MAX_LEVELS + 1

    def add(self, cells: np.ndarray) -> None:
        distinct, counts = np.unique(cells, return_counts=True)
        for cell, count in zip(distinct.tolist(), counts.tolist()):
            self.n += count
            if is_missing(cell):
                self.missing += count
                continue
            self.by_point += count * (not np.isnan(number(cell, False)))
            self.by_comma += count * (not np.isnan(number(cell, True)))
            self.dates += count * bool(_DATE.fullmatch(cell))
            if cell in self.levels or len(self.levels) <= MAX_LEVELS:
                self.levels[cell] = self.levels.get(cell, 0) + count

    @property
    def kind(self) -> str:
        there = self.n - self.missing
        if not there:
            return "nothing"
        if 2 * self.dates > there:
            return "dates"
        if 2 * max(self.by_point, self.by_comma) > there:
            return "numbers"
        few = len(self.levels) <= min(MAX_LEVELS, there // 2)
        return "categories" if few else "texts"

    @property
    def way(self) -> str:
        """How numbers are written: "point", "comma", or nothing where both ways fit."""
        return "" if self.by_point == self.by_comma else "point" if self.by_point > self.by_comma else "comma"


class _Column(NamedTuple):
    """A column that becomes numbers: its place in the table, name, and levels where it holds categories."""

    at: int
    name: str
    comma: bool
    levels: tuple[str, ...]
    commonest: str

    @property
    def shown(self) -> tuple[str, ...]:
        """The levels that get a column of 0 and 1."""
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    @property
    def names(self) -> list[str]:
        return [f"{self.name} = {level}" for level in self.shown] or [self.name]

    def values(self, cells: np.ndarray) -> np.ndarray:
        """(n, len(names)) float64, NaN where a cell is missing or no number, infinite where it is too large."""
        distinct, inverse = np.unique(cells, return_inverse=True)
        if self.levels:
            rows = [[np.nan if is_missing(cell) else cell == s for s in self.shown] for cell in distinct]
            found = np.array(rows, float)
        else:
            found = np.array([[number(cell, self.comma)] for cell in distinct])
        return found[inverse.ravel()]

    def complaint(self, cell: str, filled: bool) -> str:
        """What is wrong with a cell; nothing where it may be filled."""
        if is_missing(cell):
            said = f"has {cell!r}, a missing or infinite value" if cell else "has an empty cell"
            return "" if filled else f"{said}, in {self.name!r}"
        if np.isnan(value := number(cell, self.comma)):
            return f"has {cell[:40]!r} where a number is needed, in {self.name!r}"
        return "" if abs(value) <= LARGEST else f"has {cell[:40]!r}, a missing or infinite value, in {self.name!r}"


class Understood(NamedTuple):
    """X (n, d) float32, NaN where a cell is empty; names (d,); row -> what is wrong with it; notes."""

    X: np.ndarray
    names: tuple[str, ...]
    bad: dict[int, str]
    notes: list[str]
    fill: "Filling"


class Filling(NamedTuple):
    """What stands in for empty cells: (columns of X, the name of what they come from, whether they are categories,
    the values where they are)."""

    parts: list[tuple[slice, str, np.ndarray | None]]

    def into(self, X: np.ndarray, names: Sequence[str], tell: bool) -> tuple[np.ndarray, tuple[str, ...], list[str]]:
        """X and names without empty cells, with a column for each that had some where `tell`, and a note."""
        told, gaps, more = [], [], []
        for which, name, usual in self.parts:
            empty = np.isnan(X[:, which.start])
            if not empty.any():
                continue
            X[empty, which] = np.median(X[~empty, which], axis=0) if usual is None else usual
            told.append(f"{name} {empty.sum():,}")
            gaps.append(empty)
            more.append(f"{name} is empty")
        if not told:
            return X, tuple(names), []
        note = f"Empty cells hold the column's median, or its commonest category ({_listed(told)})"
        if tell:
            X, names = np.column_stack([X, *gaps]).astype(np.float32), (*names, *more)
        return X, tuple(names), [note]


def understand(rows: Rows, chosen: Sequence[int], names: Sequence[str], empty: str) -> Understood:
    """The chosen columns of rows as numbers. names: of all columns. Raises TooLarge."""
    seen = [_Seen() for _ in chosen]
    for _, part in rows.parts(len(chosen)):
        for column, cells in zip(seen, part.cut_off(chosen).T):
            column.add(cells)
    ways = {column.way for column in seen if column.kind == "numbers"}
    usual = "comma" if "comma" in ways and "point" not in ways else "point"
    kept, notes = [], _left_out(seen, [names[k] for k in chosen])
    for k, column in zip(chosen, seen):
        if column.kind in ("numbers", "categories"):
            levels = tuple(sorted(column.levels)) if column.kind == "categories" else ()
            commonest = max(levels, key=column.levels.get, default="")
            kept.append(_Column(k, names[k], (column.way or usual) == "comma", levels, commonest))
    if "comma" in ways:
        notes.insert(0, COMMA)
    if coded := [f"{column.name} ({len(column.levels)})" for column in kept if column.levels]:
        notes.append(f"Categories become columns of 0 and 1: {_listed(coded)}")
    X, bad = _values(rows, kept, empty)
    return Understood(X, tuple(name for c in kept for name in c.names), bad, notes, _filling(kept))


def _left_out(seen: list[_Seen], names: list[str]) -> list[str]:
    """Notes on the columns that become no numbers."""
    words = {
        "dates": "dates",
        "texts": f"texts of more than {MAX_LEVELS} kinds, or all different",
        "nothing": "nothing",
    }
    notes = []
    for kind, what in words.items():
        if which := [repr(name) for column, name in zip(seen, names) if column.kind == kind]:
            notes.append(f"Left out for holding {what}: {_listed(which)}")
    return notes


def _values(rows: Rows, kept: list[_Column], empty: str) -> tuple[np.ndarray, dict[int, str]]:
    width = sum(len(column.names) for column in kept)
    if len(rows.lines) * width * 4 > MAX_BYTES:
        raise TooLarge(f"{rows.name} becomes a table of {len(rows.lines):,} x {width:,}", SIZE_ACCEPTED)
    X, bad = np.empty((len(rows.lines), width), np.float32), {}
    if not kept:
        return X, bad
    chosen = [column.at for column in kept]
    for block, part in rows.parts(len(chosen)):
        cells = part.cut_off(chosen)
        found = [column.values(cells[:, j]) for j, column in enumerate(kept)]
        with np.errstate(over="ignore"):
            X[block.start : block.stop] = np.hstack(found)
        for j, column in enumerate(kept):
            for i in np.flatnonzero(~np.isfinite(X[block.start : block.stop, sum(f.shape[1] for f in found[:j])])):
                if why := column.complaint(str(cells[i, j]), empty != REFUSE):
                    bad.setdefault(block.start + int(i), why)
    return X, bad


def _filling(kept: list[_Column]) -> Filling:
    parts, at = [], 0
    for column in kept:
        which = slice(at, at + len(column.names))
        usual = column.values(np.array([column.commonest]))[0] if column.levels else None
        parts.append((which, column.name, usual))
        at = which.stop
    return Filling(parts)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(islice((name[:60] for name in names), NAMED)) + more
