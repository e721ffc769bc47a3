"""A setting chosen by the training pictures alone: the best of a panel, or one coordinate after another.

The measure is the normalised area under the free-response curve up to 50 false alarms a picture, each training picture
left out in turn. The search starts at the paper's setting and takes a change where it gains at least LEAST.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from svmcore.detection import curve
from tests.bench.venus import Detections, Setting, Venus

A_PICTURE = 50  # false alarms
LEAST = 0.002  # of the area
ROUNDS = 2
PAPER = Setting()
COORDINATES = (
    ("pool", (2, 3, 4)),
    ("miss", (0.02, 0.05, 0.1)),
    ("seen", (11, 13, 15, 17, 19, 21)),
    ("smooth", (0.0, 0.6, 1.0)),
    ("kernel", ("poly:2", "poly:3", "poly:5", "poly:9", "rbf:1", "rbf:2", "rbf:4")),
    ("C", (0.1, 0.3, 1.0, 3.0)),
    ("weight", (1.0, 3.0, 10.0, 30.0)),
    ("sure", (2, 3, 4)),
    ("each", ("strongest", "all")),
    (
        "jitters",
        (
            "none",
            "plus:1",
            "box:1",
            "vsv2",
            "rot:-10,10",
            "scale:0.9,1.1",
            "flip:v",
            "flip:h",
            "plus:1+rot:-10,10+scale:0.9,1.1",
            "plus:1*flip:v",
        ),
    ),
    ("query", ("none", "plus:1", "box:1", "flip:v")),
)


GRADIENTS = Setting(steps="gradients:5,unit-norm", kernel="rbf:1", C=3.0)
OF_GRADIENTS = (  # on chips of the paper's size, so that all machines have the same candidates
    (
        "steps",
        (
            "gradients:3,unit-norm",
            "gradients:4,unit-norm",
            "gradients:6,unit-norm",
            "gradients:5,smoothing=0.7,unit-norm",
            "gradients:5,power=0.7,unit-norm",
            "gradients:5,power=1,unit-norm",
            "gradients:5,directions=12,unit-norm",
            "smooth:0.6,gradients:5,unit-norm",
            "smooth:1,gradients:5,unit-norm",
            "smooth:1.5,gradients:5,unit-norm",
            "smooth:1,gradients:5,power=1,unit-norm",
            "gradients:5+0.5*patterns:3,unit-norm",
        ),
    ),
    ("kernel", ("poly:3", "poly:9", "rbf:0.5", "rbf:2", "rbf:4")),
    ("C", (1.0, 10.0)),
    ("weight", (1.0, 10.0)),
    ("jitters", ("plus:1", "rot:-10,10", "scale:0.9,1.1", "plus:1+rot:-10,10+scale:0.9,1.1")),
)


def moved(setting: Setting, name: str, option) -> Setting:
    """The setting with one coordinate changed; the margin is what its jitters and queries may bring in from outside."""
    setting = replace(setting, **{name: option})
    texts = setting.jitters + setting.query
    reach = [
        r for word, r in (("plus", 1), ("box", 1), ("flip", 0), ("vsv2", 2), ("rot", 3), ("scale", 3)) if word in texts
    ]
    return replace(setting, margin=max(reach, default=0))


PANEL = tuple(  # what the paper's last paragraph proposes: larger chips shrunk after moving, translations, scales
    moved(Setting(seen=seen), "jitters", jitters)
    for seen in (13, 15, 17, 19)
    for jitters in ("none", "plus:1", "box:1", "scale:0.9,1.1", "plus:1+scale:0.9,1.1", "rot:-10,10", "flip:v")
)
WIDER = PANEL + tuple(  # and products of nearby pixels, and decisions averaged over the moved test chip
    moved(Setting(kernel=kernel, each=each, query=query), "jitters", jitters)
    for kernel in ("poly:9", "local:5", "local:9")
    for each in ("all", "strongest")
    for query in ("none", "plus:1")
    for jitters in ("none", "plus:1")
)


def search_settings(
    measure: Callable[[Setting], float], say=print, start: Setting = PAPER, coordinates=COORDINATES
) -> tuple[Setting, float]:
    """Coordinate after coordinate from a setting: the best setting found, and its measure."""
    best, value = start, measure(start)
    for turn in range(ROUNDS):
        before = best
        for name, options in coordinates:
            tried = [(measure(s), s) for s in (moved(best, name, option) for option in options) if s != best]
            top, setting = max(tried, key=lambda pair: pair[0])
            if top >= value + LEAST:
                best, value = setting, top
        say(f"    round {turn + 1}: {value:.4f}  {best}", flush=True)
        if best == before:
            break
    return best, value


def left_out(venus: Venus, train: tuple[int, ...], setting: Setting, folds: int | None = None) -> curve.Trial:
    """The training pictures, each (or each of so many folds of them) decided on by a machine of the others, pooled."""
    found, folds = Detections(train), folds or len(train)
    for number in range(folds):
        left = train[number::folds]
        others = tuple(k for k in train if k not in left)
        for k in left:
            at = venus.candidates(others, k, setting.pool, setting.miss)
            found.picture.append(np.full(len(at.hit), k))
            found.hit.append(np.where(at.hit >= 0, at.hit + venus.first[k], -1))
            found.add("chosen", venus.decisions(others, k, setting))
    return venus.trial(found, "chosen")


def inner_measure(venus: Venus, train: tuple[int, ...], folds: int | None = None) -> Callable[[Setting], float]:
    """Area under the pooled curve of the training pictures left out in turn."""
    area = curve.area(A_PICTURE * len(train))
    return cache(lambda setting: curve.estimate(left_out(venus, train, setting, folds), area, replicates=1).value)


def alarms_expected(venus: Venus, train: tuple[int, ...], setting: Setting) -> tuple[float, float]:
    """Line a - b f of the logarithm of false alarms a picture above f, from the training pictures left out in turn.

    Machines of different settings have values of different size; their values of b f - a can be pooled.
    """
    scores = left_out(venus, train, setting).alarm_scores[: A_PICTURE * len(train)]
    slope, a = np.polyfit(scores, np.log(np.arange(1, len(scores) + 1) / len(train)), 1)
    return a, -slope


def folds(venus: Venus, parts, choose: Callable[[tuple[int, ...]], Setting]) -> tuple[Detections, list[Setting]]:
    """Each part with the setting that its training pictures choose, pooled as f, and as expected alarms ("rank")."""
    found = Detections(tuple(k for _, test in parts for k in test))
    settings = []
    for train, test in parts:
        setting = choose(train)
        settings.append(setting)
        part = venus.search(((train, test),), {"f": setting})
        found.picture += part.picture
        found.hit += part.hit
        (f,) = part.scores["f"]
        a, b = alarms_expected(venus, train, setting)
        found.add("f", f, part.seconds["f"])
        found.add("rank", b * f - a)
    return found, settings


def by_search(venus: Venus) -> Callable[[tuple[int, ...]], Setting]:
    """The choice of one coordinate after another, as `folds` asks for it."""

    def choose(train: tuple[int, ...]) -> Setting:
        print(f"  choosing on {train}", flush=True)
        return search_settings(inner_measure(venus, train))[0]

    return choose


def by_panel(venus: Venus, panel: tuple[Setting, ...] = PANEL) -> Callable[[tuple[int, ...]], Setting]:
    """The best of a panel, as `folds` asks for it: few settings, so that there is little to be lucky with."""
    return lambda train: max(panel, key=inner_measure(venus, train))
