"""Errors against labels given, as pure functions from numbers to Plotly figures (svmcore.lab.experiment.asking)."""

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.frame import bare, log_ticks, worded
from pages.ui.figures.traces import line, names
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from svmcore import metrics
from svmcore.explain.asking import WAYS
from svmcore.lab.experiment.asking import Study
from svmcore.lab.jobs.analyses import Next

COLOURS = {"nearest": BLUE, "spread": GREY, "random": ORANGE}
DASHES = {"nearest": "solid", "spread": "dash", "random": "solid"}
SHADES = {BLUE: "rgba(0, 114, 178, 0.15)", ORANGE: "rgba(213, 94, 0, 0.15)"}
APART = 1.15  # times, on a log axis: names at the ends of lines
NAME_ROOM = 150  # pixels for the names of lines


def curve(now: Next) -> go.Figure:
    """Test errors against the labels that were given, with their 95 % intervals."""
    figure = bare("labels given", "wrong, %", height=200, margin_r=30, hovermode="x")
    xs, wrong = list(now.curve), list(now.curve.values())
    bounds = np.array([metrics.wilson(errors, now.t) for errors in wrong])
    _band(figure, xs, 100 * bounds[:, 0], 100 * bounds[:, 1], BLUE)
    told = f"%{{x:,}} labels given: %{{customdata:,}} of {now.t:,} wrong, %{{y:.2f}} %"
    rates = [100 * errors / now.t for errors in wrong]
    line(figure, xs, rates, BLUE, told, points=True, marker_size=6, customdata=wrong)
    figure.update_yaxes(rangemode="tozero")
    figure.update_xaxes(range=[-0.5, max(xs[-1], 10) + 0.5])
    first, last = (f"{100 * errors / now.t:.1f} %" for errors in (wrong[0], wrong[-1]))
    told = f"{first} of {now.t:,} test examples are wrong with the {now.known:,} labels of the start"
    now_said = f", {last} with {xs[-1]:,} more" if xs[-1] else ""
    return worded(figure, f"Errors against labels given: {told}{now_said}.", f"{told}{now_said}. Shaded: 95 %.")


def ways(found: Study) -> go.Figure:
    """Mean errors of each way over the seeds, between the lowest and the highest of them; the target as a line."""
    figure = bare("labels", "wrong, %", margin_r=NAME_ROOM, hovermode="x", yaxis_type="log")
    ends, least = [], 50 / found.t  # half an error, where there is none
    for way, title in WAYS.items():
        rates = np.maximum(100 * found.wrong[way] / found.t, least)
        rates = rates[~np.isnan(rates).any(axis=1)]
        if not len(rates):
            continue
        colour = COLOURS[way]
        if colour in SHADES:
            _band(figure, found.given, rates.min(axis=0), rates.max(axis=0), colour)
        mean = rates.mean(axis=0)
        line(figure, found.given, mean, colour, "%{y:.2f} %", of=title, dash=DASHES[way])
        ends.append((np.log10(mean[-1]), title, colour))
    names(figure, ends, np.log10(APART))
    figure.add_hline(y=100 * found.target, line={"dash": "dot", "color": GREY})
    drawn = [y for one in figure.data for y in one.y] or [100 * found.target]
    figure.update_yaxes(**log_ticks(min(drawn), max(drawn)))
    return worded(
        figure,
        f"Errors against labels, chosen and at random, over {found.done} seeds.",
        f"Lines: means over {found.done} seeds; shaded: from the lowest to the highest of them. Dotted: "
        f"{100 * found.target:g} %.",
    )


def _band(figure: go.Figure, xs, low, high, colour: str) -> None:
    for ys, fill in ((low, None), (high, "tonexty")):
        figure.add_scatter(
            x=xs, y=ys, mode="lines", line={"width": 0}, fill=fill, fillcolor=SHADES[colour], hoverinfo="skip"
        )
