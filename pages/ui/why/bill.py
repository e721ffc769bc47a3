"""The support vectors that contribute most to a machine's decision on one example."""

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.example.shown import Shown
from pages.ui.kit.gallery import gallery
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

STRONGEST = 24  # support vectors shown


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    """f as a sum of bias and contributions, and the strongest of these."""
    x = evidence.prepared(run, shown.X)[0]
    _reasons(run, machine, x, machine.decision_values(x[None])[0], shown.ref)


def _reasons(run: Run, machine: Machine, x: np.ndarray, values: np.ndarray, ref: str) -> None:
    """The support vectors that contribute most to one machine's decision."""
    names = evidence.machine_names(run, machine)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        c = st.selectbox(
            "Contributions to machine",
            range(len(names)),
            index=int(np.argmax(values)),
            format_func=names.__getitem__,
            key=f"digit_machine_{ref}",
            width=220,
            help="Each support vector adds alpha y K(x_i, x) to the decision value.",
        )
    chosen = evidence.supports(run, machine, c)
    parts = evidence.contributions(machine, c, x, chosen)
    pro, contra = parts[parts > 0], parts[parts < 0]
    st.markdown(
        f"f = {machine.bias[c]:+.3f} bias :blue[{pro.sum():+.3f}] from {len(pro):,} for "
        f":orange[{contra.sum():+.3f}] from {len(contra):,} against = **{values[c]:+.3f}**"
    )
    strongest = np.argsort(-np.abs(parts), kind="stable")[:STRONGEST]
    shown = evidence.take(chosen, strongest)
    gallery(
        evidence.support_pictures(run, machine, shown),
        evidence.support_tiles(run.recipe.dataset, shown, parts[strongest]),
        key="digit_reasons",
        alt=f"The {len(strongest)} support vectors that contribute most, strongest first",
        size=48,
    )
    st.caption(
        "The support vectors that weigh most, strongest first: number above = class, below = contribution to f. "
        "Blue ones speak for the machine's class, orange ones against; a double ring is at C. Click one to open it."
    )
