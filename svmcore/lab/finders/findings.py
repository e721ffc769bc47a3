"""Detections: what a search of some pictures brought, beside the truth; and the figures that follow from it."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from svmcore.detection import curve

COUNTS = (10, 25, 50, 100, 200)  # false alarms over all pictures together at which rates are told


class Detections(NamedTuple):
    """m candidates of a machine in p pictures with o objects, n windows that it was trained on. Boxes are xmin, ymin,
    xmax, ymax in pixels of their picture; pictures are positions in the set."""

    unit: str  # of areas
    tested: np.ndarray  # (p,) int64, the pictures searched
    area: np.ndarray  # (p,) float64, usable, of each
    opportunities: np.ndarray  # (p,) int64, objects of each that count by the set's own table
    picture: np.ndarray  # (m,) int64
    box: np.ndarray  # (m, 4) float64, as compared with the truth
    decision: np.ndarray  # (m,) float64, the machine's f and the votes; at offset 0 those above 0 are shown
    votes: np.ndarray  # (m,) float64, what windows on the same place add to f
    hit: np.ndarray  # (m,) int64, the row in `objects` that it covers, -1 for a false alarm
    chips: np.ndarray  # (m, h, w) uint8, the windows as they were looked at
    rivals: np.ndarray  # (m, r) float64, scores of the baselines for the same candidates
    rival_names: np.ndarray  # (r,) str
    rival_seconds: np.ndarray  # (r,) float64, to fit each baseline
    objects: np.ndarray  # (o, 4) float64
    object_picture: np.ndarray  # (o,) int64
    object_category: np.ndarray  # (o,) int64, 1 the surest
    object_found: np.ndarray  # (o,) bool, whether any candidate covers it
    train_chips: np.ndarray  # (n, h, w) uint8
    train_y: np.ndarray  # (n,) int64, +1 and -1
    train_picture: np.ndarray  # (n,) int64, -1 for a window that came with the set
    train_round: np.ndarray  # (n,) int64, the bootstrapping round that mined it, or 0
    # (m,) int64, of which of the recipe's turns of its picture each is, by number; 0 upright, -1 where it was not kept
    turn: np.ndarray = np.empty(0, np.int64)

    def scores(self) -> dict[str, np.ndarray]:
        """Name -> (m,) score of each candidate: the machine, then the baselines."""
        return {"machine": self.decision} | dict(zip(self.rival_names.tolist(), self.rivals.T, strict=True))

    def trial(self, scores: np.ndarray) -> curve.Trial:
        """The candidates under some scores, for the statistics of detection/curve.py; every labelled object counts."""
        per_picture = (self.object_picture == self.tested[:, None]).sum(axis=1)
        return curve.trial(scores, self.hit, self.picture, self.tested, per_picture)


ARRAYS = {
    "unit": ("U", 0), "tested": ("iu", 1), "area": ("f", 1), "opportunities": ("iu", 1), "picture": ("iu", 1),
    "box": ("f", 2), "decision": ("f", 1), "votes": ("f", 1), "hit": ("i", 1), "chips": ("u", 3), "rivals": ("f", 2),
    "rival_names": ("U", 1), "rival_seconds": ("f", 1), "objects": ("f", 2), "object_picture": ("iu", 1),
    "object_category": ("iu", 1), "object_found": ("b", 1), "train_chips": ("u", 3), "train_y": ("i", 1),
    "train_picture": ("i", 1), "train_round": ("iu", 1),
}  # fmt: skip
ALIKE = (
    ("tested", "area", "opportunities"),
    ("picture", "box", "decision", "votes", "hit", "chips", "rivals"),
    ("objects", "object_picture", "object_category", "object_found"),
    ("train_chips", "train_y", "train_picture", "train_round"),
)  # arrays of one length
OF_TRAINING = ALIKE[3]


def beside_truth(pictures, tested, boxes: list, hits: list, chips: np.ndarray) -> Detections:
    """The candidates of the tested pictures of a set beside their objects, not yet decided on and without baselines.

    boxes, hits: of each picture's candidates (m_i, 4) and (m_i,), hits by the number of the object in its picture.
    """
    at, shown = np.array(tested, np.int64), [pictures.pictures[position] for position in tested]
    starts = np.cumsum([0, *(len(picture.boxes) for picture in shown)])
    nothing = np.empty(0, np.int64)
    hit = [np.where(own >= 0, own + start, -1) for own, start in zip(hits, starts, strict=False)]
    hit = np.concatenate([nothing, *hit])
    return Detections(
        unit=pictures.entry.unit,
        tested=at,
        area=np.array([picture.area for picture in shown], np.float64),
        opportunities=np.array([picture.opportunities for picture in shown], np.int64),
        picture=np.repeat(at, [len(own) for own in hits]),
        box=np.concatenate([np.empty((0, 4)), *boxes]),
        decision=np.zeros(len(hit)),
        votes=np.zeros(len(hit)),
        hit=hit,
        chips=chips,
        rivals=np.empty((len(hit), 0)),
        rival_names=np.empty(0, "U1"),
        rival_seconds=np.empty(0),
        objects=np.concatenate([np.empty((0, 4)), *(picture.boxes for picture in shown)]),
        object_picture=np.repeat(at, [len(picture.boxes) for picture in shown]),
        object_category=np.concatenate([nothing, *(picture.category for picture in shown)]),
        object_found=np.isin(np.arange(starts[-1]), hit),
        train_chips=chips[:0],
        train_y=nothing,
        train_picture=nothing,
        train_round=nothing,
        turn=np.zeros(len(hit), np.int64),
    )


def misfit(shapes) -> str:
    """Why arrays of these shapes are no Detections; empty where they may be."""
    for names in ALIKE:
        if len({shapes[name][0] for name in names}) > 1:
            return f"{', '.join(names)} have different lengths"
    if shapes["box"][1] != 4 or shapes["objects"][1] != 4:
        return "its boxes do not have four numbers each"
    if not shapes["rivals"][1] == shapes["rival_names"][0] == shapes["rival_seconds"][0]:
        return "its baselines have different numbers of names, scores and seconds"
    return ""


def disorder(found: Detections) -> str:
    """Why the numbers of Detections do not refer to each other; empty where they do."""
    for name, positions in (("picture", found.picture), ("object_picture", found.object_picture)):
        if not np.isin(positions, found.tested).all():
            return f"{name} refers to a picture that was not searched"
    if len(found.hit) and not -1 <= found.hit.min() <= found.hit.max() < len(found.objects):
        return f"hit refers to objects that do not exist (there are {len(found.objects)})"
    hits = found.hit >= 0
    if (found.object_picture[found.hit[hits]] != found.picture[hits]).any():
        return "hit refers to an object of another picture"
    if not (np.isfinite(found.decision).all() and np.isfinite(found.rivals).all()):
        return "its scores are not all finite"
    if len(found.tested) != len(np.unique(found.tested)):
        return "tested lists a picture twice"
    return ""


def joined(parts: Iterable[Detections]) -> Detections:
    """The detections of parts on different pictures, with the baselines that all have, without training data."""
    parts = list(parts)
    names = [name for name in parts[0].rival_names if all(name in part.rival_names for part in parts)]
    parts = [_only(part, names) for part in parts]
    values, objects = {}, np.cumsum([0, *(len(part.objects) for part in parts)])
    hits = [np.where(part.hit >= 0, part.hit + start, -1) for part, start in zip(parts, objects, strict=False)]
    for name in Detections._fields:
        if name in ("unit", "rival_names"):
            values[name] = getattr(parts[0], name)
        elif name == "rival_seconds":
            values[name] = np.sum([part.rival_seconds for part in parts], axis=0)
        elif name in OF_TRAINING:
            values[name] = getattr(parts[0], name)[:0]
        else:
            values[name] = np.concatenate(hits if name == "hit" else [getattr(part, name) for part in parts])
    return Detections(**values)


def _only(found: Detections, names: list[str]) -> Detections:
    """The same with these baselines alone."""
    at = [found.rival_names.tolist().index(name) for name in names]
    return found._replace(
        rivals=found.rivals[:, at], rival_names=found.rival_names[at], rival_seconds=found.rival_seconds[at]
    )


def figures(found: Detections) -> dict:
    """What a result says: denominators, the ceiling of the candidates, and each machine's rates; JSON-able."""
    machines = {}
    for name, scores in found.scores().items():
        trial = found.trial(scores)
        score = curve.estimate(trial, curve.challenge)
        rates = dict(zip(map(str, COUNTS), curve.rates_at(trial, COUNTS).tolist(), strict=True))
        machines[name] = {
            "rates": {count: _plain(rate) for count, rate in rates.items()},
            "score": _plain(score.value),
            "interval": [_plain(score.low), _plain(score.high)],
        }
    offset = curve.at_threshold(found.trial(found.decision), 0.0)
    return {
        "n_test": len(found.objects),
        "opportunities": int(found.opportunities.sum()),
        "pictures": len(found.tested),
        "area": float(found.area.sum()),
        "unit": found.unit,
        "candidates": len(found.decision),
        "reachable": int(found.object_found.sum()),
        "offset": {"found": offset.found, "alarms": offset.alarms},
        "rival_seconds": found.rival_seconds.tolist(),
        "machines": machines,
    }


def _plain(value: float) -> float | None:
    """For JSON, which has no nan."""
    return None if np.isnan(value) else float(value)
