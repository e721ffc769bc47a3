"""Playground."""

import streamlit as st

st.title("Playground")
