"""Training sets in the plane before and after editing, as pure functions from numbers to Plotly figures.

X (n, 2), y (n,) +-1; role (n,): codes of svmcore.methods.editing.roles, what became of each example
One encoding in all: class by colour and shape, as everywhere; x thrown away on the wrong side, a small dot thrown away
as easy, diamond put back, pale grey what is not meant.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.frame import bare, worded
from pages.ui.figures.maps import Field, level, sides
from pages.ui.figures.traces import dots, ring
from pages.ui.kit.palette import CLASS_COLOURS, CLASS_SYMBOLS, FAINT, GREY
from pages.ui.kit.text import many
from svmcore.methods.editing import roles

TALL, LARGE, SMALL = 460, 330, 210  # heights
THROWN = (roles.WRONG_SIDE, roles.EASY)
MARKS = {  # role -> how its examples are drawn
    roles.WRONG_SIDE: {"symbol": "x", "size": 8},
    roles.EASY: {"size": 4, "opacity": 0.75},
    roles.REINSERTED: {"symbol": "diamond-open", "size": 9},
    roles.VALIDATION: {"symbol": "square-open", "size": 5, "color": GREY},
}


def left(role: np.ndarray) -> np.ndarray:
    """The rows that the final machine trains on."""
    return roles.Edited.of(role).kept


class Points(NamedTuple):
    """A training set of two classes, +1 and -1."""

    X: np.ndarray
    y: np.ndarray
    names: Sequence[str]  # of -1 and +1


def all_of_them(points: Points, field: Field, support: np.ndarray, bound: np.ndarray) -> go.Figure:
    """Every example with the plain machine; support, bound: rows of its support vectors."""
    figure = _machine(points, np.arange(len(points.y)), field, support, bound)
    return worded(
        figure,
        f"{len(points.y)} points of two classes with the line of the plain machine and its {len(support)} support "
        "vectors.",
        f"All {len(points.y):,} points. Rings mark the {len(support):,} support vectors of the plain machine. Line: "
        "f = 0; dotted: f = ±1.",
    )


def thrown_away(points: Points, role: np.ndarray, picked: int = -1) -> go.Figure:
    """The discarded examples, marked by reason; kept ones in grey. A click reports the row; picked: the one ringed."""
    figure = _plane(points, LARGE).update_layout(clickmode="event+select")
    _thrown(figure, points, role)
    counts = np.bincount(role, minlength=len(roles.TITLES))
    thrown = ", ".join(f"{counts[code]:,} {roles.TITLES[code]}" for code in MARKS if counts[code])
    marks = {roles.WRONG_SIDE: "crosses (wrong side)", roles.EASY: "small dots (easy)"}
    there = [text for code, text in marks.items() if counts[code]]
    discarded = f"Discarded: {', '.join(there)}" if there else "No point was discarded"
    if 0 <= picked < len(role):
        ring(figure, points.X[picked, 0], points.X[picked, 1])
    return worded(
        figure,
        f"What editing did with {len(role)} points: {thrown or 'it kept all of them'}.",
        f"{discarded}. Grey: kept."
        + (" Diamonds: reinserted." if (role == roles.REINSERTED).any() else "")
        + (" Squares: only used to choose settings." if (role == roles.VALIDATION).any() else ""),
    )


def what_is_left(
    points: Points, role: np.ndarray, field: Field, plain: Field, support: np.ndarray, bound: np.ndarray
) -> go.Figure:
    """The examples that were kept with the machine trained on them; dashed: the line of the plain machine."""
    kept = left(role)
    figure = _machine(points, kept, field, support, bound, plain)
    return worded(
        figure,
        f"The {len(kept)} points that were kept, and the line of the machine trained on them, with {len(support)} "
        "support vectors. Dashed: the line of the plain machine.",
        f"The {len(kept):,} points that were kept, with the machine trained on them. Rings mark the {len(support):,} "
        "support vectors of this machine. The dashed line is that of the plain machine, which was trained on all "
        "points.",
    )


def one_kind(points: Points, rows: np.ndarray, kind: str) -> go.Figure:
    """Some of the examples, called `kind`, among all the others in grey. A click reports the row."""
    figure = _plane(points, TALL).update_layout(clickmode="event+select")
    others = np.setdiff1d(np.arange(len(points.y)), rows)
    _scatter(figure, points, others, {"color": FAINT, "size": 4, "opacity": 0.6}, "another kind")
    _classes(figure, points, rows)
    return worded(
        figure,
        f"{many(len(rows), 'point')} of the kind “{kind}” among {many(len(others), 'point')} of other kinds.",
        f"{many(len(rows), 'point')} of the kind “{kind}”. Grey: the {many(len(others), 'point')} of other kinds. "
        "Click a point to open it.",
    )


def side_by_side(points: Points, role: np.ndarray, field: Field, plain: Field, title: str) -> go.Figure:
    """A small plane for one of several rules: what it left in full, what it threw away pale, both lines."""
    figure = _plane(points, SMALL, ticks=False)
    _thrown(figure, points, role, pale=True)
    _classes(figure, points, left(role), size=5)
    level(figure, plain, 0, dash="dash", width=1.5)
    level(figure, field, 0)
    alt = f"{title}: {len(left(role))} of {len(role)} points are kept, with the line of the machine trained on them."
    return worded(figure, alt, "")


def _machine(
    points: Points, rows: np.ndarray, field: Field, support: np.ndarray, bound: np.ndarray, plain: Field | None = None
) -> go.Figure:
    """Some examples with a machine: sides, line, margins, support vectors ringed (twice at C), the plain line."""
    figure = _plane(points, LARGE)
    sides(figure, field, opacity=0.6)
    _classes(figure, points, rows)
    if plain:
        level(figure, plain, 0, dash="dash", width=2)
    for at, dash, width in ((-1, "dot", 1), (1, "dot", 1), (0, "solid", 2.5)):
        level(figure, field, at, dash=dash, width=width)
    for ringed, size in ((support, 9), (bound, 12)):
        look = {"symbol": "circle-open", "size": size, "color": GREY, "line": {"width": 0.8}}
        dots(figure, *points.X[ringed].T, look)
    return figure


def _plane(points: Points, height: int, ticks: bool = True) -> go.Figure:
    """An empty plane; all of one training set show the same part of it."""
    figure = bare("x₁" if ticks else None, "x₂" if ticks else None, height=height, hovermode="closest")
    low, high = points.X.min(axis=0), points.X.max(axis=0)
    room = 0.06 * (high - low) + 1e-6
    for axis, a, b in zip((figure.update_xaxes, figure.update_yaxes), low - room, high + room, strict=True):
        axis(range=[float(a), float(b)], showticklabels=ticks, zeroline=False)
    return figure


def _classes(figure: go.Figure, points: Points, rows: np.ndarray, size: int = 6) -> None:
    for at, sign in enumerate((-1, 1)):
        own = rows[points.y[rows] == sign]
        _scatter(figure, points, own, {"color": CLASS_COLOURS[at], "symbol": CLASS_SYMBOLS[at], "size": size},
                 f"class {points.names[at]}")  # fmt: skip


def _thrown(figure: go.Figure, points: Points, role: np.ndarray, pale: bool = False) -> None:
    """Those thrown away in the colour of their class, marked by why; those kept in grey, or not at all."""
    if not pale:
        kept = np.flatnonzero(role == roles.KEPT)
        _scatter(figure, points, kept, {"color": FAINT, "size": 5, "opacity": 0.6}, "kept")
    for code, mark in MARKS.items():
        if pale and code not in THROWN:
            continue
        for at, sign in enumerate((-1, 1)):
            own = np.flatnonzero((role == code) & (points.y == sign))
            look = {"color": CLASS_COLOURS[at]} | mark | ({"opacity": 0.4} if pale else {})
            _scatter(figure, points, own, look, f"class {points.names[at]}, {roles.TITLES[code]}")


def _scatter(figure: go.Figure, points: Points, rows: np.ndarray, marker: dict, name: str) -> None:
    if len(rows):
        opacity = marker.get("opacity", 1)
        dots(
            figure, *points.X[rows].T, marker, f"point %{{customdata}}: {name}", customdata=rows,
            unselected={"marker": {"opacity": opacity}},
        )  # fmt: skip
