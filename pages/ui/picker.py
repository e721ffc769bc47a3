"""The run picker: one choice of run that stays with the reader from page to page, in the URL as `?run=`."""

import streamlit as st

from pages.ui import state, words
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


def badge(name: str):
    """The state of a run as a small coloured label."""
    icon, colour, word = STATES[name]
    st.badge(word, icon=icon, color=colour)


def run_picker():
    """Draw the picker into the sidebar; afterwards `st.session_state.run` holds the id, or None in an empty store."""
    known = {run.id: run for run in runs.list()}
    current = st.session_state.get("run")
    if asked := state.asked("run", ["run"]):
        current = asked["run"][-1]
        if current not in known:
            st.warning(f"There is no run `{current}` here: it was deleted, or made on another machine.")
    if not known:
        st.session_state.pop("run", None)
        st.sidebar.caption("No runs yet. Train one.")
        return
    st.session_state["run"] = current if current in known else next(iter(known))
    with st.sidebar:
        st.caption("Run shown on every page")
        run_id = st.selectbox(
            "Run",
            list(known),
            format_func=_labels(known.values()).get,
            key="run",
            persist_state="session",
            label_visibility="collapsed",
        )
        badge(jobs.status(run_id).state)
    state.write("run", ["run"], {"run": run_id})


def _labels(listed):
    """A label for each run id; Streamlit tells options apart by their labels, so no two are alike."""
    labels = {}
    for run in listed:
        label = f"{run.title} · {words.when(run.created)}"
        labels[run.id] = f"{label} ({run.id[-6:]})" if label in labels.values() else label
    return labels
