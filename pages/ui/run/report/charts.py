"""Charts of a report as SVG, which prints sharp and is a few kilobytes: lines over a linear or a log axis, and bars.

Each says what it shows twice: in `alt`, for who cannot see it, and in the line below.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from skimage.measure import find_contours

from pages.ui.kit.gallery import data_uri
from pages.ui.kit.palette import BLUE, CLASS_COLOURS, CLASS_SYMBOLS, GREY, INK
from pages.ui.run.report.marks import figure, text

WIDTH, HEIGHT = 450, 220
LEFT, RIGHT, TOP, BOTTOM = 72, 118, 12, 42
LONGEST = 300  # points of a line
MOST_POINTS = 2000  # of a plane


class Line(NamedTuple):
    """Points joined in their order; its name stands at its end. step: level until the next point."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str = BLUE
    width: float = 2
    step: bool = False


def lines(drawn: Sequence[Line], x_title: str, y_title: str, alt: str, see: str, log_y=False, level=None, names=(),
          empty=False) -> str:  # fmt: skip
    """Lines over one another. level: (y, name) of a dotted line across; names: of the places 0, 1, ... across; empty:
    the axes alone, to draw in, and no number upwards that would say how high."""
    drawn = [_thinned(line) for line in drawn if len(line.x)]
    xs = [x for line in drawn for x in line.x]
    ys = [y for line in drawn for y in line.y] + ([level[0]] if level else [])
    if log_y:
        ys = [y for y in ys if y > 0]
    if not xs or not ys:
        return ""
    x_axis, y_axis = _Axis(min(0.0, *xs), max(xs)), _Axis(min(ys) if log_y else min(0.0, *ys), max(ys), log_y)
    parts, ends = [_frame(x_axis, y_axis, x_title, y_title, names, empty)], []
    if empty:
        return figure(_svg(parts, alt), see)
    if level:
        y = _down(y_axis.at(level[0]))
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{GREY}" stroke-dasharray="2 4"/>')
        parts.append(_words(f'x="{WIDTH - RIGHT + 5}" y="{y + 4:.1f}"', level[1], anchor="start"))
    for line in drawn:
        points = [(_across(x_axis.at(x)), _down(y_axis.at(y))) for x, y in zip(line.x, line.y) if not log_y or y > 0]
        pen = f'fill="none" stroke="{line.colour}" stroke-width="{line.width}"'
        parts.append(f'<path d="{_path(points, line.step)}" {pen}/>')
        if points and line.name:
            ends.append((points[-1][1], line))
    return figure(_svg(parts + _names(ends), alt), see)


def bars(edges: Sequence[float], counts: Sequence[Sequence[int]], colours: Sequence[str], x_title: str, y_title: str,
         alt: str, see: str) -> str:  # fmt: skip
    """Histograms on one another, counts on a log axis from one up."""
    most = max((n for of in counts for n in of), default=0)
    if not most:
        return ""
    x_axis, y_axis = _Axis(edges[0], edges[-1]), _Axis(0.5, most, True)
    y_axis.low = math.log10(0.8)  # a bar of one is seen
    parts, floor = [_frame(x_axis, y_axis, x_title, y_title)], _down(0)
    for at, (low, high) in enumerate(pairwise(edges)):
        left, right = _across(x_axis.at(low)), _across(x_axis.at(high))
        wide = (right - left) / len(counts)
        for number, (of, colour) in enumerate(zip(counts, colours, strict=True)):
            if of[at]:
                top = _down(y_axis.at(of[at]))
                parts.append(
                    f'<rect x="{left + number * wide + 0.5:.1f}" y="{top:.1f}" width="{max(wide - 1, 0.5):.1f}" '
                    f'height="{floor - top:.1f}" fill="{colour}"/>'
                )
    return figure(_svg(parts, alt), see)


