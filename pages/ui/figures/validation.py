"""Errors against the values of one field: on held-out folds of the training set, and on the test set beside it."""

from collections.abc import Sequence

import plotly.graph_objects as go

from pages.ui.figures.frame import bare, worded
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from pages.ui.kit.words import in_figure
from svmcore.lab.experiment.sweep import RULE, chosen

LOGARITHMIC = ("C", "kernel.gamma")
TICK = 14  # characters of a value below the axis


def sweep_chart(field: str, name: str, points: Sequence[tuple[str, dict]], of: int = 0) -> go.Figure:
    """Error rates by value with their 95 % intervals; points: (value, result of a run with folds), in their order.

    of: how many values there will be; the choice is marked when all are there, or nothing is said of more.
    """
    figure = bare(name, "wrong, %", margin_r=80, height=320)
    values = [value for value, _ in points]
    at = values if field == "jitters" else [float(value) for value in values]
    lines = (
        ("test", [result for _, result in points], ORANGE, 1.5),
        ("validation", [result["validation"] for _, result in points], BLUE, 2.5),
    )
    for label, results, colour, width in lines:
        rates = [100 * r["error_rate"] for r in results]
        figure.add_scatter(
            x=at,
            y=rates,
            mode="lines+markers",
            line={"color": colour, "width": width},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [100 * r["interval"][1] - rate for r, rate in zip(results, rates)],
                "arrayminus": [rate - 100 * r["interval"][0] for r, rate in zip(results, rates)],
                "thickness": 1,
            },
            customdata=[(r["errors"], r["n_test"], in_figure(value)) for value, r in zip(values, results)],
            hovertemplate=f"%{{customdata[2]}}, {label}: %{{customdata[0]:,}} of %{{customdata[1]:,}}, %{{y:.2f}} %"
            "<extra></extra>",
        )
    _label_ends(figure, points)
    best = choice(points)
    kind = "log" if field in LOGARITHMIC else "category" if field == "jitters" else "linear"
    figure.update_xaxes(type=kind, tickvals=at, ticktext=[in_figure(value, TICK) for value in values])
    figure.update_yaxes(rangemode="tozero")
    if len(points) >= of:
        at_best = values.index(best) if field == "jitters" else float(best)
        figure.add_vline(x=at_best, line={"dash": "dot", "color": GREY})
    return worded(figure, *_sweep_words(name, points, best, of))


def choice(points: Sequence[tuple[str, dict]]) -> str:
    """The value that cross-validation chooses among the points."""
    return chosen({value: result["validation"]["errors"] for value, result in points})


def _label_ends(figure: go.Figure, points: Sequence[tuple[str, dict]]) -> None:
    """The names of the two lines at their right ends, the higher one above."""
    last = points[-1][1]
    ends = {"validation": (last["validation"]["error_rate"], BLUE), "test": (last["error_rate"], ORANGE)}
    higher = max(ends, key=lambda label: ends[label][0])
    for label, (rate, colour) in ends.items():
        figure.add_annotation(
            x=1,
            xref="paper",
            xanchor="left",
            xshift=4,
            y=100 * rate,
            yshift=7 if label == higher else -7,
            text=label,
            font={"color": colour},
            showarrow=False,
        )


def _sweep_words(name: str, points: Sequence[tuple[str, dict]], best: str, of: int) -> tuple[str, str]:
    results = dict(points)
    lowest = min(points, key=lambda point: point[1]["errors"])
    validation, test = (100 * r["error_rate"] for r in (results[best]["validation"], results[best]))
    if len(points) < of:
        alt = f"Validation and test error at {len(points)} of {of} values of {name}, the others are not done."
        return alt, (
            f"So far, {len(points)} of {of} values; nothing is chosen yet. The lowest validation error so far is "
            f"{validation:.2f} % at {name} = {best}. Bars are 95 % intervals."
        )
    found = f"Cross-validation chooses {name} = {best}: {validation:.2f} % wrong, {test:.2f} % on the test set"
    told = (
        "the best value there too"
        if results[best]["errors"] == lowest[1]["errors"]
        else (f"where the best is {lowest[0]} with {100 * lowest[1]['error_rate']:.2f} %")
    )
    return (
        f"Validation and test error at {len(points)} values of {name}; cross-validation chooses {best}.",
        f"{found}, {told}. Chosen is {RULE}. Bars are 95 % intervals.",
    )
