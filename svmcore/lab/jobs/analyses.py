"""The analyses that pages ask for, each by its key (lab/analyses computes them; background.py carries them out).

    RELATED    run                               copies, linked pairs and outliers             suspects.Related
    COUNTS     run                               which invariance would help                   remedies.Totals
    UNSEEN     run, row                          why a fold's machine answered so              unseen.Unseen
    RETRAINED  run, change                       the machine without some examples             without.Effect
    VALUED     run, machine                      what each example is worth to it              without.Worth
    NEXT       run, base, labels, strategy, m    the labels to ask for next                    Next
    STUDIED    recipe, content, settings         what choosing labels saves                    asking.Study
    MEASURED   name                              a rival in the papers' tables                 rivals.measured

Runs are named by their ids; content is the hash of a recipe's data. What is looked up again in a run's data is refused
where they were replaced. A run's kernel values, the machines of folds and learning curves are kept between clicks,
each kind within an eighth of the memory that was free: then a change, or a label, costs tenths of a second.
"""

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from data import load
from data.memo import Bounded
from svmcore.explain.asking import lead
from svmcore.lab.analyses import asking, remedies, rivals, suspects, unseen, without
from svmcore.lab.analyses.asking import Asking
from svmcore.lab.analyses.without import Change
from svmcore.lab.forecast import estimate
from svmcore.lab.jobs.background import PREPARING, Analysis, Task
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.memory import MB, share_of_memory

LIMIT = share_of_memory(1 / 8, least_mb=256)
STANDS, FOLDS, CURVES = Bounded(LIMIT, most=2), Bounded(LIMIT), Bounded(LIMIT, most=2)  # by run
MAX_POINTS = 40  # of a learning curve, that are computed anew where it is not at hand any more
Labels = tuple[tuple[int, int | str | None], ...]  # (row, label), in the order given; None: seen, and no label said


def _exists(run_id: str, *_) -> None:
    runs.get(run_id)  # UnknownRun


def memory_mb(recipe: Recipe) -> float:
    """Megabytes that a fit of the recipe may take. BudgetError."""
    return estimate(recipe.replace(folds=None, bounds=False)).require().cache_mb


def kept_mb(recipe: Recipe) -> float:
    """Megabytes of kernel values that may stay between clicks. BudgetError."""
    return min(memory_mb(recipe), LIMIT() / MB)


# Which examples are copies, which invariance would help


def _related(task: Task, run_id: str) -> suspects.Related:
    run = runs.get(run_id)
    runs.require_content(run)
    return suspects.related(run.recipe, task.check)


def _count(task: Task, run_id: str) -> remedies.Totals:
    run = runs.get(run_id)
    runs.require_content(run)
    estimate(remedies.twin_of(run.learned).replace(folds=None)).require()
    totals = remedies.measure(run.learned, task.check, task.by_gap, task.publish)
    with suppress(OSError):  # on a full disk it stays in memory alone
        remedies.keep(run.learned, run.result["data_hash"], totals)
    return totals


def _counted(run_id: str) -> remedies.Totals | None:
    run = runs.get(run_id)
    return remedies.measured(run.learned, run.result["data_hash"]) if run.result else None


# Machines trained again: of a fold, without some examples


def _unseen(task: Task, run_id: str, row: int) -> unseen.Unseen:
    run = runs.get(run_id)
    number = unseen.fold_of(run, row)

    def trained() -> unseen.Fold:
        memory_mb(run.recipe)
        return unseen.trained(run, number, task.check, lambda progress: task.check("training") or True)

    return unseen.of_example(FOLDS.get((run_id, number), trained), row)


def _retrained(task: Task, run_id: str, change: Change) -> without.Effect:
    run = runs.get(run_id)
    stand = STANDS.get(run_id, lambda: without.stand(run, kept_mb(run.recipe), task.check, task.by_stage))
    stand.retraining.monitor = task.by_stage  # one thread does all of these
    return without.effect(stand, change)


def _valued(task: Task, run_id: str, machine: int | None) -> without.Worth:
    run = runs.get(run_id)
    return without.worth(run, machine, memory_mb(run.recipe), task.check, task.by_stage, task.publish)


# The next label


class Curve(NamedTuple):
    """A run's examples, the labels given, and the test errors with so many of them."""

    asking: Asking
    labels: list[tuple]
    wrong: dict[int, int]

    @property
    def nbytes(self) -> int:
        return self.asking.nbytes

    def begin(self, labels: list[tuple]) -> None:
        """Keep what is known of these labels: as far as they are those of before."""
        alike = next((i for i, (a, b) in enumerate(zip(labels, self.labels)) if a != b), len(labels))
        for n in [n for n in self.wrong if n > alike]:
            del self.wrong[n]
        self.labels[:] = labels

    def unknown(self) -> list[int]:
        """Numbers of labels whose errors are to be found, at most MAX_POINTS; the last is always one."""
        n = len(self.labels)
        first = n if n in self.wrong else max(self.wrong, default=-1) + 1
        return np.unique(np.linspace(first, n, min(MAX_POINTS, n - first + 1)).round().astype(int)).tolist()


