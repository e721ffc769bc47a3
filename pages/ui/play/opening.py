"""The first picture of a new process: drawn before the library is there, which takes a second to import.

On a machine where it never ran, its solver is compiled first, about 3 s; beside other work both take half a minute. A
thread does it, so that edits are answered meanwhile: with the points where they were put, and no machine yet. The
preset and everything else begin after it.
"""

import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import streamlit as st

from pages.ui.kit import roles
from pages.ui.play import setting as settings

LOOK = 0.5  # seconds between two looks at whether it is there
LOADING = "Loading the solver"

_begins = threading.Lock()
_imports = threading.Lock()  # sessions that import the library at once find parts of it half imported
_state: dict = {"what": LOADING}  # "future": Future; "begun": seconds of the clock


def ready() -> bool:
    """Whether the library is there and compiled."""
    future: Future | None = _state.get("future")
    return future is not None and future.done() and future.exception() is None


def load() -> Future:
    """Import and compile what the Playground needs, in a thread; once a process, unless it fails."""
    with _begins:
        future = _state.get("future")
        if future is None or (future.done() and future.exception()):
            _state.update(begun=time.monotonic(), what=LOADING)
            future = _state["future"] = ThreadPoolExecutor(1, "opening").submit(_load)
    return future


def imported() -> None:
    """Import the library, or wait until another session has."""
    with _imports:
        for module in ("pages.ui.play.solve", "pages.ui.views", "svmcore.lab.jobs"):
            import_module(module)


def _load() -> None:
    imported()
    from pages.ui.play import solve

    cache = os.environ.get("NUMBA_CACHE_DIR")
    if cache and not any(Path(cache).rglob("*.nbi")):
        _state["what"] = "Compiling the solver (needed once on this computer)"
    solve.solve(settings.of_problem(settings.FIRST_PROBLEM))


@st.fragment(run_every=LOOK)
def follow() -> None:
    """Say how far it is, and draw the page anew once it is there."""
    future = load()
    if future.done():
        future.result()  # what went wrong, if anything
        st.rerun()
    seconds = time.monotonic() - _state["begun"]
    st.caption(f":material/hourglass_top: {_state['what']}: {seconds:.0f} s. You can already move points.")


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
