"""A face detector's features chosen on what it trains on, and what they find.

    python -m tests.bench.faces_choice            the choice
    python -m tests.bench.faces_choice report     faces-cmu and faces-gradients, by their stored runs

Half of CBCL's windows and half of the scenes train, with one round of false alarms; the others judge, and the other way
round. A face left out counts in nine places and three sizes, as a scan meets it: f of its form. False alarms are
those on the scenes left out, at every scale, of those that overlap the surest.

    measure = mean over c = 1/4, 1/2, 1, 2, 4, 8 false alarms a scene of the share of forms above the threshold of c

One stage after another, its best change kept where the measure is larger by LEAST. Up to 512 features are tried, as a
form of degree 2 takes their square. CMU's pictures are not looked at.
Every recipe tried is a line of measured/faces-gradients.jsonl; one that stands there is not tried again.

The report tells apart the pictures on which how pictures are searched was chosen, every third, and the others, on which
nothing was chosen.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from data import pictures
from data.pictures import Part
from svmcore.detection.curve import CHALLENGE, challenge, difference, estimate, rates_at, trial
from svmcore.jitter import JitterSet
from svmcore.lab.finders import FINDERS
from svmcore.lab.finders.scanned import search
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.train import fit, unchecked

LOG = Path(__file__).with_name("measured") / "faces-gradients.jsonl"
FORMS = "box:1*(plus:0+scale:0.95,1.05)@edge"
LEAST = 0.002
NAMES = ("faces-cmu", "faces-gradients-fast", "faces-gradients")
PIXELS = RECIPES["faces-cmu"].replace(bootstraps=1)
START = PIXELS.replace(preprocess=("gradients:5", "unit-norm"), C=10.0)
STAGES = (
    ("preprocess", ("gradients:4,unit-norm", "gradients:6,unit-norm", "gradients:7,unit-norm", "gradients:8,unit-norm",
                    "gradients:5,smoothing=0.7,unit-norm")),
    ("preprocess", ("{0},signed=0,{1}",)),
    ("C", ("1", "100")),
    ("kernel.degree", ("3",)),
)  # fmt: skip


def measure(recipe: Recipe) -> dict:
    """The measure of both halves, and their mean."""
    known, values, n_sv = pictures.load("cmu-faces"), [], []
    X, y = known.chips
    for half in (0, 1):
        part = Part("half", (), ())
        mine = replace(known, chips=(X[half::2], y[half::2]), empty=known.empty[half::2])
        finder = FINDERS["scan"]
        problem = finder.prepare(recipe, mine, part, unchecked)
        fitted = fit(recipe, problem)
        machine = replace(fitted.estimator.machine_, prepare=fitted.problem.prepare)
        discard = fitted.problem.search.discard
        faces = X[1 - half :: 2][y[1 - half :: 2] > 0]
        forms = JitterSet.parse(FORMS, faces.shape[1:]).apply(faces.reshape(len(faces), -1))
        f = machine.decision_function(np.rint(forms).reshape(-1, *faces.shape[1:]))[:, 0]
        scenes = known.empty[1 - half :: 2]
        alarms = np.concatenate(
            [search(recipe, mine, machine, discard, scene.image, lambda: None).f for scene in scenes]
        )
        alarms = np.append(np.sort(alarms)[::-1], np.full(8 * len(scenes) + 1, recipe.option("floor")))
        values.append(float(np.mean([np.mean(f > alarms[int(c * len(scenes))]) for c in CHALLENGE])))
        n_sv.append(len(machine.support))
    return {"measure": round(float(np.mean(values)), 4), "halves": [round(v, 4) for v in values], "n_sv": n_sv}


def tried(recipe: Recipe, stage: str) -> float:
    """The measure, from the log where it is there."""
    lines = [json.loads(line) for line in LOG.read_text().splitlines()] if LOG.exists() else []
    if known := next((line for line in lines if line["digest"] == recipe.digest()), None):
        return known["measure"]
    began = time.perf_counter()
    line = {"stage": stage} | measure(recipe)
    line |= {"seconds": round(time.perf_counter() - began, 1), "preprocess": list(recipe.preprocess),
             "kernel": recipe.kernel.to_dict(), "C": recipe.C, "jitters": recipe.jitters,
             "digest": recipe.digest()}  # fmt: skip
    with LOG.open("a") as file:
        file.write(json.dumps(line) + "\n")
    print(json.dumps(line), flush=True)
    return line["measure"]


def report() -> None:
    """Rates at 10 to 200 false alarms, the mean rate and its interval, and the difference of the two detectors."""
    found = {name: runs.get(run.id).test(0) for name, run in zip(
        NAMES, runs.stored((RECIPES[name] for name in NAMES), finished=True), strict=True)}  # fmt: skip
    tested = next(iter(found.values())).tested
    for said, which in {"all pictures": tested, "no setting chosen": np.setdiff1d(tested, tested[::3])}.items():
        trials = {name: _trial(one, which) for name, one in found.items()}
        for name, one in trials.items():
            rates = ", ".join(f"{rate:.3f}" for rate in rates_at(one))
            told = [round(value, 3) for value in estimate(one, challenge)]
            print(f"{said}, {len(which)} pictures, {one.n_objects.sum()} faces, {name}: {rates}; mean rate {told}")
        first, *others = trials.values()
        for name, one in zip(NAMES[1:], others, strict=True):
            print(f"  {name} less {NAMES[0]}:", [round(value, 3) for value in difference(first, one, challenge)])


def _trial(found, pictures: np.ndarray):
    """The detections in some of the pictures."""
    shown, there = np.isin(found.picture, pictures), np.isin(found.tested, pictures)
    counts = (found.object_picture == found.tested[there][:, None]).sum(axis=1)
    return trial(found.decision[shown], found.hit[shown], found.picture[shown], found.tested[there], counts)


def main() -> None:
    tried(PIXELS, "pixels")
    best, value = START, tried(START, "start")
    for field, texts in STAGES:
        candidates = [best.with_texts({field: text.format(*best.preprocess)}) for text in texts]
        measures = [tried(one, field) for one in candidates]
        if max(measures) >= value + LEAST:
            value = max(measures)
            best = candidates[measures.index(value)]
    tried(RECIPES["faces-gradients-fast"].replace(bootstraps=1), "fast")
    print("chosen:", best.preprocess, best.kernel, best.C, best.jitters, value)


if __name__ == "__main__":
    report() if sys.argv[1:] == ["report"] else main()
