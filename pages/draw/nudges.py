"""A nudge: how far a prepared digit was turned, thickened and shifted from where it was.

    digit at (dx, dy, turn, thick) = T_(dx, dy) thick( R_turn( digit ) )         always from the digit as prepared

so that many small steps blur no more than one. dx, dy: pixels to the right and down; turn: degrees anticlockwise;
thick: quarters of the digit's dilation (above 0) or erosion (below 0).
"""

from typing import NamedTuple

import numpy as np

from pages.ui.kit.text import with_sign
from svmcore.jitter import JitterSet

QUARTERS = 4


class Nudge(NamedTuple):
    """Where a digit was moved to; whole numbers within LIMITS."""

    dx: int = 0
    dy: int = 0
    turn: int = 0
    thick: int = 0

    @property
    def words(self) -> str:
        """`2 px right, 1 px up, turned +5°, thicker by 1/4`; `as prepared` for none."""
        parts = [
            f"{abs(self.dx)} px {'right' if self.dx > 0 else 'left'}" if self.dx else "",
            f"{abs(self.dy)} px {'down' if self.dy > 0 else 'up'}" if self.dy else "",
            f"turned {with_sign(self.turn, 0)}°" if self.turn else "",
            f"{'thicker' if self.thick > 0 else 'thinner'} by {abs(self.thick)}/{QUARTERS}" if self.thick else "",
        ]
        return ", ".join(filter(None, parts)) or "as prepared"


LIMITS = Nudge(9, 9, 180, QUARTERS)
STEP = Nudge(1, 1, 5, 1)
MAX_PLACES = 200  # places that a browser may send at once


def moved(value: object) -> list[Nudge]:
    """The places that a browser says a digit was moved to. ValueError for anything else."""
    if not isinstance(value, list) or not 0 < len(value) <= MAX_PLACES:
        raise ValueError(f"the pad did not send a list of at most {MAX_PLACES} places")
    for place in value:
        if not isinstance(place, list) or len(place) != len(LIMITS):
            raise ValueError("the pad sent an invalid position")
        for number, most in zip(place, LIMITS):
            if not isinstance(number, int) or isinstance(number, bool) or abs(number) > most:
                raise ValueError("the pad sent a position beyond its limits")
    return [Nudge(*place) for place in value]


def nudged(picture: np.ndarray, places: list[Nudge]) -> np.ndarray:
    """One picture (h, w), ink above a ground of 0, at each of the places: (n, h, w) float32."""
    row = picture.reshape(1, -1)
    return np.stack([_at(row, place, picture.shape) for place in places])


def _at(row: np.ndarray, place: Nudge, shape: tuple[int, int]) -> np.ndarray:
    thin = place.thick < 0  # a set of strengths holds the thicker form of each first, then the thinner one
    moves = (
        (place.turn, f"rot:{place.turn}", 1),
        (place.thick, f"thick:{abs(place.thick) / QUARTERS:g}", 2 if thin else 1),
        (place.dx or place.dy, f"shift:{place.dy},{place.dx}", 1),
    )
    for wanted, text, which in moves:
        if wanted:
            row = JitterSet.parse(f"{text}@zero", shape).pick(row, np.array([which]))
    return np.asarray(row, np.float32).reshape(shape)
