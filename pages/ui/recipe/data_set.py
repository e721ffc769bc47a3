"""The choice of a data set on a page: shown by its title, named by its id in the address, `?set=`."""

from collections.abc import Sequence

import streamlit as st

from data import catalogue
from pages.ui.kit import parameters, words

NAME = "set"  # the widget's key, and the parameter


def field(names: Sequence[str], usual: str, help: str, width: int = 220) -> str:
    """Draw the field; the chosen one of the data sets `names`, at first the address's, or `usual`."""
    if parameters.asked(NAME, [NAME]) or st.session_state.get(NAME) not in names:
        st.session_state[NAME] = parameters.read(NAME, usual, names)
    titles = {entry.name: entry.title for entry in catalogue.entries()}
    chosen = st.selectbox(
        "Data set", names, format_func=lambda name: words.short(titles[name], 40), key=NAME, width=width, help=help
    )
    parameters.write(NAME, [NAME], {NAME: chosen})
    return chosen
