"""The ways from one page to another."""

from collections.abc import Mapping

import streamlit as st


def to(page: str, label: str | None, icon: str, query: Mapping | None = None, *, help: str | None = None) -> None:
    """A link to a page. page: its file's name; label: the page's title for None; icon: Material's name for it; query:
    the parameters of its address."""
    st.page_link(f"pages/{page}.py", label=label, icon=f":material/{icon}:", query_params=query, help=help)