class _Axis:
    """From numbers to the unit interval, and the numbers that are written."""

    def __init__(self, low: float, high: float, log: bool = False):
        self.log = log
        if log:
            low, high = math.log10(low), math.log10(high)
            low, high = (math.floor(low) if high - low > 1 else low - 0.1), high + 0.1
        self.low, self.high = low, high if high > low else low + 1

    def at(self, value: float) -> float:
        value = math.log10(max(value, 1e-300)) if self.log else value
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        if self.log:
            powers = range(math.ceil(self.low), math.floor(self.high) + 1)
            return [10.0**p for p in powers][:: max(1, len(powers) // 6)]
        raw = (self.high - self.low) / 4
        size = 10 ** math.floor(math.log10(raw))
        step = next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= raw)
        first = math.ceil(self.low / step)
        return [n * step for n in range(first, math.floor(self.high / step + 1e-9) + 1)]


def _across(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _down(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _frame(x_axis: _Axis, y_axis: _Axis, x_title: str, y_title: str, names: Sequence[str] = (), empty=False) -> str:
    parts, floor, middle = [], HEIGHT - BOTTOM, (TOP + HEIGHT - BOTTOM) / 2
    for tick in y_axis.ticks():
        y = _down(y_axis.at(tick))
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#e3e4e8"/>')
        if not empty:
            parts.append(_words(f'x="{LEFT - 6}" y="{y + 4:.1f}"', _number(tick), anchor="end"))
    for at, said in enumerate(names) if names else ((tick, _number(tick)) for tick in x_axis.ticks()):
        parts.append(_words(f'x="{_across(x_axis.at(at)):.1f}" y="{floor + 16}"', said))
    parts.append(f'<path d="M{LEFT} {floor}H{WIDTH - RIGHT}" stroke="{GREY}"/>')
    parts.append(_words(f'x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}"', x_title))
    parts.append(_words(f'transform="translate(12 {middle}) rotate(-90)"', y_title))
    return "".join(parts)


def _words(place: str, said: str, colour: str = INK, anchor: str = "middle") -> str:
    return f'<text {place} text-anchor="{anchor}" fill="{colour}">{text(said)}</text>'


def _number(value: float) -> str:
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{value:,.6g}"


def _names(ends: list[tuple[float, Line]]) -> list[str]:
    """The names of lines at their right ends, no two on one another."""
    parts, before = [], -1e9
    for y, line in sorted(ends, key=lambda end: end[0]):
        before = max(y, before + 13)
        parts.append(_words(f'x="{WIDTH - RIGHT + 5}" y="{before + 4:.1f}"', line.name, line.colour, "start"))
    return parts


def _path(points: Sequence[tuple[float, float]], step: bool) -> str:
    first, *others = points or [(0, 0)]
    words = [f"M{first[0]:.1f} {first[1]:.1f}"]
    words += [f"H{x:.1f}V{y:.1f}" if step else f"L{x:.1f} {y:.1f}" for x, y in others]
    return "".join(words)


def _thinned(line: Line) -> Line:
    step, last = max(1, len(line.x) // LONGEST), len(line.x) - 1
    kept = [i for i in range(len(line.x)) if i % step == 0 or i == last]
    return line._replace(x=[float(line.x[i]) for i in kept], y=[float(line.y[i]) for i in kept])


def _svg(parts: Sequence[str], alt: str, height: int = HEIGHT) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{text(alt)}"><title>{text(alt)}</title>'
        + "".join(parts)
        + "</svg>"
    )


def plane(X, place, wrong, field, k: int, rings=None) -> str:
    """Points X (n, 2) with their classes' places (n,), those that are wrong (n,) crossed, over what the machine says:
    field (xs, ys, f), f the decision value, or of k > 2 classes the place of the winner, None before there is one.

    Without `rings` they are test points; with them training points, (n,) how many rings each has: 1 a free support
    vector, 2 a bounded one."""
    xs, ys, f = field
    size = WIDTH
    low, span = np.array([xs[0], ys[0]]), np.array([xs[-1] - xs[0], ys[-1] - ys[0]])
    parts = [f'<path d="M0 0H{size}V{size}H0Z" fill="none" stroke="{GREY}"/>'] if f is None else _field(f, k, size)
    shown = zip((np.asarray(X[:MOST_POINTS]) - low) / span * size, place, wrong, strict=False)
    for at, ((left, up), c, bad) in enumerate(shown):
        top, colour = size - up, CLASS_COLOURS[c % len(CLASS_COLOURS)]
        for ring in range(0 if rings is None else rings[at]):
            parts.append(_circle(left, top, 6 + 3 * ring, f'fill="none" stroke="{INK}"'))
        shape = _square if CLASS_SYMBOLS[c % len(CLASS_SYMBOLS)] == "square" else _circle
        parts.append(shape(left, top, 2.5 if rings is None else 4, f'fill="{colour}"'))
        if bad:
            cross = f"M{left - 5:.1f} {top - 5:.1f}l10 10m0 -10l-10 10"
            parts.append(f'<path d="{cross}" stroke="{INK}" stroke-width="1.5"/>')
    n, n_wrong, kind = min(len(X), MOST_POINTS), int(wrong.sum()), "test" if rings is None else "training"
    alt = f"{n:,} {kind} points in the plane over the regions of {k} classes, {n_wrong} wrong."
    see = f"Points: {kind} examples."
    if f is not None:
        see = f"Background: predicted class. {see[:-1]}; crosses: errors."
        see += " Thin lines: the edges of the margin." if k == 2 else ""
        see += " One ring: a free support vector; two rings: a bounded one." if rings is not None else ""
    return figure(_svg(parts, alt, size), see)


def _field(f: np.ndarray, k: int, size: int) -> list[str]:
    """The regions of k classes, and for two the lines f = 0 and f = -1, 1."""
    winner = (f > 0).astype(int) if k == 2 else f.astype(int)
    colours = [CLASS_COLOURS[c % len(CLASS_COLOURS)] for c in range(k)]
    light = [[255 - (255 - int(colour[at : at + 2], 16)) // 4 for at in (1, 3, 5)] for colour in colours]
    ground = data_uri(np.array(light, np.uint8)[winner[::-1]])
    parts = [f'<image href="{ground}" width="{size}" height="{size}" preserveAspectRatio="none"/>']
    for level, width in ((0, 2), (-1, 0.7), (1, 0.7)) if k == 2 else ():
        for line in find_contours(f, level):
            share = line / (np.array(f.shape) - 1)
            path = _path([(size * x, size * (1 - y)) for y, x in share], False)
            parts.append(f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="{width}"/>')
    return parts


def _circle(x: float, y: float, r: float, pen: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" {pen}/>'


def _square(x: float, y: float, r: float, pen: str) -> str:
    return f'<rect x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r}" height="{2 * r}" {pen}/>'