class Next(NamedTuple):
    """After some labels. curve: test errors with so many labels more than from the start, the last now."""

    curve: dict[int, int]
    known: int  # labels from the start
    t: int
    left: int  # examples that may be asked for
    aside: int  # and without a label beside them, for whose kernel values memory has no room
    rows: tuple[int, ...]  # those to be asked for next, of the dataset
    said: tuple  # what the machine says of each
    second: tuple  # and what it would say next
    lead: tuple[float, ...]  # by how much the one leads before the other; of two classes how far f is from 0


def _next(task: Task, run_id: str, base: str, given: Labels, strategy: str, m: int) -> Next:
    run, data = runs.get(run_id), load(base)
    made = lambda: Curve(asking.of_run(run, data, kept_mb(run.recipe), task.check), [], {})  # noqa: E731
    curve = CURVES.get((run_id, data.content_hash), made)
    at, known = curve.asking, np.arange(len(curve.asking.y))
    place = {row: i for i, row in enumerate(at.rows.tolist())}
    labels = asking.learned(run.recipe, [one for one in given if one[1] is not None and one[0] in place])
    curve.begin(labels)
    for n in curve.unknown():
        task.check(f"Training with {n:,} more labels")
        rows = np.concatenate([known, np.array([place[row] for row, _ in labels[:n]], np.int64)])
        y = np.concatenate([at.y, np.array([label for _, label in labels[:n]], at.y.dtype)])
        now = asking.taught(at, rows, y, task.monitor)
        curve.wrong[n] = now.wrong
    left = np.setdiff1d(np.arange(len(at.y), len(at.rows)), [place[row] for row, _ in given if row in place])
    chosen = asking.asked(at, now, strategy, left, m, np.random.default_rng(run.recipe.seed))
    f = now.decision[chosen]
    f = np.column_stack([-f, f]) if f.shape[1] == 1 else f
    second = np.unique(at.y)[np.argsort(f, axis=1)[:, -2]]
    answers = (one.tolist() for one in (at.rows[chosen], now.said[chosen], second, lead(now.decision[chosen])))
    aside = len(data.rows) - len(data.y_train) - (len(at.rows) - len(at.y))
    wrong = dict(sorted(curve.wrong.items()))
    return Next(wrong, len(at.y), len(at.y_test), len(left), aside, *map(tuple, answers))


def study_key(recipe: Recipe, **settings) -> tuple:
    """The key of a study; settings: as of `asking.study`."""
    return recipe.replace(name="custom", title=""), runs.content(recipe), tuple(sorted(settings.items()))


def _studied(task: Task, recipe: Recipe, content: str, settings: tuple) -> asking.Study:
    how = {"check": task.check, "monitor": task.monitor, "publish": task.publish} | dict(settings)
    return asking.study(recipe, kept_mb(recipe), **how)


RETRAINING = PREPARING | {
    "kernel values": "Kernel values",
    "train": "Training without a fold",
    "to a smaller gap": "Solving to a smaller optimality gap",
    "retraining": "Retraining",
}


def _measured(task: Task, name: str) -> dict:
    """Once it has begun it cannot be stopped: a library carries it out."""
    task.check()
    return rivals.measure(name)


RELATED = Analysis("related", _related, PREPARING | {"comparing": "Comparing examples"}, precondition=_exists)
COUNTING = PREPARING | {"predicting": "Finding the errors of a copy of the machine", "validating": ""}
COUNTS = Analysis(
    "remedies", _count, COUNTING, stored=_counted,
    precondition=lambda run_id: remedies.twin_of(runs.get(run_id).learned),
)  # fmt: skip
QUICK = {"patient": False, "latest_only": True, "precondition": _exists}  # a reader waits for these
UNSEEN = Analysis("unseen", _unseen, PREPARING | {"training": "Training without the fold of this example"}, **QUICK)
RETRAINED = Analysis("retraining", _retrained, RETRAINING, **QUICK)
NEXT = Analysis("asking", _next, RETRAINING, **QUICK)
VALUED = Analysis("values", _valued, RETRAINING, precondition=_exists)
STUDIED = Analysis("labels studied", _studied, RETRAINING)
MEASURED = Analysis("rivals", _measured, stored=rivals.measured)
