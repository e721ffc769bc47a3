"""Figures of a trained machine, how it decides, and how that changed while a digit was nudged, as pure functions from
numbers to Plotly figures.

alpha (m,) and C: multipliers of one machine; f: decision values before the sign
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.frame import bare, log_ticks, worded
from pages.ui.figures.traces import LEGEND, bars, line, note
from pages.ui.kit.palette import BLUE, GREY, ORANGE, signed
from pages.ui.kit.words import distinct, in_figure, many, short, small

BINS = 20  # of the histogram of alpha
PAPER = (
    " DeCoste and Schölkopf (2002) trained once with C = 10, saw that only a few alphas exceeded 2, and chose C = 2."
)
NO_BOUND = "The hinge loss is squared here, so alpha has no upper bound."
HEIGHT = 210
MARKED = 3  # flips up to which each is written on its mark


def alpha_histogram(
    alpha: np.ndarray, signs: np.ndarray, C: float | None, bound: np.ndarray | None = None, dataset: str = ""
) -> go.Figure:
    """Histogram (log counts) of the positive alpha (m,) of one machine, by class `signs` (m,) +-1, with C marked.

    C: the bound of all alphas, which may be infinite; None where classes have bounds of their own.
    bound (m,): which alphas are at theirs.
    dataset: its name; of MNIST is told what the paper saw.

    The paper chose C = 2 for MNIST from such a histogram of a run with a large C: few alphas exceeded 2
    (DeCoste and Schölkopf 2002, section 5.1.1).
    """
    figure = bare("alpha", "alphas above 0", yaxis_type="log", barmode="group", bargap=0.08, bargroupgap=0)
    bound = alpha >= C * (1 - 1e-6) if bound is None else bound
    endless = C is not None and not np.isfinite(C)
    top = max(float(alpha.max(initial=0.0)), 0.0 if C is None or endless else C, 1e-12)
    edges = np.linspace(0, top * (1 + 1e-9), BINS + 1)
    ranges = [f"{small(low, 3)} ≤ alpha < {small(high, 3)}" for low, high in pairwise(edges)]
    at_C = bound if C is not None else np.zeros(len(alpha), bool)
    if at_C.any():  # a bar of their own beyond the line: that before it is of those close to C
        edges, ranges = np.append(edges, edges[-1] + edges[1]), [*ranges, f"alpha = C = {small(C, 6)}"]
    centres = (edges[1:] + edges[:-1]) / 2
    for sign, name, colour in ((1, "+1", BLUE), (-1, "−1", ORANGE)):
        counts, _ = np.histogram(np.where(at_C, centres[-1], alpha)[signs == sign], edges)
        told, of = "%{y:,} with %{customdata}", f"class {name}"
        bars(figure, centres, counts, colour, told, of=of, name=name, customdata=ranges)
    at = "their bounds, which differ by class" if C is None else f"C = {small(C, 6)}"
    if C is not None and not endless:
        figure.add_vline(x=C, line={"dash": "dot", "color": GREY}, annotation_text=at, annotation_position="top left")
    figure.update_layout(showlegend=True, legend=LEGEND)
    highest = max(1, *(int(drawn.y.max()) for drawn in figure.data))
    low, high = np.log10(0.8), np.log10(highest)  # a bar of one is seen
    figure.update_yaxes(range=[low, high + 0.15 * (high - low)], **log_ticks(1, highest))  # room for C above
    told = f"{np.sum(bound):,} of {len(alpha):,} alphas above 0 reach {at}."
    lower = " If only a few alphas exceed some smaller value, C can be set to that value."
    told += PAPER if dataset.startswith("mnist") else lower
    told += " The bars right of the line count bounded alphas (alpha = C)." if at_C.any() else ""
    return worded(
        figure,
        f"Histogram of the alphas of {len(alpha)} support vectors; {np.sum(bound)} of them reach {at}.",
        NO_BOUND if endless else told,
    )


def weight_histogram(weights: np.ndarray) -> go.Figure:
    """Histogram of the signed weights (m,) of one machine's reduced set vectors."""
    figure = bare("weight gamma", "vectors", bargap=0.05)
    step = max(np.ptp(np.append(weights, 0.0)) / BINS, 1e-12)  # a bar is of one side: 0 is an edge
    low, high = np.floor(min(weights.min(initial=0), 0) / step), np.ceil(max(weights.max(initial=0), 0) / step)
    counts, edges = np.histogram(weights, step * np.arange(low, high + 1.5))
    middle = (edges[1:] + edges[:-1]) / 2
    colours, ranges = np.where(middle > 0, BLUE, ORANGE).tolist(), np.column_stack([edges[:-1], edges[1:]])
    told = "%{y:,} with %{customdata[0]:.3g} to %{customdata[1]:.3g}"
    bars(figure, middle, counts, colours, told, customdata=ranges)
    return worded(
        figure,
        f"Histogram of the weights of {len(weights)} vectors, {np.sum(weights > 0)} of them positive.",
        f"{np.sum(weights > 0):,} vectors vote for the class, {np.sum(weights < 0):,} against it. C does not bound the "
        "weights.",
    )


