"""How well decision values rank examples: ROC curves of machines on the same ones; and what a machine that may say *not
sure* answers: errors against answers, and what was said against what came of it."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from sklearn.metrics import roc_curve

from pages.ui.figures.frame import bare, worded
from pages.ui.figures.traces import dots, line, whiskers
from pages.ui.kit.palette import BLUE, CLASS_COLOURS, GREY, ORANGE
from svmcore.lab.analyses.unsure import Reliability
from svmcore.metrics import roc_area, wilson

COLOURS = (BLUE, ORANGE, *CLASS_COLOURS[2:])  # of the machines, in their order
DASHES = ("solid", "solid", "dash", "dot", "dashdot", "longdash")  # for those who do not see them


def roc_curves(positive: np.ndarray, decisions: Mapping[str, np.ndarray]) -> go.Figure:
    """ROC curves (logarithmic false-alarm axis) of up to six machines: name -> f (n,), positive (n,) bool."""
    figure = bare("false-alarm rate (share of negatives)", "detection rate (share of positives)", height=320)
    least = 0.5 / max(np.count_nonzero(~positive), 1)  # stands for none, which a logarithmic axis cannot show
    areas = {name: roc_area(f, positive) for name, f in decisions.items()}
    for (name, f), colour, dash in zip(decisions.items(), COLOURS, DASHES, strict=False):
        alarms, found, _ = roc_curve(positive, f)
        told, look = f"{name}: %{{y:.3f}} at %{{x:.2g}}", {"width": 2, "shape": "hv", "dash": dash}
        line(figure, np.maximum(alarms, least), found, colour, told, name=name, **look)
    figure.update_xaxes(type="log", dtick=1, tickformat="~g")
    figure.update_layout(showlegend=True, legend={"x": 0.98, "y": 0.04, "xanchor": "right"})
    told = ", ".join(f"{name} {area:.4f}" for name, area in areas.items())
    return worded(
        figure,
        f"ROC curves of {len(decisions)} machines on {len(positive)} examples; areas: {told}.",
        f"Area under the ROC curve: {told}. Curves further up and left are better. The left edge means no false "
        "alarms.",
    )


def errors_against_answers(share: np.ndarray, wrong: np.ndarray, at: tuple[float, float] | None) -> go.Figure:
    """Per cent of wrong answers among those given, against per cent of examples answered, (n,) each, as shares.

    at : the point of the threshold that is chosen, as shares; None where nothing is answered
    """
    figure = bare("coverage, % of the examples", "selective risk, % errors", height=300)
    told = "%{y:.2f} % errors at a coverage of %{x:.1f} %"
    line(figure, 100 * share, 100 * wrong, BLUE, told, width=2, shape="hv")
    if at is not None:
        dots(figure, [100 * at[0]], [100 * at[1]], {"color": ORANGE, "size": 11}, f"chosen: {told}")
    figure.update_yaxes(rangemode="tozero")
    chosen = (
        f"{100 * at[1]:.2f} % errors at a coverage of {100 * at[0]:.1f} %" if at else "it abstains on every example"
    )
    return worded(
        figure,
        f"Error rate against coverage, {100 * wrong[-1]:.2f} % at full coverage. At the chosen cost: {chosen}.",
        "At the right end, all examples are classified; at the left end, only the most certain ones."
        + (" The dot belongs to the cost that is chosen above." if at else ""),
    )


def said_and_right(found: Reliability) -> go.Figure:
    """A reliability diagram: the share that is right against what was said, in per cent."""
    figure = bare("predicted probability, %", "correct, %", height=300)
    line(figure, [0, 100], [0, 100], GREY, dash="dot", width=2)
    low, high = 100 * np.array([wilson(round(r * n), n) for r, n in zip(found.right, found.n, strict=True)]).T
    bars, told = (
        whiskers(100 * found.right, low, high, thickness=1),
        "predicted %{x:.1f} %, correct %{y:.1f} % of %{customdata:,}",
    )
    how = {"width": 2, "points": True, "marker_size": 8, "customdata": found.n, "error_y": bars}
    line(figure, 100 * found.said, 100 * found.right, BLUE, told, **how)
    figure.update_xaxes(range=[min(95.0, 100 * found.said.min()) - 5, 102])
    missed = f"{100 * found.error:.2f} %"
    return worded(
        figure,
        f"Share of correct predictions against predicted probability, "
        f"in {len(found.n)} groups; the mean difference is {missed}.",
        "On the dotted line, the share of correct predictions equals the predicted probability. The mean distance from "
        f"this line is {missed} (expected calibration error). Bars are 95 % intervals.",
    )
