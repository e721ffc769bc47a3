"""A table of examples: one per line, with the label in one column and features in the others.

    label,x1,...,xd

Tables of plain numbers are read directly; other columns are interpreted cell by cell (loaders.columns).
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from data.dataset import DataError
from data.loaders import columns, text
from data.loaders.cells import is_number, number
from data.loaders.check import MAX_CLASSES, MAX_LABEL
from data.loaders.columns import REFUSE, TELL
from data.loaders.sheets import Cells
from data.loaders.sieve import Sieve
from data.loaders.text import Rows

SAMPLE = 4000  # rows, evenly spaced, from which the label column is determined
MAX_CELLS = 1 << 20  # of that sample
FEW = 8  # up to this many rows, half may be distinct labels; beyond, at most half of the rows
LABEL_NAMES = (
    *("label", "labels", "class", "classes", "target", "y", "digit", "category", "species", "outcome", "diagnosis"),
    *("klasse", "kategorie", "zielgröße", "classe", "catégorie", "clase", "categoría"),
)
GROUP_NAMES = ("group", "groups", "group_id")
ID_NAMES = ("", "id", "index", "nr", "nr.", "no", "no.", "row", "unnamed: 0", "#")


class Table(NamedTuple):
    """X (n, d) float64 or uint8; y (n,) str, empty for unlabelled rows; label: the name of the label column; features:
    the names (d,) of the others, or (); number: the lines (n,) of the rows in the file; notes: the decisions made, one
    sentence each; groups (n,) str: which rows belong together, if a column says so."""

    X: np.ndarray
    y: np.ndarray
    label: str
    features: tuple[str, ...]
    number: np.ndarray
    notes: tuple[str, ...] = ()
    groups: np.ndarray | None = None


class Labels(NamedTuple):
    """The probable label column. names: of all columns; at: its position; clear: whether no other column is likely."""

    names: tuple[str, ...]
    at: int
    clear: bool


def labels(header: list[str], rows: Rows | Cells) -> Labels:
    """The probable label column of a table. DataError if its rows differ in length."""
    return _labels(header, _even(rows, len(rows.cells(0)), Sieve(skip=True)), None)


def parse(
    header: list[str],
    rows: Rows | Cells,
    label: str | None = None,
    skip: bool = False,
    empty: str = REFUSE,
    group: str | None = None,
) -> Table:
    """The examples of a table that has been split into rows.

    label : a column name, "first" or "last"; by default the most probable label column: by its name, or because it
            has texts or few distinct whole numbers, with the first and last column preferred
    skip : skip invalid rows, with a note, instead of refusing the table
    group : the column that says which rows belong together: its name, "" for none; by default one of GROUP_NAMES
    empty : handling of empty cells: "refuse", "fill", or "tell" (fill and add an indicator column of 0 and 1)
    """
    name = rows.name
    sieve, total = Sieve(skip), rows.n
    rows = _even(rows, len(header) or len(rows.cells(0)), sieve)
    names, column, _ = _labels(header, rows, label)
    named = [k for k, title in enumerate(header) if title.strip().lower() in ID_NAMES and k != column]
    numbering = [k for k in named if _counts(_sample(rows, [k])[:, 0])]  # such as the index of a spreadsheet
    grouping = _grouping(rows, names, column, group)
    if grouping is not None:
        rows = _without(rows, _groupless(rows, names, grouping), sieve)
    others = [k for k in range(len(names)) if k not in (column, grouping, *numbering)]
    if not others:
        raise DataError(f"{name} has no column besides {names[column]!r}, which has the labels", text.ACCEPTED)
    place = f"column {header[column]!r}" if header else f"{names[column]} of {len(names)}"
    notes = [f"The labels are in {place}"]
    if numbering:
        notes.append(
            f"Columns left out because they only number the rows: {', '.join(repr(names[k]) for k in numbering)}"
        )
    X, y, features, number, more = _values(rows, others, column, names, sieve, empty)
    if not X.shape[1]:
        raise DataError(f"{name} has no column of numbers or categories besides the labels", text.ACCEPTED)
    groups = None
    if grouping is not None:
        groups = rows.texts([grouping])[np.searchsorted(rows.number, number), 0]
        notes.append(f"Rows with the same value in column {names[grouping]!r} form one group")
    elif group is None:
        notes += [
            f"Column {names[k]!r} is read as a feature, not as groups: the values of groups repeat, each within one "
            "class, and each class has at least two of them"
            for k in others if names[k].strip().lower() in GROUP_NAMES
        ]  # fmt: skip
    notes += [*more, *sieve.notes(total, "rows")]
    return Table(X, y, names[column], features if header else (), number, tuple(notes), groups)


def _even(rows: Rows | Cells, expected: int, sieve: Sieve) -> Rows | Cells:
    """The rows with as many values as the first line; the others go to the sieve."""
    return _without(rows, rows.uneven(expected), sieve)


def _without(rows: Rows | Cells, bad: dict[int, DataError], sieve: Sieve) -> Rows | Cells:
    """The rows without the invalid ones. bad: row -> error."""
    if not bad:
        return rows
    for k, why in sorted(bad.items()):
        sieve.add(f"{rows.line} {rows.number[k]}", why, rows.number[k])
    if len(bad) == rows.n:
        sieve.notes(len(sieve.bad), "rows")  # raises, as no row is left
    return rows.take([k for k in range(rows.n) if k not in bad])


def _values(
    rows: Rows | Cells, others: list[int], column: int, names: tuple[str, ...], sieve: Sieve, empty: str
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...], np.ndarray, list[str]]:
    """The usable rows: X from the columns `others`, labels (n,), names, lines in the file and notes."""
    number = np.array(rows.number)
    plain = _plain(rows, others, column)
    if plain is not None:
        return *plain, tuple(names[k] for k in others), number, []
    if (pointed := rows.with_points()) and (plain := _plain(pointed, others, column)):
        return plain[0], rows.texts([column])[:, 0], tuple(names[k] for k in others), number, [columns.COMMA]
    understood = columns.Columns(rows, others, names)
    X, bad = understood.numbers(rows, empty)
    y = rows.texts([column])[:, 0]
    for k in np.flatnonzero(np.char.str_len(y) > MAX_LABEL).tolist():
        long = f"a label of {len(rows.cells(k)[column]):,} characters, more than {MAX_LABEL},"
        bad[k] = DataError(
            f"{rows.name}: {rows.line} {rows.number[k]} has {long} in column {names[column]!r}", text.ACCEPTED
        )
    usable = np.setdiff1d(np.arange(len(X)), list(bad))
    _without(rows, bad, sieve)
    X, features, more = understood.filled(X[usable], empty == TELL)
    y = y[usable]
    y = y.astype(f"U{max(1, int(np.char.str_len(y).max()))}")
    return X, y, features, number[usable], [*understood.notes, *more]


def _plain(rows: Rows | Cells, others: list[int], column: int) -> tuple[np.ndarray, np.ndarray] | None:
    """X and labels of a table of plain finite numbers; None for other tables."""
    with suppress(DataError):
        y = rows.texts([column])[:, 0]
        if np.char.str_len(y).max() <= MAX_LABEL and (np.abs(X := rows.numbers(others)) <= columns.LARGEST).all():
            return X, y
    return None


def _labels(header: list[str], rows: Rows | Cells, label: str | None) -> Labels:
    d = len(header) or len(rows.cells(0))
    names = tuple(title or f"column {k}" for k, title in enumerate(header or d * [""], 1))
    if label in ("first", "last"):
        return Labels(names, 0 if label == "first" else d - 1, True)
    if label is not None:
        if label not in names:
            raise DataError(f"{rows.name} has no column {label!r}", f"first, last or one of {', '.join(names[:20])}")
        return Labels(names, names.index(label), True)
    named = [k for k, title in enumerate(header) if title.strip().lower() in LABEL_NAMES]
    if named:
        return Labels(names, named[0], len(named) == 1)
    first, last = (_distinct(_sample(rows, [k])[:, 0]) for k in (0, d - 1))
    if min(first, last) < np.inf:
        return Labels(names, 0 if first < last else d - 1, (first == 0) != (last == 0) or np.isinf(max(first, last)))
    distinct = [_distinct(cells) for cells in _sample(rows, range(d)).T]
    return Labels(names, int(np.argmin(distinct)) if min(distinct) < np.inf else d - 1, False)


def _sample(rows: Rows | Cells, chosen) -> np.ndarray:
    """(m, len(chosen)) cells of evenly spaced rows."""
    step = 1 + rows.n // max(2, min(SAMPLE, MAX_CELLS // len(chosen)))
    return rows.take(range(0, rows.n, step)).texts(list(chosen))


def _distinct(cells: np.ndarray) -> float:
    """The number of labels in a column; 0 for few texts (certainly labels), infinite if it cannot be labels."""
    distinct = np.unique(cells)
    n = len(distinct)
    if 2 * n > max(len(cells), FEW):
        return np.inf
    if not all(map(is_number, distinct)):
        return 0 if 1 < n <= MAX_CLASSES else np.inf
    values = (number(cell, False) for cell in distinct)
    whole = all(value.is_integer() for value in values if np.isfinite(value))
    return n if whole and n > 1 else np.inf


def _grouping(rows: Rows | Cells, names: tuple[str, ...], label: int, group: str | None) -> int | None:
    """The column that says which rows belong together: the one asked for, or one named so that can be meant so, as its
    values repeat within classes and there are at least two for each class."""
    if group is None:
        for k in (k for k, name in enumerate(names) if name.strip().lower() in GROUP_NAMES and k != label):
            if can_group(*rows.texts([k, label]).T):
                return k
        return None
    if group and (group not in names or names.index(group) == label):
        others = ", ".join(name for k, name in enumerate(names[:20]) if k != label)
        raise DataError(f"{rows.name} has no column {group!r} besides the labels", f"one of {others}")
    return names.index(group) if group else None


def can_group(values: Sequence[str], labels: Sequence[str]) -> bool:
    """Whether values (n,) can say which examples belong together: they repeat within classes, with two for each."""
    n = len(set(values))
    return 2 * len(set(labels)) <= n < len(values) and len(set(zip(values, labels))) == n


def _groupless(rows: Rows | Cells, names: tuple[str, ...], grouping: int) -> dict[int, DataError]:
    """The rows without a group."""
    empty = np.flatnonzero(np.char.str_len(rows.texts([grouping])[:, 0]) == 0).tolist()
    where = f"has an empty cell in column {names[grouping]!r}, which has the groups"
    return {
        k: DataError(f"{rows.name}: {rows.line} {rows.number[k]} {where}", "a group for each row") for k in empty
    }  # fmt: skip


def _counts(cells: np.ndarray) -> bool:
    values = np.array([number(cell, False) for cell in cells])
    return bool(len(cells) > 2 and (np.diff(values) > 0).all() and not np.mod(values, 1).any())
