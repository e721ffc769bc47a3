"""Buttons that do something when they are pressed, before the page is drawn anew."""

from collections.abc import Callable

import streamlit as st


def button(label: str, icon: str, key: str, does: Callable, *args, help: str, **how) -> None:
    """A button that calls `does(*args)`. icon: Material's name for it, empty for none; how: what else Streamlit is
    told of it."""
    icon = f":material/{icon}:" if icon else None
    st.button(label, icon=icon, key=key, on_click=does, args=args, help=help, **how)
