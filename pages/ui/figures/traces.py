"""What figures are drawn of: lines, points, whiskers, words beside them.

told    what is said of a point on hover, in Plotly's words: "%{y:.2f} after %{x} s"; of what tells nothing it is empty
of      whose it is, beside what is told
"""

import re
from collections.abc import Iterable

import numpy as np
import plotly.graph_objects as go

from pages.ui.kit.palette import GREY

LETTER = 6.5  # pixels of a letter at the right of a figure, at most in the mean
LEGEND = {"orientation": "h", "x": 0, "y": 1.12}  # above the figure, clear of the camera


def line(
    figure: go.Figure, x, y, colour: str, told="", *, of="", width=2.5, dash=None, shape=None, points=False, **how
) -> None:
    """Points joined in their order, and seen as well where `points`. how: what else Plotly is told of the trace."""
    look = {"color": colour, "width": width, "dash": dash, "shape": shape}
    mode = "lines+markers" if points else "lines"
    figure.add_scatter(x=x, y=y, mode=mode, line=look, **hover(told, of), **how)


def dots(figure: go.Figure, x, y, marker: dict, told="", *, of="", **how) -> None:
    """Points alone."""
    figure.add_scatter(x=x, y=y, mode="markers", marker=marker, **hover(told, of), **how)


def bars(figure: go.Figure, x, y, colour, told: str, *, of="", opacity: float = 1, **how) -> None:
    """Bars of one colour, or of one each."""
    figure.add_bar(x=x, y=y, marker={"color": colour, "line_width": 0, "opacity": opacity}, **hover(told, of), **how)


def hover(told: str, of: str = "") -> dict:
    """What is said of a trace's points."""
    return {"hovertemplate": f"{told}<extra>{of}</extra>"} if told else {"hoverinfo": "skip"}


def whiskers(values: Iterable[float], low: Iterable[float], high: Iterable[float], **look) -> dict:
    """Error bars of values between ends."""
    values, low, high = (np.array(list(part), float) for part in (values, low, high))
    return {"type": "data", "symmetric": False, "array": high - values, "arrayminus": values - low, **look}


def intervals(results: Iterable[dict], **look) -> dict:
    """Error bars of the error rates of results, in per cent."""
    results = list(results)
    rates = [(r["error_rate"], *r["interval"]) for r in results]
    return whiskers(*(100 * np.array(rates).reshape(-1, 3).T), **look)


def note(figure: go.Figure, x, y, text: str, colour: str | None = None, **where) -> None:
    """Words at a place, which a log axis has by its exponent."""
    look = {"font": {"color": colour}} if colour else {}
    figure.add_annotation(x=x, y=y, text=text, showarrow=False, **look, **where)


def beside(figure: go.Figure, y: float, text: str, colour: str | None = None, xshift=4, **where) -> None:
    """Words at the right of the figure, at a height of the axis; the figure leaves room for them."""
    longest = max(map(len, re.sub("<(?!br)[^>]*>", "", text).split("<br>")))
    figure.layout.margin.r = max(figure.layout.margin.r or 0, xshift + LETTER * longest)
    note(figure, 1, y, text, colour, xref="paper", xanchor="left", xshift=xshift, **where)


def names(figure: go.Figure, ends: Iterable[tuple[float, str, str]], room: float) -> None:
    """Names at the right ends of lines, no two nearer than `room`. ends: (height on the axis, name, colour)."""
    below = -np.inf
    for at, name, colour in sorted(ends):
        below = max(at, below + room)
        beside(figure, below, name, colour, 6, align="left")


def ring(figure: go.Figure, x: float, y: float) -> None:
    """Around the point that is looked at."""
    dots(figure, [x], [y], {"symbol": "circle-open", "size": 18, "color": GREY, "line": {"width": 3}})
