"""The list of examples that a page shows: page by page, and for a reader who goes through them one by one.

A page calls `over` whenever its script runs, with the references of all that it shows, in its order; the view of one
example asks `place` where in that list it stands. A page that shows several galleries keeps a list for each. app.py
forgets all of them before a page runs, so that a page that shows no list has none; a shared address finds its place
again, as the page behind it makes the same list by the same filters.
"""

import zlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

import streamlit as st

from pages.ui.kit import parameters
from pages.ui.kit.ways import button

BUTTON = 46  # pixels that one takes
WALK = "walk"  # of the session: (title, references) of each list


class Place(NamedTuple):
    """Where an example stands in the list of its page: number from 1, of how many, and its neighbours ("" for none)."""

    number: int
    of: int
    before: str
    after: str
    title: str  # what the list holds, "" where the page does not say


def forget() -> None:
    """No lists: a page begins."""
    st.session_state[WALK] = []


def over(refs: Iterable[str], title: str = "") -> None:
    """Keep the references, each once, as a list to walk through. title: what they are, as `errors`."""
    st.session_state.setdefault(WALK, []).append((title, tuple(dict.fromkeys(refs))))


def place(ref: str) -> Place | None:
    """Where the reference stands in the first list that has it, or None where none does."""
    for title, refs in st.session_state.get(WALK, ()):
        if ref in refs:
            at = refs.index(ref)
            before, after = (refs[i] if 0 <= i < len(refs) else "" for i in (at - 1, at + 1))
            return Place(at + 1, len(refs), before, after, title)
    return None


def steps(at: Place, open_one: Callable[[str], None], what: str = "example") -> None:
    """Buttons, and arrow keys, that lead to the neighbours."""
    for label, key, ref in (("Previous", "Left", at.before), ("Next", "Right", at.after)):
        side = key.lower()
        how = {"help": f"{label} {what} of the page.", "icon_position": side, "shortcut": key, "disabled": not ref}
        button(label, f"chevron_{side}", f"why_{label.lower()}", open_one, ref, **how)


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
