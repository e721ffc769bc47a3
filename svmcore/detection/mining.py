"""Bootstrapping: what a machine takes for an object in pictures that show none becomes a counter-example.

    round r     machine fitted to (X, y)  ->  its false alarms on object-free pictures  ->  (X, y) with them as -1

A picture gives its worst false alarms first, and only one of those that lie on top of each other; pictures take turns,
so that no tree fills the whole round.

Symbols: chips (n, side, side) uint8; y (n,) +1 object, -1 none; f (n,) float64.

References: Sung and Poggio, MIT AI memo 1521 (1994); Osuna, Freund and Girosi, MIT AI memo 1602
(1997), section 4.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from svmcore.detection.pyramid import within
from svmcore.detection.scan import scan
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
        int  # windows that were false alarms, those on top of each other too; of a picture at most CROWD per_picture
    )
    looked: int  # windows looked at


class Round(NamedTuple):
    """A machine, what it was fitted to, and the false alarms that it gave."""

    number: int  # 0 for the machine that no false alarm has taught
    machine: Machine
    chips: np.ndarray  # (n, side, side) uint8
    y: np.ndarray  # (n,) int64, +1 and -1
    origin: np.ndarray  # (n,) int64, the round whose false alarm a chip is; 0 for those that were there
    picture: np.ndarray  # (n,) int64, the picture that it was mined from; -1 for those that were there
    mined: Mined | None  # None for the last round, which is not asked for its false alarms


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
    for number, picture, M in ((n, p, M) for n, p in enumerate(pictures) for M in matrices(turns)):
        small = within(picture, longest)
        unit = picture.shape[1] / small.shape[1], picture.shape[0] / small.shape[0]
        seen = scan(turned(small, M), machine, threshold=threshold, most=CROWD * per_picture, check=check, **how)
        worst = suppressed(seen.boxes, seen.f, iou=SAME, centre=False, most=per_picture, check=check)
        boxes = turned_back(seen.boxes[worst], M, small.shape) * (*unit, *unit)
        parts.append((seen.chips[worst], seen.f[worst], np.full(len(worst), number), boxes, np.arange(len(worst))))
        alarms, looked = alarms + len(seen.f), looked + seen.looked
    side = how.get("side", 19)
    nothing = (np.empty((0, side, side), np.uint8), np.empty(0), np.empty(0, int), np.empty((0, 4)), np.empty(0, int))
    chips, f, picture, boxes, turn = (np.concatenate(part) for part in zip(nothing, *parts))
    taken = np.lexsort((picture, -f, turn))[:limit]
    return Mined(chips[taken], f[taken], picture[taken], boxes[taken], alarms, looked)


def rounds(
    fit: Callable[[np.ndarray, np.ndarray, int], Machine],
    chips: np.ndarray,
    y: np.ndarray,
    pictures: Sequence[np.ndarray],
    *,
    n: int = 2,
    **how,
) -> Iterator[Round]:
    """Bootstrapping in n rounds: each Round as it is done, n + 1 of them, fewer where a machine gives no false alarms.

    fit(chips, y, number): the machine of a round, with its preparation (Machine.prepare). how: what `mine` takes.
    Source: Sung and Poggio (1994).
    """
    origin, picture = np.zeros(len(y), int), np.full(len(y), -1)
    for number in range(n + 1):
        machine = fit(chips, y, number)
        mined = mine(pictures, machine, **how) if number < n else None
        yield Round(number, machine, chips, y, origin, picture, mined)
        if mined is None or not len(mined.f):
            return
        chips, y = np.concatenate([chips, mined.chips]), np.concatenate([y, np.full(len(mined.f), -1)])
        origin = np.concatenate([origin, np.full(len(mined.f), number + 1)])
        picture = np.concatenate([picture, mined.picture])
