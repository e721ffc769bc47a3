"""A strip of pictures with the decision beneath each: bars that stand right under their picture, however it wraps.

The browser cuts the pictures out of one montage, as galleries do, and sets all texts as text.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.kit.gallery import data_uri, montage, thin


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
    pictures = thin(pictures)
    height, width = pictures.shape[1:3]
    columns = max(1, int(np.ceil(np.sqrt(len(pictures)))))
    _component(
        data={
            "sheet": data_uri(montage(pictures, columns)),
            "columns": columns,
            "height": height,
            "width": width,
            "scale": max(1, round(size / max(height, width))),
            "alt": alt,
            "largest": max((abs(v) for cell in cells for v in cell.values), default=1.0) or 1.0,
            "cells": [cell._asdict() | {"values": list(cell.values)} for cell in cells],
        },
        key=key,
    )


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


_component = st.components.v2.component(
    "svmlab_strip",
    html='<div class="orbit" role="list">\n</div>',
    css=_asset("strip.css"),
    js=_asset("strip.js"),
)
