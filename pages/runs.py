"""Runs: every run of the store, filtered and folded; show one, and rename, tag, export, compare or delete them."""

import streamlit as st

from pages.ui.run import card, line, listed, polling, workers
from svmcore.lab.store import labels, runs

st.title("Runs")
workers.panel()
found = runs.everything()
store = {run.id: run for run in found}
listed.tell_deleted()
if not store:
    st.info("Start one on the Train page; it will be kept here.", title="No runs yet", icon=":material/inbox:")
    st.stop()

with st.container():  # there also when nothing is at work: what follows keeps its place in the page
    line.panel()
listed.read_address(store.__contains__, {run.group.key for run in found if run.group})
passing = listed.filtered(found)
if not passing:
    st.info(
        "Take a filter away to see them again.", title="No run passes these filters", icon=":material/filter_alt_off:"
    )
else:
    listed.table(labels.folded(passing), store)
all_of_them = f"{len(found):,} run{'' if len(found) == 1 else 's'}"
said = all_of_them if len(passing) == len(found) else f"{len(passing):,} of {all_of_them}"
st.caption(
    f"{said}. *Show* makes a run the one that every page shows, as in the menu at the side; *Open* unfolds runs that "
    "were started together. Tick rows to compare, tag or delete them."
)
ticked = [store[run_id] for run_id in st.session_state.get("ticked", ()) if run_id in store and passing]
tags = sorted({tag for run in found for tag in run.tags})
card.together(ticked)
polling.poll_all([run.id for run in found if run.state in runs.ACTIVE], lambda statuses: None)  # anew when one ends
listed.write_address()

run = store.get(st.session_state.get("run"))
if run is not None and not run.damage:
    with st.container(border=True):
        card.headline(run)
        card.to_compare(run)
        card.actions(run, tags)
        card.course(run)
