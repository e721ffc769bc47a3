"""The menu, below the run that is shown; and what it does not list: tabs beside another page.

What stands at an address that names no page: which pages there are.

Streamlit would lay a dialog over the first page. It still does so for the first visitor of a server, as it looks for
pages by itself until it was told of them.

Keyboard shortcuts: ways about the app for hands that stay on the keys, and the list of them, on `?`.

The browser does it all: no key makes the script run, except by what it opens. Keys typed into a field, a choice or a
canvas are never taken.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

import streamlit as st

from pages.ui.kit import present
from pages.ui.kit.component import component
from pages.ui.kit.text import plain, short


@cache
def listed(file: Path) -> dict:
    """The pages of a file, which is read once a process."""
    return tomllib.loads(file.read_text("utf-8"))


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
    """A link to each page, with its purpose, except for the `current` one, which the pointer still covers."""
    for page in pages:
        st.page_link(page, label=page.title, icon=page.icon, help=None if page == current else page.help or None)


def head(title: str, about: str) -> None:
    """The title of a page, and what it is for, as menu.toml has them; whoever presents it says that."""
    st.title(title)
    if about:
        present.about(about)


WIDTH = 270  # pixels of a column, at least


def nowhere(known: Sequence) -> list:
    """The page at the address that the browser shows, where none of the `known` is."""
    name = unquote(urlsplit(st.context.url or "").path).strip("/ ").rpartition("/")[2]
    if not name or name in [page.url_path for page in known]:
        return []
    return [st.Page(partial(_draw, name, known), title="No such page", url_path=name)]


def titled(name: str, known: Sequence):
    """The page whose title is typed as an address, or None."""
    return _by_title(known).get(_as_title(name))


def _by_title(known: Sequence) -> dict:
    return {page.title.lower(): page for page in known if page.help}


def _as_title(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").lower()


def _draw(name: str, known: Sequence) -> None:
    st.title("No such page")
    there = _by_title(known)
    st.markdown(f"There is no page called **{plain(short(name))}**.")
    for near in get_close_matches(_as_title(name), there, 1):
        st.page_link(there[near], label=f"Perhaps you meant {there[near].title}", icon=there[near].icon)
    st.subheader("Available pages")
    grid = st.grid(3, min_column_width=WIDTH)
    for page in there.values():
        with grid.cell():
            st.page_link(page, label=page.title, icon=page.icon)
            st.caption(page.help)


GO = "g"  # before the letter of a page
ANYWHERE = (
    ("?", "Show this list"),
    ("p", "Switch Present mode on or off"),
    ("s", "Spotlight: dims everything but the area around the pointer"),
)
PRESENTING = (("← →", "Previous or next figure, step of a lesson, or question of a class; also Page up, Page down"),)
ON_A_PAGE = (
    ("m", "Go to the confusion matrix; then arrows to move, Enter to filter"),
    ("f", "Go to the pictures, or to the next gallery; then arrows, Home, End to move, Enter to open"),
)
IN_A_VIEW = (("← →", "Previous or next example"), ("Esc", "Close the view, and return to the picture that opened it"))


def shortcuts(pages: Mapping[str, str], current: str) -> None:
    """Listen to keys; a line in the sidebar lists them. pages: letter -> title; current: the title of this page."""
    groups = {
        "Anywhere": ANYWHERE,
        "In Present mode": PRESENTING,
        "On a page": ON_A_PAGE,
        "In the view of one example": IN_A_VIEW,
        "Go to": tuple((f"{GO} {letter}", title) for letter, title in pages.items()),
    }
    lists = [[name, list(map(list, keys))] for name, keys in groups.items()]
    data = {"go": GO, "pages": dict(pages), "page": current, "groups": lists}
    with st.sidebar:
        _component(data=data, key="shortcuts")


_component = component(__file__, "keys", '<div class="keys"></div>', first=("back",))
