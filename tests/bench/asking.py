"""How many labels choosing saves: `python -m tests.bench.asking [--sets SET ...]`, ten seeds each.

Labels are hidden and asked for ten at a time, nearest to the plane, spread, and at random (analyses/asking.py), until
the error on test examples that are never asked is down to a target. Each seed draws another split and another start.
Targets are 5 % of digits, and of tables a little above what all labels give, set after a look at three other seeds.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

from svmcore.explain.asking import WAYS
from svmcore.lab.analyses import asking
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from tests.bench import measured
from tests.bench.machine import machine

CEILING_MB = 2000.0


class Case(NamedTuple):
    """A recipe, its labels in the end, and the share of errors that is to be reached."""

    recipe: Recipe
    most: int
    target: float


def _table(name: str, n_train: int, n_test: int) -> Recipe:
    return RECIPES[name].replace(n_train=n_train, n_test=n_test, C=1.0, grid="")


CASES = {
    "MNIST, 4,000 digits": Case(RECIPES["mnist-5k-sv"], 1500, 0.05),
    "8x8 digits": Case(RECIPES["digits-8x8-sv"], 400, 0.05),
    "Waveform": Case(_table("xtrain-waveform-svm", 3000, 2000), 500, 0.1),
    "Banana": Case(_table("xtrain-banana-svm", 3000, 2300), 500, 0.11),
    "Adult": Case(_table("xtrain-adult-3185-svm", 4000, 4000), 800, 0.17),
}


def entry(case: Case, figures: dict) -> dict:
    """What is kept of the figures of a study."""
    means = {way: [round(float(n), 2) for n in np.mean(wrong, axis=0)] for way, wrong in figures["wrong"].items()}
    kept = {name: figures[name] for name in ("n_test", "n_train", "target", "reached", "all_wrong")}
    kept |= {"most": case.most, "mean_wrong": means, "machine": machine()}
    return {"recipe": measured.question(case.recipe)} | kept


def part(bench: dict, table, measured_on) -> str:
    """What RESULTS.md shows."""
    if not bench:
        return "Not measured yet."
    rows = [_row(title, one) for title, one in bench.items()]
    columns = "data", "target error, %", *WAYS.values(), "at random / nearest", "fewer in", "error with all labels, %"
    return table(columns, rows) + measured_on(bench.values())


def _row(title: str, one: dict) -> tuple:
    reached = {way: np.array([np.inf if n is None else n for n in one["reached"][way]]) for way in WAYS}
    own, random = np.median(reached["nearest"]), np.median(reached["random"])
    beyond = "> " if np.isinf(random) else ""
    factor = f"{beyond}{min(random, one['most']) / own:.1f}" if np.isfinite(own) else ""
    fewer = f"{int((reached['nearest'] < reached['random']).sum())} of {len(reached['nearest'])}"
    told = [asking.label_range(reached[way], one["most"]).replace("\u2013", "-") for way in WAYS]
    whole = f"{100 * np.mean(one['all_wrong']) / one['n_test']:.1f}"
    return (title, f"{100 * one['target']:g}", *told, factor, fewer, whole)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.asking", description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", choices=list(CASES), default=list(CASES), metavar="SET")
    for title in parser.parse_args(argv).sets:
        case = CASES[title]
        found = asking.study(case.recipe, CEILING_MB, most=case.most, target=case.target)
        print(f"{title}\n{asking.text(found)}\n", flush=True)
        known = measured.read("asking") | {title: entry(case, asking.figures(found))}
        measured.write("asking", {name: known[name] for name in CASES if name in known})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
