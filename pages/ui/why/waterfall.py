"""A bill drawn: from the bias through the strongest parts to f, each a bar that begins where the last one ended.

    total_0 = b,   total_l = total_{l-1} + part_l,   then the rest for and the rest against, and f

The browser keeps which lines are switched off, draws them hollow, and says what f of every machine and the answer are
without them: the parts of all machines are in its hands. A bar that leaves the frame is torn there.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.kit.component import component
from pages.ui.kit.gallery import DIGIT, open_digit, sheet


class Line(NamedTuple):
    """What is pictured and can be switched off, in every side that it stands in."""

    name: str  # known by, in the address too
    parts: list[float]  # (k,) what it adds to f of each machine
    label: str  # read out, shown on hover
    head: str = ""  # in the place of a picture
    picture: int = -1
    ref: str = ""  # what the way to its own view opens
    count: int = 1  # support vectors in it


class Side(NamedTuple):
    """One machine's bill. The lists are of its pictured lines, strongest first; sums are of all its lines."""

    machine: int
    title: str
    role: str
    names: list[str]
    signs: list[int]  # which class a line is of: +1 the machine's own (blue), -1 (orange)
    rings: list[str]  # "free", "bound", "virtual", or "" for no support vector of this machine
    captions: list[str]  # beside their bars
    bias: float
    f: float
    n_for: int
    part_for: float
    n_against: int
    part_against: float


class Words(NamedTuple):
    """How the browser names things."""

    alt: str
    one: str  # "support vector"
    many: str
    classes: list[str]


def waterfall(
    pictures: np.ndarray,
    lines: Sequence[Line],
    sides: Sequence[Side],
    f: np.ndarray,
    words: Words,
    *,
    subject: str,
    first: int,
    off: Sequence[str],
    key: str,
    on_off: Callable[[str], None],
    size: int = 48,
) -> None:
    """Draw the bills of one or two machines side by side, `first` lines of each until the reader asks for all.

    pictures (n, h, w[, 3]) uint8; f (k,) decision values of all machines; subject: what is switched off lasts as long
    as it stays the same; on_off is told the names of the lines that are, joined by commas.
    """
    _component(
        data=sheet(pictures, size)
        | {
            "lines": {line.name: line._asdict() for line in lines},
            "sides": [side._asdict() for side in sides],
            "f": [float(value) for value in f],
            "words": words._asdict(),
            "subject": subject,
            "first": first,
            "off": list(off),
        },
        key=key,
        on_picked_change=partial(_picked, key),
        on_off_change=partial(_switched, key, on_off),
    )


def _picked(key: str) -> None:
    if ref := st.session_state[key].picked:
        within = DIGIT in st.query_params  # the view of an example, which draws itself anew
        open_digit(ref)
        if not within:
            st.rerun()


def _switched(key: str, on_off: Callable[[str], None]) -> None:
    if (names := st.session_state[key].off) is not None:
        on_off("" if names == "none" else names)


_component = component(__file__, "waterfall", '<div class="bill" role="group">\n</div>', first=("pictures", "roving"))
