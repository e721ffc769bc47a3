"""Blind: everything chosen by folds of the training set alone, then the test set asked once.

    python -m tests.bench.blind choose usps     tries what PLANS has, writes measured/blind-usps.jsonl as it goes
    python -m tests.bench.blind test usps       trains what was chosen on the whole training set, and asks the test set

`faces`: the machine of windows is chosen, by CBCL's; how CMU's pictures are then searched is that of `faces-cmu`.

A plan is a recipe and stages in order; a stage takes, of the recipe as it stands and its changes, the one with the
fewest errors on FOLDS folds, of equal ones the first. `grow` adds jitter sets, as unions and as products, as long as
errors fall. Each line of the log is one recipe tried; one is left as soon as it has more errors on some folds than the
best has on all. Killed at any moment, `choose` goes on from its log: a recipe that stands in it is not tried again.

The log is committed before `test`, which refuses to ask twice: its answer is the last line. The errors by which a
recipe was chosen are lower than those that it makes: of many it is the one that was lucky, too.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

from svmcore import JitterSet
from svmcore.kernels import Poly
from svmcore.lab import jobs
from svmcore.lab.presets.faces import BOOTSTRAP, SCAN, WINDOW
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.tasks import task_of
from svmcore.lab.train import fit, unchecked
from svmcore.methods.virtual.search import joined, key

FOLDS, SEED = 3, 20
MEASURED = Path(__file__).with_name("measured")
WIDEST = 60  # forms of a set
ASKED = ("errors", "n_test", "error_rate", "interval", "offset", "machines", "pictures", "n_sv", "n_union",
         "fit_seconds", "peak_mb")  # fmt: skip


class Stage(NamedTuple):
    name: str
    changes: tuple[dict[str, str], ...] = ()  # fields and their texts, as on the command line
    grow: tuple[str, ...] = ()  # jitter sets to add
    most: int | None = None  # recipes tried in it

    def candidates(self, recipe: Recipe) -> list[Recipe]:
        sets = joined(recipe.jitters, self.grow, "+*") if self.grow else []
        grown = ({"jitters": text} for text in sets if len(JitterSet.parse(text)) <= WIDEST)
        return [recipe.with_texts(change) for change in (*self.changes, *grown)]


class Plan(NamedTuple):
    base: Recipe
    stages: tuple[Stage, ...]
    budget: int  # recipes tried
    whole: dict  # fields of the last training
    larger: float = 1.0  # times as many examples as the recipe's own


def _one(field: str, *texts: str) -> Stage:
    return Stage(field, tuple({field: text} for text in texts))


def _drawn(draws: int, smooth: float, *strengths: tuple[float, float], **changes: str) -> Stage:
    """Deformations at random in the place of the set found: (times those of `random`, of elastic ones) each."""
    texts = [
        f"random:1000,shift={s:g},rot={8 * s:g},shear={0.14 * s:g},scale={0.06 * s:g},elastic={e:g},smooth={smooth:g}"
        for s, e in strengths
    ]
    how = {"scope": "union", "draws": str(draws), "rounds": "1", **changes}
    return Stage("drawn", tuple({"jitters": text, **how} for text in texts))


SETS = ("plus:1", "box:1", "vsv2", "rot:-4,4", "rot:-8,8", "rot:-12,12", "scale:0.94,1.06", "scale:0.88,1.12",
        "shear:-0.1,0.1", "shear:-0.2,0.2", "thick:0.3", "thick:0.6")  # fmt: skip
PLANS = {
    "usps": Plan(
        Recipe(name="usps-blind", title="USPS, chosen blind", dataset="usps", split="given", kernel=Poly(5, 1.0, 1.0),
               preprocess=("smooth:0.75", "unit-norm"), C=5.0, method="vsv", jitters="none", options={"scope": "union"},
               folds=FOLDS, seed=SEED),
        (
            _one("preprocess", "unit-norm", "smooth:0.5,unit-norm", "deslant,unit-norm",
                 "smooth:0.75,deslant,unit-norm"),
            Stage("jitters", grow=SETS),
            _one("kernel.degree", "3", "4", "7", "9"),
            _one("C", "1", "2", "10", "20"),
            _drawn(32_000, 2.5, (0.7, 0.5), (0.7, 0.7), (1.0, 0.5), (1.0, 0.9), (1.4, 0.7)),
            _one("kernel.degree", "3", "4", "5", "7", "9"),
            _one("C", "1", "2", "5", "10", "20"),
        ),
        120, {"cache_mb": 1000},
    ),
    "mnist": Plan(
        Recipe(name="mnist-blind", title="MNIST, chosen blind", dataset="mnist", split="stratified", n_train=9000,
               n_test=10, kernel=Poly(7, 1.0, 1.0), C=2.0, method="vsv", jitters="none", options={"scope": "union"},
               folds=FOLDS, seed=SEED),
        (
            _one("preprocess", "deslant,unit-norm"),
            Stage("jitters", grow=SETS, most=42),
            _drawn(200_000, 4.0, (0.7, 0.5), (1.0, 0.7), copies="0.1"),
            _drawn(200_000, 4.0, (1.0, 0.7), (1.4, 0.7), (1.4, 1.0), (1.0, 1.0), copies="0.1", preprocess="unit-norm"),
            _one("copies", "0.05", "0.2"),
            _one("kernel.degree", "5", "9", "11"),
            _one("C", "1", "4", "8"),
        ),
        90, {"cache_mb": 16000, "split": "given", "n_train": None, "n_test": None}, 60_000 / 9000,
    ),
    "faces": Plan(
        Recipe(name="faces-blind", title="Faces, chosen blind", dataset="faces", kernel=Poly(2, 1.0, 1.0), C=200.0,
               preprocess=WINDOW, method="vsv", jitters="none@edge", options={"scope": "all-positive"}, folds=FOLDS,
               seed=SEED),
        (
            _one("preprocess", "oval-mask,equalise,unit-norm", "brightness-plane,oval-mask,unit-norm", "unit-norm"),
            _one("kernel.degree", "3", "4", "5", "7"),
            _one("C", "1", "5", "20", "1000"),
            Stage("jitters", grow=("flip:h", "plus:1", "box:1", "rot:-4,4", "rot:-8,8", "scale:0.94,1.06",
                                   "scale:0.88,1.12")),
            _one("scope", "union"),
            _one("kernel.degree", "2", "3", "5", "7"),
            _one("C", "1", "2", "10", "20", "200"),
        ),
        80, {"task": "detect", "dataset": "cmu-faces"} | SCAN | BOOTSTRAP,
    ),
}  # fmt: skip


class Log:
    """What was tried, in order, a line of JSON each."""

    def __init__(self, name: str):
        self.path = MEASURED / f"blind-{name}.jsonl"
        self.lines = [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []

    def add(self, line: dict) -> None:
        self.lines.append(line)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def known(self, recipe: Recipe) -> dict | None:
        return next((line for line in self.lines if line.get("digest") == recipe.digest()), None)


def tried(recipe: Recipe, best: dict | None, log: Log, stage: str) -> dict:
    """The log's line of a recipe: its errors on as many folds as it took."""
    if line := log.known(recipe):
        return line
    errors, started, number = 0, time.perf_counter(), 0
    for number in range(FOLDS):
        task = task_of(recipe)
        problem = task.fold(recipe, number, unchecked)
        errors += task.loss(task.judge(fit(recipe, problem).estimator.machine_, problem, unchecked))
        if best is not None and errors > best["errors"]:
            break
    line = {
        "stage": stage, "errors": errors, "folds": number + 1, "seconds": round(time.perf_counter() - started, 1),
        "jitters": recipe.jitters, "preprocess": list(recipe.preprocess), "kernel": recipe.kernel.to_dict(),
        "C": recipe.C, "options": recipe.options, "digest": recipe.digest(),
    }  # fmt: skip
    log.add(line)
    print(
        f"{stage:14} {errors:4} on {number + 1}  {line['seconds']:6} s  {recipe.jitters} "
        f"{','.join(recipe.preprocess)} {recipe.kernel} C={recipe.C:g} {recipe.options}",
        flush=True,
    )
    return line


