"""Osuna's figures, as pure functions from the points of a study (svmcore.lab.analyses.scaling) to Plotly figures."""

from collections.abc import Callable, Sequence

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.frame import bare, log_ticks, worded
from pages.ui.figures.traces import beside, line, names, note
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from svmcore.lab.analyses.scaling import ScalingPoint, exponent

COLOURS = (ORANGE, BLUE, GREY)
Lines = dict[str, Sequence[ScalingPoint]]
TOLD = (
    "n %{customdata[0]:,}, |B| %{customdata[1]:,}, lookahead %{customdata[2]:,}<br>%{customdata[3]:,} SVs, "
    "%{customdata[4]:,} iterations, %{customdata[5]:.2f} s"
)


def by(points: Sequence[ScalingPoint], field: str, title: str) -> dict[str, list]:
    """The points by the values of a field, under names."""
    values = sorted({getattr(p, field) for p in points})
    return {f"{title} {value:,}": [p for p in points if getattr(p, field) == value] for value in values}


def time_against_n(lines: Lines) -> go.Figure:
    """Training time against n, a line for each |B|."""
    figure = _lines(lines, "n", "seconds", "training examples n", "training time, s")
    found = {name: exponent([p.n for p in points], [p.seconds for p in points]) for name, points in lines.items()}
    slopes = ", ".join(f"{slope:.2f} for {name}" for name, slope in found.items() if slope is not None)
    return worded(
        figure,
        f"Training time against the number of examples for {len(lines)} sizes of the working set.",
        "Both axes are logarithmic: a line of slope 1 grows like n, a line of slope 2 like n². "
        + (f"Slopes: {slopes}." if slopes else ""),
    )


def svs_against_n(points: Sequence[ScalingPoint]) -> go.Figure:
    figure = _lines({"": points}, "n", "n_sv", "training examples n", "support vectors")
    slope = exponent([p.n for p in points], [p.n_sv for p in points])
    grows = f" Their number grows like n to the power {slope:.2f}." if slope is not None else ""
    return worded(
        figure,
        f"Support vectors against the number of examples, at most {max(p.n_sv for p in points):,}.",
        f"Support vectors of one recipe, trained on more and more examples.{grows}",
    )


def time_against_svs(points: Sequence[ScalingPoint]) -> go.Figure:
    figure = _lines({"": points}, "n_sv", "seconds", "support vectors", "training time, s")
    return worded(
        figure,
        "Training time against the number of support vectors, one point for each number of examples.",
        "Training time of the same runs against their number of support vectors. Solving, and checking "
        "examples for violations, both evaluate the kernel with each support vector.",
    )


def rounds_against_n(points: Sequence[ScalingPoint]) -> go.Figure:
    figure = _lines({"": points}, "n", "rounds", "training examples n", "global iterations")
    return worded(
        figure,
        "Number of working sets that were solved, against the number of examples.",
        f"Number of working sets solved: {', '.join(f'{p.rounds:,} at n = {p.n:,}' for p in points)}.",
    )


def time_against_set(lines: Lines, n: int) -> go.Figure:
    """Training time against |B|, a line for each lookahead."""
    figure = _lines(lines, "working_set", "seconds", "working set |B|", "training time, s")
    fastest = min((p for points in lines.values() for p in points), key=lambda p: p.seconds)
    svs = fastest.n_sv
    figure.add_vline(x=svs, line={"dash": "dot", "color": GREY})
    note(figure, np.log10(svs), 1, f"{svs:,} SVs", yref="paper", yanchor="bottom")
    return worded(
        figure,
        f"Training time on {n:,} examples against the size of the working set, with a line for each of {len(lines)} "
        "lookaheads.",
        f"Training on {n:,} examples. The dotted line is the number of support vectors, which must fit into the "
        f"working set B. Fastest: |B| = {fastest.working_set:,} with a lookahead of {fastest.lookahead:,}, in "
        f"{fastest.seconds:.2g} s.",
    )


