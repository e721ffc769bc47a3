"""What came after the papers: errors on MNIST's test set since 1998, and approximations of a machine at equal seconds.

Published errors, in since.toml, are those of the sources named, ours those of measured rows (quoted.py).
"""

import tomllib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.paper.quoted import ROWS, measured
from pages.ui.figures.crossing import Line, ends, growth
from pages.ui.figures.frame import bare, log_ticks, show, side_by_side, worded
from pages.ui.figures.traces import LEGEND, dots
from pages.ui.kit import numbers
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from svmcore.metrics import interval_text, wilson

KERNEL, CONVOLUTIONAL, OURS = "kernel machine", "convolutional network", "this lab"


class Seen(NamedTuple):
    """An error on MNIST's 10,000 test digits, in per cent."""

    year: int
    machine: str
    kind: str
    error: float
    source: str


_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PUBLISHED, RUNS = tuple(Seen(*one) for one in _DATA["published"]), _DATA["runs"]  # RUNS: recipe -> its machine
UNDATED = "2026"  # the year of rows that were measured before dates were kept
LOOKS = {KERNEL: (BLUE, "circle"), CONVOLUTIONAL: (ORANGE, "square-open"), OURS: (GREY, "diamond")}
REMARK = (
    "These 10,000 test digits have been in use for thirty years. If you choose a method from this list, you choose it "
    "by its errors on these digits. So no error in the list, ours included, is an unbiased estimate. Yadav and Bottou "
    "(NeurIPS 2019) reconstructed 50,000 lost test digits. On these digits the error rates differ slightly, but the "
    "order of the methods mostly holds. An error of 0.50 % has a 95 % interval of {} %, so neighbours in the list "
    "rarely differ significantly."
)


def rows_of_all() -> list[Seen]:
    """Published and ours, the largest error first."""
    ours = (
        Seen(int(row.get("date", UNDATED)[:4]), machine, OURS, row["error_pct"], name)
        for name, machine in RUNS.items()
        for row in [ROWS["runs"][name]]
    )
    return sorted([*PUBLISHED, *ours], key=lambda one: -one.error)


def test_set() -> None:
    every = rows_of_all()
    show(_by_year(every), "seen")
    table = [
        {"Error": one.error, "Machine": one.machine, "Kind": one.kind, "Year": one.year,
         "Source": f"ours, {one.source}" if one.kind == OURS else f"published, {one.source}"}
        for one in every
    ]  # fmt: skip
    machine = st.column_config.TextColumn(width=410)
    columns = {"Error": numbers.number(2, label="Error, %"), "Machine": machine, "Year": numbers.number(0)}
    numbers.table(table, "Published and measured errors on MNIST's test set, largest first", "seen_table", columns)


def _by_year(every: list[Seen]) -> go.Figure:
    figure = bare("year", "test error, %", height=360, hovermode="closest")
    for kind, (colour, symbol) in LOOKS.items():
        some = [one for one in every if one.kind == kind]
        look = {"color": colour, "symbol": symbol, "size": 9}
        dots(
            figure, [one.year for one in some], [one.error for one in some], look, "%{customdata}: %{y:.2f} %",
            customdata=[one.machine for one in some], name=kind,
        )  # fmt: skip
    low, high = every[-1].error, every[0].error
    figure.update_yaxes(type="log", **log_ticks(low, high)).update_layout(showlegend=True, legend=LEGEND)
    best = {kind: min(one.error for one in every if one.kind == kind) for kind in LOOKS}
    told = "; ".join(f"{kind} {error:.2f} %" for kind, error in best.items())
    return worded(
        figure,
        f"Errors on MNIST's test set by year. The lowest error of each kind of machine: {told}.",
        f"The lowest error of each kind of machine: {told}. {REMARK.format(interval_text(wilson(50, 10_000)))}",
    )


NAMES = {"exact": "exact SVM", "nystroem": "Nyström", "fourier": "random features", "eigenpro": "EigenPro"}
TITLES = {"mnist": "60,000 digits of MNIST", "adult": "32,560 examples of Adult"}


HOW = (
    "All machines have the same Gaussian kernel. The exact SVM and EigenPro train on growing parts of the training "
    "set. EigenPro takes preconditioned gradient steps on kernel regression. Nyström and random Fourier features (from "
    "scikit-learn) use all examples and a growing number of features, with ridge regression on these features. No "
    "setting was chosen by test errors."
)


def approximated() -> None:
    rows = {name: ROWS["claims"][f"approximate-{name}"] for name in TITLES}
    figures = {f"approximated_{name}": _at_equal_seconds(row, TITLES[name]) for name, row in rows.items()}
    side_by_side(figures, 2, 420)
    st.caption(f"{HOW}  \n" + "  \n".join(measured(f"approximate-{name}", row) for name, row in rows.items()))


def _at_equal_seconds(curves: dict, title: str) -> go.Figure:
    points = {name: sorted(point[1:] for point in curves[key]) for key, name in NAMES.items()}
    lines = {name: Line(*zip(*some, strict=True)) for name, some in points.items()}
    seconds = [x for one in lines.values() for x in one.xs]
    figure = growth(
        lines, f"training time, s: {title}", "test error, %", log=True, per_cent=True, log_x=True,
        span=(min(seconds), max(seconds)),
    )  # fmt: skip
    errors = [y for one in lines.values() for y in one.ys]
    if max(errors) < 2 * min(errors):  # no power of ten, nor 2 or 5 of one, is between them
        figure.update_yaxes(tickvals=np.arange(np.floor(2 * min(errors)), 2 * max(errors) + 1) / 2)
    said = f"{title}. Test error in % after the shortest and after the longest training: {ends(lines)}."
    return worded(figure, f"Test error against training time, {said}", said)
