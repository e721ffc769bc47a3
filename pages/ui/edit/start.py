"""A cross-training run and the plain machine beside it, set up by what differs most; all else is on the Train page."""

import streamlit as st

from data import DataError, catalogue
from pages.ui.kit import state, words
from pages.ui.recipe import config, data_set
from pages.ui.run import stored
from svmcore.lab import jobs
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.store.group import Group

METHODS = {"Plain": "sv", "Cross-training": "cross-training"}


def box() -> None:
    """Data set, classes and noise; Start."""
    try:
        recipe = _recipe()
        if recipe is None:
            return
        plain = _named(recipe.replace(method="sv"))
        recipe = _named(recipe)
        needs = [estimate(one) for one in (plain, recipe)]
    except (DataError, ValueError) as error:
        st.error(words.plain(error), icon=":material/block:")
        return
    unfit = next((need.advice for need in needs if not need.fits), "")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Start both", type="primary", icon=":material/play_arrow:", key="edit_start", on_click=_start,
            args=(plain, recipe), disabled=bool(unfit),
            help="A plain machine and a cross-trained one of the same examples, one after the other.",
        )  # fmt: skip
        if unfit:
            st.caption(words.plain(unfit), width="content")
        else:
            st.caption(f"About {words.duration(sum(need.seconds for need in needs))} for both.", width="content")
        st.page_link(
            "pages/train.py", label="All settings", icon=":material/tune:", query_params=config.link(recipe),
            help="The same recipe in the form of the Train page: subsets, C, kernel, preprocessing.",
        )  # fmt: skip


def _recipe() -> Recipe | None:
    """The cross-training recipe that the widgets show; None, and the way out on screen, where they name no two
    classes."""
    names = [e.name for e in catalogue.entries() if e.at_hand]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = data_set.field(names, _usual(names), "Any set at hand; your own are added on the Datasets page.")
        entry = catalogue.entry(name)
        labels, pair = [str(label) for label in entry.classes], []
        if len(labels) > 2:
            pair = _classes(labels)
        flipped = st.slider(
            "Labels flipped", 0, 40, state.param("flipped", 0, slice(0, 40)), key="flipped",
            bind=state.binding("flipped"), format="%d %%", width=220,
            help="Of this share of the training examples the label is swapped: noise that is known.",
        )  # fmt: skip
    if len(labels) > 2 and not 1 <= len(pair) <= 2:
        st.info(
            "Cross-training tells two classes apart. Choose two of them, or one, to set it against all the others.",
            icon=":material/arrow_upward:",
        )
        return None
    classes = tuple(label for label in entry.classes if str(label) in pair)
    base = config.suggestion(name).replace(classes=classes, n_test=None, noise=flipped / 100, name="custom", title="")
    return base.replace(method="cross-training", jitters="", folds=None)


def _classes(labels: list[str]) -> list[str]:
    usual = ["3", "8"] if {"3", "8"} <= set(labels) else labels[:2]
    if not set(st.session_state.get("pair", ())) <= set(labels):
        del st.session_state["pair"]
    return st.multiselect(
        "Classes", labels, default=usual, max_selections=2, key="pair", bind="query-params", width=220,
        help="Two to tell apart, or one against all the others.",
    )  # fmt: skip


def _usual(names: list[str]) -> str:
    run = state.current_run()
    if run is not None and run.recipe.task == "classify" and run.recipe.dataset in names:
        return run.recipe.dataset
    return catalogue.DEFAULT


def _named(recipe: Recipe) -> Recipe:
    return recipe.replace(title=words.title(recipe))


def _start(plain: Recipe, recipe: Recipe) -> None:
    """Callback: queue what is missing of both; the edited one is the run shown from now on."""
    group = Group.of("edit", f"Cross-training · {plain.title}", plain.digest())
    with config.asking():
        ready = stored.stored([plain, recipe])
        if not stored.kept(ready[0]):
            config.submit(plain, looks=False, group=group)
        run_id = ready[1].id if stored.kept(ready[1]) else config.submit(recipe, group=group)
        st.session_state["run"] = run_id
        state.write("run", ["run"], {"run": run_id})
        waits = jobs.status(run_id).state == "queued"
        state.tell_later(f":material/play_circle: {'Queued' if waits else 'Started'}.")
