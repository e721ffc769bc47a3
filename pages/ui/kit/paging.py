"""A long list page by page; the page's number is in the address."""

import zlib

import streamlit as st

from pages.ui.kit import parameters

BUTTON = 46  # pixels that one takes


def paged(n: int, most: int, *, key: str, of: object = "", name: str = "page", first: int = 1) -> slice:
    """Which of n things, `most` a page, are shown, with the choice of the page where there are several.

    of: what list it is, by its filters and order; another one begins at its page `first`. name: the parameter of the
    address; a page that does not exist is said aloud.
    """
    pages = max(1, -(-n // most))
    widget = f"{key}_{zlib.crc32(repr((of, pages, first)).encode()):08x}"
    edition, begin = st.session_state.get(widget, (0, first))
    if parameters.asked(key, [name]):  # another widget, as one that was drawn does not take another default
        edition, begin = st.session_state[widget] = edition + 1, parameters.read(name, first, slice(1, pages))
    page = 1
    if pages > 1:  # beside another control its own width comes out too small for two
        width = BUTTON * (min(pages, 7) + 2)
        page = st.pagination(pages, default=begin, width=width, key=f"{widget}_{edition}")
    parameters.write(key, [name], {name: str(page)} if page != first else {})
    return slice((page - 1) * most, page * most)
