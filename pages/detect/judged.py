"""What a run said about all pictures searched so far, and what of it shows at a threshold.

    Judged    the parts of a run put together: m detections, o objects, each machine's scores on the same candidates
    shown     at a threshold t: an object is found when its best detection scores at least t; further detections of it
              count neither way; a false alarm is a detection of no object that scores at least t

Symbols: scores (m, k), column 0 the run's own machine, then its rivals; hit (m,) the object covered or -1; thresholds
and curves are those of `svmcore.detection.curve`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from svmcore.detection import curve
from svmcore.detection.curve import Trial
from svmcore.lab.finders import findings
from svmcore.lab.finders.findings import Detections

SINGLE = 20  # numbers of false alarms that are all offered; beyond, each is an eighth more than the last


class Judged(NamedTuple):
    """All parts judged so far, as one; objects and detections are numbered through all of them."""

    names: tuple[str, ...]  # of the machines that scored
    scores: np.ndarray  # (m, k) float64, larger = surer
    picture: np.ndarray  # (m,) int64, positions in the set's pictures
    box: np.ndarray  # (m, 4) float64
    hit: np.ndarray  # (m,) int64, row of `objects` or -1
    chips: np.ndarray  # (m, h, w) uint8
    votes: np.ndarray  # (m,) float64, what windows on the same place add to f
    turn: np.ndarray  # (m,) int64, of which turn of its picture it is, by number; 0 upright, -1 where it was not kept
    part: np.ndarray  # (m,) int64, the part of the run that searched it
    row: np.ndarray  # (m,) int64, its number there
    objects: np.ndarray  # (o, 4) float64
    object_picture: np.ndarray  # (o,) int64
    object_category: np.ndarray  # (o,) int64
    object_found: np.ndarray  # (o,) bool, whether any candidate covers it
    tested: np.ndarray  # (p,) int64, pictures searched, rising
    area: np.ndarray  # (p,) float64, usable, of each
    opportunities: np.ndarray  # (p,) int64, objects of each that count by the set's own table


class Shown(NamedTuple):
    """What one machine shows at a threshold."""

    found_by: np.ndarray  # (o,) int64, the surest detection of each object that is found, else -1
    alarms: np.ndarray  # (a,) int64, false alarms, the surest first


def joined(parts: Sequence[Detections], own: str) -> Judged:
    """Put the Detections of a run's parts together; `own` is what to call its machine. At least one part."""
    found, sizes = findings.joined(parts), [len(part.picture) for part in parts]
    in_order = np.argsort(found.tested)
    made = {
        "names": (own, *map(str, found.rival_names)),
        "scores": np.column_stack([found.decision, found.rivals]),
        "part": np.repeat(np.arange(len(parts)), sizes),
        "row": np.concatenate([np.arange(n) for n in sizes]),
    }
    made |= {name: getattr(found, name)[in_order] for name in ("tested", "area", "opportunities")}
    return Judged(**made, **{name: getattr(found, name) for name in Judged._fields if name not in made})


def labelled(judged: Judged, category: int | None = None) -> np.ndarray:
    """(p,) int64: labelled objects of each picture tested, those of one category where one is given."""
    own = judged.object_picture
    if category is not None:
        own = own[judged.object_category == category]
    return (own == judged.tested[:, None]).sum(axis=1)


def trial(judged: Judged, column: int, category: int | None = None) -> Trial:
    """One machine's search, ready for statistics; every labelled object counts.

    category: only the objects of this one count; those of others are neither found nor false alarms.
    """
    keep = np.ones(len(judged.hit), bool)
    if category is not None:
        keep = curve.counted(judged.hit, judged.object_category == category)
    scores, hits, where = judged.scores[keep, column], judged.hit[keep], judged.picture[keep]
    return curve.trial(scores, hits, where, judged.tested, labelled(judged, category))


def shown(judged: Judged, column: int, threshold: float) -> Shown:
    """What the machine of a column shows at a threshold."""
    score = judged.scores[:, column]
    best = best_of_objects(judged, column)
    high = np.append(score, -np.inf)[best] >= threshold
    alarms = np.flatnonzero((judged.hit < 0) & (score >= threshold))
    return Shown(np.where((best >= 0) & high, best, -1), alarms[np.argsort(-score[alarms], kind="stable")])


def best_of_objects(judged: Judged, column: int) -> np.ndarray:
    """(o,) int64: the surest detection of each object, -1 where no candidate covers it."""
    best = np.full(len(judged.objects), -1, np.int64)
    rising = np.argsort(judged.scores[:, column], kind="stable")
    covering = rising[judged.hit[rising] >= 0]
    best[judged.hit[covering]] = covering
    return best


def ceiling(judged: Judged) -> float | None:
    """The largest rate that the candidates allow; None without objects."""
    return float(judged.object_found.mean()) if len(judged.objects) else None


def counts(search: Trial) -> list[int]:
    """Numbers of false alarms, over all pictures, that an operating point may have: few are all there, many thinner."""
    most, found = len(search.alarm_scores), []
    k = 0
    while k < most:
        found.append(k)
        k = k + 1 if k < SINGLE else max(k + 1, round(k * 1.125))
    return sorted({*found, most, trained(search).alarms})


def trained(search: Trial) -> curve.OperatingPoint:
    """The operating point that a machine was trained for: offset 0."""
    return curve.at_threshold(search, 0.0)


def at(search: Trial, alarms: int, own: bool) -> curve.OperatingPoint:
    """The operating point with at most `alarms` false alarms. own: whether the machine is the run's; then offset 0 is
    taken if it has as many."""
    zero = trained(search)
    return zero if own and alarms == zero.alarms else curve.at_alarms(search, alarms)


def per_picture(judged: Judged, now: Shown) -> list[tuple[int, int]]:
    """(objects found, false alarms) of each picture tested."""
    found = judged.object_picture[now.found_by >= 0]
    alarms = judged.picture[now.alarms]
    return [(int(np.sum(found == p)), int(np.sum(alarms == p))) for p in judged.tested]
