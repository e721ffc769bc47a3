"""The run picker: one choice of run that stays with the reader from page to page, in the URL as `?run=`."""

import streamlit as st

from pages.ui.kit import state, words
from svmcore.lab import jobs
from svmcore.lab.store import runs

labels = words.run_labels

# state of a run -> (icon, colour, what to call it)
STATES = {
    "queued": (":material/schedule:", "gray", "queued"),
    "running": (":material/progress_activity:", "blue", "running"),
    "paused": (":material/pause:", "orange", "paused"),
    "done": (":material/check:", "green", "done"),
    "failed": (":material/error:", "red", "failed"),
    "cancelling": (":material/stop:", "orange", "cancelling"),
    "cancelled": (":material/stop:", "gray", "cancelled"),
    "interrupted": (":material/power_off:", "orange", "interrupted"),
    "damaged": (":material/broken_image:", "red", "damaged"),
}


def badge(name: str):
    """The state of a run as a small coloured label."""
    icon, colour, word = STATES[name]
    st.badge(word, icon=icon, color=colour)


def run_picker():
    """Draw the picker into the sidebar; afterwards `st.session_state.run` holds the id, or None in an empty store."""
    known = labels(runs.everything())
    current = st.session_state.get("run")
    if asked := state.asked("run", ["run"]):
        current = asked["run"][-1]
        if current not in known:
            where = "it was deleted, or made on another machine"
            st.warning(f"There is no run {words.plain(current)} here: {where}.", icon=":material/link_off:")
    if not known:
        st.session_state.pop("run", None)
        st.sidebar.caption("No runs yet. Train one.")
        return
    st.session_state["run"] = current if current in known else next(iter(known))
    with st.sidebar:
        run_id = st.selectbox(
            "Run shown on every page",
            list(known),
            format_func=known.get,
            key="run",
            persist_state="session",
            help="Its id is part of the address, so a copied link opens the same run.",
        )
        badge(jobs.status(run_id).word)
    state.write("run", ["run"], {"run": run_id})
    damage(runs.get(run_id))


def damage(run, key: str = "picker"):
    """What is wrong with a damaged run, and the way to be rid of it."""
    if not run.damage:
        return
    st.error(words.plain(run.damage), title="This run is damaged", icon=":material/broken_image:")
    st.button(
        "Delete it",
        icon=":material/delete:",
        key=f"delete_damaged_{key}",
        on_click=delete,
        args=(run,),
        help="Into the trash, with undo on the Runs page. Put right, the file makes the run whole again.",
    )


def delete(run):
    """Callback: move a run to the trash; the Runs page offers to undo that."""
    try:
        title = run.title
        run.delete()
    except (runs.RunBusy, OSError) as error:
        state.tell_later(f":material/block: {words.plain(error)}")
    else:
        st.session_state["deleted"] = (run.id, title)
        st.session_state["compare"] = []
