"""A face detector from windows to FROC, without the lab: `python -m tests.bench.faces [--every 3] [--only NAME]`.

Windows of CBCL, bootstrapped on photographs without faces, then moved over CMU's test set A: faces found at so many
false alarms a picture, where a detection grown 1.8 times covers a face if they share at least 0.3 of their joint area.
Before that, what preparing, scoring and scanning windows take, by turns, the best of each.

Copies, scan and votes were chosen by the figures of every third picture (`--every 3`), which all 40 therefore hold too.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data import pictures
from svmcore import SVC, Poly, VirtualSVC
from svmcore.detection import curve
from svmcore.detection.discard import Discard, fit_discard
from svmcore.detection.matching import by_overlap
from svmcore.detection.mining import Mined, mine
from svmcore.detection.scan import Scorer, scan
from svmcore.detection.suppression import grown, supported, suppressed
from svmcore.detection.turns import QUARTERS
from svmcore.gram.threads import one_blas_thread
from svmcore.jitter import JitterSet
from svmcore.model import Machine
from svmcore.preprocess import Preprocessor
from tests.bench.machine import machine as this_machine

WINDOW = ("brightness-plane", "oval-mask", "equalise", "unit-norm")
SIDE = 19
GROWN, SHARED = 1.8, 0.3
LOWEST = -0.5  # f from which a window is kept, as a detection or as a counter-example
ALARMS = (0.25, 0.5, 0.9, 1, 2, 4)  # a picture


class Round(NamedTuple):
    """A machine, what it was fitted to, and the false alarms that it gave."""

    number: int  # 0 for the machine that no false alarm has taught
    machine: Machine
    chips: np.ndarray  # (n, side, side) uint8
    y: np.ndarray  # (n,) int64, +1 and -1
    origin: np.ndarray  # (n,) int64, the round whose false alarm a chip is; 0 for those that were there
    picture: np.ndarray  # (n,) int64, the picture that it was mined from; -1 for those that were there
    mined: Mined | None  # None for the last round, which is not asked for its false alarms


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


@dataclass(frozen=True)
class Settings:
    """One detector. scope: whose virtual copies are trained on, "faces" those of every face, else as VirtualSVC's."""

    jitters: str
    scope: str = "faces"
    rounds: int = 2
    C: float = 200.0
    step: float = 1.1  # of the scan of test pictures; scenes are scanned by 1.2
    stride: int = 2
    votes: float = 0.3  # what the logarithm of the number of windows on one place adds to f
    turns: str = QUARTERS  # in which scenes are searched
    per_picture: int = 200  # counter-examples from a scene, in each turn
    longest: int = 800  # pixels of a scene's side


