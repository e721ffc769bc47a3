"""A setting chosen by the training pictures alone: leave one of them out, pool, and follow one coordinate after
another.

The measure is the normalised area under the free-response curve up to 50 false alarms a picture. A change is taken
where it gains at least LEAST: the search starts at the paper's setting and does not drift on noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from svmcore.detection import curve
from tests.bench.venus import Detections, Setting, Venus

A_PICTURE = 50  # false alarms
LEAST = 0.002  # of the area
ROUNDS = 2
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


def search_settings(measure: Callable[[Setting], float], say=print) -> tuple[Setting, float]:
    """Coordinate after coordinate from the paper's setting: the best setting found, and its measure."""
    best, value = Setting(), measure(Setting())
    for turn in range(ROUNDS):
        before = best
        for name, options in COORDINATES:
            tried = [(measure(s), s) for s in (moved(best, name, option) for option in options) if s != best]
            top, setting = max(tried, key=lambda pair: pair[0])
            if top >= value + LEAST:
                best, value = setting, top
        say(f"    round {turn + 1}: {value:.4f}  {best}", flush=True)
        if best == before:
            break
    return best, value


def moved(setting: Setting, name: str, option) -> Setting:
    """The setting with one coordinate changed; the margin is what its jitters and queries may bring in from outside."""
    setting = replace(setting, **{name: option})
    texts = setting.jitters + setting.query
    reach = [
        r for word, r in (("plus", 1), ("box", 1), ("flip", 0), ("vsv2", 2), ("rot", 3), ("scale", 3)) if word in texts
    ]
    return replace(setting, margin=max(reach, default=0))


def inner_measure(venus: Venus, train: tuple[int, ...]) -> Callable[[Setting], float]:
    """Area under the pooled curve of machines that each leave one training picture out."""
    parts = tuple((tuple(k for k in train if k != left), (left,)) for left in train)

    def measure(setting: Setting) -> float:
        found = Detections(train, [], [], {"chosen": []})
        for inner, (left,) in parts:
            at = venus.candidates(inner, left, setting.pool, setting.miss)
            found.picture.append(np.full(len(at.hit), left))
            found.hit.append(np.where(at.hit >= 0, at.hit + venus.first[left], -1))
            found.scores["chosen"].append(venus.decisions(inner, left, setting))
        area = curve.area(A_PICTURE * len(train))
        return curve.estimate(venus.trial(found, "chosen"), area, replicates=1).value

    return measure


def chosen_by_folds(venus: Venus, parts) -> tuple[Detections, list[Setting]]:
    """Each part with the setting that its training pictures chose: pooled detections of all, and the settings."""
    found = Detections(tuple(k for _, test in parts for k in test))
    settings = []
    for train, test in parts:
        print(f"  choosing on {train}", flush=True)
        setting, _ = search_settings(inner_measure(venus, train))
        settings.append(setting)
        part = venus.search(((train, test),), {"chosen": setting})
        found.picture += part.picture
        found.hit += part.hit
        found.add("chosen", *part.scores["chosen"], part.seconds["chosen"])
    return found, settings
