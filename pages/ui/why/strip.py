"""A strip of pictures with the decision beneath each: bars that stand right under their picture, however it wraps.

The browser cuts the pictures out of one montage, as galleries do, and sets all texts as text.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pages.ui.kit.component import component
from pages.ui.kit.gallery import sheet


class Cell(NamedTuple):
    """What stands around one picture. values: a bar each, from one zero line; answer: what it is called."""

    caption: str
    values: tuple[float, ...]
    answer: str
    label: str  # read out, shown on hover
    right: bool = True
    original: bool = False
    note: str = ""  # a line more, such as a share


def strip(pictures: np.ndarray, cells: Sequence[Cell], *, key: str, alt: str, size: int = 56) -> None:
    """Draw pictures (n, h, w[, 3]) uint8 in a row that wraps, each with its cell; between two neighbours of which one
    is right and one wrong stands a mark."""
    _component(
        data=sheet(pictures, size)
        | {
            "alt": alt,
            "largest": max((abs(v) for cell in cells for v in cell.values), default=1.0) or 1.0,
            "cells": [cell._asdict() | {"values": list(cell.values)} for cell in cells],
        },
        key=key,
    )


_component = component(__file__, "strip", '<div class="orbit" role="list">\n</div>', first=("pictures", "roving"))