DETECTORS = {
    "plain": Settings("none"),
    "mirror, virtual SVs": Settings("flip:h", "machine"),
    "mirror": Settings("flip:h"),
    "mirror, shifts": Settings("flip:h+plus:1@edge"),
    "mirror, shifts, no votes": Settings("flip:h+plus:1@edge", votes=0.0),
    "mirror, shifts, three rounds": Settings("flip:h+plus:1@edge", rounds=3),
}


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.faces", description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=1, help="only every so-manieth picture")
    parser.add_argument("--only", choices=list(DETECTORS), nargs="+", default=list(DETECTORS))
    parser.add_argument("--json", type=Path, help="where the results go")
    options = parser.parse_args(argv)
    faces = pictures.load("cmu-faces")
    tested = range(0, len(faces.pictures), options.every)
    quick = quick_look(*faces.chips)
    found = {"machine": this_machine(), "every": options.every, "detectors": []}
    for name in options.only:
        fitted = train(faces, DETECTORS[name], quick)
        row = {"name": name} | fitted["figures"] | detect(faces, tested, fitted["machine"], DETECTORS[name], quick)
        found["detectors"].append(row)
        print(json.dumps(row), flush=True)
    found["speed"] = speed(fitted["machine"], quick, *faces.chips)
    print(json.dumps(found["speed"]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def quick_look(chips: np.ndarray, y: np.ndarray) -> Discard:
    """A small machine that 0.5 % of the faces that it did not see do not pass; faces both ways round."""
    parent = np.concatenate([np.arange(len(y)), np.flatnonzero(y > 0)])
    mirrored = chips[parent[len(y) :], :, ::-1]
    return fit_discard(np.concatenate([chips, mirrored]), y[parent], parent=parent, lost=0.005)


def train(faces, settings: Settings, quick: Discard) -> dict:
    """The machine of the last round, and figures of all: examples, SVs, seconds, false alarms found by it."""
    told, began = [], time.perf_counter()
    chips, y = faces.chips
    scenes = [picture.image for picture in faces.empty]
    how = {"threshold": LOWEST, "per_picture": settings.per_picture, "longest": settings.longest}
    how |= {"turns": settings.turns, "discard": quick, "limit": 30000}
    fit = lambda X, y, number: fitted(X, y, settings)  # noqa: E731
    for each in rounds(fit, chips, y, scenes, n=settings.rounds, **how):
        mined = None if each.mined is None else {"mined": len(each.mined.f), "alarms": each.mined.alarms}
        told.append({"n": len(each.y), "n_sv": len(each.machine.support)} | (mined or {}))
    figures = {"rounds": told, "train_seconds": round(time.perf_counter() - began, 1)}
    return {"machine": each.machine, "figures": figures}


def fitted(chips: np.ndarray, y: np.ndarray, settings: Settings) -> Machine:
    """A machine for chips (n, 19, 19), with virtual copies as the settings say."""
    svc, shape = SVC(Poly(2, 1.0, 1.0), C=settings.C), (SIDE, SIDE)
    prepare = Preprocessor(*WINDOW, image_shape=shape)
    X = chips.reshape(len(chips), -1).astype(np.float32)
    if settings.scope != "faces":
        how = {"jitters": settings.jitters, "image_shape": shape, "prepare": prepare, "scope": settings.scope}
        return VirtualSVC(svc, **how).fit(X, y).machine_
    copies = JitterSet.parse(settings.jitters, image_shape=shape).apply(X[y > 0]).reshape(-1, X.shape[1])
    labels = np.repeat([1, -1], [len(copies), np.count_nonzero(y < 0)])
    return replace(svc.fit(prepare.transform(np.concatenate([copies, X[y < 0]])), labels).machine_, prepare=prepare)


def detect(faces, tested, machine: Machine, settings: Settings, quick: Discard) -> dict:
    """Rates of the faces found at so many false alarms a picture, and what scanning took."""
    scores, hits, where, n_objects, looked, discarded, seconds = [], [], [], [], 0, 0, 0.0
    for number in tested:
        picture = faces.pictures[number]
        how = {"step": settings.step, "stride": settings.stride, "threshold": LOWEST, "discard": quick}
        seen = scan(picture.image, machine, **how)
        f = supported(seen.boxes, seen.f, weight=settings.votes)
        kept = suppressed(seen.boxes, f)
        hit = by_overlap(grown(seen.boxes[kept], GROWN), picture.boxes, SHARED)
        hits.append(np.where(hit >= 0, hit + sum(n_objects), -1))
        scores.append(f[kept])
        where.append(np.full(len(kept), number))
        n_objects.append(len(picture.boxes))
        looked, discarded, seconds = looked + seen.looked, discarded + seen.discarded, seconds + seen.seconds
    trial = curve.trial(*(np.concatenate(part) for part in (scores, hits, where)), tested, n_objects)
    rates = curve.rates_at(trial, np.floor(np.array(ALARMS) * len(tested)))
    score = curve.estimate(trial, curve.challenge)
    offset = curve.at_threshold(trial, 0.0)
    return {
        "pictures": len(tested),
        "faces": sum(n_objects),
        "rates": {f"{alarms:g}": round(rate, 3) for alarms, rate in zip(ALARMS, rates.tolist())},
        "challenge": [round(value, 3) for value in score],
        "offset 0": {"found": int(offset.found), "alarms": int(offset.alarms)},
        "windows": looked,
        "discarded": round(discarded / looked, 4),
        "scan_seconds": round(seconds, 1),
    }


def speed(machine: Machine, quick: Discard, chips: np.ndarray, y: np.ndarray) -> dict:
    """Microseconds a window of each stage on one thread, and seconds of a picture of 400 x 300 over all scales."""
    rng = np.random.default_rng(0)
    level = np.ascontiguousarray(
        np.tile(chips[:400].reshape(20, 20, SIDE, SIDE).transpose(0, 2, 1, 3).reshape(380, 380), (1, 2))
    )
    picture = level[:300, :400]
    ys, xs = rng.integers(0, 380 - SIDE, (2, 4000))
    scorer, averaged = Scorer(machine, SIDE), quick.averaged(level)
    X = scorer.windows(level)(ys, xs)
    one = {
        "quick look": lambda: quick.passes(averaged, ys, xs),
        "prepared": lambda: scorer.windows(level)(ys, xs),
        "equalised by sorting": lambda: np.argsort(np.argsort(X, axis=1, kind="stable"), axis=1, kind="stable"),
        "quadratic form": lambda: scorer.form.values(X),
        "support vectors": lambda: machine.decision_values(X),
    }
    whole = {
        "scan": lambda: scan(picture, machine, discard=quick),
        "scan, no quick look": lambda: scan(picture, machine),
        "scan, support vectors": lambda: scan(picture, replace_form(scorer)),
    }
    with one_blas_thread:
        times = {name: 1e6 * least / len(ys) for name, least in by_turns(one, 5).items()}
    times |= by_turns(whole, 3)
    rounded = {name: round(value, 3) for name, value in times.items()}
    return rounded | {"n_sv": len(machine.support), "windows": scan(picture, machine).looked}


def replace_form(scorer: Scorer) -> Scorer:
    """The same scorer, which decides by the support vectors."""
    plain = Scorer(scorer.machine, scorer.side)
    plain.form = None
    return plain


def by_turns(calls: dict, turns: int) -> dict[str, float]:
    """Name -> seconds of the quickest of its turns."""
    least = dict.fromkeys(calls, np.inf)
    for _ in range(turns):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            least[name] = min(least[name], time.perf_counter() - began)
    return least


if __name__ == "__main__":
    raise SystemExit(main())
