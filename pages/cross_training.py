"""Cross-training: which examples are thrown away before a machine is trained, why, and what that costs."""

from functools import partial

import streamlit as st

from pages.cross_training import discarded, planar, setting, studies
from pages.ui.kit import parameters, present
from pages.ui.studies import study

VIEWS = {
    "In the plane": planar.view,
    "A run": discarded.view,
    "As noise and n grow": partial(study.draw, studies.STUDY),
}

parameters.own(**setting.PARAMS, **planar.PARAMS, thrown=discarded.KINDS, course=[*studies.courses(), *studies.OWN])
body = st.container() if present.presenting() else None  # the figure first
with present.form("View"):
    view = parameters.choice("cross_training.cross_view", VIEWS)
with body or st.container():
    VIEWS[view]()
