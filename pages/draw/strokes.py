"""Strokes between the canvas, the address and the library: small texts, never trusted.

    strokes = b64url( for each stroke: k, x1, y1, ..., xk, yk )        one byte each, k from 1 to 255, no padding

A stroke is thinned to the corners that it needs (Ramer, Douglas and Peucker, within TOLERANCE of the canvas's 256), so
that a digit takes about a hundred characters.
"""

import base64
import binascii
import re
from collections.abc import Sequence

import numpy as np
from skimage.measure import approximate_polygon

from svmcore.preprocess.drawn import SIDE

LONGEST = 1500  # characters of a drawing that is part of an address
MOST_STROKES, MOST_NUMBERS = 200, 20_000  # that a browser may send
TOLERANCE = 1.0
PEN, THINNEST, THICKEST = 20, 6, 48  # width on the canvas
FOUR = (((168, 40), (84, 152), (196, 152)), ((160, 92), (154, 224)))  # the page's own example

Strokes = tuple[np.ndarray, ...]  # each (k, 2) int64, as (x, y)


def pack(strokes: Sequence) -> str:
    """The text of strokes (k, 2) of whole numbers from 0 to 255; those of more than 255 points are split."""
    parts = []
    for stroke in strokes:
        points = np.asarray(stroke, np.int64).reshape(-1, 2)
        for start in range(0, max(len(points) - 1, 1), 254):
            piece = points[start : start + 255].astype(np.uint8)
            parts.append(bytes([len(piece)]) + piece.tobytes())
    return base64.urlsafe_b64encode(b"".join(parts)).decode().rstrip("=")


def unpack(text: str) -> Strokes:
    """The strokes of a text. ValueError, saying why, for any other text."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        raise ValueError("it has characters other than letters, digits, - and _")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("it is incomplete") from None
    strokes, at = [], 0
    while at < len(data):
        k = data[at]
        points = np.frombuffer(data[at + 1 : at + 1 + 2 * k], np.uint8)
        if k == 0 or len(points) != 2 * k:
            raise ValueError("it is incomplete" if k else "it has a stroke without points")
        strokes.append(points.reshape(k, 2).astype(np.int64))
        at += 1 + 2 * k
    if len(strokes) > MOST_STROKES:
        raise ValueError(f"it has more than {MOST_STROKES} strokes")
    return tuple(strokes)


def sent(value: object) -> Strokes:
    """The strokes that a browser sent, [[x1, y1, x2, y2, ...], ...], thinned. ValueError for anything else."""
    if not isinstance(value, list) or len(value) > MOST_STROKES or not all(isinstance(s, list) for s in value):
        raise ValueError(f"the canvas did not send a list of at most {MOST_STROKES} strokes")
    if sum(map(len, value)) > MOST_NUMBERS:
        raise ValueError(f"the drawing has more than {MOST_NUMBERS // 2:,} points")
    strokes = []
    for stroke in value:
        if not stroke or len(stroke) % 2 or not all(type(n) is int and 0 <= n < SIDE for n in stroke):
            raise ValueError("the canvas sent a stroke that is not a list of points on the canvas")
        strokes.append(thinned(np.array(stroke, np.int64).reshape(-1, 2)))
    return tuple(strokes)


def thinned(points: np.ndarray) -> np.ndarray:
    """A stroke (k, 2) with the corners alone that it needs."""
    return approximate_polygon(points, TOLERANCE).astype(np.int64) if len(points) > 2 else points
