"""A table's columns: their ranges, how well each alone tells the classes apart, and two of them against each other.

eta squared = sum of squares between the classes / sum of squares       of a column, 0 to 1
"""

import numpy as np
import streamlit as st

from data import Dataset
from pages.ui.example import evidence
from pages.ui.figures import maps
from pages.ui.figures.frame import show
from pages.ui.kit import parameters
from pages.ui.kit.gallery import open_digit, reference
from pages.ui.kit.words import short

ROWS = 4000  # examples that ranges are taken over and that are drawn, at most
CHOSEN = ("across", "up")  # what an address says of the columns of one set
OFFERED = 200  # columns to choose from, the most telling


def view(dataset: Dataset) -> None:
    """All of it, of the training examples."""
    rows = dataset.labelled
    X, y = dataset.X_train[rows[:ROWS]], dataset.y_train[rows[:ROWS]]
    names, told = dataset.feature_names, eta_squared(X, y)
    order = np.argsort(-told, kind="stable")[:OFFERED]
    left, right = st.columns(2)
    with left:
        _ranges(X, names, told, order)
    offered = [names[j] for j in order]
    with right:
        with st.container(horizontal=True):
            across = parameters.choice(CHOSEN[0], "Across", offered, offered[0], widget="selectbox", width=200,
                                       help="Column of the x axis; the most discriminative first.")  # fmt: skip
            up = parameters.choice(CHOSEN[1], "Up", offered, offered[min(1, len(offered) - 1)], widget="selectbox",
                                   width=200, help="Column of the y axis.")  # fmt: skip
        plane(dataset, "train", (across, up))
    n = len(rows)
    st.caption(
        f"Of the {'first ' if len(X) < n else ''}{len(X):,} training examples. *Tells apart* is eta squared: the "
        "share of a column's variance that lies between the classes; 1 if the column alone separates them. Columns "
        "that separate nothing by themselves may separate classes together."
    )


def _ranges(X: np.ndarray, names: tuple[str, ...], told: np.ndarray, order: np.ndarray) -> None:
    columns = {
        "column": [short(names[j], 40) for j in order],
        "tells apart": told[order],
        "least": X[:, order].min(axis=0),
        "median": np.median(X[:, order], axis=0),
        "most": X[:, order].max(axis=0),
        "values": [len(np.unique(X[:, j])) for j in order],
    }
    number = st.column_config.NumberColumn
    config = {name: number(name, format="%.4g") for name in ("least", "median", "most")} | {
        "tells apart": st.column_config.ProgressColumn("tells apart", min_value=0, max_value=1, format="%.2f"),
        "values": number("values", help="Number of different values."),
    }
    st.dataframe(columns, hide_index=True, column_config=config, alt="Columns, the most discriminative first")
    if more := len(names) - len(order):
        st.caption(f"The {len(order)} most discriminative columns; {more:,} more are not shown.")


def plane(dataset: Dataset, split: str, axes: tuple[str, str] | None = None) -> None:
    """Two columns against each other by class, each point leading to its own view."""
    X, y = (dataset.X_train, dataset.y_train) if split == "train" else (dataset.X_test, dataset.y_test)
    which = [dataset.feature_names.index(name) for name in axes] if axes else [0, 1]
    rows = (dataset.labelled if split == "train" else np.arange(len(X)))[:ROWS]
    X, y = X[np.ix_(rows, which)], y[rows]
    refs = [reference(dataset.entry.name, split, row) for row in rows.tolist()]
    axes = tuple(map(short, axes)) if axes else evidence.plane_axes(dataset)
    figure = maps.toy_plane(X, y, dataset.classes, refs=refs, axes=axes)
    show(figure, "dataset_plane", on_click=open_digit)


def eta_squared(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(d,) the share of each column's variance that lies between the classes; 0 for a column of one value."""
    X = X.astype(np.float64)
    whole = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    within = sum(((X[y == c] - X[y == c].mean(axis=0)) ** 2).sum(axis=0) for c in np.unique(y))
    return np.where(whole > 0, 1 - within / np.where(whole > 0, whole, 1), 0).clip(0, 1)
