"""Present mode, for a class that looks at a screen: larger type, one figure at a time, no forms.

A page hands its widgets to `form` and its figures to `parts`; outside Present mode both are what the page has anyway.
The address says `?present=true`, and keeps saying so from page to page.
"""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.kit import parameters
from pages.ui.kit.ways import button

PRESENT = "present"
FIRST = "present_first"  # of the session: the part that is open at first, where a page has it
TYPE = 1.4  # times the usual size


def presenting() -> bool:
    """Whether the page is shown in Present mode."""
    return bool(st.session_state.get(PRESENT, st.query_params.get(PRESENT) == "true"))


def scaled(pixels: int) -> int:
    """A width that holds words, in pixels: wider where they are larger."""
    return round(TYPE * pixels) if presenting() else pixels


def switch() -> DeltaGenerator:
    """The switch, in the sidebar; and larger type while it is on. Returns the place beside it."""
    place = st.sidebar.container(horizontal=True, vertical_alignment="center", key="switches")
    parameters.flag(f"kit.{PRESENT}", where=place, key=PRESENT)
    if presenting():
        st.html(f"<style>html {{ font-size: {16 * TYPE:g}px }}</style>")  # the unit of every size of the pages
        st.html(Path(__file__).with_suffix(".css"))
        how = {"help": "Shows the whole page again, with its menu and forms.", "type": "tertiary"}
        off = st.session_state.update, {PRESENT: False}
        place = st.container(horizontal=True, horizontal_alignment="right", key="present_off", width="content")
        with place:
            button("Leave Present mode", "close_fullscreen", "present_leave", *off, **how)
    return place


def about(text: str) -> None:
    """What a page is for, below its title; whoever presents it says that."""
    if not presenting():
        st.caption(text)


def form(label: str = "Settings") -> DeltaGenerator:
    """The place of a page's widgets: a container, or, while presenting, a line that unfolds."""
    return st.expander(label, icon=":material/tune:") if presenting() else st.container()


def below(above: DeltaGenerator) -> DeltaGenerator:
    """Where words go that stand `above` a figure already drawn: there, or, while presenting, here, below it."""
    return st.container() if presenting() else above


def parts(names: Sequence[str], places: Sequence[DeltaGenerator] | None = None) -> Sequence[DeltaGenerator]:
    """Places for the figures called `names`: containers below one another, or `places`; while presenting, tabs of
    several."""
    if presenting() and len(names) > 1:
        first = st.session_state.get(FIRST)
        first = first if first in names else names[0]
        return st.tabs(names, default=first, key=f"parts_{first}")  # by its key open anew where it is another
    return places if places is not None else [st.container() for _ in names]
