"""Copies, linked pairs and outliers of a run's examples, found beside the runs: there, or how far they are."""

from functools import partial

import streamlit as st

from pages.ui.kit import state
from pages.ui.kit.words import plain
from pages.ui.why.working import at_work
from svmcore.lab.experiment.suspects import Related
from svmcore.lab.jobs import related as jobs
from svmcore.lab.jobs.beside import Busy
from svmcore.lab.store.runs import Run

PERIOD, PATIENCE = 1.0, 0.9  # seconds between two looks, and that the page waits for what is soon there
STEPS = list(jobs.STAGES.values())


def of(run: Run) -> Related | None:
    """What was found; None, and how far it is or why there is nothing on screen, until then."""
    if jobs.RELATED.status(run.id).state == "none":
        _ask(run.id)
    now = jobs.RELATED.wait(run.id, PATIENCE)
    if now.at_work:
        _watch(run.id)
    elif now.state != "done":
        if now.state == "failed":
            st.error(plain(now.message), title="The examples were not compared", icon=":material/error:")
        st.button(
            "Compare the examples", key="related_again", icon=":material/replay:", on_click=_ask, args=(run.id,),
            help="Looks for copies, for pairs of unlike labels, and for examples far from their class.",
        )  # fmt: skip
    return now.result if now.state == "done" else None


def _ask(run_id: str) -> None:
    try:
        jobs.start(run_id)
    except Busy as error:
        st.warning(plain(error), icon=":material/hourglass_top:")


@state.fragment(run_every=PERIOD)
def _watch(run_id: str) -> None:
    now = jobs.RELATED.status(run_id)
    if not now.at_work:
        st.rerun()
    step = STEPS.index(now.message) + 1 if now.message in STEPS else 0
    at_work(plain(now.message), step / (len(STEPS) + 1), partial(jobs.RELATED.stop, run_id), "related", "Ends it.")
