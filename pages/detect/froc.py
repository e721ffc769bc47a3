"""Free-response curves and outputs of a detector, as pure functions from numbers to Plotly figures.

x   false alarms over all pictures together, divided by `per`: the number of pictures, or the area searched
y   share of the objects that count that is found

On a log axis a point without false alarms stands where half of one would.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.frame import bare, log_ticks, worded
from pages.ui.figures.traces import LEGEND, bars, beside, dots, line, note
from pages.ui.kit.palette import BLUE, CLASS_COLOURS, GREY, ORANGE
from pages.ui.kit.words import in_figure
from svmcore.detection.curve import Band, OperatingPoint

TALL = 420
BANDED = "rgba(0,114,178,0.14)"
DASHES = ("dash", "dot", "dashdot")  # of the rivals, which are grey
STROKES = {"dash": "╌╌ ", "dot": "··· ", "dashdot": "╌· "}  # before their names
OTHERS = ("#009E73", "#CC79A7", "#E69F00", "#56B4E9")
CLOSE = 6  # pixels: of two points that are less than half of it away Plotly takes the later one, not the nearer
APART = 0.055  # of the axis, between two names of curves
BINS = 60
BLUES = ("#003B5C", BLUE, "#3D9BD1", "#8CC3E6")  # of categories, the surest first


class Line(NamedTuple):
    """One machine's curve. kind: "own", "rival" or "other" (another run)."""

    name: str
    kind: str
    band: Band
    zero: OperatingPoint | None = None  # offset 0, for machines that have one

    @property
    def banded(self) -> bool:
        """Whether it is drawn with its interval, which one test picture alone does not have."""
        return self.kind == "own" and bool(np.isfinite(self.band.low).any())


def froc_figure(
    lines: Sequence[Line],
    *,
    per: float,
    unit: str,
    log: bool = True,
    ceiling: float | None = None,
    now: tuple[float, float] | None = None,
    choices: Sequence[tuple[str, int, float]] = (),
    chosen: int = 0,
    points: Sequence[OperatingPoint] = (),
) -> go.Figure:
    """Detection rate against false alarms for each machine, the first of them with its bootstrap band.

    ceiling: the rate that the candidates allow.  now: (false alarms over all pictures, rate) of the operating point.
    choices: (text, false alarms, rate) of the points on line `chosen` that a click may choose; it reports the text as
    `customdata`.  points: one of each of several machines, joined by a line.
    """
    figure = bare(f"false alarms per {unit}", "detection rate (recall)", height=TALL, hovermode="closest")
    most = max((line.band.alarms.max(initial=1) for line in lines), default=1.0)

    def x(alarms):
        return np.maximum(alarms, 0.5 if log else 0.0) / per

    for at, (one, style) in enumerate(zip(lines, _styles(lines))):
        _curve(figure, one, style, x, per, unit, told=not choices or at != chosen)
    if ceiling is not None:
        figure.add_hline(y=ceiling, line={"dash": "dash", "color": GREY, "width": 1})
        where = {"xref": "paper", "xanchor": "left", "yanchor": "bottom"}
        note(figure, 0, ceiling, f"upper limit {ceiling:.2f}", **where)
    if points:
        alarms, rates = zip(*((p.alarms, p.rate) for p in points), strict=True)
        line(figure, x(np.array(alarms, float)), rates, ORANGE, width=2, dash="dot")
    _zeros(figure, lines, x)
    if choices:
        _choices(figure, choices, x, per, unit)
    if now is not None:
        look = {"size": 13, "color": BLUE, "line": {"color": "white", "width": 2}}
        dots(figure, [float(x(now[0]))], [now[1]], look, cliponaxis=False)
    _axes(figure, log, most, per)
    _names(figure, lines, list(_styles(lines)))
    best = lines[0] if lines else None
    reach = ""
    if best is not None:
        reach = f" The curve of {best.name} ends at a rate of {best.band.rate[-1]:.2f}, "
        reach += f"the axis at {most / per:.3g} false alarms per {unit}."
    return worded(
        figure,
        f"Detection rate of {len(lines)} machines against false alarms per {unit}.{reach}",
        "Further up, more objects are detected; further left, there are fewer false alarms. The dot is the operating "
        "point; click the curve to move the dot. A diamond is offset 0, the threshold for which a machine was trained. "
        + ("Shaded: the 95 % interval (bootstrap over pictures). " if any(line.banded for line in lines) else "")
        + "The horizontal dashed line is the upper limit: the share of objects that some candidate covers."
        + (" The dotted line joins machines that were each trained for one operating point." if points else ""),
    )


