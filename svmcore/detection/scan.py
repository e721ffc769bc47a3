"""A machine moved over a picture, at every position and scale.

    looked at   windows of side x side pixels, `stride` apart, on every level of the picture's pyramid, and of those of
                the picture in other turns, where such are asked for (turns.py)
    found       f(window) >= threshold;    most windows are settled by a quick look (discard.py), if there is one

Blocks of a few thousand windows are prepared and scored side by side on the cores; the memory is that of the blocks and
of what the windows of one level share (`Preprocessor.windows`). A machine of degree 2 decides by its quadratic form,
any other by its support vectors.

Symbols: level (h, w) uint8, one scale of a picture; ys, xs (n,) int64, corners of windows of side x side pixels; boxes
(m, 4) float64, xmin ymin xmax ymax in pixels of the picture, a window's outer edges; f (m,) float64.

Reference: Osuna, Freund and Girosi, MIT AI memo 1602 (1997), section 4.
"""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from svmcore.allowed import is_whole, require
from svmcore.detection.discard import Discard, averages
from svmcore.detection.pyramid import Level, level_shapes, pyramid
from svmcore.detection.quadratic import is_quadratic, quadratic
from svmcore.detection.turns import inside, matrices, turned, turned_back, turned_shape, upright
from svmcore.gram.threads import CORES, one_blas_thread, side_by_side
from svmcore.model import Demanded, Machine
from svmcore.preprocess.sliding import cut


class Scorer:
    """f of windows of one size. ValueError for a machine of more than two classes, one whose preparation is known by
    name only, or one that takes another number of pixels."""

    def __init__(self, machine: Machine, side: int):
        self.machine, self.side = machine, side
        if isinstance(machine.prepare, Demanded):
            raise ValueError(machine.prepare.reason)
        if len(machine.bias) != 1:
            raise ValueError(f"machine: {len(machine.bias)} decision values; allowed: 1, object against the rest")
        self.form = quadratic(machine) if is_quadratic(machine) else None
        taken = machine.support_vectors.shape[1]
        made = self.windows(np.zeros((side, side), np.uint8))(*np.zeros((2, 1), int))
        if made.shape[1] != taken:
            raise ValueError(
                f"side = {side}: a window has {made.shape[1]} values; allowed: {taken}, as this machine requires"
            )

    def windows(self, level: np.ndarray) -> Callable:
        """The windows of a level (h, w) uint8 as (n, d) float32, as a function of their corners ys, xs (n,)."""
        prepare, side = self.machine.prepare, self.side
        if hasattr(prepare, "windows"):
            return prepare.windows(level, side, side_by_side)
        flat = (lambda rows: rows.reshape(len(rows), -1).astype(np.float32)) if prepare is None else prepare.transform
        return lambda ys, xs: flat(cut(level, ys, xs, side))

    def scores(self, X: np.ndarray) -> np.ndarray:
        """f (n,) of windows (n, d)."""
        return self.machine.decision_values(X)[:, 0] if self.form is None else self.form.values(X)


BLOCK = 2048  # windows that one call prepares and scores


class Scan(NamedTuple):
    """What a scan found, and what it took; in the order of the scan."""

    boxes: np.ndarray  # (m, 4) float64
    f: np.ndarray  # (m,) float64
    chips: np.ndarray  # (m, side, side) uint8, the windows as they were scored
    turn: np.ndarray  # (m,) int64, of which turn of the picture they are, by their number in `matrices`; 0 upright
    looked: int  # windows looked at
    discarded: int  # windows that the quick look settled, or that reach beyond a picture that was turned
    seconds: float


class _Form(NamedTuple):
    """A picture of this shape (h, w) as it was turned."""

    number: int  # of M among `matrices`
    M: np.ndarray  # (2, 2)
    shape: tuple[int, int]


class _Block(NamedTuple):
    form: _Form
    level: Level
    windows: Callable  # of the level, as the machine takes them
    averaged: np.ndarray | None  # block means of the level, for the quick look
    ys: np.ndarray
    xs: np.ndarray


