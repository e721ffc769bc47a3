"""Playground, the first page: what a support vector machine keeps, in the plane, while the preset trains behind."""

import streamlit as st

from pages.playground import controls, plot
from pages.ui.kit import present
from pages.ui.play import opening

if not present.presenting() and not st.session_state.get("lesson_at"):  # it would say what a lesson asks
    st.markdown(f"{plot.PURPOSE}  \n{plot.SENTENCE}")
note = st.empty()
controls.begin()
plot.playground()
plot.ways_on()
if not opening.ready():  # the first picture of this process: with the machine that is kept, or without one
    with note:
        opening.follow()
    st.stop()
