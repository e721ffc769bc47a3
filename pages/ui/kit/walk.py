"""The list of examples that a page shows, for a reader who goes through them one by one.

A page calls `over` whenever its script runs, with the references of all that it shows, in its order; the view of one
example asks `place` where in that list it stands. A page that shows no list has none.
"""

from collections.abc import Iterable
from typing import NamedTuple

import streamlit as st

WALK = "walk"  # of the session


class Place(NamedTuple):
    """Where an example stands in the list of its page: number from 1, of how many, and its neighbours ("" for none)."""

    number: int
    of: int
    before: str
    after: str


def over(refs: Iterable[str]) -> None:
    """Keep the references, each once, as the list to walk through."""
    st.session_state[WALK] = tuple(dict.fromkeys(refs))


def place(ref: str) -> Place | None:
    """Where the reference stands, or None where the page's list does not have it."""
    refs = st.session_state.get(WALK, ())
    if ref not in refs:
        return None
    at = refs.index(ref)
    return Place(at + 1, len(refs), refs[at - 1] if at else "", refs[at + 1] if at + 1 < len(refs) else "")
