"""Jitters in words: as long as a sentence needs, and as short as a caption under a small picture."""

import re

from pages.ui.kit.text import minus
from svmcore.jitter.families import Jitter

SIDES = ("up", "down", "left", "right")
ARROWS = ("↑", "↓", "←", "→")
LONG = {
    "turn": "turned by {}",
    "thicker": "lines thicker by {}",
    "thinner": "lines thinner by {}",
    "scale": "resized to {} times",
    "shear": "slanted by {}",
    "flip": "mirrored {}",
    "elastic": "distorted (no. {})",
}
BRIEF = {"turn": "{}", "thicker": "+{} thick", "thinner": "−{} thick", "scale": "× {}", "shear": "slant {}"}


def spoken(jitter: Jitter) -> str:
    """`1 pixel left`, `2 pixels up and 1 right, turned by +6°`; `as it is` for the identity."""
    dy, dx = jitter.offset
    moves = [(abs(dy), SIDES[dy > 0]), (abs(dx), SIDES[2 + (dx > 0)])]
    moves = [(by, side) for by, side in moves if by]
    shift = " and ".join(
        f"{by}{'' if at else ' pixel' if by == 1 else ' pixels'} {side}" for at, (by, side) in enumerate(moves)
    )
    return ", ".join(filter(None, [shift, *(_said(label, LONG) for label in jitter.labels)])) or "as it is"


def brief(jitter: Jitter, title: str = "") -> str:
    """`←1`, `↑2→1`, `+6°`; `as it is` for the identity. Leaves out what `title`, the name of a jitter, already says."""
    dy, dx = jitter.offset
    arrows = "".join(f"{ARROWS[at + (by > 0)]}{abs(by)}" for at, by in ((0, dy), (2, dx)) if by)
    if not (arrows or jitter.labels):
        return "as it is"
    said = (_said(label, BRIEF) for label in jitter.labels if label not in title.split(" · "))
    return " ".join(filter(None, [arrows, *said]))


SETS = {
    "plus": "shifts by {} in four directions",
    "box": "shifts by {} in all directions",
    "rot": "turns by ±{}°",
    "thick": "thicker and thinner lines",
    "scale": "resizing by ±{} %",
    "shear": "slants by ±{}",
}


def spoken_set(text: str) -> str:
    """The set `box:1+rot:-6,6` in words: `shifts by 1 pixel in all directions and turns by ±6°`; the text itself if it
    is no set of explain.remedy."""
    said = []
    for part in text.split("+"):
        kind, _, value = part.partition(":")
        if kind not in SETS:
            return text
        largest = value.rsplit(",", 1)[-1]
        if kind in ("plus", "box"):
            largest = "1 pixel" if value == "1" else f"up to {value} pixels"
        elif kind == "scale":
            largest = f"{100 * (float(largest) - 1):.0f}"
        said.append(SETS[kind].format(largest))
    return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def _said(label: str, forms: dict[str, str]) -> str:
    """A label of the jitter language, "turn +8°", in other words."""
    kind, value = re.fullmatch(r"(\S+)\s?(.*)", label).groups()
    return minus(forms[kind].format(value) if kind in forms else label)
