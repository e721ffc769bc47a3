"""Scramble the pixels: one random order of all pixels, for every picture: which machines notice?"""

import numpy as np
import streamlit as st

from data import DataError, load
from pages.ui.kit import parameters, present, words
from pages.ui.kit.buttons import button
from pages.ui.kit.gallery import Tile, gallery, pictures, reference
from pages.ui.run import picker, polling, stored
from pages.ui.studies import scrambled
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.store import runs
from svmcore.preprocess import Preprocessor
from svmcore.preprocess.steps import MOST_SEEDS

CLASSES = 10  # pictures shown, one of each class


def before_and_after(name: str, seed: int) -> None:
    """One training picture of each class, as it is and scrambled."""
    dataset = load(name)
    _, rows = np.unique(dataset.y_train, return_index=True)
    rows = rows[:CLASSES]
    X = dataset.X_train[rows]
    moved = Preprocessor(f"scramble:{seed}").transform(X).reshape(X.shape)
    shown = [pictures(part, dataset.X_train, dataset.image_shape, dataset.entry.ink) for part in (X, moved)]
    tiles = [
        Tile(reference(name, "train", row), f"Example {row}, class {words.short(dataset.y_train[row])}, {how}")
        for how in ("as it is", "scrambled")
        for row in rows
    ]
    alt = f"One training picture of each of {len(rows)} classes, above as it is, below with its pixels scrambled"
    gallery(np.concatenate(shown), tiles, key="scramble_pictures", alt=alt, size=64, rows=["As it is", "Scrambled"])
    st.caption("Every picture, for training and for testing, takes the same order: no grey is lost, only its place.")


def chosen() -> tuple[list, int]:
    """The widgets: which runs, and the seed of the order."""
    known = {run.id: run for run in runs.newest_first() if not scrambled.refusal(run)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ids = parameters.several(
            "runs",
            "Runs",
            known,
            key="scramble_runs",
            unknown="There is no run {} here that could be scrambled.",
            format_func=picker.labels(list(known.values())).get,
            max_selections=8,
            placeholder="five usual ones",
            wrap=True,
            width=760,
            help="Finished runs of yours, on pictures. None: a polynomial and a Gaussian machine, virtual SVs, a "
            "local and a jittering kernel (DeCoste and Schölkopf 2002, section 1).",
        )
        help = "Seed of the random order of the pixels."
        seed = parameters.number("seed", "Order", 0, MOST_SEEDS, 0, key="scramble_order", width=140, help=help)
    return [known[run_id] for run_id in ids], int(seed)


st.title("Scramble the pixels")
present.about(
    "Put all pixels of all digits in one random order. You could not read them any more. Which machines notice? "
    "Those that do used something that the training digits alone do not tell."
)
machines = present.form("Machines")
with machines:
    picked, seed = chosen()
found = scrambled.pairs(picked, seed)
waiting = scrambled.missing(found)
working = [run.id for pair in found for run in pair[2:] if run is not None and run.state in runs.ACTIVE]
with machines, st.container(horizontal=True, vertical_alignment="center"):
    if waiting:
        help = "Trains each machine twice, as ordinary runs. Existing runs are reused."
        button("Scramble the pixels", "shuffle", "scramble_start", scrambled.start, found, help=help, type="primary")
        seconds = sum(estimate(recipe).seconds for recipe in waiting)
        many = words.many(len(waiting), "run")
        st.caption(f"{many} to train, about {words.duration(seconds)}.", width="content")
    if working:
        help = "Stops the running ones and removes the others from the queue."
        button(
            f"Cancel {words.many(len(working), 'run')}", "stop", "scramble_cancel", stored.cancel, working, help=help
        )
shown, numbers = present.parts(["Pictures", "Machines"])
with shown:
    try:
        before_and_after(found[0].recipe.dataset, seed)
    except DataError as error:
        st.error(words.plain(error), title="No pictures to show", icon=":material/broken_image:")
with numbers, st.container(key="scramble_told"):
    ids = [run.id for pair in found for run in pair[2:] if run is not None]
    polling.poll_all(
        ids, lambda statuses: scrambled.table(found, {i: s.state for i, s in zip(ids, statuses, strict=True)})
    )
    scrambled.conclusion(found)
    scrambled.links(found)
