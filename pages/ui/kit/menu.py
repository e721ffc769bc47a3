"""What the menu does not list as pages of its own: studies, folded below it, and tabs beside another page."""

from collections.abc import Iterable

import streamlit as st

from pages.ui.kit import present


def studies(pages: Iterable, current) -> None:
    """The studies, folded unless one of them is shown."""
    pages = list(pages)
    with st.sidebar.expander("Studies", expanded=current in pages, icon=":material/experiment:", key="studies"):
        links(pages)


def tabs(pages: Iterable) -> None:
    """The pages of one subject beside each other, above what is shown of one of them."""
    if not present.presenting():
        with st.container(horizontal=True, key="tabs"):
            links(pages)


def unlisted(pages: Iterable) -> None:
    """Links that are not seen, for the keys that lead to a page (keys.js)."""
    with st.sidebar.container(key="unlisted"):
        links(pages)


def links(pages: Iterable) -> None:
    """A link to each page."""
    for page in pages:
        st.page_link(page, label=page.title, icon=page.icon, help=page.help or None)
