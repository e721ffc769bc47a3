"""What is shown until the reader has runs of their own: finished ones that came with the lab, and what made them."""

import streamlit as st

from pages.ui.kit import words
from svmcore.lab.recipe.recipe import Recipe


def note(instead: str, recipe: Recipe, page: str = "", query: dict | None = None) -> None:
    """That what follows is a sample, of what; what takes its place, and a link to the page with the same settings."""
    with st.container(border=True):
        st.markdown(f":violet-badge[:material/inventory_2: Sample] {words.summary(recipe)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"It came with the lab, so that there is something to see. {instead}", width="content")
            if page:
                st.page_link(
                    f"pages/{page}.py", label="Open with its settings", icon=":material/tune:", query_params=query
                )
