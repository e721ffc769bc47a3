"""An upload that cannot be used: the reason, and where it is of single files or rows, the offer to leave these out."""

import hashlib
from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from data import DataError
from data.loaders.sieve import Unusable
from pages.ui.kit.words import plain

LISTED, FEW = 200, 8  # complaints shown, and so many unasked
READ = TypeVar("READ")


def reading(read: Callable[[bool], READ], sources: object) -> READ | None:
    """What `read(skip)` makes of an upload, or None and the reason on screen. sources: what is uploaded; the offer to
    leave out what is bad is made anew for each."""
    key = f"skip_bad_{hashlib.sha256(repr(sources).encode()).hexdigest()[:12]}"
    skip = st.session_state.get(key, False)
    try:
        found = read(skip)
    except Unusable as error:
        n, rest = len(error.bad), error.total - len(error.bad)
        title = f"{n:,} of {error.total:,} {error.words} cannot be used"
        st.error(plain(DataError(error.bad[0], error.accepted)), title=title, icon=":material/block:")
        _offer(key, f"Leave {'it' if n == 1 else f'these {n:,}'} out and read the other {rest:,}")
        if n > 1:
            with st.expander(f"All {n:,} of them", expanded=n <= FEW):
                more = [f"and {n - LISTED:,} more"] if n > LISTED else []
                st.text("\n".join([*error.bad[:LISTED], *more]))
    except DataError as error:
        st.error(plain(error), title="This cannot be used", icon=":material/block:")
    else:
        if skip:
            _offer(key, "Leave out what cannot be used")
        return found
    return None


def _offer(key: str, label: str) -> None:
    st.checkbox(label, key=key, help="What is left out is told by its name or line below. Your file stays as it is.")
