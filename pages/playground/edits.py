"""What the reader does to the points of the Playground, and takes back: the browser's edits, and three buttons."""

from dataclasses import replace

import streamlit as st

from pages.ui.kit import state
from pages.ui.kit.text import plain
from pages.ui.play import setting as settings
from pages.ui.play.setting import FORM, Setting

UNDO, SEQ = "play_history", "play_seq"  # in the session: points before each change; which of the browser's edits
HELD = "play_held"  # in the session: whether a point is being dragged
MAX_UNDO = 50


def edited(text: str, seq: int, held: bool = False) -> None:
    """Callback: the browser's edits of the points. held: one is being dragged, and Undo takes it back as a whole."""
    values = st.session_state
    try:
        text = settings.checked(text)
    except ValueError as error:
        state.tell_later(f":material/block: {plain(error)}")
        text = FORM.base.points
    values[SEQ] = seq
    _become(replace(FORM.base, points=text), goes_on=values.get(HELD, False))
    values[HELD] = held


def buttons(now: Setting) -> None:
    """Undo, Reset and New sample, beside each other."""
    idle = {"undo": not st.session_state[UNDO], "reset": not (now.points or now.noise)}
    with st.container(horizontal=True, gap="small"):
        for name, (label, icon, does, help) in BUTTONS.items():
            st.button(label, icon=icon, key=FORM.key(name), on_click=does, disabled=idle.get(name, False), help=help)


def forget() -> None:
    """Callback: the sample as it is drawn, of another seed say; no way back to what was done to the one before."""
    FORM.keep(replace(FORM.base.still, points=""))
    st.session_state[UNDO] = []


def _become(setting: Setting, goes_on: bool = False) -> None:
    """Other points, which Undo takes back. goes_on: with the change before."""
    values, now = st.session_state, FORM.base
    if setting.points != now.points:
        if not goes_on:
            values[UNDO] = [*values[UNDO], now.points][-MAX_UNDO:]
        FORM.keep(setting.still)


def _undo() -> None:
    if st.session_state[UNDO]:
        FORM.keep(replace(FORM.base.still, points=st.session_state[UNDO].pop()))


def _reset() -> None:
    _become(replace(FORM.base, points=""))
    st.session_state[FORM.key("noise")] = 0


def _next_sample() -> None:
    seed = FORM.key("seed")
    st.session_state[seed] = (st.session_state[seed] + 1) % (settings.MAX_SEED + 1)
    forget()


BUTTONS = {  # key -> label, icon, what it does, help
    "undo": ("Undo", ":material/undo:", _undo, "Undoes the last change of the points."),
    "reset": (
        "Reset",
        ":material/restart_alt:",
        _reset,
        "The sample as it was drawn: no added, removed or flipped points.",
    ),
    "new": (
        "New sample",
        ":material/casino:",
        _next_sample,
        "Draws other points of the same problem, by the next seed.",
    ),
}
