"""The next label, beside the runs: the machine of the labels given until now, retrained in tenths of a second; and the
study of what choosing saves, which takes a minute and stands aside for runs.

A run's kernel values are kept between clicks, and the curve until now with them, so that a label costs one training; a
curve that is not at hand any more is drawn through FEW of its points.
"""

from typing import NamedTuple

import numpy as np

from data import load
from data.memo import Bounded
from svmcore.explain.asking import lead
from svmcore.lab.experiment import asking
from svmcore.lab.experiment.asking import Asking, Taught
from svmcore.lab.jobs.beside import Beside, Errand
from svmcore.lab.jobs.queue import QUEUE
from svmcore.lab.jobs.without import LIMIT, STAGES, ceiling
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.store import runs

FEW = 40  # points of a curve that are computed anew
Labels = tuple[tuple[int, int | str | None], ...]  # (row, label), in the order given; None: seen, and no label said

ASKED = Beside(QUEUE, "asking", STAGES, patient=False)
STUDIED = Beside(QUEUE, "labels studied", STAGES)


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
        """Numbers of labels whose errors are to be found, at most FEW of them; the last is always one."""
        n = len(self.labels)
        first = n if n in self.wrong else max(self.wrong, default=-1) + 1
        return np.unique(np.linspace(first, n, min(FEW, n - first + 1)).round().astype(int)).tolist()


class Next(NamedTuple):
    """After some labels. curve: test errors with so many labels more than from the start, the last now."""

    curve: dict[int, int]
    known: int  # labels from the start
    t: int
    left: int  # examples that may be asked for
    aside: int  # and without a label beside them, for whose kernel values memory has no room
    rows: tuple[int, ...]  # those to be asked for next, of the data set
    said: tuple  # what the machine says of each
    second: tuple  # and what it would say next
    lead: tuple[float, ...]  # by how much the one leads before the other; of two classes how far f is from 0


CURVES = Bounded(LIMIT, most=2)


def start(run_id: str, base: str, given: Labels, way: str, m: int) -> None:
    """Train on the labels given and ask for the next, if nobody does; other requests of the run that wait are dropped.
    UnknownRun; Busy."""
    run = runs.get(run_id)
    ASKED.drop_waiting(lambda key: key[0] == run_id and key[2:] != (given, way, m))
    ASKED.start((run_id, base, given, way, m), lambda errand: _next(run, base, given, way, m, errand))


def start_study(recipe: Recipe, **settings) -> None:
    """Find out what choosing saves on a recipe, if nobody does; settings: as of `asking.study`. Busy."""

    def work(errand: Errand) -> asking.Study:
        return asking.study(recipe, ceiling(recipe), publish=errand.publish, **_heard(errand), **settings)

    STUDIED.start(study_key(recipe, **settings), work)


def study_key(recipe: Recipe, **settings) -> tuple:
    """By which STUDIED knows it."""
    return recipe.digest(), runs.content(recipe), *sorted(settings.items())


def _heard(errand: Errand) -> dict:
    """check and monitor of an errand, which leave what it says it does."""
    return {"check": errand.check, "monitor": lambda progress: errand.check(errand.latest.message) or True}


def _next(run: runs.Run, base: str, given: Labels, way: str, m: int, errand: Errand) -> Next:
    data, heard = load(base), _heard(errand)
    key = run.id, data.content_hash
    curve = CURVES.get(key, lambda: Curve(asking.of_run(run, data, ceiling(run.recipe), errand.check), [], {}))
    at = curve.asking
    place = {row: i for i, row in enumerate(at.rows.tolist())}
    labels = asking.learned(run.recipe, [one for one in given if one[1] is not None and one[0] in place])
    curve.begin(labels)
    for n in curve.unknown():
        errand.check(f"Training with {n:,} labels more")
        now = _taught(at, [place[row] for row, _ in labels[:n]], [label for _, label in labels[:n]], heard["monitor"])
        curve.wrong[n] = now.wrong
    left = np.setdiff1d(np.arange(len(at.y), len(at.rows)), [place[row] for row, _ in given if row in place])
    chosen = asking.asked(at, now, way, left, m, np.random.default_rng(run.recipe.seed))
    wrong = dict(sorted(curve.wrong.items()))
    f, classes = now.decision[chosen], np.unique(at.y)
    if f.shape[1] == 1:
        f = np.column_stack([-f, f])
    second = classes[np.argsort(f, axis=1)[:, -2]]
    told = (one.tolist() for one in (at.rows[chosen], now.said[chosen], second, lead(now.decision[chosen])))
    aside = len(data.rows) - len(data.y_train) - (len(at.rows) - len(at.y))
    return Next(wrong, len(at.y), len(at.y_test), len(left), aside, *map(tuple, told))


def _taught(at: Asking, places: list[int], labels: list, monitor) -> Taught:
    known = np.arange(len(at.y))
    y = np.concatenate([at.y, np.array(labels, at.y.dtype)])
    return asking.taught(at, np.concatenate([known, np.array(places, np.int64)]), y, monitor)
