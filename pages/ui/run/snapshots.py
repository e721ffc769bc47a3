"""Rows of examples for a run at work or under comparison: support vectors with the largest alpha, and errors."""

import numpy as np
import streamlit as st

from data import DataError, load
from pages.ui.example import evidence
from pages.ui.kit import words
from pages.ui.kit.gallery import gallery

SIZE = 40  # pixels a picture is high


def at_work(run, live, c: int) -> evidence.Supports:
    """The support vectors of machine c with the largest alpha, as a live look has them."""
    rows, alpha, bound, _, virtual = live.top[c]
    rows = run.train_index()[rows]
    known = evidence.labels(run)
    label = known.seen[rows]
    names = classes(run)
    own = names[c] if len(live.top) > 1 else names[-1]
    sign = np.where(label.astype(str) == own, 1, -1)
    kind = np.array([evidence.ring(*one) for one in zip(virtual, bound)], str)
    return evidence.Supports(np.arange(len(rows)), rows, alpha, sign, kind, label, known.given[rows])


def classes(run) -> list[str]:
    """The classes that a run tells apart, before it has a machine."""
    wanted = [str(c) for c in run.recipe.classes]
    names = [str(c) for c in load(run.recipe.dataset).classes]
    return ["rest", *wanted] if len(wanted) == 1 else [c for c in names if c in wanted] if wanted else names


def support_vectors(name: str, shown: evidence.Supports, key: str, forms: np.ndarray | None = None):
    """Training examples of dataset `name` with class and alpha, ringed. forms (m,): virtual forms summed in alpha."""
    tiles = evidence.support_tiles(name, shown, shown.alpha)
    if forms is not None:
        tiles = [
            tile._replace(label=f"{tile.label}, summed over {n} SVs: it or its copies", lower=f"Σ {tile.lower}")
            if n > 1
            else tile
            for tile, n in zip(tiles, forms, strict=True)
        ]
    gallery(
        evidence.example_pictures(load(name), "train", shown.row),
        tiles,
        key=key,
        alt=f"The {len(shown.row)} support vectors with the largest alpha, class above and alpha below each.",
        size=SIZE,
    )


def errors(name: str, split: str, rows: np.ndarray, y_true: np.ndarray, y_pred: np.ndarray, key: str):
    """Examples `rows` (m,) of one part of dataset `name`: true and predicted class upper right, index lower left."""
    try:
        dataset, answers = load(name), list(zip(rows, y_true, y_pred, strict=True))
        labels = [f"{words.test_example(split, i)}, true {t}, predicted {p}" for i, t, p in answers]
        upper = [" → ".join(evidence.brief(dataset, c) for c in (t, p)) for _, t, p in answers]
        alt = f"{len(rows)} misclassified test examples; above each: true → predicted class."
        marks = {"upper": upper, "lower": map(str, rows), "cross": [True] * len(rows)}
        evidence.example_gallery(dataset, split, rows, labels, **marks, key=key, alt=alt, size=SIZE)
    except DataError as error:
        st.caption(f":material/hide_image: No pictures. {words.plain(error)}")
