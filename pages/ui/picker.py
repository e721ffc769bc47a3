"""The run picker: one choice of run that stays with the reader from page to page, in the URL as `?run=`."""

import streamlit as st

from svmcore.lab import jobs, runs

# state of a run -> (icon, colour, what to call it)
STATES = {
    "queued": (":material/schedule:", "gray", "queued"),
    "running": (":material/progress_activity:", "blue", "running"),
    "paused": (":material/pause:", "orange", "paused"),
    "done": (":material/check:", "green", "done"),
    "failed": (":material/error:", "red", "failed"),
    "cancelled": (":material/stop:", "gray", "cancelled"),
    "interrupted": (":material/power_off:", "orange", "interrupted"),
}


def badge(state: str):
    """The state of a run as a small coloured label."""
    icon, colour, word = STATES[state]
    st.badge(word, icon=icon, color=colour)


def run_picker():
    """Draw the picker into the sidebar; afterwards `st.session_state.run` holds the id, or None in an empty store."""
    known = {run.id: run for run in runs.list()}
    asked, current = st.query_params.get("run"), st.session_state.get("run")
    if current is None and asked is not None and asked not in known:
        st.warning(f"There is no run `{asked}` here: it was deleted, or made on another machine. Showing the newest.")
    if not known:
        st.session_state.pop("run", None)
        st.sidebar.caption("No runs yet. Train one.")
        return
    if current not in known and not (current is None and asked in known):
        newest = next(iter(known))
        if current is None:
            st.query_params["run"] = newest
        st.session_state["run"] = newest
    with st.sidebar:
        st.caption("Run shown on every page")
        run_id = st.selectbox(
            "Run",
            list(known),
            index=None,
            format_func=lambda i: _label(known[i]),
            required=True,
            key="run",
            bind="query-params",
            label_visibility="collapsed",
        )
        if run_id:
            badge(jobs.status(run_id).state)


def _label(run):
    return run.title if run.state == "done" else f"{run.title} ({STATES[run.state][2]})"
