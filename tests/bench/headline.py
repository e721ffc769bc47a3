"""The README's eight figures, from measured/: ours beside the published one, or beside another method's."""

from __future__ import annotations

from collections.abc import Callable

from tests.bench import measured
from tests.bench.problems import ONEDAL, PROBLEMS

COLUMNS = ("measured", "here", "compared with")
ERRORS = {  # a recipe -> what its test errors are of
    "mnist-sv": "MNIST, SVMs of degree 9: test errors of {n:,}",
    "mnist-vsv": "… with virtual SVs, shifts by 1 pixel",
    "mnist-deslant-vsv2": "… deslanted, shifts by up to 2 pixels",
    "3v8-jsv": "3 against 8 from 400 digits, jittering kernel: test errors of {n:,}",
}
REDUCED, EDITED, PLAIN = "mnist-rs-degree5", "xtrain-adult", "xtrain-adult-svm"
ALARMS, FAST = "100", "digits-60000"


def part(table: Callable, published: Callable[[str], str]) -> str:
    """The table. published: a recipe's errors in its paper."""
    return table(COLUMNS, rows(published))


def rows(published: Callable[[str], str]) -> list[tuple[str, str, str]]:
    runs, reduced = measured.read("runs"), _cell("reductions", "burges-degree5", REDUCED, "error_pct")
    few, many = (_cell("crossing", "table1", recipe, "svs") for recipe in (EDITED, PLAIN))
    rates = {name: found["rates"][ALARMS] for name, found in runs["volcano-A"]["machines"].items()}
    fits = measured.read("peers")[FAST]["candidates"]
    return [
        *(
            (title.format(n=runs[name]["n_test"]), runs[name]["errors"], f"{published(name)} published")
            for name, title in ERRORS.items()
        ),
        (
            "MNIST, degree 5, a tenth of the vectors (reduced set): test error",
            f"{reduced['value']:.2f} %",
            f"{reduced['published']:g} % published",
        ),
        (
            "Adult, 32,560 examples, cross-training: support vectors",
            f"{few['value']:,.0f}",
            f"{few['published']:,} published; plain SVM {many['value']:,.0f}",
        ),
        (
            f"Volcanoes on Venus, HOM4: detection rate at {ALARMS} false positives",
            f"{rates['machine']:.2f}",
            f"matched filter {rates['matched filter']:.2f}",
        ),
        (
            f"Training on {PROBLEMS[FAST].n:,} MNIST digits, ten classes",
            f"{fits['ours']['seconds']:.1f} s",
            f"scikit-learn-intelex {fits[ONEDAL]['seconds']:.1f} s",
        ),
    ]


def _cell(name: str, table: str, recipe: str, figure: str) -> dict:
    """The one cell of a recipe and a figure in a table of measured/NAME.json."""
    entry = measured.read(name)[table]
    found = [
        cell
        for row in (entry if isinstance(entry, list) else entry["rows"])
        for cell in (row["cells"] if isinstance(row, dict) else row)
        if cell and cell["recipe"] == recipe and cell["figure"] == figure and cell["value"] is not None
    ]
    (cell,) = {cell["value"]: cell for cell in found}.values()
    return cell
