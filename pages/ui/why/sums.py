"""The sums of one example: f of the machines looked at, and all of them at a glance."""

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.figures import decisions
from pages.ui.figures.frame import show
from pages.ui.kit import parameters
from pages.ui.kit.buttons import button
from pages.ui.kit.text import many, with_sign
from pages.ui.kit.words import plain, short
from pages.ui.why.answer import Answer
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

HELP = (
    "f(x) = sum of alpha y K(x_i, x) over the support vectors, plus the bias. Above 0 the machine says its class; of "
    "several machines the largest f decides."
)
MAX_BARS = 12  # machines drawn at a glance


def draw(run: Run, machine: Machine, said: Answer, held: np.ndarray | bool) -> None:
    """The machines looked at with their f, every machine's f, and whether the example holds machines up.

    held: (m,) bool, the support vectors that are this example or were made from it; False for none.
    """
    names = evidence.machine_names(run, machine)
    sides = said.sides(st.query_params.get("rival"))
    places = st.columns(len(sides) + (len(names) > 2))
    for place, c in zip(places, sides):
        role = said.role(c)
        # In few letters: in half of a narrow view the name of its machine would be cut.
        label = f"{plain(short(said.names[c], 24))} ({role})" if role else plain(_name(said, c))
        place.metric(label, f"f = {with_sign(said.f[c], 3)}", help=HELP)
    if len(names) > 2:
        with places[-1].popover(f"All {len(names)} machines", icon=":material/bar_chart:"):
            _all(said)
    if np.any(held):
        holding = np.sum(np.any(machine.coef[:, held] != 0, axis=1))
        itself = machine.jitter is None or (machine.jitter[held] == 0).any()
        what = "It is itself a support vector" if itself else "Virtual examples made from it are support vectors"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{what} of {holding} of {many(len(names), 'machine')}.", width="content")
            help = "The example with its virtual copies, and which of them are support vectors."
            button("See its family", "", "why_family", parameters.say, "why", "family", help=help, type="tertiary")


def _name(said: Answer, c: int) -> str:
    """`5 against the rest`, of two classes both, each in few letters."""
    own, other = (said.names[1], said.names[0]) if len(said.f) == 1 else (said.names[c], "rest")
    return f"{short(own, 24)} against {'the rest' if other == 'rest' else short(other, 24)}"


def _all(said: Answer) -> None:
    """Every f, or the largest ones, as bars."""
    order = np.sort(np.argsort(-said.f, kind="stable")[:MAX_BARS])
    figure = decisions.decision_bars(
        said.f[order],
        [said.names[c] for c in order],
        None if said.true is None else said.names[said.true],
        said.names[said.called],
    )
    show(figure, "digit_decision", width=420)
