"""The canvas that a digit is drawn on, and the pad by which a prepared digit is nudged: two inline components.

What they send is checked by `strokes.sent` and `nudges.moved`; the page owns what is drawn, and `edition` counts the
times that it was changed by anything but the canvas, which then takes it over.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from pages.ui.draw.nudges import LIMITS, STEP, Nudge
from pages.ui.draw.strokes import MOST_NUMBERS, MOST_STROKES, THICKEST, THINNEST, Strokes
from pages.ui.kit.component import component
from pages.ui.kit.gallery import data_uri
from svmcore.preprocess.drawn import SIDE

ALT = (
    "Canvas. Draw with mouse, finger or pen; or move the cross with the arrow keys and lift the pen with the space bar."
)


def canvas(strokes: Strokes, pen: int, edition: int, *, key: str, on_drawn: Callable[[dict], None]) -> None:
    """Draw the canvas; at the end of each stroke, and after undo and clear, `on_drawn({"strokes", "pen"})`."""
    _canvas(
        data={
            "strokes": [stroke.ravel().tolist() for stroke in strokes],
            "pen": pen,
            "edition": edition,
            "side": SIDE,
            "thinnest": THINNEST,
            "thickest": THICKEST,
            "mostStrokes": MOST_STROKES,
            "mostNumbers": MOST_NUMBERS,
            "alt": ALT,
        },
        key=key,
        on_drawn_change=partial(_tell, key, "drawn", on_drawn),
    )


def pad(picture: np.ndarray | None, at: Nudge, *, key: str, alt: str, on_moved: Callable[[object], None]) -> None:
    """Draw a picture (h, w) uint8 with the arrows around it; a key or a button calls `on_moved(places)`, all places
    that it was moved to since the last time. None: nothing to be moved yet."""
    _pad(
        data={
            "picture": "" if picture is None else data_uri(picture),
            "at": list(at),
            "step": list(STEP),
            "limits": list(LIMITS),
            "alt": alt,
        },
        key=key,
        on_moved_change=partial(_tell, key, "moved", on_moved),
    )


def _tell(key: str, name: str, listener: Callable) -> None:
    value = getattr(st.session_state[key], name)
    if value:
        listener(value)


_canvas = component(__file__, "canvas", '<div class="draw"></div>')
_pad = component(__file__, "pad", '<div class="pad"></div>', first=("svg",))
