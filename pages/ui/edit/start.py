"""A cross-training run and the plain machine beside it, set up by what differs most; all else is on the Train page."""

import streamlit as st

from data import DataError
from pages.ui.edit import choice
from pages.ui.kit import state, words
from pages.ui.recipe import config, starting
from pages.ui.run import stored
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.store.group import Group


def box() -> None:
    """Data set, classes and noise; Start."""
    try:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            base = choice.field()
            noise = choice.flipped()
        if base is None:
            return
        plain = choice.named(base.replace(noise=noise))
        recipe = choice.named(METHODS[choice.METHOD].usual(plain))
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
        seconds = sum(need.seconds for need in needs)
        said = words.plain(unfit) if unfit else f"About {words.duration(seconds)} for both."
        st.caption(said, width="content")
        st.page_link(
            "pages/train.py", label="All settings", icon=":material/tune:", query_params=config.link(recipe),
            help="The same recipe in the form of the Train page: subsets, C, kernel, preprocessing.",
        )  # fmt: skip
        st.page_link(
            "pages/datasets.py", label="Add your own data", icon=":material/upload:", query_params={"set": "new"},
            help="A table or images of two classes or more; then choose it here.",
        )  # fmt: skip


def _start(plain: Recipe, recipe: Recipe) -> None:
    """Callback: queue what is missing of both; the edited one is the run shown from now on."""
    group = Group.of("edit", f"Cross-training · {plain.title}", plain.digest())
    with starting.asking():
        ready = stored.stored([plain, recipe])
        if not stored.kept(ready[0]):
            starting.submit(plain, looks=False, group=group)
        run_id = ready[1].id if stored.kept(ready[1]) else starting.submit(recipe, group=group)
        state.show_run(run_id)
        starting.tell_started(run_id, "The edited machine")
