"""One fragment that looks at a job about once a second, and stops looking when the job has come to its end."""

import streamlit as st

from svmcore.lab import jobs, runs

PERIOD = 1.0  # seconds


def poll(run_id: str, render):
    """Draw `render(status)` now and every second until the job ends; then run the page once more for its last state.

    run_id: the run to follow. render: called inside the fragment with the job's Status; it may hold buttons.
    """
    active = jobs.status(run_id).state in runs.ACTIVE

    @st.fragment(run_every=PERIOD if active else None)
    def look():
        status = jobs.status(run_id)
        if active and status.state not in runs.ACTIVE:
            st.rerun()
        render(status)

    look()