def decision_bars(values: np.ndarray, classes: Sequence, true, predicted) -> go.Figure:
    """Decision values (k,) of one example, a bar for each machine; the largest decides. true: None if unknown."""
    marks = [(c, [word for word, name in (("true", true), ("predicted", predicted)) if c == name]) for c in classes]
    names = distinct(classes, 24)  # those alike would become one bar
    labels = [f"{in_figure(name)} {', '.join(words)}" for name, (_, words) in zip(names, marks)]
    figure = bare("decision value f", None, height=90 + 24 * len(labels), hovermode="closest")
    bars(figure, values, labels, [signed(v) for v in values], "f = %{x:.4f}", orientation="h")
    figure.add_vline(x=0, line={"color": GREY, "width": 1})
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    return worded(
        figure,
        f"Decision values of the machines; class {short(predicted)} has the largest one"
        + ("." if true is None else f", the true class is {short(true)}."),
        "Each bar is the decision value f of one machine. Blue (above 0): for its class; orange (below 0): against "
        "its class. The class with the largest value is predicted.",
    )


def flips(values: np.ndarray) -> np.ndarray:
    """Steps (m,) at which the class with the largest of the values (t, k) is another than at the step before."""
    won = values.argmax(axis=1)
    return np.flatnonzero(won[1:] != won[:-1]) + 1


def decision_trail(values: np.ndarray, classes: Sequence, places: Sequence[str]) -> go.Figure:
    """f of two classes along t nudges, values (t, k): the class that won at first, and the one that won or came next
    in the end. Each change of the winner is marked. places (t,): where the digit was."""
    won, changed = values.argmax(axis=1), flips(values)
    first, last = int(won[0]), int(won[-1])
    other = last if last != first else int(np.argsort(values[-1])[-2])
    figure = bare("nudge", "f", height=HEIGHT, margin_r=40)
    how = {"width": 2, "points": True, "marker_size": 5, "customdata": [in_figure(place, 60) for place in places]}
    for c, colour in ((first, BLUE), (other, ORANGE)):
        name, told = in_figure(classes[c], 12), "f = %{y:.3f}, %{customdata}"
        line(figure, np.arange(len(values)), values[:, c], colour, told, of=name, **how)
        above = values[-1, c] == values[-1, [first, other]].max()
        where = {"xanchor": "left", "xshift": 6, "yshift": 6 if above else -6}
        note(figure, len(values) - 1, values[-1, c], name, colour, **where)
    for step in changed if len(changed) <= MARKED else ():
        text = f"{in_figure(classes[won[step - 1]], 9)} → {in_figure(classes[won[step]], 9)}"
        note(figure, step - 0.5, 1, text, yref="paper", yanchor="bottom")
    marks = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"dash": "dot", "color": GREY}}
    figure.update_layout(shapes=[marks | {"x0": step - 0.5, "x1": step - 0.5} for step in changed])
    figure.update_xaxes(dtick=max(1, len(values) // 6), rangemode="tozero")
    said = "; ".join(
        f"{short(classes[won[s - 1]], 9)} → {short(classes[won[s]], 9)} at nudge {s}" for s in changed[-MARKED:]
    )
    often = f" {len(changed)} times, most recently" if len(changed) > MARKED else ""
    return worded(
        figure,
        f"Decision values of classes {short(classes[first])} and {short(classes[other])} along {len(values) - 1} "
        f"nudges; the prediction flipped {many(len(changed), 'time')}.",
        f"The prediction flipped{often}: {said}." if said else "The prediction has not flipped yet.",
    )
