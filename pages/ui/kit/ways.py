"""Buttons, which do something before the page is drawn anew, and links to other pages."""

from collections.abc import Callable, Mapping

import streamlit as st

from pages.ui.kit import roles


def button(label: str, icon: str, key: str, does: Callable, *args, help: str, **how) -> None:
    """A button that calls `does(*args)`. icon: Material's name, empty for none; how: other arguments of st.button."""
    icon = f":material/{icon}:" if icon else None
    st.button(label, icon=icon, key=key, on_click=does, args=args, help=help, **how)


TYPES = {
    "csv": "text/csv", "json": "application/json", "png": "image/png", "html": "text/html", "py": "text/x-python",
    "zip": "application/zip",
}  # fmt: skip


def download(label: str, icon: str, key: str, content, file: str, *, help: str, **how) -> None:
    """A button that hands out a file. content: of it, or what makes it at the click; its type is by its name."""
    mime, icon = TYPES.get(file.rpartition(".")[2], "application/octet-stream"), f":material/{icon}:"
    st.download_button(label, content, file, mime, key=key, icon=icon, on_click="ignore", help=help, **how)


def to(page: str, label: str | None, icon: str, query: Mapping | None = None, *, help: str | None = None) -> None:
    """A link to a page, for those who may open it. page: the name of its file; label: None for its title; query: the
    parameters of its address."""
    link({"page": f"pages/{page}.py", "label": label, "query_params": query}, icon=f":material/{icon}:", help=help)


def link(way: Mapping, **how) -> None:
    """`st.page_link` as `View.link` tells it, for those who may open the page."""
    if roles.may_open(way["page"]):
        st.page_link(**way, **how)
