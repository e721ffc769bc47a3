"""Which invariance would help a run, counted on validation examples: never on the test set, which must not choose.

    twin     the run's recipe, trained on four fifths of its own training examples
    wrong, close, drawn      of the fifth held out: what the twin gets wrong, as many right ones that are as close
                             calls, and some right ones drawn at random (explain/remedy.py)

Totals depend on the recipe and its data alone, so they are kept by these under the home folder's `remedies/`: another
run of the same recipe has them too. A file that is damaged is measured anew.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from data import load
from svmcore.allowed import check_object, count, several, text
from svmcore.explain import moved, remedy
from svmcore.explain.remedy import Ladder, Net, Tally
from svmcore.jitter import JitterSet
from svmcore.lab import split
from svmcore.lab.recipe import Recipe, RecipeError, own_fields
from svmcore.lab.store import folders, reading
from svmcore.lab.task import Check
from svmcore.lab.tasks import task_of
from svmcore.lab.train import fit
from svmcore.metrics import class_positions

FOLDS = 5
MAX_ERRORS, DRAWN = 1000, 500  # errors looked at, and right examples drawn
TURN = 32  # errors, then as many close calls
WORK = 1e10  # floating-point operations between two checks, about 100 ms
METHOD = "vsv"  # how a run learns what is recommended


class Totals(NamedTuple):
    """How far the count is. n_wrong and n_right of the validation examples; `complete`: nobody stopped it."""

    image_shape: tuple[int, ...]
    n_wrong: int
    n_right: int
    tally: Tally
    complete: bool = False

    @property
    def ladder(self) -> Ladder:
        return _ladder(self.image_shape)

    @property
    def looked(self) -> tuple[int, int]:
        """Examples looked at, of how many that will be."""
        wrong = min(self.n_wrong, MAX_ERRORS)
        goal = wrong + min(wrong, self.n_right) + min(self.n_right, DRAWN)
        return self.tally.wrong + self.tally.close + self.tally.drawn, goal


_ladder = cache(Ladder)  # of an image shape


def twin_of(recipe: Recipe) -> Recipe:
    """The recipe that is trained on all folds but one. RecipeError for examples that are no images, or too few."""
    if not task_of(recipe).answers:
        raise RecipeError("task", recipe.task, "classify, because only this task counts errors of single examples")
    if recipe.origin is not recipe:
        raise RecipeError(
            "method", recipe.method, "the method of the original machine, because a jitter set changes its training"
        )
    data = load(recipe.dataset)
    if data.image_shape is None:
        raise RecipeError("dataset", recipe.dataset, "a dataset of images: other examples cannot be shifted or rotated")
    parts = split.whole(recipe.replace(folds=None), data)
    return recipe.replace(folds=split.possible_folds(recipe, parts, FOLDS))


def measure(
    recipe: Recipe,
    check: Check,
    monitor: Callable | None = None,
    publish: Callable[[Totals], None] = lambda totals: None,
) -> Totals:
    """The totals of a recipe. What `check(stage)` and `monitor(progress)` raise stops it; `publish` has what was found
    until then. RecipeError as for `twin_of`."""
    twin = twin_of(recipe)
    task = task_of(twin)
    problem = task.fold(twin, 0, check)
    machine = fit(twin, problem, monitor).estimator.machine_
    judged = task.judge(machine, problem, check)
    data = load(recipe.dataset)
    shape = tuple(data.image_shape)
    ladder, true = _ladder(shape), class_positions(judged.y_true, machine.classes)
    ahead = moved.leads(judged.decision, true)
    won = judged.y_true == judged.y_pred
    totals = Totals(shape, int((~won).sum()), int(won.sum()), remedy.empty(ladder))
    publish(totals)
    for kind, rows in _looked_at(ahead, won, recipe.seed):
        for piece in _pieces(rows, machine, len(ladder.everything)):
            check("validating")
            X = data.X_train[judged.index[piece]]
            f = moved.decided(machine, problem.prepare.transform, ladder.everything.apply(X))
            totals = totals._replace(tally=remedy.add(ladder, totals.tally, f, true[piece], kind))
            publish(totals)
    return totals._replace(complete=True)


def _looked_at(ahead: np.ndarray, won: np.ndarray, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Errors and close calls in turn, so that their counts can be compared at any moment, then right ones at random."""
    rng, right = np.random.default_rng(seed), np.flatnonzero(won)
    wrong = rng.permutation(np.flatnonzero(~won))[:MAX_ERRORS]
    close = right[remedy.as_close(ahead[wrong], ahead[right])]
    close = close[rng.permutation(len(close))]
    for start in range(0, len(wrong), TURN):
        yield "wrong", wrong[start : start + TURN]
        yield "close", close[start : start + TURN]
    yield "drawn", rng.permutation(right)[:DRAWN]


