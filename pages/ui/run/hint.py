"""A run that is no better than guessing, or whose support vectors are nearly all examples: said, with what to try."""

import numpy as np
import streamlit as st

from data import DataError, catalogue, load
from pages.ui.kit import ways
from pages.ui.kit.words import plain
from pages.ui.recipe import config, data_set
from svmcore.lab.analyses.advice import Advice, advice
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run


def hint(run: Run) -> None:
    """Draw what is to be said of a finished run, if anything; each proposal opens the form so set."""
    if not (said := _advice(run.id)):
        return
    with st.container(border=True):
        st.info(plain(said.text), title=said.title, icon=":material/casino:")
        found = runs.stored(one.recipe for one in said.tries)
        done = {one for one, run in zip(said.tries, found, strict=True) if run is not None and run.state == "done"}
        tries = [one for one in said.tries if one not in done]  # two proposals do not send the reader to and fro
        st.markdown("What to try:" if tries else "You have tried the first suggestions. Next:")
        for one in tries:
            with st.container(horizontal=True, vertical_alignment="center"):
                help = "Opens the form with this change; press Start to train."
                ways.to("train", plain(one.words), "tune", config.link(one.recipe), help=help)
                st.caption(plain(one.why), width="content")
        with st.container(horizontal=True, vertical_alignment="center"):
            help = "Opens the Choose page with this recipe."
            ways.to("sweep", "Choose C or gamma by cross-validation", "tune", config.link(run.recipe), help=help)
            st.caption("More training examples may help, too: there may be too few.", width="content")


@st.cache_data(max_entries=64, show_spinner=False)
def _advice(run_id: str) -> Advice | None:
    run = runs.get(run_id)
    recipe = run.recipe
    try:
        images = catalogue.entry(recipe.dataset).kind == "images"
        _, counts = np.unique(run.test().y_true, return_counts=True)
        majority = counts.max() / counts.sum()
        return advice(recipe, run.result, majority, images, lambda steps: data_set.gamma(load(recipe.dataset), steps))
    except (DataError, ValueError):  # the set is gone, or has no place for a step
        return None