def choose(plan: Plan, log: Log) -> Recipe:
    """What the stages of a plan come to, by what stands in the log and by trying what does not."""
    recipe, seen = plan.base, {_what(plan.base)}
    best = tried(recipe, None, log, "base")
    for stage in plan.stages:
        most = plan.budget if stage.most is None else min(plan.budget, len(seen) + stage.most)
        before = None
        while best is not before:
            before = best
            for candidate in stage.candidates(recipe):
                if _what(candidate) in seen or len(seen) == most:
                    continue
                seen.add(_what(candidate))
                line = tried(candidate, best, log, stage.name)
                if line["errors"] < best["errors"]:
                    best, recipe = line, candidate
            if not stage.grow:
                break
    return recipe


def _what(recipe: Recipe) -> tuple:
    """What it does, however its jitters are written."""
    plain = recipe.replace(jitters="none", options={})
    return plain.digest(), tuple(sorted(recipe.options.items())), key(recipe.jitters)


def final(plan: Plan, chosen: Recipe) -> Recipe:
    """The recipe for the whole training set: as many draws for each example as on the folds."""
    draws = round(chosen.option("draws") * plan.larger * FOLDS / (FOLDS - 1))
    options = chosen.options | ({"draws": draws} if draws else {})
    return chosen.replace(folds=None, options=options).replace(**plan.whole)


def test(plan: Plan, log: Log) -> None:
    """Train what was chosen on all, ask the test set, and write what it says as the log's last line."""
    if any("test" in line for line in log.lines):
        sys.exit(f"{log.path.name} has its answer; the test set is asked once")
    recipe = final(plan, choose(plan, log))
    run_id = jobs.submit(recipe, looks=False)
    while (status := jobs.wait(run_id, 10)).state not in runs.TERMINAL:
        print(status.message, status.progress and status.progress["n_sv"], flush=True)
    if status.state != "done":
        sys.exit(f"{status.state}: {status.message}")
    result = runs.get(run_id).result
    log.add({"test": {name: result[name] for name in ASKED if name in result}, "recipe": recipe.to_dict()})
    print(log.lines[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["choose", "test"])
    parser.add_argument("name", choices=PLANS)
    options = parser.parse_args()
    plan, log = PLANS[options.name], Log(options.name)
    if options.what == "test":
        test(plan, log)
    else:
        print("chosen:", final(plan, choose(plan, log)).to_dict())


if __name__ == "__main__":
    main()
