"""Blind: everything chosen by folds of the training set alone, then the test set asked once.

    python -m tests.bench.blind choose usps     tries what PLANS has, writes its log as it goes
    python -m tests.bench.blind aside usps      what was chosen, on training examples that no choice has seen
    python -m tests.bench.blind test usps       trains what was chosen on the whole training set, and asks the test set

A plan is a recipe and stages in order. A stage tries changes of the recipe as it stands on FOLDS folds of the training
examples but those aside, and takes, in their order and the recipe itself first, the first one that is within one
standard error of the fewest errors: so nothing is taken that is better by luck alone, if it can be told.

    d(a, b)      errors of a - errors of b on the same examples
    s(a, b)      sqrt of the number of examples that one of them gets wrong and the other does not: the standard
                 error of d (McNemar)
    left early   a change, after a fold, where d to the best so far is above 2 s

`grow` adds jitter sets, as unions and as products, as long as one is taken. Each line of the log is one recipe tried,
with the examples that it got wrong. Killed at any moment, `choose` goes on from its log: a recipe that stands in it is
not tried again. A last stage of `again` counts what is left on other folds, and takes the fewest errors of all of them.

The log, measured/blind-*-gradients.jsonl, is committed before `test`, which refuses to ask twice: its answer is the
last line. Logs of other names are of earlier searches, whose rule was the fewest errors (tests/bench/NOTES.md).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from svmcore import JitterSet
from svmcore.kernels import RBF
from svmcore.lab import jobs
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.tasks import task_of
from svmcore.lab.train import fit, prepare, unchecked
from svmcore.methods.virtual.search import joined, key
from svmcore.model import labels

FOLDS, SEED = 3, 20
OTHER = 4  # folds of a second kind, on which the best are tried again
MEASURED = Path(__file__).with_name("measured")
WIDEST = 26  # forms of a set
VSV = {"method": "vsv", "scope": "union"}
ASKED = ("errors", "n_test", "error_rate", "interval", "n_union", "fit_seconds", "predict_seconds", "all_seconds",
         "peak_mb")  # fmt: skip


class Stage(NamedTuple):
    name: str
    changes: tuple[dict[str, str], ...] = ()  # fields and their texts, as on the command line
    grow: tuple[str, ...] = ()  # jitter sets to add

    def candidates(self, recipe: Recipe) -> list[Recipe]:
        """Changes of a recipe, in the order in which they are preferred."""
        sets = joined(recipe.jitters or "none", self.grow, "+*") if self.grow else []
        small = [text for text in sets if len(JitterSet.parse(text)) <= WIDEST]
        grown = ({"jitters": text} | VSV for text in sorted(small, key=lambda text: len(JitterSet.parse(text))))
        return [recipe.with_texts(change) for change in (*self.changes, *grown)]


class Plan(NamedTuple):
    base: Recipe
    stages: tuple[Stage, ...]
    budget: int  # recipes tried
    whole: dict  # fields of the last training
    larger: float = 1.0  # times as many examples as the recipe's own
    finalists: int = 3  # recipes that are tried again


def _one(field: str, *texts: str) -> Stage:
    return Stage(field, tuple({field: text} for text in texts))


def _base(dataset: str, cells: str, **fields) -> Recipe:
    return Recipe(
        name=f"{dataset}-gradients-blind", title=f"{dataset}, gradients, chosen blind", dataset=dataset,
        preprocess=(cells, "unit-norm"), kernel=RBF(2.0), C=10.0, method="sv", folds=FOLDS, **{"seed": SEED} | fields,
    )  # fmt: skip


def _random(name: str, forms: int, *strengths: tuple[float, float], **more: str) -> Stage:
    """So many deformations at random in the place of the set found: (times those of `random`, of elastic ones) each."""
    texts = [f"random:{forms},shift={s:g},rot={8 * s:g},shear={0.14 * s:g},scale={0.06 * s:g},elastic={e:g},smooth=4"
             for s, e in strengths]  # fmt: skip
    return Stage(name, tuple({"jitters": text} | VSV | more for text in texts))


def _drawn(draws: int, *strengths: tuple[float, float]) -> Stage:
    """So many of them drawn, of which a tenth of the violators stays."""
    return _random("drawn", 1000, *strengths, draws=str(draws), copies="0.1")


TURNS = ("rot:-6,6", "rot:-12,12", "shear:-0.1,0.1", "shear:-0.2,0.2")
SETS = ("plus:1", "box:1", *TURNS, "scale:0.94,1.06", "scale:0.88,1.12", "thick:0.3", "thick:0.6")
DIGITS = tuple(
    f"{before}gradients:{cells},unit-norm"
    for before in ("deslant,", "smooth:0.6,", "deslant,smooth:0.6,", "deslant,smooth:0.8,")
    for cells in ("9", "9,margin=4", "9,margin=4,directions=12", "11,margin=4")
)
MACHINE = (_one("kernel.gamma", "1", "1.5", "3", "4"), _one("C", "5", "20"))
PLANS = {
    "mnist": Plan(
        _base("mnist", "gradients:9", split="stratified", n_train=50_000, n_test=10, cache_mb=6000),
        (
            _one("preprocess", *DIGITS),
            *MACHINE,
            Stage("jitters", tuple({"jitters": text} | VSV for text in (
                "plus:1", "box:1", "rot:-8,8", "plus:1+rot:-8,8", "plus:1+rot:-8,8+thick:0.3"))),
            _drawn(200_000, (0.7, 0.7)),
            _random("deformed", 24, (0.7, 1.0), (1.0, 1.0), (1.0, 1.4)),
            _one("kernel.gamma", "1.5"),
        ),
        80, {"split": "given", "n_train": None, "n_test": None}, 60_000 / 50_000, 2,
    ),
    "usps": Plan(
        _base("usps", "gradients:7", split="stratified", n_train=6000, n_test=10),
        (
            _one("preprocess", *(
                f"{before}gradients:{cells},unit-norm"
                for before in ("", "deslant,", "smooth:0.6,", "deslant,smooth:0.6,")
                for cells in ("6", "7", "8", "7,margin=2", "7,margin=4", "7,margin=4,directions=12", "7+gradients:4")
            )),
            *MACHINE,
            Stage("jitters", grow=SETS),
            _drawn(60_000, (0.5, 0.3), (0.7, 0.5), (1.0, 0.7)),
            *MACHINE,
        ),
        150, {"split": "given", "n_train": None, "n_test": None}, 7291 / 6000,
    ),
    "fashion-mnist": Plan(
        _base("fashion-mnist", "gradients:9,block=2", n_train=18_000, n_test=10_000, seed=0),
        (
            _one("preprocess", *(f"gradients:{cells},unit-norm" for cells in (
                "9", "7,block=2", "9,block=2,margin=2", "9,block=3", "11,block=2", "9,block=2,directions=12",
                "9,block=2+0.5*patterns:4", "9,block=2+gradients:4"))),
            *MACHINE,
            Stage("jitters", grow=("flip:h", "plus:1")),
        ),
        30, {"n_train": 60_000}, 60_000 / 18_000, 2,
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


def compared(a: dict, b: dict) -> tuple[int, float]:
    """(d, s): how many errors more a has than b on the folds that both were tried on, and its standard error."""
    folds = [(set(of_a), set(of_b)) for of_a, of_b in zip(a["wrong"], b["wrong"])]
    return sum(len(x) - len(y) for x, y in folds), sqrt(sum(len(x ^ y) for x, y in folds))


def tried(recipe: Recipe, best: dict | None, log: Log, stage: str) -> dict:
    """The log's line of a recipe, with what it got wrong on as many folds as it took."""
    if line := log.known(recipe):
        return line
    started = time.perf_counter()
    line = {"stage": stage, "wrong": []}
    task = task_of(recipe)
    for number in range(recipe.folds):
        problem = task.fold(recipe, number, unchecked)
        test = task.judge(fit(recipe, problem).estimator.machine_, problem, unchecked)
        line["wrong"].append(test.index[test.y_true != test.y_pred].tolist())
        d, s = compared(line, best) if best else (0, 0.0)
        if d > 2 * s:
            break
    line |= {
        "errors": sum(map(len, line["wrong"])), "folds": recipe.folds,
        "seconds": round(time.perf_counter() - started, 1),
        "preprocess": list(recipe.preprocess), "kernel": recipe.kernel.to_dict(), "C": recipe.C,
        "method": recipe.method, "jitters": recipe.jitters, "options": recipe.options, "digest": recipe.digest(),
    }  # fmt: skip
    log.add(line)
    print(
        f"{stage:14} {line['errors']:4} on {len(line['wrong'])}  {line['seconds']:6} s  {recipe.jitters} "
        f"{','.join(recipe.preprocess)} {recipe.kernel} C={recipe.C:g} {recipe.options}",
        flush=True,
    )
    return line


