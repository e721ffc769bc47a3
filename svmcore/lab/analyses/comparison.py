"""Runs laid side by side on the same test examples, or the reason why they cannot be.

Symbols: r runs, n test examples, k classes; y_true (n,), y_pred (r, n), wrong (r, n) bool, decision[i] (n, k_i) the f
of run i. Only `test.npz` is read, never a machine. Which examples two runs share is never taken in silence: runs whose
test examples differ by a single one are not paired, but where it was judged in a revision of the dataset that one of
them is on. Such runs are paired on the examples that both have, and their answers counted by the labels of either one.
"""

from contextlib import suppress
from functools import reduce
from typing import NamedTuple

import numpy as np

from data import DataError, catalogue, revisions, verdicts
from svmcore.lab.recipe import Recipe
from svmcore.lab.store.runs import ACTIVE, Run
from svmcore.lab.tasks import task_of

# Kinds of a reason, by which a page offers a way out.
DAMAGED, UNFINISHED, ENDED, ANSWERLESS, DATA, REPLACED, CLASSES, PART, EXAMPLES = (
    "damaged", "unfinished", "ended", "answerless", "data", "replaced", "classes", "part", "examples",
)  # fmt: skip


class Reason(NamedTuple):
    """Why a run cannot be compared: one of the kinds above, and a sentence."""

    kind: str
    text: str


class Answers(NamedTuple):
    """What r runs said of the same n test examples, those in the order of their positions."""

    split: str  # "test" | "train": the part that `index` points into
    index: np.ndarray  # (n,) int64
    left: int  # test examples that some of the runs have, and others have not: taken out in a revision
    labels: np.ndarray  # (r, n) those that each run was judged by
    classes: np.ndarray  # (k,) labels, sorted
    y_true: np.ndarray  # (n,)
    y_pred: np.ndarray  # (r, n)
    decision: tuple[np.ndarray, ...]  # of each run (n, k_i) float64
    groups: np.ndarray  # (n,) which of them belong together, or (0,) where none do

    @property
    def wrong(self) -> np.ndarray:
        """(r, n) bool: which run gets which example wrong."""
        return self.y_pred != self.y_true

    @property
    def judged(self) -> np.ndarray:
        """(n,) bool: which examples have other labels for one run than for another."""
        return (self.labels != self.labels[0]).any(axis=0)

    def by(self, i: int) -> "Answers":
        """The same, counted by the labels of run i."""
        return self._replace(y_true=self.labels[i])


def unfit(run: Run) -> Reason | None:
    """Why a run by itself has no answers to compare; None for one that has."""
    if run.damage:
        return Reason(DAMAGED, run.damage)
    task = task_of(run.recipe)
    if not task.answers:
        return Reason(ANSWERLESS, f"It {task.does}, so it has no prediction for each test example.")
    state = run.state
    if state in ACTIVE:
        return Reason(UNFINISHED, f"It is {state}; its predictions appear here when it has finished.")
    if state != "done":
        return Reason(ENDED, f"It did not finish: it {'failed' if state == 'failed' else f'was {state}'}.")
    return None


def why_not(reference: Run, run: Run) -> Reason | None:
    """Why the answers of `run` cannot be paired with those of `reference`, itself fit; None when they can be.

    Raises what `Run.test` raises, for a file that turns out to be damaged.
    """
    if reason := unfit(run):
        return reason
    ours, theirs = run.recipe, reference.recipe
    if revisions.base_of(ours.dataset) != revisions.base_of(theirs.dataset):
        return Reason(DATA, f"It was tested on another dataset: {ours.dataset}, the reference on {theirs.dataset}.")
    contents = [_content(one) for one in (run, reference)]
    if ours.dataset == theirs.dataset:
        contents = [(one.result or {}).get("data_hash") for one in (run, reference)]
    if all(contents) and contents[0] != contents[1]:
        return Reason(REPLACED, f"The dataset {ours.dataset} was replaced between this run and the reference.")
    told = [_told_apart(recipe) for recipe in (ours, theirs)]
    if told[0] != told[1]:
        return Reason(CLASSES, f"It separates {_named(told[0])}; the reference separates {_named(told[1])}.")
    own, other = run.test(), reference.test()
    if own.split != other.split:
        mine, its = (verdicts.SET_NAMES[found.split] for found in (own, other))
        return Reason(PART, f"It was tested on examples of the {mine}, the reference on examples of the {its}.")
    judged = np.union1d(_judged(ours.dataset, own.split), _judged(theirs.dataset, own.split))
    if not np.isin(np.setxor1d(own.index, other.index), judged).all():
        return Reason(EXAMPLES, _other_examples(run, reference))
    _, at, there = np.intersect1d(own.index, other.index, return_indices=True)
    if not len(at):
        return Reason(EXAMPLES, _other_examples(run, reference))
    if not np.isin(own.index[at[own.y_true[at] != other.y_true[there]]], judged).all():
        said = "The same examples have other labels in the reference: the dataset was replaced between the two runs."
        return Reason(REPLACED, said)
    return None


