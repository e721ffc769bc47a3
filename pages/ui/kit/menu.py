"""The menu, below the run that is shown; and what it does not list: tabs beside another page."""

from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from pages.ui.kit import present


def draw(menu: Mapping[str, Sequence], studies: Sequence, current) -> None:
    """The pages under their headings, and the studies, folded unless one of them is `current`."""
    with st.sidebar.container(key="menu"):
        for heading, pages in menu.items():
            with st.container(gap=None):
                st.caption(heading)
                links(pages, current)
        with st.expander("Studies", expanded=current in studies, icon=":material/experiment:", key="studies"):
            links(studies, current)


def tabs(pages: Iterable) -> None:
    """The pages of one subject beside each other, above what is shown of one of them."""
    if not present.presenting():
        with st.container(horizontal=True, key="tabs"):
            links(pages)


def unlisted(pages: Iterable) -> None:
    """Links that are not seen, for the keys that lead to a page (keys.js)."""
    with st.sidebar.container(key="unlisted"):
        links(pages)


def links(pages: Iterable, current=None) -> None:
    """A link to each page, and what for; of the `current` one nothing, as the pointer that came by it still rests
    there."""
    for page in pages:
        st.page_link(page, label=page.title, icon=page.icon, help=None if page == current else page.help or None)
