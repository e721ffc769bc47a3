"""Draw a digit."""

import streamlit as st

st.title("Draw a digit")
