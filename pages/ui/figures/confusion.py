"""Confusion matrices, as pure functions from counts to the cells of `kit.matrix`, and how one is drawn.

matrix (k, k)      row * k + column of a cell: true class, predicted class
"""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from pages.ui.kit.matrix import Cell, Cells, matrix
from pages.ui.kit.text import plain, with_sign


def show(
    shown: Cells, classes: Sequence, selected: Sequence[int], *, key: str, file: str, on_pick: Callable[[int], None]
):
    """Draw a matrix with its line of words below."""
    matrix(shown, classes, selected, key=key, file=file, on_pick=on_pick)
    st.caption(plain(shown.see))


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
        "are true classes, columns predicted ones.",
        "Rows are true classes, columns predicted ones. The more errors a cell holds, the more it stands out from the "
        "page. Click one to see its examples; by keyboard: Tab, arrows, Enter.",
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
        f"Change of the confusion matrix in {len(shift)} classes: {fewer} errors fewer in some cells, {more} more in "
        "others.",
        "Rows are true classes, columns answers. Blue, with −: this error became rarer; orange, with +: more frequent. "
        "Click a cell to see its examples; by keyboard: Tab, arrows, Enter.",
    )
