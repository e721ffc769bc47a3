"""What stands at an address that names no page: which pages there are.

Streamlit would lay a dialog over the first page. It still does so for the first visitor of a server, as it looks for
pages by itself until it was told of them.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from urllib.parse import unquote, urlsplit

import streamlit as st

from pages.ui.kit.text import plain, short

WIDTH = 270  # pixels of a column, at least


def pages(known: Sequence) -> list:
    """The page at the address that the browser shows, where none of the `known` is."""
    name = unquote(urlsplit(st.context.url or "").path).strip("/ ").rpartition("/")[2]
    if not name or name in [page.url_path for page in known]:
        return []
    return [st.Page(partial(_draw, name, known), title="No such page", url_path=name)]


def _draw(name: str, known: Sequence) -> None:
    st.title("No such page")
    there = {page.title.lower(): page for page in known if page.help}
    st.markdown(f"Nothing here is called **{plain(short(name))}**.")
    for near in get_close_matches(name.replace("_", " ").lower(), there, 1):
        st.page_link(there[near], label=f"Perhaps you meant {there[near].title}", icon=there[near].icon)
    st.subheader("What there is")
    grid = st.grid(3, min_column_width=WIDTH)
    for page in there.values():
        with grid.cell():
            st.page_link(page, label=page.title, icon=page.icon)
            st.caption(page.help)
