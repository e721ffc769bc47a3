"""Fill a table from the run store, and write it as lines of text.

A cell has the latest finished run of just its recipe, with its 95 % interval, then what was published in brackets; or
the predicted time of the run. Pairs of recipes are compared by the exact McNemar test (metrics.paired_test) on the
examples that both were tested on.
"""

from typing import NamedTuple

from svmcore.lab.analyses import rivals
from svmcore.lab.forecast import seconds_of
from svmcore.lab.papers.numbers import Number, mean, of_rival, of_run
from svmcore.lab.presets import RECIPES, xtrain
from svmcore.lab.presets.layout import Cell, Table
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.metrics import PairedTest, paired_test, rate_text


class Value(NamedTuple):
    """A filled cell: ours with its interval and run, or the predicted seconds of the run that is missing."""

    cell: Cell
    ours: Number | None = None
    run_id: str | None = None
    seconds: float | None = None

    def to_dict(self) -> dict:
        """JSON-able."""
        ours = self.ours._asdict() if self.ours else {"value": None, "low": None, "high": None}
        return self.cell._asdict() | ours | {"run": self.run_id, "seconds": self.seconds}


class Tested(NamedTuple):
    """Two recipes on the same test examples; None while a run of one is missing."""

    a: str
    b: str
    outcome: PairedTest | None


class Filled(NamedTuple):
    """A table with what is stored by now; rows match table.rows.

    missing: names of the recipes without a run, or without those of all their splits, and lacking which they are;
    unmeasured: names of the rivals without figures.
    """

    table: Table
    rows: tuple[tuple[Value | None, ...], ...]
    tests: tuple[Tested, ...]
    missing: tuple[str, ...]
    unmeasured: tuple[str, ...]
    lacking: dict[str, list[Recipe]]

    @property
    def seconds(self) -> float:
        """Predicted for all runs that are missing."""
        return seconds_of(recipe for recipes in self.lacking.values() for recipe in recipes)

    def to_dict(self) -> dict:
        """JSON-able: rows of {recipe, figure, published, ours, low, high, run, seconds}, tests with p-values."""
        rows = [
            {"label": row.label, "cells": [value and value.to_dict() for value in values]}
            for row, values in zip(self.table.rows, self.rows, strict=True)
        ]
        tests = [{"a": t.a, "b": t.b} | (t.outcome._asdict() if t.outcome else {}) for t in self.tests]
        table = {"table": self.table.name, "title": self.table.title, "columns": list(self.table.columns)}
        return table | {"rows": rows, "tests": tests, "missing": list(self.missing), "note": self.table.note}


def asked(table: Table) -> dict[str, list[Recipe]]:
    """Name -> the recipes of its splits, as many as a cell is the mean of."""
    splits = {cell.recipe: cell.splits for row in table.rows for cell in row.cells if cell is not None}
    return {name: [xtrain.split(RECIPES[name], k) for k in range(splits.get(name, 1))] for name in table.recipes}


def fill(table: Table, samples: bool = False) -> Filled:
    """The table from the run store. samples: from those that come with the lab, while the store has none of its runs
    and they are whole; these stay missing. UnknownDataset for a recipe whose dataset the catalogue does not have."""
    wanted = asked(table)
    recipes = [recipe for those in wanted.values() for recipe in those]
    every = runs.stored(recipes, finished=True)
    if samples and not any(every) and all(kept := runs.stored(recipes, True, runs.samples())):
        every = kept
    every = iter(every)
    splits = {name: [next(every) for _ in recipes] for name, recipes in wanted.items()}
    lacking = {
        name: [r for r, run in zip(wanted[name], those) if not run or run.sample] for name, those in splits.items()
    }
    lacking = {name: recipes for name, recipes in lacking.items() if recipes}
    found = {name: those[0] for name, those in splits.items()}
    ours = {name: [of_run(run) for run in those if run is not None] for name, those in splits.items()}
    seconds = {name: seconds_of(recipes) for name, recipes in lacking.items()}
    known = {name: rivals.measured(name) for name in table.rivals}

    def value(cell: Cell | None) -> Value | None:
        if cell is None or cell.recipe is None:
            figures = of_rival(known[cell.rival]) if cell and known.get(cell.rival) else {}
            return cell and Value(cell, figures.get(cell.figure))
        if cell.recipe in seconds and not (found[cell.recipe] and found[cell.recipe].sample):
            return Value(cell, seconds=seconds[cell.recipe])
        numbers = [figures[cell.figure] for figures in ours[cell.recipe] if cell.figure in figures]
        return Value(cell, mean(cell.figure, numbers) if numbers else None, found[cell.recipe].id)

    return Filled(
        table=table,
        rows=tuple(tuple(map(value, row.cells)) for row in table.rows),
        tests=tuple(Tested(a, b, _paired(found[a], found[b])) for a, b in table.tests),
        missing=tuple(lacking),
        unmeasured=tuple(name for name, figures in known.items() if figures is None),
        lacking=lacking,
    )


def _paired(a: runs.Run | None, b: runs.Run | None) -> PairedTest | None:
    if a is None or b is None:
        return None
    first, second = a.test(), b.test()
    if first.index.shape != second.index.shape or (first.index != second.index).any():
        return None
    return paired_test(first.wrong, second.wrong, first.groups)


# Figures of three digits, as all seconds are
PRECISE = ("mults", "fold", "rho_fold", "rho", "values", "gap", "b", "b_kept", "b_best", "spread", "computed",
           "lookups", "updates", "work")  # fmt: skip


def text(filled: Filled) -> str:
    """The table, its tests and its note."""
    table = filled.table
    lines = [["", *table.columns]]
    lines += [[row.label, *map(_cell, values)] for row, values in zip(table.rows, filled.rows, strict=True)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    body = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    head = [f"{table.title}: ours (95 % interval) [published]", ""]
    tail = [_test(tested) for tested in filled.tests]
    return "\n".join(head + body + ([""] if tail or table.note else []) + tail + ([table.note] if table.note else []))


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    figure, known, ours = value.cell.figure, value.cell.published, value.ours
    words = []
    if ours is not None:
        words.append(with_interval(figure, ours))
    elif value.seconds is not None:
        words.append(f"about {value.seconds:.0f} s")
    if known is not None:
        words.append(f"[{known}]")
    return " ".join(words)


def with_interval(figure: str, ours: Number) -> str:
    """`61 (47–78)`, `0.61 % (0.47–0.78)`: a figure of ours, with its interval where it has one."""
    if ours.low is None:
        return number(figure, ours.value)
    if figure == "right_pct":
        return f"{ours.value:.1f} % ({ours.low:.1f}–{ours.high:.1f})"
    if figure == "error_pct":
        return rate_text(ours.value / 100, (ours.low / 100, ours.high / 100))
    return f"{number(figure, ours.value)} ({number(figure, ours.low)}–{number(figure, ours.high)})"


def number(figure: str, value: float) -> str:
    """A figure with the digits that it deserves."""
    if figure == "error_pct":
        return f"{value:.2f} %"
    if figure == "right_pct":
        return f"{value:.1f} %"
    precise = figure.endswith("_s") or figure.partition(":")[0] in PRECISE
    return f"{value:.3g}" if precise and value < 100 else f"{value:.0f}"


def _test(tested: Tested) -> str:
    if tested.outcome is None:
        return f"{tested.a} and {tested.b}: not compared yet"
    only_a, only_b, p, _ = tested.outcome
    return f"{only_a} misclassified by {tested.a} only, {only_b} by {tested.b} only: p = {p:.2g} (exact McNemar test)"