def scan(
    picture: np.ndarray,
    machine: Machine | Scorer,
    *,
    side: int = 19,
    stride: int = 2,
    step: float = 1.2,
    enlarge: float = 1.25,
    turns: str = "none",
    threshold: float = 0.0,
    most: int | None = None,
    discard: Discard | None = None,
    check: Callable[[], None] = lambda: None,
    tell: Callable[[int, int], None] = lambda looked, of: None,
) -> Scan:
    """Every window of a picture (h, w) uint8 that a machine gives at least `threshold`.

    side: pixels of a window; stride: pixels of a level from one to the next; step: from a scale to the next larger;
    enlarge: how much larger the first level is than the picture; turns: a jitter set of turns and mirror images, in all
    of which the picture is searched; most: how many windows are kept, the surest (None: all; one takes some 400
    bytes); discard: the quick look. `check()` is called every few milliseconds and may raise to stop; `tell(looked,
    of)` hears after every few blocks how many windows are settled, and of how many. ValueError for a picture, machine
    or setting that cannot be used.
    """
    started = time.perf_counter()
    scorer = machine if isinstance(machine, Scorer) else Scorer(machine, side)
    require(is_whole(stride, 1), "stride", stride, "a whole number of pixels from 1")
    for name, given in (("machine", scorer.side), ("discard", discard.side if discard else side)):
        if given != side:
            raise ValueError(f"side = {side}; allowed: {given}, the side of the {name}")
    settings = {"side": side, "stride": stride, "step": step, "enlarge": enlarge, "turns": turns}
    detections, looked, discarded, waiting = [], 0, 0, []

    def work() -> None:
        nonlocal discarded
        check()
        answers = [[] for _ in waiting]
        side_by_side(
            _scan_block, [(block, scorer, discard, threshold, answer) for block, answer in zip(waiting, answers)]
        )
        discarded += sum(answer[0] for answer in answers)
        detections.extend(answer[1:] for answer in answers)
        waiting.clear()
        tell(looked, n_windows(np.shape(picture), **settings))
        if most is not None and sum(len(part[1]) for part in detections) > 4 * most:
            detections[:] = [_surest(detections, most)]

    with one_blas_thread:
        for block in _blocks(picture, scorer, discard, **settings):
            waiting.append(block)
            looked += len(block.ys)
            if len(waiting) == 2 * CORES:
                work()
        if waiting:
            work()
    boxes, f, chips, turn = _surest([_nothing(side), *detections], most)
    return Scan(boxes, f, chips, turn, looked, discarded, time.perf_counter() - started)


def n_windows(
    shape: tuple[int, int], *, side: int, stride: int, step: float, enlarge: float, turns: str = "none"
) -> int:
    """How many windows a scan of a picture of this shape (h, w) looks at."""
    shapes = [turned_shape(shape, M) for M in matrices(turns)]
    levels = [level for each in shapes for level in level_shapes(each, side=side, step=step, enlarge=enlarge)]
    return sum((1 + (h - side) // stride) * (1 + (w - side) // stride) for h, w in levels)


def _blocks(
    picture,
    scorer: Scorer,
    discard: Discard | None,
    *,
    side: int,
    stride: int,
    step: float,
    enlarge: float,
    turns: str,
) -> Iterator[_Block]:
    """The windows of all levels in all turns, some rows of them at a time."""
    forms = ((_Form(i, M, np.shape(picture)), turned(picture, M)) for i, M in enumerate(matrices(turns)))
    levels = ((form, level) for form, seen in forms for level in pyramid(seen, side=side, step=step, enlarge=enlarge))
    for form, level in levels:
        down, across = (np.arange(0, s - side + 1, stride) for s in level.image.shape)
        windows, averaged = scorer.windows(level.image), discard and averages(level.image, discard.block)
        rows = max(1, BLOCK // len(across))
        for start in range(0, len(down), rows):
            some = down[start : start + rows]
            yield _Block(form, level, windows, averaged, np.repeat(some, len(across)), np.tile(across, len(some)))


def _scan_block(block: _Block, scorer: Scorer, discard: Discard | None, threshold: float, answer: list) -> None:
    """Into `answer`: how many windows were discarded, then boxes, f, chips and turn of those found."""
    (number, M, shape), level, ys, xs, side = block.form, block.level, block.ys, block.xs, scorer.side
    if not upright(M):
        there = inside(turned_back(_boxes(level, ys, xs, side), M, shape), shape)
        ys, xs = ys[there], xs[there]
    if discard is not None:
        passed = discard.passes(block.averaged, ys, xs)
        ys, xs = ys[passed], xs[passed]
    f = scorer.scores(block.windows(ys, xs)) if len(ys) else np.empty(0)
    at = np.flatnonzero(f >= threshold)
    boxes = turned_back(_boxes(level, ys[at], xs[at], side), M, shape)
    chips = cut(level.image, ys[at], xs[at], side)
    answer.extend((len(block.ys) - len(ys), boxes, f[at].astype(np.float64), chips, np.full(len(at), number)))


def _boxes(level: Level, ys: np.ndarray, xs: np.ndarray, side: int) -> np.ndarray:
    """Windows with corners (ys, xs) (n,) of a level, as boxes (n, 4) in the picture that it was made from."""
    corners = (xs * level.dx, ys * level.dy, (xs + side) * level.dx, (ys + side) * level.dy)
    return np.stack(corners, axis=1)


def _surest(detections: list, most: int | None) -> tuple[np.ndarray, ...]:
    """Boxes, f, chips and turn of all parts, the `most` surest of them, in the order that they have."""
    parts = tuple(np.concatenate(part) for part in zip(*detections))
    if most is None or len(parts[1]) <= most:
        return parts
    chosen = np.sort(np.argsort(-parts[1], kind="stable")[:most])
    return tuple(part[chosen] for part in parts)


def _nothing(side: int) -> tuple[np.ndarray, ...]:
    return np.empty((0, 4)), np.empty(0), np.empty((0, side, side), np.uint8), np.empty(0, np.int64)
