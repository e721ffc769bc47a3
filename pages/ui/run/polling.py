"""One fragment that looks at jobs about once a second, until all of them have come to their end."""

import streamlit as st

from pages.ui.kit import state
from svmcore.lab import jobs
from svmcore.lab.store import runs

PERIOD = 1.0  # seconds


def poll(run_id: str, render):
    """Draw `render(status)` now and every second; when the state changes, run the whole page once more.

    run_id: the run to follow. render: called inside the fragment with the job's Status; it may hold buttons.
    """
    poll_all([run_id], lambda statuses: render(statuses[0]))


def poll_all(run_ids, render, tasks=dict):
    """`poll` for several runs: `render` gets the list of their statuses. tasks() -> the state of each background task
    that is followed as well, by its name."""
    begun = [jobs.status(run_id) for run_id in run_ids]
    drawn, others = [status.state for status in begun], tasks()
    at_work = any(status.state in runs.ACTIVE for status in begun) or not {"waiting", "working"}.isdisjoint(
        others.values()
    )

    @state.fragment(run_every=PERIOD if at_work else None)
    def look():
        statuses = [jobs.status(run_id) for run_id in run_ids]
        if [status.state for status in statuses] != drawn or tasks() != others:
            st.rerun()
        render(statuses)

    with st.container():  # of its own: two fragments of one function in one place would be one
        look()
