"""The run that all pages show, pages and fragments that do not break down over a damaged one, and what is told later.

What keeps runs is made known by app.py (`keep_runs_in`), once the library is there: the first page shows its first
picture without it.
"""

from collections.abc import Callable
from functools import partial, wraps

import streamlit as st

from data import DataError, permission
from pages.ui.kit import parameters, ways
from pages.ui.kit.text import plain

NONE: frozenset[str] = frozenset()

_known = {}  # "runs": the store


def keep_runs_in(store) -> None:
    """Make known what keeps runs: `get(id)`, `one_look()`, in which all are of one moment, and what it raises over a
    run, Damaged, UnknownRun (it is gone) and RunBusy (it is at work)."""
    _known["runs"] = store


def _store():
    return _known["runs"]


def current_run():
    """The intact Run that the picker shows, or None; of a damaged one the picker says what is to be said."""
    run_id = st.session_state.get("run")
    run = _store().get(run_id) if run_id else None
    return None if run is None or run.damage else run


def check_run(text: str) -> None:
    """Of an address: ValueError for a run that is not here."""
    try:
        _store().get(text)
    except _store().UnknownRun as error:
        raise ValueError(str(error)) from None


def show_run(run_id: str):
    """Make a run the one shown on every page, in the address too: a second click still comes with that of before."""
    st.session_state["run"] = run_id
    parameters.write("run", ["run"], {"run": run_id})


def guarded(draw):
    """Call `draw`, which sees the runs of one moment; over a dataset or a run that turns out to be damaged, or a run
    that somebody else deletes meanwhile, no page breaks down.

    A run is known as damaged, or gone, once it has been found to be, so that the page, begun anew, is drawn without it;
    again for the next one, as whoever cancels a hundred runs deletes them one by one, but for none a second time.
    """
    runs = _store()
    try:
        with runs.one_look():
            draw()
    except (runs.Damaged, runs.UnknownRun) as error:
        known = st.session_state.get("begun_anew", NONE)
        if str(error) not in known:
            st.session_state["begun_anew"] = known | {str(error)}
            if isinstance(error, runs.UnknownRun):
                tell_later(f":material/link_off: {plain(error)}")
            st.rerun()
        what = "was deleted" if isinstance(error, runs.UnknownRun) else "is damaged"
        st.error(plain(error), title=f"A run {what}", icon=":material/broken_image:")
        ways.to("runs", "All runs", "arrow_forward")
    except permission.Forbidden as error:
        st.error(plain(error), icon=":material/block:")
    except DataError as error:
        st.error(plain(error), title="A dataset cannot be read", icon=":material/broken_image:")


def fragment(draw=None, *, run_every: float | None = None):
    """`st.fragment` for what reads the store: guarded, as it is drawn again without the page around it."""
    if draw is None:
        return partial(fragment, run_every=run_every)
    return st.fragment(_within_guard(draw), run_every=run_every)


def watch(before: object, seen: Callable[[], object], draw: Callable[[], None], every: float | None) -> None:
    """A fragment that calls `draw()` now and every `every` seconds (None: only now), and redraws the page once `seen()`
    differs from `before`."""

    @fragment(run_every=every)
    def look():
        if seen() != before:
            st.rerun()
        draw()

    with st.container():  # of its own: two fragments of one function in one place would be one
        look()


def dialog(title: str, draw, on_dismiss):
    """A large dialog that `draw` fills, guarded likewise."""
    return st.dialog(title, width="large", on_dismiss=on_dismiss)(_within_guard(draw))


def callback(change):
    """A callback on runs: says what is gone, damaged or busy, and what a student may not do."""

    @wraps(change)
    def changing(*args, **kwargs):
        runs = _store()
        try:
            with runs.one_look():
                return change(*args, **kwargs)
        except (runs.Damaged, runs.UnknownRun, runs.RunBusy, permission.Forbidden) as error:
            tell_later(f":material/block: {plain(error)}")
            st.rerun()  # the whole page, also from a fragment

    return changing


def _within_guard(draw):
    @wraps(draw)
    def guard(*args, **kwargs):
        guarded(lambda: draw(*args, **kwargs))

    return guard


def tell_later(text: str | Callable[[], str]):
    """Show a text, or what the callable returns then, at the end of the next run of the page; for callbacks."""
    st.session_state["told"] = text


def tell():
    """At the end of a page: say what `tell_later` kept, once."""
    st.session_state["begun_anew"] = NONE
    if text := st.session_state.pop("told", None):
        st.toast(text() if callable(text) else text)