def category_figure(lines: Sequence[Line], *, per: float, unit: str, log: bool = True) -> go.Figure:
    """One machine's curve for the objects of each category of confidence."""
    figure = bare(f"false alarms per {unit}", "detection rate (recall)", height=320, hovermode="closest")
    styles = [{"colour": BLUES[min(at, 3)], "width": 3.4 - 0.7 * min(at, 3)} for at in range(len(lines))]
    for one, style in zip(lines, styles):
        _curve(figure, one._replace(kind="other"), style, lambda a: np.maximum(a, 0.5 if log else 0.0) / per, per, unit)
    _axes(figure, log, max((line.band.alarms.max(initial=1) for line in lines), default=1.0), per)
    _names(figure, lines, styles)
    return worded(
        figure,
        f"Detection rate against false alarms per {unit}, for each of {len(lines)} categories of labels.",
        "The darker and thicker a curve, the lower the number of its category. Each curve counts the objects of one "
        "category; the false alarms are the same for all curves.",
    )


def outputs_figure(
    f: np.ndarray, is_hit: np.ndarray, threshold: float, name: str = "f", noun: str = "object", note: str = "",
    others: Sequence[tuple[str, np.ndarray, np.ndarray]] = (),
) -> go.Figure:  # fmt: skip
    """Histograms of the scores of candidates that cover an object and of those that cover none, with the threshold.

    others: (name, f, is_hit) of other machines, drawn as lines over them.
    """
    figure = bare("score", "candidates", height=240, barmode="overlay", bargap=0, yaxis_type="log")
    every = np.concatenate([f, *(of_other for _, of_other, _ in others)])
    low, high = (float(every.min()), float(every.max())) if len(every) else (-1.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    for chosen, word, colour in ((~is_hit, f"no {noun}", ORANGE), (is_hit, noun, BLUE)):
        counts, _ = np.histogram(f[chosen], edges)
        bars(figure, middle, counts, colour, "%{y:,} with scores near %{x:.3g}", of=word, opacity=0.65, name=word)
    for (other, scores, hits), dash in zip(others, ("solid", *DASHES), strict=False):
        for chosen, word, colour in ((~hits, f"no {noun}", ORANGE), (hits, noun, BLUE)):
            counts, _ = np.histogram(scores[chosen], edges)
            look = {"width": 1.8, "shape": "hvh", "dash": dash, "of": f"{in_figure(other)}: {word}"}
            how = {"name": in_figure(other), "showlegend": chosen is hits}
            y = np.where(counts, counts, np.nan)
            line(figure, middle, y, colour, "%{y:,} with scores near %{x:.3g}", **how, **look)
    if np.isfinite(threshold):
        figure.add_vline(x=threshold, line={"color": GREY, "width": 2})
    figure.update_layout(showlegend=True, legend=LEGEND | {"y": 1.16})
    highest = max(1, *(int(np.nan_to_num(drawn.y).max()) for drawn in figure.data))
    figure.update_yaxes(range=[np.log10(0.8), np.log10(1.2 * highest)], **log_ticks(1, highest))
    halves = [f"{np.median(np.abs(g)):.2g} for {who}" for who, g in ((name, f), *(o[:2] for o in others)) if len(g)]
    medians = f" The median distance of the scores from 0 is {' and '.join(halves)}." if halves else ""
    lines = " The coloured lines are the scores of the other machines." if others else ""
    return worded(
        figure,
        f"Histogram of the scores of {len(f):,} candidates, {int(is_hit.sum()):,} of them on a {noun}.",
        f"Scores of {name} for all {len(f):,} candidates. The grey line is the threshold.{lines}"
        f"{medians}{note and f' {note}'}",
    )


def _styles(lines):
    """Colour, width and dash: the run's machine blue and bold, rivals grey and broken, other runs in hues."""
    rivals, others = iter(DASHES * 4), iter((OTHERS + CLASS_COLOURS) * 4)
    for one in lines:
        if one.kind == "own":
            yield {"colour": BLUE, "width": 3}
        elif one.kind == "rival":
            yield {"colour": GREY, "width": 1.8, "dash": next(rivals)}
        else:
            yield {"colour": next(others), "width": 2.2}


def _curve(figure, of, style, x, per, unit, told=True):
    """One machine's line; not told: its numbers are told by the points that lie on it for clicks."""
    band = of.band
    if of.banded:
        figure.add_scatter(
            x=np.concatenate([x(band.alarms), x(band.alarms)[::-1]]),
            y=np.concatenate([band.high, band.low[::-1]]),
            fill="toself", fillcolor=BANDED, line={"width": 0}, mode="lines", hoverinfo="skip",
        )  # fmt: skip
    said, how = "", {}
    if told:
        said = f"%{{y:.3f}} detected, %{{customdata[0]:,}} false alarms, %{{customdata[1]:.3g}} per {unit}"
        how = {"customdata": np.column_stack([band.alarms, band.alarms / per])}
    line(figure, x(band.alarms), band.rate, told=said, of=in_figure(of.name), shape="hv", **style, **how)


def _choices(figure, choices, x, per, unit):
    """Unseen points that take clicks and tell the curve's numbers."""
    texts, counts, rates = zip(*choices)
    unseen = {"marker": {"opacity": 0}}
    figure.add_scatter(
        x=x(np.array(counts, float)), y=rates, mode="markers", marker={"size": CLOSE, "opacity": 0, "color": BLUE},
        hovertext=[f"{rate:.3f} detected, {k:,} false alarms, {k / per:.3g} per {unit}" for _, k, rate in choices],
        hoverinfo="text", customdata=texts, selected=unseen, unselected=unseen,
    )  # fmt: skip


def _zeros(figure, lines, x):
    """Diamonds at offset 0."""
    for of, style in zip(lines, _styles(lines)):
        if of.zero is not None and np.isfinite(of.zero.rate):
            look = {"symbol": "diamond-open", "size": 12, "color": style["colour"], "line": {"width": 2}}
            told = f"offset 0: %{{y:.3f}} detected, {of.zero.alarms:,} false alarms"
            dots(
                figure, [float(x(of.zero.alarms))], [of.zero.rate], look, told, of=in_figure(of.name), cliponaxis=False
            )


def _axes(figure, log, most, per):
    if log:
        low, high = 0.5 / per, max(most, 1.0) / per
        figure.update_xaxes(type="log", range=[np.log10(low) - 0.05, np.log10(high) + 0.05], dtick=1)
    else:
        figure.update_xaxes(range=[0, max(most, 1.0) / per])
    figure.update_yaxes(range=[0, 1.03])


def _names(figure, lines, styles):
    """The name of each curve at its right end, pushed apart where they would cover one another."""
    ends = [(round(float(line.band.rate[-1]), 2), float(line.band.rate.mean()), at) for at, line in enumerate(lines)]
    roof = 1.0 + APART
    for rate, _, at in sorted(ends, reverse=True):
        y = roof = min(rate if np.isfinite(rate) else 0.0, roof - APART)
        text = STROKES.get(styles[at].get("dash"), "") + in_figure(lines[at].name, 18)
        beside(figure, y, text, styles[at]["colour"])
