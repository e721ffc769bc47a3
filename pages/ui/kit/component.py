"""Inline components: what the browser draws by a script of the lab's own, without a server of scripts.

The files lie beside the module that draws with them: NAME.css and NAME.js. What it builds on stands first, from there
or from here, where what several of them need lies: `dom`, always, builds elements, `pictures` cuts pictures out of a
montage (`gallery.sheet`), `saving` saves what is drawn, `svg` draws, `tape` plays. `back` is of the whole app, and
stands before the one component that every page has.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

KIT = Path(__file__).parent


def component(module: str, name: str, html: str, *, first: Sequence[str] = ()):
    """The component NAME with its first HTML, for the module with this `__file__`. first: names of files, in this
    folder or beside the module, that its script needs."""
    parts = {}
    for kind in ("css", "js"):
        folders = dict.fromkeys((KIT, Path(module).parent))
        named = (folder / f"{one}.{kind}" for one in ("dom", *first, name) for folder in folders)
        parts[kind] = "\n".join(path.read_text(encoding="utf-8") for path in named if path.exists())
    return st.components.v2.component(f"svmlab_{name}", html=html, **parts)


def heard(key: str, trigger: str, then: Callable) -> Callable[[], None]:
    """For `on_TRIGGER_change` of the component `key`: calls then(what the browser says), once it says something."""

    def listen() -> None:
        if (said := st.session_state[key][trigger]) not in (None, ""):
            then(said)

    return listen
