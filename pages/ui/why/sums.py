"""The sums of one example: f of the predicted class's machine, and beside it that of the true one or of any other."""

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.kit.words import plain, short
from pages.ui.why.answer import BESIDE, Answer, roles
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

HELP = (
    "f(x) = sum of alpha y K(x_i, x) over the support vectors, plus the bias. Above 0 the machine says its class; of "
    "several machines the largest f decides."
)


def draw(run: Run, machine: Machine, said: Answer, held: np.ndarray | bool) -> None:
    """The machines looked at with their f, the choice of the second one, and whether the example holds machines up.

    held: (m,) bool, the support vectors that are this example or were made from it; False for none.
    """
    names = evidence.machine_names(run, machine)
    places = st.columns(len(said.sides) + (len(names) > 2))
    for place, c in zip(places, said.sides):
        role = roles(said, c)
        label = f"{plain(short(names[c]))}{f' ({role})' if role else ''}"
        place.metric(label, f"f = {said.f[c]:+.3f}", help=HELP)
    if len(names) > 2:
        with places[-1]:
            _choose_second(said)
    if np.any(held):
        holding = np.sum(np.any(machine.coef[:, held] != 0, axis=1))
        itself = machine.jitter is None or (machine.jitter[held] == 0).any()
        what = "It is itself a support vector" if itself else "Virtual examples made from it are support vectors"
        st.caption(f"{what} of {holding} of {len(names)} machine{'s' if len(names) > 1 else ''}: see *Family*.")


def _choose_second(said: Answer) -> None:
    others = [int(place) for place in np.argsort(-said.f, kind="stable") if place != said.called]
    st.session_state["why_beside"] = said.sides[1]
    st.selectbox(
        "Beside it",
        others,
        format_func=lambda place: f"{short(said.names[place], 24)}: f = {said.f[place]:+.3f}",
        key="why_beside",
        on_change=lambda: st.query_params.update({BESIDE: said.names[st.session_state["why_beside"]]}),
        help="All other machines, the largest f first. Shown first: the true class's, or the runner-up's.",
    )
