"""A background analysis (svmcore/lab/jobs/background.py) as every page has it: begun, watched, stopped, begun again."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import streamlit as st

from data import permission
from pages.ui.kit import state
from pages.ui.kit.ways import button
from pages.ui.kit.words import plain
from svmcore.lab.jobs.background import Analysis, Busy, TaskStatus
from svmcore.lab.recipe import RecipeError

PERIOD, PATIENCE = 1.0, 0.9  # seconds between two looks, and that the page waits for what is soon there


class Work(NamedTuple):
    """A piece of work, and what a page says of it."""

    analysis: Analysis
    of: tuple  # its key
    key: str  # of its widgets
    bar: Callable[[TaskStatus], tuple[str, float]]  # what is being done, and the share of it that has been
    failed: str  # above the reason
    begin: str  # on the button
    help: str
    icon: str = "replay"
    again: str = ""  # on the button after the first time, where that is another word
    stop: str = "The results so far are kept."


def watched(work: Work, draw: Callable[[TaskStatus], None] = lambda now: None, at_once: bool = False) -> TaskStatus:
    """Its status, polled once a second while at work; `draw(now)` shows results. at_once: start it if nobody has."""
    if at_once and work.analysis.status(*work.of).state == "none":
        if reason := _begun(work):
            st.warning(reason, icon=":material/hourglass_top:")
        work.analysis.wait(*work.of, timeout=PATIENCE)
    before = work.analysis.status(*work.of)

    status = lambda: work.analysis.status(*work.of)  # noqa: E731
    every = PERIOD if before.at_work else None
    state.watch(before.at_work, lambda: status().at_work, lambda: _draw(work, status(), draw), every)
    return before


def by_stage(stages: Sequence[str]) -> Callable[[TaskStatus], tuple[str, float]]:
    """The bar of work that says which of these stages it is at."""

    def bar(now: TaskStatus) -> tuple[str, float]:
        at = stages.index(now.message) if now.message in stages else 0
        return f"Step {at + 1} of {len(stages)}: {now.message or stages[0]}", at / len(stages)

    return bar


def _draw(work: Work, now: TaskStatus, draw: Callable[[TaskStatus], None]) -> None:
    if now.at_work:
        text, share = work.bar(now)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(min(max(share, 0.0), 1.0), text=plain(text))
            button("Stop", "stop", f"{work.key}_stop", work.analysis.stop, *work.of, help=work.stop)
    if now.state == "failed":
        st.error(plain(now.message), title=work.failed, icon=":material/error:")
    draw(now)
    if now.state in ("none", "stopped", "failed") and permission.may("analyse"):
        label = work.begin if now.state == "none" else work.again or work.begin
        button(label, work.icon, f"{work.key}_begin", _begin, work, help=work.help)


def _begun(work: Work) -> str:
    """Begin it; why that cannot be, if it cannot."""
    try:
        work.analysis.start(*work.of)
    except (Busy, RecipeError, OSError) as error:
        return plain(error)
    return ""


@state.callback
def _begin(work: Work) -> None:
    """Callback: begin, and draw the whole page anew so that it is looked at from then on."""
    if reason := _begun(work):
        state.tell_later(f":material/block: {reason}")
    st.rerun()
