"""Scramble the pixels."""

import streamlit as st

st.title("Scramble the pixels")
