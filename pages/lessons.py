"""Lessons: six short walks through the pages, and the seed that gives a whole class the same digits."""

import streamlit as st

from pages.ui.lesson import cards
from pages.ui.lesson.lessons import LESSONS

st.title("Lessons")
st.caption(
    "Each is a few questions about the pages themselves: guess first, then look. About five minutes; nothing has to be "
    "known before."
)
seed = cards.class_seed()
with st.grid("auto", min_column_width=320):
    for number, lesson in enumerate(LESSONS, 1):
        cards.card(number, lesson, seed)