def time_against_d(points: Sequence[ScalingPoint]) -> go.Figure:
    """Training time against the number of features, at one n."""
    figure = _lines({"": points}, "d", "seconds", "features d", "training time, s")
    slope = exponent([p.d for p in points], [p.seconds for p in points])
    grows = f" Training time grows like d to the power {slope:.2f}." if slope is not None else ""
    svs = ", ".join(f"{p.n_sv:,} at d = {p.d:,}" for p in points)
    return worded(
        figure,
        f"Training time against the number of features for {points[0].n:,} examples.",
        f"Training on {points[0].n:,} digits. For fewer features, a wider border of the images was cropped.{grows} "
        f"The number of support vectors is {svs}.",
    )


def memory_against_n(lines: Lines) -> go.Figure:
    """Peak memory beside the examples against n, a line for each |B|, and what the whole Gram matrix would take."""
    figure = _lines(lines, "n", lambda p: p.peak_mb - p.examples_mb, "training examples n", "memory, MB")
    ns = sorted({p.n for points in lines.values() for p in points})
    whole = [4 * n * n / 2**20 for n in ns]
    line(figure, ns, whole, GREY, "whole Gram matrix: %{y:,.0f} MB", dash="dot", width=2)
    note(figure, np.log10(ns[-1]), np.log10(whole[-1]), "4 n² bytes", xanchor="left", xshift=6)
    _name_heights(figure)
    return worded(
        figure,
        f"Peak memory of the solver against the number of examples for {len(lines)} sizes of the working set; the "
        f"whole Gram matrix would take {whole[-1]:,.0f} MB at n = {ns[-1]:,}.",
        "Peak memory of the solver, without the examples themselves. The solver stores |B|² numbers of 4 bytes, and "
        "a few numbers per example. The dotted line is the memory for the whole Gram matrix.",
    )


def comings_and_goings(columns: dict) -> go.Figure:
    """Examples that enter and leave the working set, summed up over the rounds; below zero those that leave."""
    rounds = columns["number"]
    figure = bare("global iteration", "examples, cumulative")
    # the first set is no arrival
    entered, left, again = (np.cumsum([0, *columns[name][1:]]) for name in ("entered", "left", "again"))
    for name, ys, colour in (("entered", entered, BLUE), ("re-entries", again, ORANGE), ("left", -left, GREY)):
        line(figure, rounds, ys, colour, f"%{{y:,}} {name} by iteration %{{x:,}}", shape="hv")
        beside(figure, ys[-1], f"{name} {abs(int(ys[-1])):,}")
    return worded(
        figure,
        f"Over {rounds[-1]:,} iterations {entered[-1]:,} examples entered the working set, {again[-1]:,} of these "
        f"were re-entries, and {left[-1]:,} left it.",
        "Cumulative counts after the first working set: examples that entered the set, re-entries among them, and "
        "examples that left.",
    )


def _lines(lines: Lines, x: str, y: str | Callable, x_title: str, y_title: str) -> go.Figure:
    """A line through the points of each name, both axes logarithmic, named at its right end."""
    named = len(lines) > 1
    figure = bare(x_title, y_title, xaxis_type="log", yaxis_type="log", hovermode="closest")
    value = y if callable(y) else lambda p: getattr(p, y)
    ends = []
    for (name, points), colour in zip(lines.items(), COLOURS if named else (BLUE,), strict=False):
        points = sorted(points, key=lambda p: getattr(p, x))
        xs, ys = [getattr(p, x) for p in points], [max(value(p), 1e-3) for p in points]
        told = [(p.n, p.working_set, p.lookahead, p.n_sv, p.rounds, p.seconds) for p in points]
        line(figure, xs, ys, colour, TOLD, points=True, marker_size=8, customdata=told)
        ends.append((np.log10(ys[-1]), name, colour))
    heights = _name_heights(figure)
    if named:
        names(figure, ends, 0.12 * np.ptp(np.log10(heights)))
    ticks = sorted({getattr(p, x) for points in lines.values() for p in points})
    return figure.update_xaxes(tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks] if len(ticks) < 8 else None)


def _name_heights(figure: go.Figure) -> list[float]:
    heights = [height for drawn in figure.data for height in drawn.y]
    figure.update_yaxes(**log_ticks(min(heights), max(heights)))
    return heights
