"""Hostile command lines of `python -m svmcore` and `python -m data`: a clear error with exit code 2, or the answer.

They are called in processes that have imported everything. What is a valid recipe is trained when it is small, else
accepted; nothing asks the network. A failed run must say why in words: the name of an exception is a fault.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re

from data import __main__ as data_cli
from data import fetch
from svmcore import __main__ as cli
from svmcore.lab.forecast import estimate
from svmcore.lab.jobs import sweeping
from svmcore.lab.methods import METHODS
from svmcore.lab.papers import TABLES
from svmcore.lab.presets import xtrain
from svmcore.lab.recipe import FIELDS, Recipe
from svmcore.lab.tasks import TASKS
from tests.bench.soak import Budget, draw, fell, forks, row, temporary_home
from tests.bench.soak.texts import characters, text

FAULT = re.compile(
    r"Traceback|\b\w*(?:Type|Key|Attribute|Index|Name|Assertion|ZeroDivision|Unicode\w*|Recursion)Error\b"
)
SMALL = ("toy-moons", "toy-gaussians", "toy-circles")
NAMES = ["moons", "circles", "gaussians", "digits-8x8-sv", "mnist-5k-sv", "volcano-synthetic", *TABLES, *xtrain.STUDIES]
GOOD = {
    "C": "2", "n_train": "60", "n_test": "30", "dataset": "digits-8x8", "kernel": "poly:degree=3", "method": "vsv",
    "classes": "3,8", "preprocess": "unit-norm", "jitters": "box:1", "seed": "7", "folds": "3", "solver": "smo",
    "kernel.gamma": "0.5", "task": "detect", "noise": "0.1",
}  # fmt: skip


class _Accepted(BaseException):
    """A recipe that can be was asked for; whether it trains is told elsewhere."""


def commands(budget: Budget, seed: int) -> list[dict]:
    """One command line a try."""
    counts, failures = {}, []
    with temporary_home():
        for number, said in forks.shared(lambda number: attempt(seed, number), budget.numbers(), patience=300):
            how, _, reason = said.partition("|")
            counts[how] = counts.get(how, 0) + 1
            if reason or how not in ("refused", "answered", "accepted", "failed"):
                failures.append(fell("commands", seed, number, reason or said))
    tries = sum(counts.values())
    return [
        row(
            "hostile command lines",
            tries,
            failures,
            **{n: counts.get(n, 0) for n in ("refused", "answered", "accepted")},
        )
    ]


def attempt(seed: int, number: int) -> str:
    """`how|what fell` of one command line."""
    rng = draw(seed, number)
    of_data = rng.random() < 0.1
    argv = [part.replace("\ud800", "\udcff") for part in (_of_data(rng) if of_data else _of_svmcore(rng))]
    out, err = io.StringIO(), io.StringIO()
    with _bounded(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = (data_cli if of_data else cli).main(argv)
        except SystemExit as stop:
            code = stop.code
        except _Accepted:
            return "accepted|"
    said = err.getvalue()
    what = f"{'data' if of_data else 'svmcore'} {argv!r:.200}"
    if fault := FAULT.search(said):
        return f"failed|{what}: {fault[0]} in {said[-200:]!r}"
    if code in (1, 2):
        return f"{'refused' if code == 2 else 'failed'}|" + ("" if said.strip() else f"{what}: {code} without a word")
    if code != 0:
        return f"odd|{what}: exit code {code!r}"
    if not of_data and "--json" in argv[:2]:
        json.loads(out.getvalue().splitlines()[-1])
    return "answered|" if out.getvalue().strip() else f"answered|{what}: nothing printed"


def _of_svmcore(rng) -> list[str]:
    command = rng.choice(["run", "run", "run", "sweep", "recipes", "tables", "fields", "", "help"])
    if rng.random() < 0.05:
        command = text(rng)
    line = [str(command)]
    if command in ("run", "sweep"):
        line.append(NAMES[rng.integers(len(NAMES))] if rng.random() < 0.85 else text(rng))
    if command == "sweep":
        line += [_field(rng), *(_value(rng) for _ in range(rng.integers(0, 4)))]
    if rng.random() < 0.8:
        for _ in range(rng.integers(1, 4)):
            field = _field(rng)
            good = field in GOOD and rng.random() < 0.5
            line += ["--set", f"{field}={GOOD[field] if good else _value(rng)}"]
    line += [option for option in ("--json", "--folds", "--help", "-x", "--halving") if rng.random() < 0.05]
    if rng.random() < 0.1:
        line.append(text(rng))
    return line


def _of_data(rng) -> list[str]:
    line = [str(rng.choice(["list", "fetch", "fetch", "get", ""]))]
    names = [*fetch.SETS, "toy-moons", "moons"]
    if rng.random() < 0.9:
        line.append(names[rng.integers(len(names))] if rng.random() < 0.3 else text(rng))
    return line


def _field(rng) -> str:
    known = [
        *FIELDS,
        *GOOD,
        *(f.name for m in METHODS.values() for f in m.fields),
        *(f.name for t in TASKS.values() for f in t.fields),
    ]
    return known[rng.integers(len(known))] if rng.random() < 0.9 else text(rng)


def _value(rng) -> str:
    known = list(GOOD.values())
    return (
        known[rng.integers(len(known))] if rng.random() < 0.2 else characters(rng) if rng.random() < 0.1 else text(rng)
    )


@contextlib.contextmanager
def _bounded():
    """What is not small is accepted and not trained, and no source is asked for data."""
    real = (
        cli.jobs.submit,
        sweeping.submit,
        fetch._from_http,
        fetch._from_package,
        cli.measure,
        os.environ.pop("SVMLAB_DATA", None),
    )

    def submit(recipe: Recipe, **options):
        estimate(recipe).require()
        if recipe.dataset not in SMALL or (recipe.n_train or 1000) > 300:
            raise _Accepted
        return real[0](recipe, **options)

    def nothing(*_):
        raise OSError("no connection")

    def accepted(*_):
        raise _Accepted

    cli.jobs.submit, sweeping.submit, fetch._from_http, fetch._from_package, cli.measure = (
        submit,
        submit,
        nothing,
        nothing,
        accepted,
    )
    try:
        yield
    finally:
        cli.jobs.submit, sweeping.submit, fetch._from_http, fetch._from_package, cli.measure, mirrors = real
        if mirrors is not None:
            os.environ["SVMLAB_DATA"] = mirrors
