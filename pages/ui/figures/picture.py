"""A picture with what was found on it as a PNG of its own size, in the encoding of `pages.ui.kit.viewer`."""

import io
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw

from pages.ui.kit.viewer import ALARM, MISSED, Mark

CIRCLE = np.linspace(0, 2 * np.pi, 33)
CROSS = 5  # half a cross, in pixels


def picture_png(image: np.ndarray, marks: Sequence[Mark], shape: str = "box") -> bytes:
    """The picture (h, w) or (h, w, 3) uint8 with its marks, as a PNG."""
    canvas = Image.fromarray(image).convert("RGB")
    pen = ImageDraw.Draw(canvas)
    for mark in marks:
        if mark.kind == ALARM:
            x, y = (mark.box[0] + mark.box[2]) / 2, (mark.box[1] + mark.box[3]) / 2
            pen.line([(x - CROSS, y - CROSS), (x + CROSS, y + CROSS)], mark.rgb, 2)
            pen.line([(x - CROSS, y + CROSS), (x + CROSS, y - CROSS)], mark.rgb, 2)
        if mark.kind != ALARM or shape != "circle":
            _outlined(pen, mark, shape)
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


def _outlined(pen: ImageDraw.ImageDraw, mark: Mark, shape: str) -> None:
    width, points = round(mark.width), outline(mark.box, shape)
    if mark.kind != MISSED:
        pen.line([tuple(point) for point in points], mark.rgb, width, joint="curve")
        return
    fine = [np.linspace(a, b, max(1, round(np.hypot(*(b - a)) / 2)), endpoint=False) for a, b in pairwise(points)]
    fine = np.concatenate(fine)  # every two pixels; three steps in five are drawn
    for start in range(0, len(fine), 5):
        pen.line([tuple(point) for point in fine[start : start + 4]], mark.rgb, width)
