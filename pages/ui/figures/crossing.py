"""Figures of cross-training, as pure functions from numbers to Plotly figures.

m, v (n,): mean and variance of the margins y f of an example over the machines of the first stage
Bakir, Bottou and Weston (2004), Algorithm 3: an example goes where m + v < 0 or m - v > 1; Figures 1, 3 and 4
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.edited import MARKS
from pages.ui.figures.frame import bare, log_ticks, worded
from pages.ui.figures.traces import dots, line, names, note, ring, whiskers
from pages.ui.kit.palette import BLUE, CLASS_COLOURS, CLASS_SYMBOLS, GREY, ORANGE
from pages.ui.kit.text import many, rounded
from pages.ui.kit.words import in_figure
from svmcore.methods.editing import roles

MOST = 4000  # examples that are drawn
INSIDE = (0.5, 99.5)  # per cent of the examples that the axes hold


def margins(
    mean: np.ndarray, variance: np.ndarray, role: np.ndarray, sign: np.ndarray, classes: Sequence[str], picked: int = -1
) -> go.Figure:
    """Margin mean against variance, with both cuts. sign (n,) +-1; classes: the names of -1 and +1; picked: the row
    ringed. A click reports the row."""
    figure = bare("margin mean m", "margin variance v", height=380, hovermode="closest", clickmode="event+select")
    shown = np.linspace(0, len(role) - 1, min(MOST, len(role))).round().astype(int)  # evenly over the training set
    for at, side in enumerate((-1, 1)):
        for code in (roles.KEPT, *MARKS):
            rows = shown[(role[shown] == code) & (sign[shown] == side)]
            if not len(rows):
                continue
            look = {"color": CLASS_COLOURS[at], "symbol": CLASS_SYMBOLS[at], "size": 5} | MARKS.get(code, {})
            dots(
                figure, mean[rows], variance[rows], look,
                f"%{{customdata}}: class {in_figure(classes[at])}, {roles.TITLES[code]}<br>m = %{{x:.3f}}, "
                "v = %{y:.3f}",
                customdata=rows, unselected={"marker": {"opacity": look.get("opacity", 1)}},
            )  # fmt: skip
    (left, right), top = _window(mean, variance)
    _cut(figure, "m + v = 0", (0, 0), (-top, top), left, right)
    _cut(figure, "m − v = 1", (1, 0), (1 + top, top), left, right)
    if 0 <= picked < len(mean):
        ring(figure, mean[picked], variance[picked])
    figure.update_xaxes(range=[left, right], zeroline=False)
    figure.update_yaxes(range=[-0.02 * top, top], zeroline=False)
    counts = np.bincount(role, minlength=len(roles.TITLES))
    outside = int(((mean < left) | (mean > right) | (variance > top)).sum())
    beyond = f" Not shown: {many(outside, 'example')} outside the axes." if outside else ""
    part = f" {len(shown):,} of the {len(role):,} examples are drawn." if len(shown) < len(role) else ""
    return worded(
        figure,
        f"Margin variance against margin mean of {len(role)} examples. Discarded beyond the two lines: "
        f"{counts[roles.WRONG_SIDE]} on the wrong side, {counts[roles.EASY]} easy.",
        "Left of the line m + v = 0, the machines agree that the label is wrong. Right of the line m − v = 1, they "
        "agree that the example is easy. Examples there are discarded, unless they are reinserted or only used to "
        "choose settings. Between the lines, the machines disagree, or agree that the example lies inside the margin."
        f"{beyond}{part}",
    )


class Line(NamedTuple):
    """One line of a growth figure: points (x, y), with what the whiskers span where it is the mean of several."""

    xs: Sequence[float]
    ys: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


LOOKS = (  # colour, symbol and dash of the lines, in their order: plain, edited, others
    (ORANGE, "square-open", "solid"),
    (BLUE, "circle", "solid"),
    (GREY, "diamond-open", "dash"),
    (CLASS_COLOURS[2], "triangle-up", "dash"),
    (CLASS_COLOURS[3], "cross", "dot"),
)


def growth(
    lines: Mapping[str, Line], x_title: str, y_title: str, *, law: tuple[str, Line] | None = None,
    now: float | None = None, log: bool = False, per_cent: bool = False, span: tuple[float, float] | None = None,
    log_x: bool = False,
) -> go.Figure:  # fmt: skip
    """What grows with n, with noise or with the overlap: a line for each machine, named at its end.

    law: the name and course of what theory says, dotted. now: the x that a slider stands at. log: of the y axis;
    per_cent: y is one. span: the x that the axis holds at least, before all points are known; log_x: of that axis.
    """
    figure = bare(x_title, y_title, hovermode="x", yaxis_type="log" if log else "linear")
    unit = " %" if per_cent else ""
    ends = []
    for (name, one), (colour, symbol, dash) in zip(lines.items(), LOOKS, strict=False):
        how = {"marker": {"symbol": symbol, "size": 8, "color": colour}}
        how |= {"error_y": whiskers(one.ys, one.low, one.high, thickness=1, width=3)} if len(one.low) else {}
        shown, told = _shown(one.ys, log), f"%{{y:,.4~g}}{unit}"
        line(figure, list(one.xs), shown, colour, told, of=in_figure(name), points=True, dash=dash, **how)
        ends.append((one.ys[-1], name, colour))
    if law:
        name, one = law
        line(figure, list(one.xs), _shown(one.ys, log), GREY, "%{y:,.0f}", of=in_figure(name), dash="dot", width=2)
        ends.append((one.ys[-1], name, GREY))
    if now is not None:
        figure.add_vline(x=now, line={"color": GREY, "width": 1, "dash": "dot"})
    if span and span[0] < span[1]:
        low, high = np.log10(span) if log_x else span
        room = 0.04 * (high - low)
        figure.update_xaxes(range=[low - room, high + room], **{"type": "log", "dtick": 1} if log_x else {})
    heights = [y for drawn in figure.data for y in drawn.y if y is not None]
    heights += [y for one in lines.values() for y in one.high]
    if heights:
        _y_axis(figure, ends, min(heights), max(heights), log)
    return figure


def growth_of_svs(
    lines: Mapping[str, Line], law: Line | None, x_title: str, bayes: str, kinds: str = "", **how
) -> go.Figure:
    """Support vectors along x beside Steinwart's law, where it is known, of the error B, which `bayes` tells; kinds:
    what the lines are; how: as in `growth`."""
    figure = growth(lines, x_title, "support vectors", law=("2 B n", law) if law else None, **how)
    return worded(
        figure,
        f"Support vectors against {x_title}, at the left and at the right end of each line. {ends(lines)}.",
        f"Support vectors at the left and at the right end of each line. {ends(lines)}. Dotted: Steinwart's law 2 B n, "
        f"where n is the number of training examples and B is {bayes}. "
        "The plain machine approaches this law when n is large."
        f"{kinds}",
    )


def ends(lines: Mapping[str, Line]) -> str:
    """`Plain 1,250 to 8,000; cross-trained 240 to 290`: both ends of each line."""
    told = [
        f"{name} {' to '.join(dict.fromkeys(rounded(y) for y in (one.ys[0], one.ys[-1])))}"
        for name, one in lines.items()
    ]
    said = "; ".join(told)
    return said[:1].upper() + said[1:]


def _shown(ys: Sequence[float], log: bool) -> list[float | None]:
    """Heights as they are drawn: a log axis has no place for 0."""
    return [None if log and y <= 0 else y for y in ys]


def _y_axis(figure: go.Figure, ends: list, low: float, high: float, log: bool) -> None:
    """The axis, and the names at the right ends of the lines, apart from each other. ends: (height, name, colour)."""
    if log:
        figure.update_yaxes(**log_ticks(low, high))
        low, high = np.log10(low), np.log10(high)
    else:
        figure.update_yaxes(rangemode="tozero")
        low = min(low, 0.0)
    heights = [low if log and y <= 0 else np.log10(y) if log else y for y, _, _ in ends]
    places = [(at, in_figure(name, 24), colour) for at, (_, name, colour) in zip(heights, ends, strict=True)]
    names(figure, places, 0.11 * max(high - low, 1e-9))


def _window(mean: np.ndarray, variance: np.ndarray) -> tuple[tuple[float, float], float]:
    """The part of the axes that holds nearly all examples, and the two points (0, 0) and (1, 0)."""
    low, high = np.percentile(mean, INSIDE)
    room = 0.05 * max(high - low, 1.0)
    return (float(min(low, -0.3) - room), float(max(high, 1.3) + room)), float(max(np.percentile(variance, 99), 0.05))


def _cut(figure: go.Figure, name: str, start, end, left: float, right: float) -> None:
    """One of the lines, named where it leaves the picture."""
    line(figure, *zip(start, end, strict=True), GREY, dash="dash", width=1.5)
    slope = 1 if end[0] > start[0] else -1
    reach = min(end[1], right - start[0] if slope > 0 else start[0] - left)
    where = {"yanchor": "bottom", "xanchor": "right" if slope > 0 else "left", "xshift": -8 * slope}
    note(figure, start[0] + slope * reach, reach, name, **where)
