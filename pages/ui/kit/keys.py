"""Keyboard shortcuts: ways about the app for hands that stay on the keys, and the list of them, on `?`.

The browser does it all: no key makes the script run, except by what it opens. Keys typed into a field, a choice or a
canvas are never taken.
"""

from collections.abc import Mapping

import streamlit as st

from pages.ui.kit.component import component

GO = "g"  # before the letter of a page
ANYWHERE = (("?", "This list"), ("p", "Present on or off"))
ON_A_PAGE = (
    ("m", "To the confusion matrix; then arrows, Enter to filter"),
    ("f", "To the pictures, and from one gallery to the next; then arrows, Home, End, Enter to open"),
)
IN_A_VIEW = (("← →", "Previous, next example"), ("Esc", "Close it: back at the picture that opened it"))


def shortcuts(pages: Mapping[str, str], current: str) -> None:
    """Listen to keys; a line in the sidebar opens the list. pages: letter -> title of the page it goes to; current: the
    title of the page that is drawn."""
    groups = {
        "Anywhere": ANYWHERE,
        "On a page": ON_A_PAGE,
        "In the view of one example": IN_A_VIEW,
        "Go to": tuple((f"{GO} {letter}", title) for letter, title in pages.items()),
    }
    lists = [[name, list(map(list, keys))] for name, keys in groups.items()]
    data = {"go": GO, "pages": dict(pages), "page": current, "groups": lists}
    with st.sidebar:
        _component(data=data, key="shortcuts")


_component = component(__file__, "keys", '<div class="keys"></div>', first=("back",))
