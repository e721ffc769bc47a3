"""What is drawn, and where it was nudged to, between the address and the session.

    strokes, pen    the drawing, where it is short enough      start          the test example taken instead
    dx, dy, turn, thick   the nudge                            runs           who answers

What the page does goes through `change`, which counts the editions that the canvas takes over.
"""

from typing import NamedTuple

import streamlit as st

from pages.draw import strokes
from pages.draw.nudges import LIMITS, Nudge, moved
from pages.draw.strokes import LONGEST, PEN, THICKEST, THINNEST, Strokes
from pages.ui.kit import parameters, state
from pages.ui.kit.words import plain, short

NAMES = ("strokes", "pen", *Nudge._fields, "start")
TRAIL = 60  # nudges that are remembered
KEY = "drawn"  # in the session
START = "draw_start"  # key of the widget
FRESH = "draw_fresh"  # in the session: a callback has changed what is drawn


class Drawn(NamedTuple):
    """What the page shows: strokes as a text, of any length; trail: the nudges since the drawing, the last one now."""

    text: str = ""
    pen: int = PEN
    start: int | None = None  # number of a test example, where nothing is drawn
    trail: tuple[Nudge, ...] = (Nudge(),)
    edition: int = 0

    @property
    def strokes(self) -> Strokes:
        return strokes.unpack(self.text)

    @property
    def nudge(self) -> Nudge:
        return self.trail[-1]

    @property
    def source(self) -> str:
        """What tells one drawing, before any nudge, from another."""
        return f"{self.text}/{self.pen}/{self.start}"

    @property
    def shared(self) -> bool:
        """Whether the address can hold it."""
        return len(self.text) <= LONGEST


def current() -> Drawn:
    return st.session_state.get(KEY, Drawn())


def change(mine: bool = True, fresh: bool = True, **changes) -> None:
    """Change the drawing. mine: not made by the canvas, which takes it over; fresh: not in the address yet."""
    now = current()
    st.session_state[KEY], st.session_state[FRESH] = now._replace(edition=now.edition + mine, **changes), fresh


def read(tests: int) -> None:
    """Take over what the address says, unless the page wrote it; what cannot be is said and left out. tests: how many
    test examples there are.

    In a run that a stroke or a nudge began, the address may be the one before the last stroke, still on its way back
    from the browser: the session knows better.
    """
    asked = parameters.asked("draw", NAMES)
    if st.session_state.pop(FRESH, False) or not asked:
        return
    text = asked.get("strokes", [""])[-1]
    try:
        if len(text) > LONGEST:
            raise ValueError(f"it has {len(text):,} characters; at most {LONGEST:,} are allowed")
        text = strokes.pack(strokes.unpack(text))
    except ValueError as error:
        said = f"strokes={plain(short(text, 40))} in the address is not a drawing: {plain(error)}. It is ignored."
        st.warning(said, icon=":material/link_off:")
        text = ""
    pen = parameters.read("pen", PEN, slice(THINNEST, THICKEST))
    nudge = Nudge(*(parameters.read(n, 0, slice(-most, most)) for n, most in LIMITS._asdict().items()))
    start = parameters.read("start", 0, slice(0, tests - 1 if tests else None)) if "start" in asked else None
    start = None if text or not tests else start
    trail = (Nudge(),) if nudge == Nudge() else (Nudge(), nudge)
    st.session_state[START] = start
    change(fresh=False, text=text, pen=pen, start=start, trail=trail)


def keep_within(tests: int) -> None:
    """Leave a test example behind that the machines chosen now were not tested on."""
    now = current()
    if now.start is not None and now.start >= tests:
        st.session_state[START] = None
        change(fresh=False, start=None, trail=(Nudge(),))


def write() -> None:
    now = current()
    values = {"strokes": now.text} if now.text and now.shared else {}
    if values and now.pen != PEN:
        values["pen"] = str(now.pen)
    if now.start is not None and not now.text:
        values["start"] = str(now.start)
    if now.text or now.start is not None:
        values |= {name: str(number) for name, number in now.nudge._asdict().items() if number}
    parameters.write("draw", NAMES, values)


def drawn(value: dict) -> None:
    """Callback: the canvas has new strokes."""
    try:
        if not isinstance(value, dict) or type(value.get("pen")) is not int or not THINNEST <= value["pen"] <= THICKEST:
            raise ValueError("the canvas sent an invalid width of the pen")
        text = strokes.pack(strokes.sent(value.get("strokes")))
    except ValueError as error:
        state.tell_later(f":material/block: The drawing was ignored: {plain(error)}.")
        return
    st.session_state[START] = None
    change(False, text=text, pen=value["pen"], start=None, trail=(Nudge(),))


def nudged(value: object) -> None:
    """Callback: the digit was moved on the pad."""
    try:
        places = moved(value)
    except ValueError as error:
        state.tell_later(f":material/block: The move was ignored: {plain(error)}.")
        return
    trail = (Nudge(),) if places[-1] == Nudge() else (*current().trail, *places)
    change(False, trail=trail[-TRAIL:])


def example() -> None:
    """Callback: draw the page's own 4."""
    st.session_state[START] = None
    change(text=strokes.pack(strokes.FOUR), pen=PEN, start=None, trail=(Nudge(),))


def started() -> None:
    """Callback: take a test example instead of a drawing."""
    change(text="", start=st.session_state[START], trail=(Nudge(),))
