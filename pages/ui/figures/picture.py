"""A picture with what was found on it, as pure functions: a Plotly figure that zooms and pans, and a PNG.

One encoding in both: blue outline = object found, dashed outline = object missed, orange cross = false alarm; the
surer a label (category 1 is the surest), the thicker its outline. Coordinates are pixels of the picture, y downwards.
"""

import io
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from PIL import Image, ImageDraw

from pages.ui.figures.frame import bare, worded
from pages.ui.kit.words import in_figure

FOUND, MISSED, ALARM = "found", "missed", "false alarm"
WIDTHS = {1: 3.5, 2: 2.6, 3: 1.8, 4: 1.2}  # of an outline, by category
THIN = 1.2
FOUND_RGB, ALARM_RGB = (86, 180, 233), (255, 140, 40)  # lighter than on paper: pictures are dark
HALO = "rgba(0,0,0,0.55)"
CIRCLE = np.linspace(0, 2 * np.pi, 33)


class Mark(NamedTuple):
    """One thing marked on a picture. ref: what a click reports; empty for nothing."""

    kind: str  # FOUND, MISSED or ALARM
    box: tuple[float, float, float, float]  # xmin ymin xmax ymax
    category: int = 1
    ref: str = ""
    text: str = ""


def picture_figure(
    source: str, size: tuple[int, int], marks: Sequence[Mark], *, name: str, shape: str = "box", height: int = 520
) -> go.Figure:
    """The picture at `source` (a URI), `size` = (h, w) pixels, with its marks; the view survives a change of marks."""
    figure = _canvas(source, size, name, height)
    for (kind, category), group in _grouped(marks).items():
        _outlines(figure, group, kind, category, shape)
    _handles(figure, marks)
    n = {kind: sum(mark.kind == kind for mark in marks) for kind in (FOUND, MISSED, ALARM)}
    counted = f"{n[FOUND]} found, {n[MISSED]} missed, {n[ALARM]} false alarms"
    return worded(
        figure,
        f"{name} with its objects: {counted}.",
        f"{name}: {counted}. Blue: found; dashed: missed; orange cross: false alarm; thicker: surer label. Scroll to "
        "zoom, drag to pan, double-click for the whole picture. Click a mark to see why.",
    )


def photograph_figure(source: str, size: tuple[int, int], boxes: np.ndarray, f: np.ndarray, noun: str) -> go.Figure:
    """A photograph at `source` (a URI), `size` = (h, w), with the boxes (m, 4) of what was found and their scores f."""
    figure = _canvas(source, size, source[-60:], 560)
    if len(boxes):
        _outlines(figure, [Mark(FOUND, tuple(box)) for box in boxes], FOUND, 2, "box")
    figure.add_scatter(
        x=boxes[:, 0],
        y=boxes[:, 1],
        mode="text",
        text=[f" {score:.2f}" for score in f],
        textposition="top right",
        textfont={"color": f"rgb{FOUND_RGB}", "size": 14, "shadow": "1px 1px 2px black, 0 0 4px black"},
        hoverinfo="skip",
    )
    n = f"{len(f)} window{'s' if len(f) != 1 else ''}"
    return worded(
        figure,
        f"The photograph with {n} taken for a {noun}.",
        f"Blue boxes: taken for a {noun}, with the machine's score f. Scroll to zoom, drag to pan.",
    )


def picture_png(image: np.ndarray, marks: Sequence[Mark], shape: str = "box") -> bytes:
    """The same picture and marks as a PNG of the picture's own size. image (h, w) or (h, w, 3) uint8."""
    canvas = Image.fromarray(image).convert("RGB")
    pen = ImageDraw.Draw(canvas)
    for mark in marks:
        colour = ALARM_RGB if mark.kind == ALARM else FOUND_RGB
        if mark.kind == ALARM:
            x, y, r = (mark.box[0] + mark.box[2]) / 2, (mark.box[1] + mark.box[3]) / 2, 5
            pen.line([(x - r, y - r), (x + r, y + r)], colour, 2)
            pen.line([(x - r, y + r), (x + r, y - r)], colour, 2)
            if shape == "circle":
                continue
        _drawn_outline(pen, mark, shape, colour)
    buffer = io.BytesIO()
    canvas.save(buffer, "png")
    return buffer.getvalue()


