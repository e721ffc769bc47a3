"""The first picture of a new process: drawn before the library is there, which takes a second to import.

On a machine where it never ran, its solver is compiled first, about 3 s. The Playground's picture (words, widgets,
points and the machine that is kept as numbers) stands by then; the preset and everything else begin after it.
"""

import os
from pathlib import Path

import streamlit as st

from pages.ui.kit import roles
from pages.ui.play import setting as settings

_state = {"ready": False}


def ready() -> bool:
    """Whether the library is there and compiled."""
    return _state["ready"]


def load(note) -> None:
    """Import and compile what the Playground needs, saying so in `note`, a place on the page."""
    note.caption(":material/hourglass_top: Loading the solver, about a second.")
    from pages.ui.play import solve

    cache = os.environ.get("NUMBA_CACHE_DIR")
    if cache and not any(Path(cache).rglob("*.nbi")):
        note.caption(":material/hourglass_top: Compiling the solver, once for this machine: 3 s if nothing else runs.")
    solve.solve(settings.of_problem(settings.FIRST_PROBLEM))
    _state["ready"] = True


def hand_over_old_link() -> None:
    """A link from when Train was the first page: to Train, with its recipe. Called before the page is drawn."""
    known = {*settings.NAMES, "run", "lesson", "present"}
    query = {name: st.query_params.get_all(name) for name in st.query_params}
    if not roles.may_open("train"):
        return
    if ":" not in query.get("kernel", [""])[-1]:
        if not query.keys() - known:
            return
        from pages.ui.recipe import config

        if not (query.keys() - known) & set(config.names()):
            return
    st.switch_page("pages/train.py", query_params=query)
