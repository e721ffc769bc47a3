"""What a machine that may say *not sure* answers: errors against answers, and what was said against what came of it."""

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.frame import bare, worded
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from svmcore.lab.experiment.unsure import Reliability
from svmcore.metrics import wilson


def errors_against_answers(share: np.ndarray, wrong: np.ndarray, at: tuple[float, float] | None) -> go.Figure:
    """Per cent of wrong answers among those given, against per cent of examples answered, (n,) each, as shares.

    at : the point of the threshold that is chosen, as shares; None where nothing is answered
    """
    figure = bare("answered, % of the examples", "wrong, % of the answers", height=300)
    figure.add_scatter(
        x=100 * share, y=100 * wrong, mode="lines", line={"color": BLUE, "width": 2, "shape": "hv"}, name="errors",
        hovertemplate="%{y:.2f} % of the answers to %{x:.1f} % are wrong<extra></extra>",
    )  # fmt: skip
    if at is not None:
        figure.add_scatter(
            x=[100 * at[0]], y=[100 * at[1]], mode="markers", marker={"color": ORANGE, "size": 11},
            hovertemplate="chosen: %{y:.2f} % of the answers to %{x:.1f} % are wrong<extra></extra>",
        )  # fmt: skip
    figure.update_yaxes(rangemode="tozero")
    chosen = f"{100 * at[1]:.2f} % wrong of the {100 * at[0]:.1f} % answered" if at else "nothing is answered"
    return worded(
        figure,
        f"Errors against answers, down from {100 * wrong[-1]:.2f} % wrong when all are answered; chosen: {chosen}.",
        "From the surest example on to all of them, at the right. The dot is the choice above.",
    )


def said_and_right(found: Reliability) -> go.Figure:
    """A reliability diagram: the share that is right against what was said, in per cent."""
    figure = bare("probability said, %", "right, %", height=300)
    figure.add_scatter(x=[0, 100], y=[0, 100], mode="lines", line={"color": GREY, "dash": "dot"}, hoverinfo="skip")
    low, high = np.array([wilson(round(r * n), n) for r, n in zip(found.right, found.n, strict=True)]).T
    figure.add_scatter(
        x=100 * found.said, y=100 * found.right, mode="lines+markers", marker={"color": BLUE, "size": 8},
        line={"color": BLUE, "width": 2}, customdata=found.n,
        error_y={"array": 100 * (high - found.right), "arrayminus": 100 * (found.right - low), "thickness": 1},
        hovertemplate="said %{x:.1f} %, right %{y:.1f} % of %{customdata:,}<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(range=[min(95.0, 100 * found.said.min()) - 5, 102])
    missed = f"{100 * found.error:.2f} %"
    return worded(
        figure,
        f"Right answers against the probability said, in {len(found.n)} groups; they differ by {missed} in the mean.",
        f"On the dotted line what is said comes true; it is missed by {missed} in the mean (the expected calibration "
        "error). Bars: 95 %.",
    )