def outline(box: Sequence[float], shape: str) -> np.ndarray:
    """(n, 2) points x, y of the closed outline of a box, or of the ellipse inside it."""
    x0, y0, x1, y1 = box
    if shape == "circle":
        middle, half = ((x0 + x1) / 2, (y0 + y1) / 2), ((x1 - x0) / 2, (y1 - y0) / 2)
        return np.column_stack([middle[0] + half[0] * np.cos(CIRCLE), middle[1] + half[1] * np.sin(CIRCLE)])
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)])


def _canvas(source: str, size: tuple[int, int], name: str, height: int) -> go.Figure:
    """A figure that shows a picture, and zooms and pans; its view lasts as long as the name."""
    h, w = size
    figure = bare(None, None, height=height, hovermode="closest", clickmode="event+select", uirevision=name)
    figure.add_layout_image(
        source=source, x=0, y=0, sizex=w, sizey=h, xref="x", yref="y", yanchor="top", layer="below", sizing="stretch"
    )
    hidden = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": "", "fixedrange": False}
    figure.update_xaxes(range=[0, w], constrain="domain", **hidden)
    figure.update_yaxes(range=[h, 0], scaleanchor="x", constrain="domain", constraintoward="top", **hidden)
    figure.update_layout(dragmode="pan", margin={"l": 0, "r": 0, "t": 0, "b": 0})
    return figure


def _grouped(marks):
    """(kind, category) -> marks that are drawn alike."""
    groups = {}
    for mark in marks:
        groups.setdefault((mark.kind, 0 if mark.kind == ALARM else mark.category), []).append(mark)
    return groups


def _outlines(figure, group, kind, category, shape):
    """One trace for outlines drawn alike, over a dark halo; for false alarms in circles their cross says it all."""
    if kind == ALARM and shape == "circle":
        return
    gap = np.full((1, 2), np.nan)
    path = np.concatenate([part for mark in group for part in (outline(mark.box, shape), gap)])
    rgb = ALARM_RGB if kind == ALARM else FOUND_RGB
    width = THIN if kind == ALARM else WIDTHS.get(category, THIN)
    look = {"x": path[:, 0], "y": path[:, 1], "mode": "lines", "hoverinfo": "skip"}
    dash = {"dash": "4px,3px"} if kind == MISSED else {}
    if kind != MISSED:
        figure.add_scatter(**look, line={"color": HALO, "width": width + 2})
    figure.add_scatter(**look, line={"color": f"rgb{rgb}", "width": width, **dash})


def _handles(figure, marks):
    """A cross for each false alarm and an unseen spot for each object, which tell more and take clicks."""
    for kinds, marker in (
        ((ALARM,), {"symbol": "x-thin", "size": 9, "line": {"color": f"rgb{ALARM_RGB}", "width": 2}}),
        ((FOUND, MISSED), {"symbol": "circle", "size": 18, "opacity": 0}),
    ):
        chosen = [mark for mark in marks if mark.kind in kinds]
        opacity = {"marker": {"opacity": marker.get("opacity", 1)}}
        figure.add_scatter(
            x=[(mark.box[0] + mark.box[2]) / 2 for mark in chosen],
            y=[(mark.box[1] + mark.box[3]) / 2 for mark in chosen],
            mode="markers",
            marker=marker,
            customdata=[mark.ref for mark in chosen],
            hovertext=[in_figure(mark.text, 120) for mark in chosen],
            hoverinfo="text",
            selected=opacity,
            unselected=opacity,
        )


def _drawn_outline(pen, mark, shape, colour):
    width = round(THIN if mark.kind == ALARM else WIDTHS.get(mark.category, THIN))
    points = outline(mark.box, shape)
    if mark.kind != MISSED:
        pen.line([tuple(p) for p in points], colour, width, joint="curve")
        return
    fine = np.concatenate([np.linspace(a, b, 5, endpoint=False) for a, b in pairwise(points)])
    step = 2 if shape == "circle" else 1
    for a, b in zip(fine[:: 2 * step], fine[step :: 2 * step]):
        pen.line([tuple(a), tuple(b)], colour, width)
