"""Bootstrapping: what a machine takes for an object in pictures that show none becomes a counter-example.

    round r     machine fitted to (X, y)  ->  its false alarms on object-free pictures  ->  (X, y) with them as -1

A picture gives its worst false alarms first, and only one of those that lie on top of each other; pictures take turns,
so that no tree fills the whole round.

Symbols: chips (n, side, side) uint8; y (n,) +1 object, -1 none; f (n,) float64.

References: Sung and Poggio, MIT AI memo 1521 (1994); Osuna, Freund and Girosi, MIT AI memo 1602
(1997), section 4.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from svmcore.detection.pyramid import within
from svmcore.detection.scan import Scorer, scan
from svmcore.detection.suppression import suppressed
from svmcore.detection.turns import matrices, turned, turned_back
from svmcore.model import Machine

SAME = 0.3  # overlap from which two false alarms show the same thing
CROWD = 50  # false alarms looked at for one that is taken
LONGEST = 500  # pixels: larger pictures are shrunk, as detail of thousands of pixels is one texture again and again


class Mined(NamedTuple):
    """False alarms, the worst of each picture in turn."""

    chips: np.ndarray  # (n, side, side) uint8, as training will see them
    f: np.ndarray  # (n,) float64
    picture: np.ndarray  # (n,) int64, position in `pictures`
    boxes: np.ndarray  # (n, 4) float64, in pixels of that picture
    alarms: (
        int  # windows that were false alarms, those on top of each other too; of a picture CROWD per_picture at most
    )
    looked: int  # windows looked at


def mine(
    pictures: Sequence[np.ndarray],
    machine: Machine,
    *,
    limit: int = 5000,
    per_picture: int = 200,
    threshold: float = 0.0,
    longest: int = LONGEST,
    turns: str = "none",
    check: Callable[[], None] = lambda: None,
    **how,
) -> Mined:
    """The false alarms of a machine on pictures (h, w) uint8 that show no object: at most `limit`, of one picture at
    most `per_picture`, f at least `threshold`.

    longest: pixels that larger pictures are shrunk to; turns: as of `scan`, such as QUARTERS, since a picture without
    objects has none when it lies on its side (`per_picture` then counts for each turn); `how`: what else `scan` takes
    (side, stride, step, enlarge, discard). The same arguments give the same chips. What `check` raises.
    """
    alarms = looked = 0
    parts = []
    side = how.get("side", 19)
    scorer = Scorer(machine, side)  # of all pictures: its form may take longer than a picture
    for number, picture, M in ((n, p, M) for n, p in enumerate(pictures) for M in matrices(turns)):
        small = within(picture, longest)
        unit = picture.shape[1] / small.shape[1], picture.shape[0] / small.shape[0]
        seen = scan(turned(small, M), scorer, threshold=threshold, most=CROWD * per_picture, check=check, **how)
        worst = suppressed(seen.boxes, seen.f, iou=SAME, centre=False, most=per_picture, check=check)
        boxes = turned_back(seen.boxes[worst], M, small.shape) * (*unit, *unit)
        parts.append((seen.chips[worst], seen.f[worst], np.full(len(worst), number), boxes, np.arange(len(worst))))
        alarms, looked = alarms + len(seen.f), looked + seen.looked
    nothing = (np.empty((0, side, side), np.uint8), np.empty(0), np.empty(0, int), np.empty((0, 4)), np.empty(0, int))
    chips, f, picture, boxes, turn = (np.concatenate(part) for part in zip(nothing, *parts))
    taken = np.lexsort((picture, -f, turn))[:limit]
    return Mined(chips[taken], f[taken], picture[taken], boxes[taken], alarms, looked)
