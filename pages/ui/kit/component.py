"""Inline components: what the browser draws by a script of the lab's own, without a server of scripts.

The files lie beside the module that draws with them: NAME.css and NAME.js. Scripts of components that show pictures
from a montage begin with pictures.js.
"""

from pathlib import Path

import streamlit as st

PICTURES = Path(__file__).with_name("pictures.js")


def component(module: str, name: str, html: str, *, pictures: bool = False):
    """The component NAME with its first HTML, for the module whose `__file__` is given. pictures: whether it cuts
    pictures out of a montage (`gallery.sheet`)."""
    css, js = (Path(module).with_name(f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    if pictures:
        js = PICTURES.read_text(encoding="utf-8") + js
    return st.components.v2.component(f"svmlab_{name}", html=html, css=css, js=js)
