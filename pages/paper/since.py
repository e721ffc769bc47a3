"""What came after the papers: errors on MNIST's test set since 1998, and approximations of a machine at equal seconds.

Published errors are those of the sources named, ours those of measured rows (quoted.py). LISTED: in the table of
LeCun, Cortes and Burges, The MNIST database of handwritten digits.
"""

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

LISTED = ", in LeCun's table"
KERNEL, CONVOLUTIONAL, OURS = "kernel machine", "convolutional network", "this lab"


class Seen(NamedTuple):
    """An error on MNIST's 10,000 test digits, in per cent."""

    year: int
    machine: str
    kind: str
    error: float
    source: str


LECUN = f"LeCun et al., Proc. IEEE 86 (1998){LISTED}"
DECOSTE = "DeCoste and Schölkopf, Machine Learning 46 (2002)"
PUBLISHED = (
    Seen(1998, "SVM of degree 4, deskewed", KERNEL, 1.1, LECUN),
    Seen(1998, "Reduced-set SVM of degree 5, deskewed", KERNEL, 1.0, LECUN),
    Seen(1998, "Virtual SVM of degree 9", KERNEL, 0.8, LECUN),
    Seen(2002, "Virtual SVM of degree 9, shifts by 1 pixel", KERNEL, 0.68, DECOSTE),
    Seen(2002, "Virtual SVM of degree 9, deskewed, shifts by 2 pixels", KERNEL, 0.56, DECOSTE),
    Seen(2007, "SVMs on features of a convolutional network, affine distortions", KERNEL, 0.54,
         f"Lauer et al., Pattern Recognition 40 (2007){LISTED}"),
    Seen(2008, "SVM on sparse features, no distortions", KERNEL, 0.59,
         f"Labusch et al., IEEE TNN 19 (2008){LISTED}"),
    Seen(2013, "Gaussian SVM or PCA on scattering coefficients", KERNEL, 0.43, "Bruna and Mallat, IEEE PAMI 35 (2013)"),
    Seen(1998, "LeNet-5", CONVOLUTIONAL, 0.95, LECUN),
    Seen(1998, "LeNet-5, distortions", CONVOLUTIONAL, 0.8, LECUN),
    Seen(1998, "Boosted LeNet-4, distortions", CONVOLUTIONAL, 0.7, LECUN),
    Seen(2003, "Convolutional network, elastic distortions", CONVOLUTIONAL, 0.4,
         f"Simard et al., ICDAR (2003){LISTED}"),
    Seen(2006, "Large network, unsupervised pretraining, elastic distortions", CONVOLUTIONAL, 0.39,
         f"Ranzato et al., NIPS 19 (2006){LISTED}"),
    Seen(2009, "Large network, unsupervised pretraining, no distortions", CONVOLUTIONAL, 0.53,
         f"Jarrett et al., ICCV (2009){LISTED}"),
    Seen(2011, "Deep network, elastic distortions", CONVOLUTIONAL, 0.35, f"Cireşan et al., IJCAI (2011){LISTED}"),
    Seen(2011, "Committee of 7 networks, elastic distortions", CONVOLUTIONAL, 0.27,
         f"Cireşan et al., ICDAR (2011){LISTED}"),
    Seen(2012, "Committee of 35 networks, elastic distortions", CONVOLUTIONAL, 0.23,
         f"Cireşan et al., CVPR (2012){LISTED}"),
    Seen(2013, "Networks with DropConnect, several voting", CONVOLUTIONAL, 0.21,
         "Wan et al., ICML (2013)"),
)  # fmt: skip
RUNS = {  # recipe -> its machine
    "mnist-sv": "SVM of degree 9",
    "mnist-vsv": "Virtual SVM of degree 9, shifts by 1 pixel",
    "mnist-deslant-vsv2": "Virtual SVM of degree 9, deslanted, shifts by 2 pixels",
    "mnist-endless": "Virtual SVM of degree 9, 3,000,000 random deformations",
    "mnist-gradients": "Gaussian SVM on gradient features, deslanted",
    "mnist-best": "Virtual SVM of degree 9, deslanted, shifts, rotations, thickness",
    "mnist-gradients-vsv": "Virtual Gaussian SVM on gradient features, deslanted, shifts by 1 pixel",
}
UNDATED = "2026"  # the year of rows that were measured before dates were kept
LOOKS = {KERNEL: (BLUE, "circle"), CONVOLUTIONAL: (ORANGE, "square-open"), OURS: (GREY, "diamond")}
REMARK = (
    "These 10,000 test digits have been looked at for thirty years. Whoever takes a method from this list, ours "
    "included, has chosen by them, so none of these errors is an unbiased estimate. Yadav and Bottou (NeurIPS 2019) "
    "reconstructed 50,000 lost test digits: there the rates are slightly off, but the order of the methods mostly "
    "holds. An error of 0.50 % has a 95 % interval of {} %, so neighbours in the list rarely differ significantly."
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
        f"Errors on MNIST's test set by year, lowest of each kind: {told}.",
        f"Lowest of each kind: {told}. {REMARK.format(interval_text(wilson(50, 10_000)))}",
    )


NAMES = {"exact": "exact SVM", "nystroem": "Nyström", "fourier": "random features", "eigenpro": "EigenPro"}
TITLES = {"mnist": "60,000 digits of MNIST", "adult": "32,560 examples of Adult"}


HOW = (
    "All have the same Gaussian kernel. The exact SVM trains on growing parts of the examples, and so does EigenPro, "
    "which takes preconditioned gradient steps on kernel regression. Nyström and random Fourier features, by "
    "scikit-learn, take all examples and a growing number of features, with ridge regression on them. No setting was "
    "chosen by test errors."
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
    said = f"{title}: {ends(lines)} %"
    return worded(
        figure, f"Test error against training time, {said}.", f"{said}, from the shortest training to the longest."
    )
