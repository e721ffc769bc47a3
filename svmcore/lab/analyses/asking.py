"""The next label, on examples of a recipe: a machine of those that have one says which of the others to ask for.

    of_recipe   the recipe's training examples, all of whose labels are known and most of them hidden: practice
    of_run      a run's training examples, and the examples of its dataset that have no label
    taught      the machine of those that have a label by now: errors on the test set, and what it says of all
    study       labels until the test error is down to a target, chosen and at random, over several seeds

The test set is drawn by the recipe, before anything is asked, from the examples that have a label from the start: what
is asked for is where the machine is least sure, so it may train and must not judge.

Kernel values are computed once, and each machine is trained anew on its part of them: 400 digits of ten classes take
40 ms. Going on from where the machine of before stands is no quicker, as its f must be computed in double precision.

Symbols: n examples that train or may be asked for, t test examples, k machines; positions are among the n.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from data import Dataset
from svmcore.explain.asking import WAYS, next_ones
from svmcore.explain.nearest import squared_distances
from svmcore.explain.retraining import HELD
from svmcore.lab import split
from svmcore.lab.analyses.without import kernel_values, require_room, roomy, sums, why_not
from svmcore.lab.methods import METHODS
from svmcore.lab.problem import Problem, transformed
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.solvers import svc
from svmcore.lab.store.runs import Run, require_content
from svmcore.lab.task import Check
from svmcore.lab.train import prepare, unchecked
from svmcore.model import labels
from svmcore.svc import SVC

KNOWN, BATCH, MOST, SEEDS, TARGET = 20, 10, 800, 10, 0.05  # of a study


class Asking(NamedTuple):
    """Examples some of which have a label, and what a machine needs of them."""

    estimator: SVC  # unfitted, of precomputed kernel values
    K: np.ndarray  # (n, n) float32
    K_test: np.ndarray  # (t, n) float32
    rows: np.ndarray  # (n,) int64, positions in the training part of the dataset
    y: np.ndarray  # (s,) labels of the first s: those known from the start, or all where they are hidden
    y_test: np.ndarray  # (t,)

    @property
    def nbytes(self) -> int:
        return self.K.nbytes + self.K_test.nbytes

    def squared(self, i: int, others: np.ndarray) -> np.ndarray:
        """Squared distances of example i from others."""
        own = self.K.diagonal()
        return squared_distances(self.K[i, others][None], own[i : i + 1], own[others])[0]


class Taught(NamedTuple):
    """A machine of the examples that have a label. wrong: of the t test examples; decision (n, k); said (n,)."""

    wrong: int
    decision: np.ndarray
    said: np.ndarray


class Study(NamedTuple):
    """What choosing saves, as far as it is known. given (s,): labels; wrong: way -> (seeds, s) of t test examples, NaN
    where not known yet; all_wrong (seeds,): with all n labels; share: of the work that is done."""

    given: np.ndarray
    wrong: dict[str, np.ndarray]
    all_wrong: np.ndarray
    t: int
    n: int
    target: float
    share: float

    @property
    def done(self) -> int:
        """Seeds for which every way is known."""
        return int((~np.isnan([wrong[:, -1] for wrong in self.wrong.values()])).all(axis=0).sum())

    @property
    def whole(self) -> float:
        """The share of test errors with all labels, in the mean of the seeds known."""
        return float(np.nanmean(self.all_wrong) / self.t)

    def reached(self, way: str) -> np.ndarray:
        """(s,) labels with which the error is first down to the target, of the seeds known; inf where it never is."""
        wrong = self.wrong[way][~np.isnan(self.wrong[way]).any(axis=1)]
        down = wrong <= self.target * self.t
        return np.where(down.any(axis=1), self.given[down.argmax(axis=1)].astype(float), np.inf)

    def factor(self, way: str) -> float:
        """How many times as many labels it takes at random, by the medians, where random choice never gets there by
        the last of them; NaN where this way does not get there."""
        own, random = (np.median(self.reached(name)[: self.done]) if self.done else np.inf for name in (way, "random"))
        return float(min(random, self.given[-1]) / own) if np.isfinite(own) else np.nan

    def sooner(self, way: str) -> int:
        """For how many of the seeds fewer labels are needed than at random."""
        return int((self.reached(way)[: self.done] < self.reached("random")[: self.done]).sum())


def impossible(recipe: Recipe) -> str:
    """Why labels cannot be asked for by machines of a recipe; empty where they can."""
    method = METHODS[recipe.method]
    if recipe.task != "classify":
        return "It detects objects, so it has no labels to request."
    return f"{method.title}: {method.unlike}." if method.unlike else ""


def of_recipe(recipe: Recipe, ceiling_mb: float, check: Check = unchecked) -> Asking:
    """The recipe's training examples; RecipeError for a recipe that `impossible` names, BudgetError."""
    if reason := impossible(recipe):
        field, allowed = ("method", "sv") if recipe.task == "classify" else ("task", "classify")
        raise RecipeError(field, getattr(recipe, field), f"{allowed}. {reason}")
    problem = prepare(recipe.replace(folds=None), check)
    if len(problem.X_train) > HELD:
        raise RecipeError("n_train", len(problem.X_train), f"up to {HELD:,}, so that the kernel values fit into memory")
    return _asking(recipe, problem, problem.X_train, problem.train_index, ceiling_mb, check)


