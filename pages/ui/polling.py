"""One fragment that looks at a job about once a second, until the job has come to its end."""

import streamlit as st

from svmcore.lab import jobs, runs

PERIOD = 1.0  # seconds


def poll(run_id: str, render):
    """Draw `render(status)` now and every second; when the state changes, run the whole page once more.

    run_id: the run to follow. render: called inside the fragment with the job's Status; it may hold buttons.
    """
    drawn = jobs.status(run_id).state

    @st.fragment(run_every=PERIOD if drawn in runs.ACTIVE else None)
    def look():
        status = jobs.status(run_id)
        if status.state != drawn:
            st.rerun()
        render(status)

    look()
