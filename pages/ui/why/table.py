"""Examples that are no digits, shown as what they are: a table's row by its columns, a point in its plane.

Columns differ in what their numbers mean, so that two rows are compared in standard deviations of the training part:

    d_j = |u_j - x_j| / s_j       s_j of column j
"""

from functools import lru_cache

import numpy as np
import streamlit as st

from data import Dataset, load
from pages.ui.example import decision_plane, evidence
from pages.ui.figures import maps
from pages.ui.figures.frame import show
from pages.ui.figures.traces import dots
from pages.ui.kit import numbers
from pages.ui.kit.gallery import large, pictures, thin
from pages.ui.kit.palette import INK
from pages.ui.kit.text import rounded, short
from pages.ui.why.answer import Shown
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

DIGIT_HEIGHT = 168  # wished height of a small picture, in screen pixels
NAMED = 3  # columns named beside a contribution
ROWS_HEIGHT = 330  # of the table of columns, in screen pixels


def is_table(dataset: Dataset) -> bool:
    """Whether examples are rows of columns, rather than images or points of a plane."""
    return dataset.image_shape is None and dataset.X_train.shape[1] != 2


def top(run: Run | None, machine: Machine | None, shown: Shown) -> None:
    """The example itself: its picture, its columns by name and value, or the plane with it marked."""
    dataset = shown.dataset
    if dataset.album is not None or dataset.image_shape is not None:
        alt = "The example" if shown.label is None else f"The example, class {short(shown.label)}"
        large(picture(shown), DIGIT_HEIGHT, alt)
        if dataset.album is not None and dataset.image_shape is not None:
            with st.popover("As used in training", type="tertiary"):
                drawn = pictures(shown.X, dataset.X_train, dataset.image_shape, dataset.entry.ink)
                large(drawn[0], DIGIT_HEIGHT, "The example as it is used in training")
    if is_table(dataset):
        with st.expander("Features") if dataset.album is not None else st.container():
            _columns(shown)
    elif dataset.image_shape is None:
        _point(run, machine, shown)


def picture(shown: Shown) -> np.ndarray:
    """The picture (h, w[, 3]) of an example, as large as it is stored; one that was drawn as it is."""
    dataset, (_, split, index) = shown.dataset, [*shown.ref.rsplit("/", 2), "", ""][:3]
    if split and index:
        return evidence.large_picture(dataset, split, int(index))
    return thin(pictures(shown.X, dataset.X_train, dataset.image_shape, dataset.entry.ink), evidence.PHOTOGRAPH)[0]


def differing(shown: Shown, row: int, most: int = NAMED) -> list[str]:
    """The columns in which a training example is furthest from the one shown, each with both values."""
    u, x = shown.dataset.X_train[row].astype(np.float64), shown.X[0].astype(np.float64)
    _, spread = _scale(shown.dataset.entry.name, shown.dataset.content_hash)
    apart = np.abs(u - x) / spread
    order = [j for j in np.argsort(-apart, kind="stable")[:most] if apart[j] > 0]
    names = shown.dataset.feature_names
    told = [f"{short(names[j], 24)} {rounded(u[j], 4)}, here {rounded(x[j], 4)}" for j in order]
    return told or ["equal in all columns"]


def _columns(shown: Shown) -> None:
    mean, spread = _scale(shown.dataset.entry.name, shown.dataset.content_hash)
    x = shown.X[0].astype(np.float64)
    away = (x - mean) / spread
    rows = {"column": list(shown.dataset.feature_names), "value": x, "from the mean": away}
    number, help = st.column_config.NumberColumn, "Distance from the training mean, in standard deviations (sd)."
    columns = {"value": number(format="%.4g"), "from the mean": number(format="%+.1f sd", help=help)}
    height, alt = min(ROWS_HEIGHT, 38 + 35 * len(x)), f"The {len(x)} columns of this example by name and value"
    numbers.table(rows, alt, columns=columns, height=height, row_height=35)


def _point(run: Run | None, machine: Machine | None, shown: Shown) -> None:
    X, y = (all_of[shown.dataset.labelled] for all_of in (shown.dataset.X_train, shown.dataset.y_train))
    if run is not None and machine is not None:
        X, y = X[run.train_index()], evidence.labels(run).seen[run.train_index()]
    classes = shown.dataset.classes if machine is None else machine.classes
    field = None if machine is None else decision_plane.field_of(run, machine, np.concatenate([X, shown.X]))
    figure = maps.toy_plane(X, y, classes, field=field, axes=evidence.plane_axes(shown.dataset))
    star = {"symbol": "star", "size": 15, "color": "#ffffff", "line": {"width": 2, "color": INK}}
    dots(figure, *shown.X.T, star, "this point (%{x:.3g}, %{y:.3g})")
    figure.update_layout(height=300)
    meta = figure.layout.meta
    see = "The star marks this example."
    figure.update_layout(meta={"alt": f"{meta['alt']} {see}", "see": see})
    show(figure, "why_point")


@lru_cache(maxsize=8)
def _scale(name: str, content_hash: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (d,) of the columns of a set's training part; 1 for columns that never change."""
    X = load(name).X_train.astype(np.float64)
    spread = X.std(axis=0)
    return X.mean(axis=0), np.where(spread > 0, spread, 1.0)