def first_as_good(lines: list[dict]) -> int:
    """Which line is the first one, in their order, within one standard error of the fewest errors."""
    through = [at for at, line in enumerate(lines) if len(line["wrong"]) == max(len(one["wrong"]) for one in lines)]
    best = lines[min(through, key=lambda at: lines[at]["errors"])]
    differences = {at: compared(lines[at], best) for at in through}
    return next(at for at, (d, s) in differences.items() if d <= s)


def choose(plan: Plan, log: Log) -> Recipe:
    """What the stages of a plan come to, by what stands in the log and by trying what does not."""
    recipe, seen, all_tried = plan.base, {_what(plan.base)}, {}
    line = all_tried[recipe] = tried(recipe, None, log, "base")
    for stage in plan.stages:
        while True:
            options, best = {recipe: line}, line
            for candidate in stage.candidates(recipe):
                if _what(candidate) in seen or len(seen) == plan.budget:
                    continue
                seen.add(_what(candidate))
                options[candidate] = all_tried[candidate] = tried(candidate, best, log, stage.name)
                if len(options[candidate]["wrong"]) == FOLDS:
                    best = min(best, options[candidate], key=lambda one: one["errors"])
            taken = list(options)[first_as_good(list(options.values()))]
            went_on, recipe, line = taken is not recipe, taken, options[taken]
            if not stage.grow or not went_on:
                break
    return _again(recipe, all_tried, plan.finalists, log)


