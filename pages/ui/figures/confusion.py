"""Confusion matrices: true classes down, predicted ones across, each cell shaded, selectable by mouse and by keyboard.

    Cell      what stands in a cell that holds something; cells without one are empty
    shade     0 to 1, how much a cell stands out from the page, in a light theme and in a dark one alike

The browser draws it as one SVG, which its buttons save. Within it the arrow keys move, Enter selects; from outside it
is one stop of the Tab key.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.kit.component import component, heard
from pages.ui.kit.present import TYPE, presenting
from pages.ui.kit.text import distinct, plain, short, with_sign

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


def show(
    shown: Cells, classes: Sequence, selected: Sequence[int], *, key: str, file: str, on_pick: Callable[[int], None]
) -> None:
    """Draw the matrix of `classes` (k,) with `selected` cells outlined; a click or Enter calls `on_pick(cell)`. file:
    the name under which it is saved."""
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
        on_picked_change=heard(key, "picked", on_pick),
    )
    st.caption(plain(shown.see))


_component = component(__file__, "matrix", '<div class="matrix"></div>', first=("saving", "svg"))


def counts(table: np.ndarray) -> Cells:
    """Counts (k, k) of a classifier's answers: errors are shaded, the diagonal is not."""
    errors = np.where(np.eye(len(table), dtype=bool), 0, table)
    most, wrong = max(1, int(errors.max(initial=0))), int(errors.sum())
    cells = [
        Cell(int(at), f"{table.flat[at]:,}", f"{table.flat[at]:,}", float(errors.flat[at] / most))
        for at in np.flatnonzero(table)
    ]
    return Cells(
        cells,
        f"Confusion matrix of {int(table.sum())} test examples in {len(table)} classes, {wrong} of them wrong. Rows "
        "are true classes, columns are predicted classes.",
        "Rows are true classes, columns are predicted classes. The stronger the shade of a cell, the more errors it "
        "contains. Click a cell to see its examples; by keyboard: Tab, arrows, Enter.",
    )


def change(before: np.ndarray, after: np.ndarray) -> Cells:
    """What changed between two matrices (k, k) of the same examples: counts of `after` less those of `before`; fewer
    errors blue, more orange. Cells that no example is in, before or after, are empty."""
    shift = after - before
    errors = np.where(np.eye(len(shift), dtype=bool), 0, shift)
    most = max(1, int(np.abs(errors).max(initial=0)))
    cells = [
        Cell(
            int(at),
            with_sign(shift.flat[at], 0) if shift.flat[at] else "",
            f"{before.flat[at]:,} before, {after.flat[at]:,} after",
            float(abs(errors.flat[at]) / most),
            -int(np.sign(errors.flat[at])),
        )
        for at in np.flatnonzero(before + after)
    ]
    fewer, more = (int(np.maximum(s * errors, 0).sum()) for s in (-1, 1))
    return Cells(
        cells,
        f"Change of the confusion matrix in {len(shift)} classes: errors fell by {fewer} in some cells and rose by "
        f"{more} in others.",
        "Rows are true classes, columns are predicted classes. Blue cells with −: this error became rarer. Orange "
        "cells with +: this error became more frequent. "
        "Click a cell to see its examples; by keyboard: Tab, arrows, Enter.",
    )
