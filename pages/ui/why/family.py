"""The machines that lean on one training example, or on virtual ones made from it."""

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.example.shown import Shown
from pages.ui.kit.gallery import gallery
from pages.ui.kit.words import plain
from svmcore.lab.store.runs import Run
from svmcore.model import Machine


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    """Alpha and margin of the example in each machine that it supports, and its virtual forms."""
    _, split, index = shown.ref.rsplit("/", 2)
    held = split == "train" and np.isin(evidence.dataset_rows(run, machine), int(index)).any()
    if not held:
        st.caption("No machine of this run leans on this example.")
        return
    _as_support_vector(run, machine, split, int(index))


def _as_support_vector(run: Run, machine: Machine, split: str, index: int) -> None:
    """The machines that lean on this example, or on virtual ones made from it: alpha, margin, kind."""
    held = np.flatnonzero(evidence.dataset_rows(run, machine) == index) if split == "train" else ()
    if not len(held):
        return
    names, jitters = evidence.machine_names(run, machine), evidence.jitter_names(machine)
    margins = machine.decision_values(machine.support_vectors[held]) * np.sign(machine.coef[:, held].T)
    rows = [
        {
            "machine": names[c],
            "alpha": abs(machine.coef[c, i]),
            "margin y f(x)": margins[r, c],
            "kind": "bound" if machine.bound[c, i] else "free",
        }
        | ({"jitter": jitters[machine.jitter[i]]} if jitters else {})
        for r, i in enumerate(held)
        for c in np.flatnonzero(machine.coef[:, i])
    ]
    leaning = len({row["machine"] for row in rows})
    st.markdown(f"Support vector of **{leaning}** of {len(names)} machines")
    st.dataframe(
        rows,
        hide_index=True,
        column_config={name: st.column_config.NumberColumn(format="%.3f") for name in ("alpha", "margin y f(x)")},
        alt="Alpha and margin in each machine that this example supports",
    )
    if jitters:
        _family(run, machine, index, int(np.argmax(np.count_nonzero(machine.coef[:, held], axis=1))))


def _family(run: Run, machine: Machine, index: int, c: int) -> None:
    """This example and the virtual ones made from it that one machine keeps."""
    chosen = evidence.supports(run, machine, c)
    chosen = evidence.take(chosen, chosen.row == index)
    gallery(
        evidence.support_pictures(run, machine, chosen),
        evidence.support_tiles(run.recipe.dataset, chosen, chosen.alpha),
        key="digit_family",
        alt=f"Forms of example {index} that are support vectors, largest alpha first",
        size=48,
    )
    st.caption(
        f"Its forms that hold up *{plain(evidence.machine_names(run, machine)[c])}*, alpha below; a dotted ring is a "
        "virtual support vector, made from this example by a jitter."
    )
