"""The pages that lessons lead to: what they are called, and the widgets that an address fills there.

A widget bound to the address takes its value from there only when its page is opened; on a page that is open already
it keeps what it shows. `put` therefore sets such a widget itself, before the page is drawn, and it writes its address.
"""

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

KEPT = ("embed", "embed_options", "present")  # parameters that are no step's


class Place(NamedTuple):
    """widgets: key -> what it shows at first, of the widgets that the address fills; empty for a page that reads the
    address by itself. own_seed: whether `seed` in its address is the page's own."""

    title: str
    widgets: Mapping[str, object] = {}
    own_seed: bool = False


PLACES = {
    "playground": Place("Playground", own_seed=True),
    "jitters": Place("Jitters", {"set": None, "part": "train", "index": 0, "jitter_set": "box:1"}),
    "train": Place("Train", own_seed=True),
    "sweep": Place("Choose", own_seed=True),
    "support_vectors": Place(
        "Support vectors", {"machine": None, "sv": "All", "order": "Largest alpha", "classes_shown": []}
    ),
    "errors": Place("Errors", {"cells": [], "errors_by": "Index"}),
    "compare": Place("Compare"),
    "methods": Place("Compare methods"),
    "labels": Place("Labels"),
    "reduced": Place("Reduced sets"),
    "detect": Place("Detect", {"fa": None}),
    "scramble": Place("Scramble the pixels", own_seed=True),
    "lessons": Place("Lessons", own_seed=True),
    "digestion": Place("Digestion", {"set": "digits-8x8", "rows": 250, "copies": "box:1"}, own_seed=True),
}


def name_of(page) -> str:
    """The file of a st.Page, without .py; the default page has no address of its own."""
    return page.url_path or "playground"


def texts(query: Mapping[str, object]) -> dict[str, str | list[str]]:
    """The parameters as an address has them."""
    return {name: _text(value) for name, value in query.items()}


def put(page: str, query: Mapping[str, object], beside: Mapping[str, str]) -> None:
    """Make the open page show `query` when it is drawn, later in this run of the script. beside: parameters that are
    not the page's (the run, the lesson)."""
    for key, first in PLACES[page].widgets.items():
        value = query.get(key, first)
        if value is None:
            st.session_state.pop(key, None)
        else:
            st.session_state[key] = list(value) if isinstance(value, list | tuple) else value
    if "run" in beside:  # the page leaves the filters alone: they are of this run (`another_run`)
        st.session_state[f"{page}_run"] = beside["run"]
    own = PLACES[page].widgets  # Streamlit writes these itself, and refuses to have them written
    wanted = texts({name: value for name, value in query.items() if name not in own}) | dict(beside)
    for name in set(st.query_params) - {*wanted, *own, *KEPT}:
        del st.query_params[name]
    st.query_params.update(wanted)


def _text(value: object) -> str | list[str]:
    if isinstance(value, list | tuple):
        return [str(one) for one in value]
    return str(value).lower() if isinstance(value, bool) else str(value)