def _again(recipe: Recipe, all_tried: dict[Recipe, dict], finalists: int, log: Log) -> Recipe:
    """Of a recipe and those with the fewest errors the one that has the fewest with those on other folds."""
    through = [one for one, line in all_tried.items() if len(line["wrong"]) == FOLDS and one is not recipe]
    last = [recipe, *sorted(through, key=lambda one: all_tried[one]["errors"])[: finalists - 1]]
    whole = []
    for one in last:
        wrong = all_tried[one]["wrong"] + tried(one.replace(folds=OTHER), None, log, "again")["wrong"]
        whole.append({"wrong": wrong, "errors": sum(map(len, wrong))})
    return last[first_as_good(whole)]


def _what(recipe: Recipe) -> tuple:
    """What it does, however its jitters are written."""
    plain = recipe.replace(jitters="none", options={})
    return plain.digest(), tuple(sorted(recipe.options.items())), key(recipe.jitters or "none")


def final(plan: Plan, chosen: Recipe) -> Recipe:
    """The recipe for the whole training set: as many draws for each example as on the folds."""
    draws = round(chosen.options.get("draws", 0) * plan.larger * FOLDS / (FOLDS - 1))
    options = chosen.options | ({"draws": draws} if draws else {})
    return chosen.replace(folds=None, options=options).replace(**plan.whole)


def aside(plan: Plan, log: Log) -> None:
    """Train what was chosen on all examples that it was chosen by, and count errors on those aside, once: what a choice
    among so many is worth, without the test set."""
    if any("aside" in line for line in log.lines):
        sys.exit(f"{log.path.name} has its answer; what is aside is asked once")
    recipe = choose(plan, log).replace(folds=None)
    problem = prepare(recipe)
    X, y = task_of(recipe).with_aside(recipe, problem, unchecked).aside
    machine = fit(recipe, problem).estimator.machine_
    errors = int((labels(machine.classes, machine.decision_values(X)) != y).sum())
    log.add({"aside": {"errors": errors, "n": len(y)}, "recipe": recipe.to_dict()})
    print(log.lines[-1])


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
    parser.add_argument("what", choices=["choose", "aside", "test"])
    parser.add_argument("name", choices=PLANS)
    options = parser.parse_args()
    plan, log = PLANS[options.name], Log(f"{options.name}-gradients")
    if options.what == "choose":
        print("chosen:", final(plan, choose(plan, log)).to_dict())
    else:
        {"aside": aside, "test": test}[options.what](plan, log)


if __name__ == "__main__":
    main()
