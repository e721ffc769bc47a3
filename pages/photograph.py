"""On a photograph: drop one in, and see where a machine that was trained on faces finds any."""

import streamlit as st

st.title("On a photograph")
