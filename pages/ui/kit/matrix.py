"""A matrix of classes: true ones down, predicted ones across, each cell shaded, selectable by mouse and by keyboard.

    Cell      what stands in a cell that holds something; cells without one are empty
    shade     0 to 1, how much a cell stands out from the page, in a light theme and in a dark one alike

The browser draws it as one SVG, which its buttons save. Within it the arrow keys move, Enter selects; from outside it
is one stop of the Tab key.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from pages.ui.kit.component import component
from pages.ui.kit.present import TYPE, presenting
from pages.ui.kit.text import distinct, short

LONGEST = 24  # letters of a class name beside the matrix


class Cell(NamedTuple):
    """One cell: at = row * k + column; text stands in it, told is said of it; sign +1 blue, -1 orange, 0 grey."""

    at: int
    text: str
    told: str
    shade: float = 0.0
    sign: int = 0


class Cells(NamedTuple):
    """What a matrix shows: its cells, and words for those who do not see it, or not yet."""

    cells: list[Cell]
    alt: str
    see: str


def matrix(
    shown: Cells,
    classes: Sequence,
    selected: Sequence[int] = (),
    *,
    key: str,
    file: str,
    on_pick: Callable[[int], None],
) -> None:
    """Draw the matrix of `classes` (k,), `selected` cells outlined; a click or Enter calls `on_pick(cell)`. file: the
    name under which it is saved."""
    _component(
        data={
            "classes": [short(c, 80) for c in classes],
            "labels": distinct(classes, LONGEST),
            "cells": [list(cell) for cell in shown.cells],
            "selected": [int(cell) for cell in selected],
            "alt": shown.alt,
            "file": file,
            "type": TYPE if presenting() else 1,
        },
        key=key,
        on_picked_change=partial(_picked, key, on_pick),
    )


def _picked(key: str, on_pick: Callable[[int], None]) -> None:
    if (cell := st.session_state[key].picked) is not None:
        on_pick(int(cell))


_component = component(__file__, "matrix", '<div class="matrix"></div>', first=("saving", "svg"))