def of_run(run: Run, base: Dataset, ceiling_mb: float, check: Check = unchecked) -> Asking:
    """A run's training examples but for those that had no label in the base, and behind them the examples that had
    none: all, or as many of them, drawn by the seed, as memory has room for. Raises as `of_recipe`."""
    if reason := why_not(run):
        raise RecipeError("method", run.recipe.method, reason)
    require_content(run)
    problem = prepare(run.recipe.replace(folds=None, dataset=base.entry.name), check)
    room = max(min(HELD, roomy(len(problem.X_test), ceiling_mb)) - len(problem.X_train), 0)
    pool = np.arange(len(base.y_train), len(base.rows))
    pool = np.sort(np.random.default_rng(run.recipe.seed).permutation(pool)[:room])
    more = transformed(problem.prepare, base.rows, pool, check) if len(pool) else problem.X_train[:0]
    X = np.concatenate([problem.X_train, more])
    return _asking(run.recipe, problem, X, np.concatenate([problem.train_index, pool]), ceiling_mb, check)


def _asking(recipe: Recipe, problem: Problem, X: np.ndarray, rows: np.ndarray, ceiling_mb: float, check: Check):
    require_room(len(X), len(problem.X_test), ceiling_mb)
    K, K_test = (kernel_values(problem.kernel, Z, X, check) for Z in (X, problem.X_test))
    estimator = svc(recipe, problem).set_params(kernel="precomputed", solver="auto", cache_mb=ceiling_mb)
    return Asking(estimator, K, K_test, rows, problem.y_train, problem.y_test)


def taught(asking: Asking, at: np.ndarray, y: np.ndarray, monitor: Callable | None = None) -> Taught:
    """The machine of the examples at these positions, with these labels. ValueError where they are of one class.

    Of kernel values in single precision: with alphas of 1e5 a few test examples may be decided otherwise than by a run.
    """
    fitted = clone(asking.estimator).fit(asking.K[np.ix_(at, at)], y, monitor=monitor)
    machine = fitted.machine_
    support = at[machine.support]
    decision, tested = (sums(K, machine.coef, support) + machine.bias for K in (asking.K, asking.K_test))
    wrong = int((labels(machine.classes, tested) != asking.y_test).sum())
    return Taught(wrong, decision, labels(machine.classes, decision))


def asked(asking: Asking, now: Taught, way: str, left: np.ndarray, m: int, rng: np.random.Generator) -> np.ndarray:
    """Positions of the next m of those left, the most telling first."""
    chosen = next_ones(way, now.decision[left], m, lambda i, others: asking.squared(left[i], left[others]), rng)
    return left[chosen]


def learned(recipe: Recipe, given: list[tuple]) -> list[tuple]:
    """Labels (row, label) as the recipe's machines learn them: one class against the rest, or of its classes alone."""
    if len(recipe.classes) > 1:
        return [(row, label) for row, label in given if str(label) in map(str, recipe.classes)]
    learns = split.labels(recipe, np.array([label for _, label in given]))
    return [(row, label) for (row, _), label in zip(given, learns.tolist(), strict=True)]


def begun(y: np.ndarray, known: int, seed: int) -> np.ndarray:
    """Positions of the examples whose label is known at the start of practice: one of each class, others at random."""
    order = np.random.default_rng(seed).permutation(len(y))
    _, first = np.unique(y[order], return_index=True)
    rest = np.delete(order, first)
    return np.concatenate([order[np.sort(first)], rest[: max(known - len(first), 0)]])


