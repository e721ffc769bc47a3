"""Datasets that are replaced under their name, some of them by what they were before, and every lookup of their runs.

    untrue    a lookup that gives a run of other content than the dataset has now, or not the newest one of its content;
              repeats, pairs or reductions of runs of unlike content; what is found out about a run on data that it has
              not seen

What is right comes from a ledger of which run was made while the dataset had which bytes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from data import catalogue
from data.dataset import Arrays
from pages.compare.empty import worth
from pages.cross_training.discarded import plain_of
from svmcore import RBF
from svmcore.lab import jobs
from svmcore.lab.analyses import comparison, repeats, suspects, unseen, without
from svmcore.lab.jobs import analyses
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run
from tests.bench.truth.outcome import Outcome, told
from tests.homes import new_home

SET = "turned"
HOUR = 3600.0
MOST = 60.0  # seconds that a run may take
ROOM = 500.0  # MB
HAS_NOT_SEEN = {False: "of data that the run has not seen", True: "refused, though its data are there"}


@dataclass(frozen=True)
class Problem:
    """contents: the arrays that the dataset has, one after the other; asked: what is run on each; forgotten: whether
    the dataset is deleted before it is kept again."""

    contents: list[Arrays]
    asked: list[list[Recipe]]
    forgotten: list[bool]

    def solved(self, limit: float, beside: bool) -> Outcome:
        started, ledger, keys, faults = time.perf_counter(), {}, {}, []
        with new_home():
            for arrays, recipes, forgotten in zip(self.contents, self.asked, self.forgotten, strict=True):
                if forgotten:
                    catalogue.forget(f"own:{SET}")
                catalogue.keep(SET, arrays, replace=True)
                faults += self.looked_up(ledger, keys, arrays)
                for run in runs.newest_first():
                    faults += looked_into(run, ledger[run.id], current=bytes_of(ledger[run.id]) == bytes_of(arrays))
                for recipe in recipes:
                    ran = jobs.submit(recipe)
                    if jobs.wait(ran, MOST).state != "done":
                        faults.append(f"{recipe.method} failed: {runs.get(ran).message}")
                    ledger |= {run.id: arrays for run in runs.newest_first() if run.id not in ledger}
                faults += self.looked_up(ledger, keys, arrays)
        return told(dict.fromkeys(faults), time.perf_counter() - started)

    def looked_up(self, ledger: dict[str, Arrays], keys: dict, now: Arrays) -> Iterator[str]:
        """What is not so while the dataset has the arrays `now`. keys: of studies, by content."""
        every, recipes = runs.newest_first(), list(dict.fromkeys(r for those in self.asked for r in those))
        content = {run.id: bytes_of(ledger[run.id]) for run in every}
        today = bytes_of(now)

        def newest(alike) -> str | None:
            return next((run.id for run in every if content[run.id] == today and alike(run)), None)

        lookups = {
            "a table": (ids(runs.stored(recipes, finished=True)), called),
            "a form": (ids(runs.stored(recipes)), called),
            "just now": (ids(runs.asked_within(recipe, HOUR) for recipe in recipes), lambda recipe: recipe),
            "a machine to begin with": (ids(map(runs.with_machine, recipes)), lambda r: called(r).replace(folds=None)),
        }
        for name, (found, key) in lookups.items():
            right = [newest(lambda run, r=recipe, key=key: key(run.recipe) == key(r)) for recipe in recipes]
            if found != right:
                yield f"{name}: {found}, it is {right}"
        for recipe in recipes:
            key = analyses.study_key(recipe)
            if keys.setdefault((recipe, today), key) != key:
                yield "a study of the same content is not found again"
            if any(key == other for (r, c), other in keys.items() if r == recipe and c != today):
                yield "a study of other content is taken for one of this"
        for run in every:
            yield from self.of_run(run, every, content, ledger, today)

    def of_run(self, run: Run, every: list[Run], content: dict, ledger: dict, today: bytes) -> Iterator[str]:
        """What is not so of one run among all."""
        mine, own = content[run.id], ledger[run.id]
        if runs.is_current(run) != (mine == today):
            yield f"a run is {'not ' * (mine == today)}current"
        asked, seed = called(run.recipe), run.recipe.seed
        alike = [one for one in every if content[one.id] == mine and called(one.recipe).replace(seed=seed) == asked]
        right = {one.recipe.seed: one.id for one in [*alike[::-1], run]}  # the newest of each seed, but its own
        if (found := {seed: one.id for seed, one in repeats.of(run, every).items()}) != right:
            yield f"repeats are {found}, they are {right}"
        for other in every:
            if content[other.id] != mine and comparison.why_not(run, other) is None:
                yield "runs of unlike content are compared"
        if any(content[a.id] != content[b.id] for a, b, _ in worth([run])):
            yield "a comparison of unlike content is offered"
        test = run.test()
        part = own.y_test if test.split == "test" else own.y_train
        if not np.array_equal(test.y_true, part[test.index]):
            yield "a run was tested on other labels than its dataset had"
        if run.parent and content.get(run.parent, mine) != mine:
            yield "a run grew out of a machine of other content"
        if run.recipe.method == "cross-training" and (plain := plain_of(run)) and content[plain.id] != mine:
            yield "a plain machine of other content stands beside an edited one"


def looked_into(run: Run, own: Arrays, current: bool) -> Iterator[str]:
    """What is found out about a run later: only of the data that it has seen."""
    if run.folded() is not None and ended(lambda: unseen.trained(run, 0)) != current:
        yield "the machine of a fold: " + HAS_NOT_SEEN[current]
    if not without.why_not(run) and ended(lambda: without.stand(run, ROOM)) != current:
        yield "what examples are worth: " + HAS_NOT_SEEN[current]
    for way in suspects.ways(run):
        try:
            found = suspects.suspects(run, way)
        except ValueError:
            if current or way in ("folds", "test"):  # which are in the run's own files
                yield f"suspects, {way}: {HAS_NOT_SEEN[True]}"
            continue
        labels = own.y_train if found.part == "train" else own.y_test
        if not (found.index < len(labels)).all() or not np.array_equal(found.given, labels[found.index]):
            yield f"suspects, {way}: {HAS_NOT_SEEN[False]}"
    analyses.RELATED.start(run.id)
    if (analyses.RELATED.wait(run.id, timeout=MOST).state == "done") != current:
        yield f"copies and outliers: {HAS_NOT_SEEN[current]}"


def ended(work) -> bool:
    """Whether it came to its end, and was not refused."""
    try:
        work()
    except RecipeError:
        return False
    return True


def ids(found) -> list[str | None]:
    return [run and run.id for run in found]


def called(recipe: Recipe) -> Recipe:
    """The same, whatever it is called."""
    return recipe.replace(name="custom", title="")


def bytes_of(arrays: Arrays) -> bytes:
    return b" ".join(f"{one.dtype}{one.shape}".encode() + one.tobytes() for one in arrays.examples)


def first(rng) -> Arrays:
    n, d, m = int(rng.integers(30, 70)), int(rng.integers(2, 5)), int(rng.choice([0, 20]))
    X, y = rng.normal(size=(n + m, d)).astype(np.float32), np.arange(n + m) % int(rng.choice([2, 2, 3]))
    X[:, 0] += 2 * y
    y = np.array(["a", "b", "c"])[y] if rng.random() < 0.5 else y
    return Arrays(X[:n], y[:n], X[n:], y[n:])


def another(rng, one: Arrays) -> Arrays:
    """The same set but for one change."""
    X, y, T, t = (part.copy() for part in one.examples)
    classes = np.unique(y)
    match int(rng.integers(8)):
        case 0:  # labels turned round
            y, t = (classes[::-1][np.searchsorted(classes, part)] for part in (y, t))
        case 1:  # one label
            at = int(rng.integers(len(y)))
            y[at] = classes[(np.searchsorted(classes, y[at]) + 1) % len(classes)]
        case 2:  # rows in another order
            order = rng.permutation(len(y))
            X, y = X[order], y[order]
        case 3:  # one cell, by as little as there is
            at = tuple(rng.integers(X.shape))
            X[at] = np.nextafter(X[at], np.float32(np.inf))
        case 4:  # one example more
            X, y = np.concatenate([X, X[:1] + 1]), np.concatenate([y, y[:1]])
        case 5:  # one less
            X, y = X[:-1], y[:-1]
        case 6:  # a class by another name
            name = "z" if y.dtype.kind == "U" else 9
            y, t = (np.where(part == classes[-1], np.array(name, part.dtype), part) for part in (y, t))
        case _:  # features in another order
            X, T = (np.ascontiguousarray(part[:, ::-1]) for part in (X, T))
    return Arrays(X, y, T, t)


def recipes(rng, classes: int) -> list[Recipe]:
    """One recipe in a few variations."""
    base = RECIPES["moons"].replace(
        dataset=f"own:{SET}", kernel=RBF(float(rng.choice([0.2, 1.0]))), preprocess=(), C=1.0, n_train=None, n_test=None
    )
    own = [base.replace(seed=int(seed)) for seed in rng.integers(0, 3, 3)]
    own += [base.replace(folds=2), base.replace(C=5.0), base.replace(method="reduced", options={"n_vectors": 4})]
    return own + [base.replace(method="cross-training", options={"n_subsets": 2})] * (classes == 2)


def replaced(rng) -> Problem:
    """Datasets replaced under their name, and every lookup of runs."""
    contents = [first(rng)]
    for _ in range(int(rng.integers(1, 4))):
        before = contents[int(rng.integers(len(contents)))]
        contents.append(before if rng.random() < 0.25 else another(rng, before))
    pool = recipes(rng, len(np.unique(contents[0].y_train)))
    asked = [[pool[i] for i in rng.integers(0, len(pool), rng.integers(1, 4))] for _ in contents]
    return Problem(contents, asked, [False, *(bool(rng.random() < 0.2) for _ in contents[1:])])
