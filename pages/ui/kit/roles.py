"""What teacher and students may do: decided here, asked everywhere (`data.permission`).

Without a class whoever reaches the app is its owner. In a class the server has two doors (classroom/doors.py): one on
the loopback address, for the teacher, and one that the room reaches. By which door a session came stands in a header
that the server itself writes, with a word that only this process knows; nothing that a browser sends decides it.

    teacher     everything
    students    PAGES; the lessons' machines, with the class's seed; runs of lessons, samples, and those that are shown
                to the class; datasets that come with the lab, and those of shown runs. They change nothing stored
"""

import hmac
from collections.abc import Callable
from typing import NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from data import permission

HEADER = "x-svmlab-door"
# Files of the pages that students may open: their own, and those that lessons lead to
PAGES = (
    *("playground", "lessons", "classroom", "draw"),
    *("errors", "support_vectors", "compare", "jitters", "sweep", "scramble", "digestion"),
    *("detect", "labels", "methods", "reduced"),
)


class Known(NamedTuple):
    """What students may do: train recipes (digests), see run(run), and read dataset(name)."""

    trains: Callable[[], set[str]]
    run: Callable[[object], bool]
    dataset: Callable[[str], bool]


_class: dict = {}  # "word": of the teacher's door; "known": Known, once the library is there


def open_class(word: str) -> None:
    """From here on only who comes by the teacher's door is the teacher."""
    _class["word"] = word
    permission.answer_with(allowed)


def know(known: Known) -> None:
    """Make known what students may see and train; before that it is nothing."""
    _class["known"] = known


def in_class() -> bool:
    """Whether the app serves a class."""
    return "word" in _class


def teacher() -> bool:
    """Whether the page is drawn for the teacher, or outside a class; background work was allowed before."""
    if not in_class() or get_script_run_ctx(suppress_warning=True) is None:
        return True
    return hmac.compare_digest(st.context.headers.get(HEADER, "").encode(), _class["word"].encode())


def arrives() -> bool:
    """Whether this is the first page of a student's session."""
    first = in_class() and not teacher() and "arrived" not in st.session_state
    st.session_state["arrived"] = True
    return first


def may_open(page: str) -> bool:
    """Whether a page may be opened. page: its file of pages/, with or without .py."""
    return teacher() or page.removeprefix("pages/").removesuffix(".py") in PAGES


def allowed(action: str, what: object) -> bool:
    """The answer to `data.permission`."""
    if teacher():
        return True
    known = _class.get("known")
    if known is None or action not in ("train", "see", "read"):
        return False
    if action == "train":
        return what.digest() in known.trains()
    return known.run(what) if action == "see" else known.dataset(what)
