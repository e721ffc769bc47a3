"""The list of examples that a page shows, for a reader who goes through them one by one.

A page calls `over` whenever its script runs, with the references of all that it shows, in its order; the view of one
example asks `place` where in that list it stands. A page that shows several galleries keeps a list for each. app.py
forgets all of them before a page runs, so that a page that shows no list has none; a shared address finds its place
again, as the page behind it makes the same list by the same filters.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import streamlit as st

from pages.ui.kit.buttons import button

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
