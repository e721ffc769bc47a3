"""One fragment that looks at jobs about once a second, until all of them have come to their end."""

import streamlit as st

from pages.ui.kit import state
from svmcore.lab import jobs
from svmcore.lab.store import runs

PERIOD = 1.0  # seconds
MANY = 40  # runs, of which all are looked at in a second; of more of them less often, as that takes their time


def poll(run_id: str, render):
    """Draw `render(status)` now and every second; when the state changes, run the whole page once more.

    run_id: the run to follow. render: called inside the fragment with the job's Status; it may hold buttons.
    """
    poll_all([run_id], lambda statuses: render(statuses[0]))


def poll_all(run_ids, render, tasks=dict):
    """`poll` for several runs: `render` gets the list of their statuses. tasks() -> the state of each background task
    that is followed as well, by its name. A run that has ended since the page first asked for its state, so that nobody
    would follow it, lets the page be drawn once more at once."""

    def statuses():
        return [jobs.status(run_id) for run_id in run_ids]

    def states():
        return [status.state for status in statuses()], tasks()

    drawn = [runs.get(run_id).state_seen_first for run_id in run_ids]
    begun, others = states()
    if any(was in runs.ACTIVE and now not in runs.ACTIVE for was, now in zip(drawn, begun, strict=True)):
        st.rerun()
    at_work = {*begun, *others.values()} & {*runs.ACTIVE, "waiting", "working"}
    period = PERIOD * max(1.0, len(run_ids) / MANY)
    state.watch((begun, others), states, lambda: render(statuses()), period if at_work else None)
