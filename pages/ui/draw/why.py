"""Why a machine answers as it does about a drawing: the panels of the view of an example, for what was drawn."""

import numpy as np
import streamlit as st

from data import load
from pages.ui.draw import address, machines
from pages.ui.draw.nudges import nudged
from pages.ui.example.shown import DRAWN, Shown
from pages.ui.kit.words import short
from pages.ui.why import dialog
from svmcore.lab.store.runs import Run


def section(found: list[Run], ink: np.ndarray) -> None:
    """The question, and once it is asked the panels for one machine and the digit as it was nudged."""
    st.session_state.setdefault("draw_why", dialog.WHY in st.query_params)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.toggle(
            "Why this answer?",
            key="draw_why",
            on_change=_note,
            help="What speaks for and against it, for one of the machines. It follows what you draw, and takes longer.",
        )
        if not st.session_state["draw_why"]:
            return
        run = st.selectbox(
            "Machine",
            found,
            format_func=lambda run: short(run.title, 60),
            key="draw_why_run",
            label_visibility="collapsed",
            width=340,
            help="Whose support vectors are asked.",
        )
    dataset = load(run.recipe.dataset)
    X = machines.example(dataset, nudged(ink, [address.current().nudge]))
    dialog.panels(run, run.machine(), Shown(dataset, X, None, DRAWN))


def _note() -> None:
    if not st.session_state["draw_why"]:
        st.query_params.pop(dialog.WHY, None)