def course(
    asking: Asking, way: str, given: np.ndarray, seed: int, check: Check = unchecked, monitor: Callable | None = None
) -> np.ndarray:
    """(s,) test errors with so many labels each, all of `asking.y` being answers that are hidden until asked for."""
    rng = np.random.default_rng([seed, 1])
    at, wrong = begun(asking.y, int(given[0]), seed), []
    for more in np.diff(given, append=given[-1]):
        check(f"seed {seed}, {WAYS[way].lower()}: {len(at):,} labels")
        now = taught(asking, at, asking.y[at], monitor)
        wrong.append(now.wrong)
        left = np.setdiff1d(np.arange(len(asking.y)), at)
        at = np.concatenate([at, asked(asking, now, way, left, int(more), rng)]) if more else at
    return np.array(wrong, float)


def study(
    recipe: Recipe,
    ceiling_mb: float,
    *,
    known: int = KNOWN,
    batch: int = BATCH,
    most: int = MOST,
    seeds: int = SEEDS,
    target: float = TARGET,
    check: Check = unchecked,
    monitor: Callable | None = None,
    publish: Callable[[Study], None] = lambda study: None,
) -> Study:
    """Every way on the recipe with the seeds that follow its own: each draws other examples and another start.
    `publish` has what was found until then. RecipeError for settings that cannot be; else raises as `of_recipe`."""
    for name, value, least in (("known", known, 2), ("batch", batch, 1), ("seeds", seeds, 1)):
        if value < least:
            raise RecipeError(name, value, f"{least} or more")
    if not 0 < target < 1:
        raise RecipeError("target", target, "a share of test examples between 0 and 1")
    found = None
    for number in range(seeds):
        again = recipe.replace(seed=recipe.seed + number)
        asking = of_recipe(again, ceiling_mb, check)
        found = found or _nothing(asking, known, batch, most, seeds, target)
        whole = found.all_wrong.copy()
        whole[number] = taught(asking, np.arange(len(asking.y)), asking.y, monitor).wrong
        found = found._replace(all_wrong=whole)
        for part, way in enumerate(WAYS, 1):
            wrong = {name: one.copy() for name, one in found.wrong.items()}
            wrong[way][number] = course(asking, way, found.given, again.seed, check, monitor)
            found = found._replace(wrong=wrong, share=(number + part / len(WAYS)) / seeds)
            publish(found)
    return found


def _nothing(asking: Asking, known: int, batch: int, most: int, seeds: int, target: float) -> Study:
    """A study of which nothing is known yet. RecipeError for more labels at the start than in the end."""
    n, start = len(asking.y), max(known, len(np.unique(asking.y)))
    last = min(most, n)
    if start >= last:
        allowed = f"more than {start}, the labels known at the start; the training set has {n:,} examples"
        raise RecipeError("most", most, allowed)
    given = np.append(np.arange(start, last, batch), last)
    empty = {way: np.full((seeds, len(given)), np.nan) for way in WAYS}
    return Study(given, empty, np.full(seeds, np.nan), len(asking.y_test), n, target, 0.0)


def figures(found: Study) -> dict:
    """A study as JSON: test errors by way, seed and labels given."""
    wrong = {way: one.tolist() for way, one in found.wrong.items()}
    reached = {way: [n if np.isfinite(n) else None for n in found.reached(way).tolist()] for way in WAYS}
    whole = {"n_test": found.t, "n_train": found.n, "target": found.target, "all_wrong": found.all_wrong.tolist()}
    return {"given": found.given.tolist(), "wrong": wrong, "reached": reached} | whole


def text(found: Study) -> str:
    """A line a way: labels until the target is reached, over the seeds."""
    goal, n = f"{100 * found.target:g} %", len(found.all_wrong)
    lines = [f"{'':22}labels until the error is {goal}: median (range) of {n} seeds   random choice: times as many"]
    for way, title in WAYS.items():
        times = "" if way == "random" else times_told(found, way) or "not known"
        lines.append(f"{title:22}{label_range(found.reached(way), int(found.given[-1])):46}{times:>12}")
    lines.append(f"With all {found.n:,} labels the error is {100 * found.whole:.2f} %.")
    return "\n".join(lines)


def times_told(found: Study, way: str) -> str:
    """`3.1`, or `> 2.0` where random choice does not get there; empty where nothing can be said."""
    factor = found.factor(way)
    if not np.isfinite(factor):
        return ""
    return f"{'> ' * bool(np.isinf(np.median(found.reached('random'))))}{factor:.1f}"


def label_range(reached: np.ndarray, most: int) -> str:
    """`410 (350–480)`, `> 800 (720–> 800)`, `> 800`: the median and the range of labels needed."""
    if np.isinf(reached).all():
        return f"> {most:,}"
    number = lambda value: f"{value:,.0f}" if np.isfinite(value) else f"> {most:,}"  # noqa: E731
    low, middle, high = np.min(reached), np.median(reached), np.max(reached)
    return f"{number(middle)} ({number(low)}\u2013{number(high)})"
