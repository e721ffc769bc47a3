"""Errors against the values of one field: on held-out folds of the training set, and on the test set beside it."""

from collections.abc import Sequence

import plotly.graph_objects as go

from pages.ui.figures.frame import bare, worded
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from pages.ui.kit.words import in_figure

LOGARITHMIC = ("C", "kernel.gamma")
TICK = 14  # characters of a value below the axis


def sweep_chart(field: str, name: str, points: Sequence[tuple[str, dict]]) -> go.Figure:
    """Error rates by value with their 95 % intervals; points: (value, result of a run with folds), in their order."""
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
    best = chosen(points)
    kind = "log" if field in LOGARITHMIC else "category" if field == "jitters" else "linear"
    figure.update_xaxes(type=kind, tickvals=at, ticktext=[in_figure(value, TICK) for value in values])
    figure.update_yaxes(rangemode="tozero")
    figure.add_vline(x=values.index(best) if field == "jitters" else float(best), line={"dash": "dot", "color": GREY})
    return worded(figure, *_sweep_words(name, points, best))


def chosen(points: Sequence[tuple[str, dict]]) -> str:
    """The value with the fewest validation errors, the first of equal ones."""
    return min(points, key=lambda point: point[1]["validation"]["errors"])[0]


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


def _sweep_words(name: str, points: Sequence[tuple[str, dict]], best: str) -> tuple[str, str]:
    results = dict(points)
    lowest = min(points, key=lambda point: point[1]["errors"])
    validation, test = (100 * r["error_rate"] for r in (results[best]["validation"], results[best]))
    found = f"Cross-validation chooses {name} = {best}: {validation:.2f} % wrong, {test:.2f} % on the test set"
    told = (
        "the best value there too"
        if results[best]["errors"] == lowest[1]["errors"]
        else (f"where the best is {lowest[0]} with {100 * lowest[1]['error_rate']:.2f} %")
    )
    return (
        f"Validation and test error at {len(points)} values of {name}, lowest validation error at {best}.",
        f"{found}, {told}. Bars are 95 % intervals.",
    )
