"""Cross-training: which examples are thrown away before a machine is trained, why, and what that costs."""

import streamlit as st

from pages.ui.edit import planar, studies, trained
from pages.ui.kit import parameters, present

VIEWS = {"In the plane": planar.view, "A run": trained.view, "As noise and n grow": studies.view}

st.title("Cross-training")
present.about(
    "A support vector machine keeps every example that it cannot get right, so label noise makes it large. Editing "
    "throws those away first, and those that are easy (Bakir, Bottou and Weston 2004)."
)
body = st.container() if present.presenting() else None  # the figure first
with present.form("View"):
    view = parameters.choice(
        "cross_view",
        "View",
        VIEWS,
        label_visibility="collapsed",
        wrap=True,
        help="Points that can be seen; any run of two classes; the paper's figures.",
    )
with body or st.container():
    VIEWS[view]()
