"""Work beside the runs (svmcore/lab/jobs/beside.py) as every page has it: begun, watched, stopped, begun again."""

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import streamlit as st

from pages.ui.kit import state
from pages.ui.kit.buttons import button
from pages.ui.kit.words import plain
from svmcore.lab.jobs.beside import Beside, Busy, Latest
from svmcore.lab.recipe.recipe import RecipeError

PERIOD, PATIENCE = 1.0, 0.9  # seconds between two looks, and that the page waits for what is soon there


class Work(NamedTuple):
    """A piece of work, and what a page says of it."""

    beside: Beside
    id: Hashable  # by which that knows it
    start: Callable[[], None]  # Busy; RecipeError and OSError for what cannot be done
    key: str  # of its widgets
    bar: Callable[[Latest], tuple[str, float]]  # what is being done, and the share of it that has been
    failed: str  # above the reason
    begin: str  # on the button
    help: str
    icon: str = ":material/replay:"
    again: str = ""  # on the button after the first time, where that is another word
    stop: str = "What was found until now stays."


def watched(work: Work, draw: Callable[[Latest], None] = lambda now: None, at_once: bool = False) -> Latest:
    """How far it is, looked at once a second while it is at work; `draw(now)` shows what was found. at_once: begin it
    where nobody has asked for it."""
    if at_once and work.beside.status(work.id).state == "none":
        if reason := _begun(work):
            st.warning(reason, icon=":material/hourglass_top:")
        work.beside.wait(work.id, PATIENCE)
    before = work.beside.status(work.id)

    @state.fragment(run_every=PERIOD if before.at_work else None)
    def look() -> None:
        now = work.beside.status(work.id)
        if before.at_work and not now.at_work:
            st.rerun()
        _draw(work, now, draw)

    look()
    return before


def by_stage(stages: Sequence[str]) -> Callable[[Latest], tuple[str, float]]:
    """The bar of work that says which of these stages it is at."""

    def bar(now: Latest) -> tuple[str, float]:
        at = stages.index(now.message) if now.message in stages else 0
        return f"Step {at + 1} of {len(stages)}: {now.message or stages[0]}", at / len(stages)

    return bar


def _draw(work: Work, now: Latest, draw: Callable[[Latest], None]) -> None:
    if now.at_work:
        text, share = work.bar(now)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(min(max(share, 0.0), 1.0), text=plain(text))
            button("Stop", "stop", f"{work.key}_stop", work.beside.stop, work.id, help=work.stop)
    if now.state == "failed":
        st.error(plain(now.message), title=work.failed, icon=":material/error:")
    draw(now)
    if now.state in ("none", "stopped", "failed"):
        label = work.begin if now.state == "none" else work.again or work.begin
        st.button(label, icon=work.icon, key=f"{work.key}_begin", help=work.help, on_click=_begin, args=(work,))


def _begun(work: Work) -> str:
    """Begin it; why that cannot be, if it cannot."""
    try:
        work.start()
    except (Busy, RecipeError, OSError) as error:
        return plain(error)
    return ""


@state.callback
def _begin(work: Work) -> None:
    """Callback: begin, and draw the whole page anew so that it is looked at from then on."""
    if reason := _begun(work):
        state.tell_later(f":material/block: {reason}")
    st.rerun()
