"""Draw a digit: what every machine makes of it, and how far it can be nudged until the answer flips."""

import streamlit as st

from data import catalogue
from pages.draw import address, board, machines
from pages.ui.kit import parameters, present, state
from pages.ui.kit.words import plain
from pages.ui.run import polling, trained
from svmcore.lab.store.runs import ACTIVE
from svmcore.preprocess.drawn import MNIST, convention


def nobody(run) -> None:
    """Why nobody answers, and how to get a machine."""
    if run is not None and run.state in ACTIVE:
        polling.poll(run.id, trained.waiting)
    else:
        why = "**No machine can classify drawings yet.** Train one on images of digits; this takes some seconds."
        trained.nothing(why, dataset=catalogue.DEFAULT)


@state.fragment
def drawing(found) -> None:
    """All that changes with a stroke or a nudge."""
    runs = []
    if found:
        with present.form("Machines"):
            runs = machines.chosen(found)
    first = runs[0] if runs else None
    how = convention(catalogue.entry(found[0].recipe.dataset).shape) if found else MNIST
    tests = first.result["n_test"] if first else 0
    address.read(tests)
    address.keep_within(tests)
    ink = board.prepared(how, first)
    place = st.container(horizontal=True)
    with place.container(width=board.LEFT):
        board.board()
        brief = st.empty()
        board.tools(tests)
        board.pad(ink)
    if runs:
        said = board.answers(place.container(horizontal=True), runs, ink)  # beside the canvas as far as there is room
        if said:
            brief.markdown(f"Predictions: **{plain(' · '.join(said))}**")
    elif not found:
        with place.container(width=board.LEFT):
            nobody(state.current_run())
    if runs and ink is not None:
        st.caption(board.SEE)
    board.steps(how, first)
    if runs and ink is not None:
        board.why(runs, ink)
    address.write()


parameters.own(*address.NAMES, runs=state.check_run)
run = state.current_run()
found = machines.able(run)
if run is not None and found and (reason := machines.refusal(run)):
    st.caption(f"The run shown, {plain(run.title)}, cannot classify a drawing: {plain(reason)}. Other runs can.")
drawing(found)
