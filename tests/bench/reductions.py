"""Reduced sets beside the machines that they stand for: `python -m tests.bench.reductions`, from stored runs.

First `python -m svmcore run mnist-reduced` and `burges-degree5`; this gathers what these tables show. A table that is
not whole in the store stays as it was measured before. What 10,000 digits take is timed here, all machines in turns: a
run's own time holds what else was at work.
"""

from __future__ import annotations

from svmcore.lab.papers import TABLES, fill
from svmcore.lab.papers.filling import with_interval
from svmcore.lab.papers.numbers import Number
from svmcore.lab.presets import RECIPES
from svmcore.lab.reducing import taken
from svmcore.lab.store.runs import stored
from svmcore.lab.train import prepare
from tests.bench import measured
from tests.bench.machine import machine

NAMES = ("mnist-reduced", "burges-degree5")
DIGITS = 2000


def gathered() -> dict:
    """The cells of each table whose runs are all in the store."""
    found = {}
    for name in NAMES:
        filled = fill(TABLES[name])
        cells = [[cell and cell.to_dict() for cell in values] for values in filled.rows]
        if not filled.missing:
            found[name] = {"machine": machine(), "rows": cells}
            takes = [cell for values in cells for cell in values if cell and cell["figure"] == "take_s"]
            for cell, seconds in zip(takes, timed([cell["recipe"] for cell in takes]), strict=True):
                cell["value"] = seconds
    return found


def timed(names) -> list[float]:
    """Seconds that 10,000 test digits take the machines of these recipes."""
    if not names:
        return []
    return taken(
        [run.machine() for run in stored((RECIPES[name] for name in names), finished=True)],
        prepare(RECIPES[names[0]]).X_test[:DIGITS],
    )


def part(bench: dict, table, measured_on) -> str:
    """What RESULTS.md shows."""
    known = [name for name in NAMES if name in bench]
    if not known:
        return "Not measured yet."
    texts = []
    for name in known:
        definition = TABLES[name]
        rows = [
            (row.label, *map(_cell, cells)) for row, cells in zip(definition.rows, bench[name]["rows"], strict=True)
        ]
        texts.append(f"{definition.title}. {definition.note}\n\n{table(('', *definition.columns), rows)}")
    return "\n\n".join(texts) + measured_on([bench[name] for name in known])


def _cell(cell: dict | None) -> str:
    if cell is None or cell["value"] is None:
        return ""
    value = with_interval(cell["figure"], Number(cell["value"], cell["low"], cell["high"]))
    return f"{value} [{cell['published']:g}]" if cell["published"] is not None else value


if __name__ == "__main__":
    measured.write("reductions", measured.read("reductions") | gathered())
