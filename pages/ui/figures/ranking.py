"""How well decision values rank the examples of two classes: the ROC curves of machines on the same examples."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from sklearn.metrics import roc_curve

from pages.ui.figures.frame import bare, worded
from pages.ui.figures.traces import line
from pages.ui.kit.palette import BLUE, CLASS_COLOURS, ORANGE
from svmcore.metrics import roc_area

COLOURS = (BLUE, ORANGE, *CLASS_COLOURS[2:])  # of the machines, in their order
DASHES = ("solid", "solid", "dash", "dot", "dashdot", "longdash")  # for those who do not see them


def roc_curves(positive: np.ndarray, decisions: Mapping[str, np.ndarray]) -> go.Figure:
    """Detection rate against false-alarm rate, on a logarithmic axis, for up to six machines; positive (n,) bool,
    name -> decision values (n,)."""
    figure = bare("false alarms, share of negatives", "found, share of positives", height=320)
    least = 0.5 / max(np.count_nonzero(~positive), 1)  # stands for none, which a logarithmic axis cannot show
    areas = {name: roc_area(f, positive) for name, f in decisions.items()}
    for (name, f), colour, dash in zip(decisions.items(), COLOURS, DASHES, strict=False):
        alarms, found, _ = roc_curve(positive, f)
        told, look = f"{name}: %{{y:.3f}} at %{{x:.2g}}", {"width": 2, "shape": "hv", "dash": dash}
        line(figure, np.maximum(alarms, least), found, colour, told, how={"name": name}, **look)
    figure.update_xaxes(type="log", dtick=1, tickformat="~g")
    figure.update_layout(showlegend=True, legend={"x": 0.98, "y": 0.04, "xanchor": "right"})
    told = ", ".join(f"{name} {area:.4f}" for name, area in areas.items())
    return worded(
        figure,
        f"ROC curves of {len(decisions)} machines on {len(positive)} examples; areas: {told}.",
        f"Area under the ROC curve: {told}. Up and left is better; the left edge stands for no false alarm.",
    )
