"""A picture that zooms and pans, with marks on it; moving a threshold changes the marks and leaves the view alone.

    Mark    one thing on the picture: an object found or missed, a false alarm, a window with its score

One encoding: blue outline = found, dashed outline = missed, orange cross = false alarm; the surer a label (category 1
is the surest), the thicker its outline. Coordinates are pixels of the picture, y downwards. Blue and orange are lighter
than on paper, as pictures are dark. A Plotly figure would forget its zoom with every change of its marks.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from pages.ui.kit.component import component, heard
from pages.ui.kit.text import many

FOUND, MISSED, ALARM = "found", "missed", "false alarm"
WIDTHS = {1: 3.5, 2: 2.6, 3: 1.8, 4: 1.2}  # of an outline, in screen pixels, by category
THIN = 1.2
SMALLEST = 4  # pixels of the picture, of a square that is drawn
FOUND_RGB, ALARM_RGB = (86, 180, 233), (255, 140, 40)
HOW = "Scroll or press + to zoom, drag to pan, double-click for the whole picture. Arrow keys go from mark to mark."


class Mark(NamedTuple):
    """One thing marked on a picture. ref: what a click reports, empty for nothing; note: written beside it."""

    kind: str  # FOUND, MISSED or ALARM
    box: tuple[float, float, float, float]  # xmin ymin xmax ymax
    category: int = 1
    ref: str = ""
    text: str = ""  # read out, shown on hover
    note: str = ""

    @property
    def width(self) -> float:
        """Of its outline."""
        return THIN if self.kind == ALARM else WIDTHS.get(self.category, THIN)

    @property
    def rgb(self) -> tuple[int, int, int]:
        return ALARM_RGB if self.kind == ALARM else FOUND_RGB


def viewer(
    source: str,
    size: tuple[int, int],
    marks: Sequence[Mark],
    *,
    name: str,
    shape: str,
    key: str,
    alt: str,
    on_pick: Callable[[str], None] | None = None,
    on_square: Callable[[tuple[float, float, float, float]], None] | None = None,
    draws: str = "",
) -> None:
    """Draw the picture at `source` (a URI), size (h, w) pixels, with its marks.

    name: the view lasts until another name is drawn. shape: "circle" or "box", how objects are outlined. A click on a
    mark with a reference calls `on_pick(ref)` and draws the page anew. draws: the label of a
    button that the browser has; while it is pressed, a drag draws a square instead of moving the picture, and calls
    `on_square` with (xmin, ymin, xmax, ymax).
    """
    _component(
        data={
            "source": source,
            "height": int(size[0]),
            "width": int(size[1]),
            "name": name,
            "alt": alt,
            "draws": draws,
            "marks": [_drawn(mark, shape) for mark in marks],
        },
        key=key,
        on_picked_change=heard(key, "picked", partial(_then, on_pick)),
        on_square_change=heard(key, "square", partial(_then, on_square and partial(_square, size, on_square))),
    )


def counted(marks: Sequence[Mark]) -> str:
    """`19 found, 15 missed, 5 false alarms`."""
    n = {kind: sum(mark.kind == kind for mark in marks) for kind in (FOUND, MISSED, ALARM)}
    return f"{n[FOUND]} detected, {n[MISSED]} missed, {many(n[ALARM], 'false alarm')}"


def _drawn(mark: Mark, shape: str) -> dict:
    """A mark as the browser draws it. A false alarm among circles is a cross alone."""
    x0, y0, x1, y1 = (round(float(edge), 1) for edge in mark.box)
    cross = mark.kind == ALARM
    return {
        "shape": "" if cross and shape == "circle" else shape,
        "box": [x0, y0, x1, y1],
        "colour": "rgb({},{},{})".format(*mark.rgb),
        "width": mark.width,
        "dashed": mark.kind == MISSED,
        "halo": mark.kind == FOUND,
        "cross": cross,
        "ref": mark.ref,
        "text": mark.text,
        "note": mark.note,
    }


def _square(size: tuple[int, int], on_square: Callable, edges: Sequence) -> None:
    """Hand on what a browser says that was drawn, if it is a square on the picture that can be seen."""
    limits = [size[1], size[0], size[1], size[0]]
    x0, y0, x1, y1 = (min(max(float(edge), 0.0), limit) for edge, limit in zip(edges, limits, strict=True))
    if min(x1 - x0, y1 - y0) >= SMALLEST:
        on_square((x0, y0, x1, y1))


def _then(then: Callable | None, said) -> None:
    if then is not None:
        then(said)
        st.rerun()


_component = component(__file__, "viewer", '<div class="viewer"></div>', first=("svg",))