def _pieces(rows: np.ndarray, machine, forms: int) -> Iterator[np.ndarray]:
    m, d = machine.support_vectors.shape
    step = int(np.clip(WORK / (2 * d * max(m, 1) * machine.kernel.work * forms), 1, 64))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


class Recommended(NamedTuple):
    """A set to train with: number s in the ladder, its text, the jitters of a run that adds it, and what it gains."""

    s: int
    text: str
    jitters: str
    net: Net


def advice(totals: Totals, recipe: Recipe) -> Recommended | None:
    """The set of the ladder with the largest net, if that is above 0, of those that the run does not know already."""
    gains = {s: remedy.net(totals.tally, s) for s in np.flatnonzero(~known(totals, recipe)).tolist()}
    best = max(gains, key=lambda s: gains[s].value, default=None)
    if best is None or gains[best].value <= 0:
        return None
    name = totals.ladder.texts[best]
    return Recommended(best, name, joined(recipe.jitters, name), gains[best])


def known(totals: Totals, recipe: Recipe) -> np.ndarray:
    """(S,) bool: the sets of the ladder that the run's own jitters hold."""
    if not recipe.jitters:
        return np.zeros(len(totals.ladder.texts), bool)
    own = JitterSet.parse(recipe.jitters, totals.image_shape)
    return np.array([remedy.within(JitterSet.parse(text), own) for text in totals.ladder.texts])


def joined(own: str, more: str) -> str:
    """The union of a run's own set, "" for none, and another one, with the border of its own."""
    body, at, border = own.partition("@")
    if not body or body == "none" or remedy.within(JitterSet.parse(body), JitterSet.parse(more)):
        return more + at + border
    return f"{body}+{more}{at}{border}"


def advised(recipe: Recipe, jitters: str) -> Recipe:
    """The run's recipe, otherwise as it is, that learns these jitters by virtual support vectors. RecipeError where its
    data or kernel do not allow that."""
    solver = recipe.solver if recipe.method == METHOD else "auto"
    known = own_fields(recipe.task, METHOD, solver)
    options = {name: value for name, value in recipe.options.items() if name in known}
    changed = {"method": METHOD, "jitters": jitters, "solver": solver, "options": options}
    return recipe.replace(name="custom", title="", **changed)


# What was counted, in a file


def keep(recipe: Recipe, data_hash: str, totals: Totals) -> None:
    """Write totals down. OSError when the disk refuses."""
    counts = {
        name: value if isinstance(value, int) else value.tolist() for name, value in totals.tally._asdict().items()
    }
    figures = {"n_wrong": totals.n_wrong, "n_right": totals.n_right, "image_shape": list(totals.image_shape)}
    figures |= {"everything": str(totals.ladder.everything), "sets": list(totals.ladder.texts)}
    folders.write_json(_path(recipe, data_hash), figures | counts)


def measured(recipe: Recipe, data_hash: str) -> Totals | None:
    """The totals that `keep` wrote for this recipe and these data, whole ones alone; None for damaged ones."""
    try:
        figures = reading.read_json(_path(recipe, data_hash), partial(check_object, fields=FIGURES))
        shape = tuple(figures["image_shape"])
        if shape != tuple(load(recipe.dataset).image_shape or ()):
            return None
        return _assembled(figures, shape)
    except (FileNotFoundError, reading.Damaged, ValueError):
        return None


def _assembled(figures: dict, shape: tuple[int, ...]) -> Totals | None:
    """None for counts of another version's ladder, and for what no count can be."""
    ladder = _ladder(shape)
    if (figures["everything"], figures["sets"]) != (str(ladder.everything), list(ladder.texts)):
        return None
    blank = remedy.empty(ladder)
    values = {name: figures[name] for name in Tally._fields}
    arrays = {name: np.array(value, np.int64) for name, value in values.items() if isinstance(value, list)}
    totals = Totals(shape, figures["n_wrong"], figures["n_right"], blank._replace(**values | arrays), complete=True)
    tally, of = totals.tally, {"mended": "wrong", "broken": "close", "some_right": "wrong", "some_wrong": "drawn"}
    of |= {"change_mended": "wrong", "change_broken": "drawn"}
    fits = all(
        getattr(tally, name).shape == getattr(blank, name).shape
        and (getattr(tally, name) <= getattr(tally, most)).all()
        for name, most in of.items()
    )
    fits &= tally.wrong <= totals.n_wrong and max(tally.close, tally.drawn) <= totals.n_right
    return totals if fits else None


def _path(recipe: Recipe, data_hash: str):
    key = hashlib.sha256(f"{recipe.digest()} {data_hash}".encode()).hexdigest()[:16]
    return folders.place("remedies") / f"{key}.json"


FIGURES = {"n_wrong": count, "n_right": count, "image_shape": several(count, 2), "everything": text}
FIGURES |= {"sets": several(text, 1), "wrong": count, "close": count, "drawn": count}
FIGURES |= {name: several(count, 1) for name in Tally._fields[3:]}