def _content(run: Run) -> str:
    """The first letters of the content hash of the base of a run's dataset; empty where that is not known."""
    if not revisions.parse_name(run.recipe.dataset):
        return (run.result or {}).get("data_hash", "")[: verdicts.CONTENT]
    with suppress(DataError):
        return catalogue.entry(run.recipe.dataset).content
    return ""


def _judged(dataset: str, part: str) -> np.ndarray:
    """(m,) positions in a part of a dataset that have a verdict, where it is a revision that is still there."""
    with suppress(DataError):
        if revisions.parse_name(dataset):
            judged = revisions.standing(dataset, catalogue.entry(dataset).base)
            return np.array([row for of, row in judged if of == part], np.int64)
    return np.zeros(0, np.int64)


def together(runs: list[Run]) -> Answers:
    """The answers of runs that `why_not` has nothing against, one of them being the first."""
    tests = [run.test() for run in runs]
    index = reduce(np.intersect1d, [test.index for test in tests])
    rows = [np.flatnonzero(np.isin(test.index, index)) for test in tests]
    orders = [at[np.argsort(test.index[at], kind="stable")] for test, at in zip(tests, rows, strict=True)]
    left = len(reduce(np.union1d, [test.index for test in tests])) - len(index)
    labels = np.stack([test.y_true[order] for test, order in zip(tests, orders, strict=True)])
    y_pred = np.stack([test.y_pred[order] for test, order in zip(tests, orders, strict=True)])
    decision = tuple(test.decision[order] for test, order in zip(tests, orders, strict=True))
    classes = _classes(runs[0].recipe, np.union1d(labels, y_pred))
    groups = tests[0].groups[orders[0]] if len(tests[0].groups) else tests[0].groups
    return Answers(tests[0].split, index, left, labels, classes, labels[0], y_pred, decision, groups)


def alone(wrong: np.ndarray) -> np.ndarray:
    """Who stands alone on each example: (n,) int, from wrong (r, n) bool of r >= 3 runs.

    0 all are right, 1 all are wrong, 2 + i run i alone is right, 2 + r + i run i alone is wrong, 2 + 2r otherwise.
    """
    r, n = wrong.shape
    count = wrong.sum(axis=0)
    found = np.full(n, 2 + 2 * r)
    found[count == 0] = 0
    found[count == 1] = 2 + r + wrong.argmax(axis=0)[count == 1]
    found[count == r - 1] = 2 + wrong.argmin(axis=0)[count == r - 1]
    found[count == r] = 1
    return found


def on_same_examples(run: Run, reference: Run) -> Recipe:
    """The recipe of `run` with the dataset, split, classes and seed of `reference`, so that both are tested on the
    same examples. RecipeError where the two do not go together, DataError where the dataset is gone."""
    asked = reference.recipe
    own_part = catalogue.entry(asked.dataset).n_test > 0  # else how many train decides which are left to test
    return run.recipe.replace(
        name="custom",
        title=f"{run.title}, on the test examples of {reference.title}"[:120],
        dataset=asked.dataset,
        split=asked.split,
        classes=asked.classes,
        seed=asked.seed,
        n_test=asked.n_test if own_part else len(reference.test().index),
    )


def _told_apart(recipe: Recipe) -> tuple[str, ...]:
    """The classes told apart, as texts; () for all of the dataset's, however they are asked for."""
    own = tuple(sorted(str(label) for label in recipe.classes))
    return () if len(own) > 1 and set(own) == set(map(str, _labels(recipe))) else own


def _named(told: tuple[str, ...]) -> str:
    return "all classes" if not told else f"{told[0]} and the rest" if len(told) == 1 else ", ".join(told)


def _labels(recipe: Recipe) -> tuple:
    """The labels of the recipe's dataset, () when it is not there to tell."""
    try:
        return catalogue.entry(recipe.dataset).classes
    except DataError:
        return ()


def _classes(recipe: Recipe, seen: np.ndarray) -> np.ndarray:
    """The classes (k,) of the machines, sorted: those of the recipe if `seen` are among them; else those seen."""
    wanted = {str(label) for label in recipe.classes}
    labels = [-1, 1] if len(wanted) == 1 else [c for c in _labels(recipe) if not wanted or str(c) in wanted]
    known = np.array(labels, dtype=seen.dtype if seen.dtype.kind != "U" else None) if labels else seen
    return np.unique(known) if np.isin(seen, known).all() else seen


def _other_examples(run: Run, reference: Run) -> str:
    own, other = run.test().index, reference.test().index
    asked = [(one.recipe.split, one.recipe.seed) for one in (run, reference)]
    how = [f"{len(i):,} examples ({split}, seed {seed})" for i, (split, seed) in zip((own, other), asked, strict=True)]
    common = len(np.intersect1d(own, other))
    return f"It was tested on {how[0]}, the reference on {how[1]}. Both share {common:,} examples."
