"""Scramble the pixels: one random order of all pixels, for every picture: which machines notice?"""

from functools import partial

import numpy as np
import streamlit as st

from data import DataError, load
from pages.scramble import twins
from pages.ui.kit import parameters, words
from pages.ui.kit.gallery import Tile, gallery, pictures, reference
from pages.ui.studies import study
from pages.ui.studies.study import Plan, Results, Study
from svmcore.lab.store import runs, titles
from svmcore.preprocess import Preprocessor
from svmcore.preprocess.steps import MOST_SEEDS

CLASSES = 10  # pictures shown, one of each class


def before_and_after(name: str, seed: int) -> None:
    """One training picture of each class, as it is and scrambled."""
    try:
        dataset = load(name)
    except DataError as error:
        st.error(words.plain(error), title="No pictures to show", icon=":material/broken_image:")
        return
    _, rows = np.unique(dataset.y_train, return_index=True)
    rows = rows[:CLASSES]
    X = dataset.X_train[rows]
    moved = Preprocessor(f"scramble:{seed}").transform(X).reshape(X.shape)
    shown = [pictures(part, dataset.X_train, dataset.image_shape, dataset.entry.ink) for part in (X, moved)]
    tiles = [
        Tile(reference(name, "train", row), f"Example {row}, class {words.short(dataset.y_train[row])}, {how}")
        for how in ("original", "scrambled")
        for row in rows
    ]
    alt = f"One training picture of each of {len(rows)} classes: the original above, the scrambled picture below"
    gallery(np.concatenate(shown), tiles, key="scramble_pictures", alt=alt, size=64, rows=["Original", "Scrambled"])
    st.caption(
        "The pixels of all training and test pictures get the same order. No grey value changes, only its place."
    )


def plan() -> Plan:
    """The runs that the widgets show, each with its twin, in an order by the seed."""
    known = {run.id: run for run in runs.newest_first() if not twins.refusal(run)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ids = parameters.several(
            "scramble.runs", known, key="scramble_runs", format_func=titles.of_runs(list(known.values())).get
        )
        seed = parameters.number("scramble.seed", 0, MOST_SEEDS, 0, key="scramble_order")
    return twins.plan([known[run_id] for run_id in ids], int(seed))


def figures(results: Results) -> dict:
    """The pictures that a machine trains on, as they are and scrambled."""
    dataset = next(iter(results.plan.recipes.values())).dataset
    return {"Pictures": partial(before_and_after, dataset, results.plan.given)}


study.draw(Study(
    "scramble", plan, figures, twins.rows, twins.COLUMNS, observations=twins.conclusion,
    alt="Errors of each machine on original and scrambled pictures, and whether predictions are the same",
))  # fmt: skip
