"""Jitters: one example under every jitter of a set, how large the virtual set is, and the way to train on it."""

import numpy as np
import streamlit as st

from data import catalogue
from pages.ui.example import evidence, jittered
from pages.ui.kit import parameters, present, roles, state, words
from pages.ui.kit.gallery import Tile, gallery
from pages.ui.recipe import config, data_set, jitter_set
from svmcore.lab.forecast import estimate, sized
from svmcore.lab.tasks import task_of

STRIP = 20  # examples to choose from
PARTS = ["train", "test"]
ASKED = "jitters_asked"  # session state: id of the run whose machine has answered before
METHOD = "vsv"  # what the way to Train proposes


def pick(text: str):
    st.session_state["index"] = int(text)


def choose_example():
    """Widgets for a dataset of images and one of its examples; (dataset, split, index)."""
    images = data_set.at_hand(lambda entry: len(entry.shape) > 1)
    with st.container(horizontal=True):
        name = data_set.field(images, "Image datasets that are available.")
        dataset = catalogue.entry(name).load()
        split = "train"
        if len(dataset.y_test):
            split = parameters.choice("jitters.part", PARTS)
        last = len(evidence.examples(dataset, split)[1]) - 1
        if st.session_state.get("index", 0) > last:  # of another set or part
            st.session_state["index"] = last
        index = parameters.number("jitters.index", 0, last, 0)
    return dataset, split, index


def strip(dataset, split, index):
    """Examples of every class to choose another one from."""
    y = evidence.examples(dataset, split)[1]
    each = max(1, STRIP // len(dataset.classes))
    rows = np.concatenate([np.flatnonzero(y == c)[:each] for c in dataset.classes[:STRIP]])
    tiles = [Tile(str(r), f"Example {r}, class {y[r]}", ring="free" if r == index else "") for r in rows]
    drawn = evidence.example_pictures(dataset, split, rows)
    gallery(drawn, tiles, key="strip", alt="Examples of every class to choose from", size=28, on_pick=pick)


def cost(dataset, run, jitters):
    """How large the virtual set becomes, what training on it needs, and the way there."""
    base = run.recipe if run else data_set.suggestion(dataset.entry.name)
    recipe = base.replace(name="custom", title="", method=METHOD, jitters=str(jitters), solver="auto", options={})
    need = estimate(recipe)
    n, whose = (run.result["n_union"], "SVs") if run else (sized(recipe).n_train, "examples")
    with st.grid(2, min_column_width=120):
        st.metric(
            "Jitters",
            f"{len(jitters):,}",
            help="Number of jitters in the set. One of them leaves the original as it is.",
        )
        st.metric(
            f"Forms of {words.count(n)} {whose}",
            words.count(n * len(jitters)),
            help=f"The virtual examples: all {whose} under every jitter (DeCoste and Schölkopf 2002, section 3.2).",
        )
        st.metric(
            "Estimated time",
            words.duration(need.seconds),
            help="Time to train a machine, to train again with virtual copies of its support vectors, and to test.",
        )
        st.metric("Estimated memory", words.megabytes(need.memory_mb))
    if need.advice:
        st.warning(words.plain(need.advice), title="This training does not fit in memory", icon=":material/memory:")
    go = roles.may_open("train") and st.button(
        "Train with this set",
        type="primary",
        icon=":material/play_circle:",
        key="to_train",
        width="stretch",
        help=f"Opens the training form with the method {METHOD} and this jitter set.",
    )
    if go:
        st.switch_page("pages/train.py", query_params=config.link(recipe))
    st.caption(words.summary(recipe))


def draw(dataset, run, shown, jitters):
    """All squares of a set, and in a line what there is to see."""
    squares = jittered.squares(jitters)
    drawn = sum(int(np.sum(square.cells >= 0)) for square in squares)
    size = jittered.size(squares)
    widest = max(len(square.cells) for square in squares)
    with st.grid("auto", min_column_width=present.scaled(min(480, widest * (size + 14) + 20))):
        for number, square in enumerate(squares):
            with st.container():
                if square.title:
                    st.caption(words.plain(square.title))
                jittered.draw(dataset, shown, jitters, square, f"square_{number}", size)
    wrong = sum(said != shown.true for said in shown.predicted)
    left_out = "" if drawn == len(jitters) else f"Only {drawn} of the {len(jitters):,} forms are drawn. "
    true, name = words.plain(words.short(shown.true)), words.plain(run.title) if run else ""
    around = f"The original is at the centre. Dotted frames mark virtual examples of the same class, {true}."
    arrows = " ↑1←1 means: shifted one pixel up and one to the left." if "shift" in str(jitters.names) else ""
    said = f" Below each form: the prediction of *{name}*. Of {len(jitters):,} predictions {wrong} are wrong."
    st.caption(left_out + around + arrows + (said if shown.predicted else ""))


parameters.own(part=PARTS, index=slice(0, None))
example = present.form("Which example")
with example:
    dataset, split, index = choose_example()
    strip(dataset, split, index)
    jitters = jitter_set.field(dataset.image_shape)
if jitters:
    run = state.current_run()
    fits = run and run.result and run.recipe.dataset == dataset.entry.name and task_of(run.recipe).answers
    run = run if fits else None
    shown = jittered.forms(dataset, split, index, jitters)
    ready = run is not None and st.session_state.get(ASKED) == run.id
    if ready:
        shown = jittered.asked(shown, run, evidence.examples(dataset, split)[1][index])
    sides = st.grid(3, min_column_width=260)
    left, right = present.parts(("Forms", "Cost"), (sides.cell(column_span=2), sides.cell()))
    with left:
        draw(dataset, run, shown, jitters)
    with right, st.container(border=True):
        cost(dataset, run, jitters)
    if run and not ready:  # its first answer takes seconds, and the forms need not wait for it
        with left, st.spinner(f"Predicting each form with {words.plain(run.title)}"):
            jittered.asked(shown, run, shown.true)
        st.session_state[ASKED] = run.id
        st.rerun()
