"""Cross-validation over one or two fields of a recipe, its test set beside it: C, the kernel, or how far to jitter.

    for each value:   errors on each fold of the training set by a machine of the other folds,
                      errors on the test set by a machine of all of them

Whether cross-validation warns in time when invariance is pushed too far (a 6 that turns into a 9) is the open question
of DeCoste and Schölkopf, Machine Learning 46 (2002), section 6. For 200 sixes and nines it does, at the same step as
the 800 of the test set (per cent):

    python -m svmcore sweep mnist-5k-vsv jitters none rot:-20,20 rot:-60,60 rot:-120,120 rot:-120,-60,60,120,180 \\
        --set classes=6,9 --set n_train=200 --set n_test=800
    validation                                   0.5     0.5         0.0         1.5           6.0
    test                                         0.75    0.50        0.88        3.50          8.12

Of two fields each pair of values is a cell. `simplest` is the one-standard-error rule of Breiman, Friedman, Olshen and
Stone, Classification and Regression Trees (1984), section 3.4.3: the first cell whose error is at most one standard
error above the lowest, where the standard error is that of the mean over the folds.

With successive halving (Jamieson and Talwalkar, AISTATS 2016; here by thirds) all cells are tried on few training
examples, the best third of them on three times as many, and so on up to all: with `rungs` of them

    n, n / 3, ..., n / 3^(rungs - 1)     examples on the rungs, the largest last
    cells, cells / 3, ...                tried there; what is left early keeps the errors of its last rung

so that ten by ten cells of 4,000 digits and three rungs take about half of the time. A setting that needs many examples
to be good may be lost. Test errors are of the last rung's cells alone.

Each value is a run of its own, of a recipe with `folds`, so that it is queued, paused, stored and found again like any
other, and what is stored is not run again. Runs that differ in C alone share their examples and kernel values, as do
the folds of a run whose steps learn nothing (train.py); small runs are at work side by side, each on a core of its own.
jobs/sweeping.py queues what is missing, and what follows by halving.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.split import smallest_class
from svmcore.lab.store import runs, titles
from svmcore.lab.store.runs import Group, Run
from svmcore.lab.tasks import task_of
from svmcore.lab.tasks.classify import labelled
from svmcore.metrics import wilson

# How a value is chosen, wherever one is: in the app, by its link to the form, on the command line.
Z95 = 1.959964  # standard deviations on each side of a 95 % interval
BY = " × "  # between the values of two fields
JITTERING = "vsv"  # the method of a sweep over jitter sets whose recipe uses none
MOST = 1000  # runs of a sweep: as many as can wait
AMOUNT = "n_train"  # the field of which nothing is chosen: more is better, and dearer
RULE = "the lowest validation error; for equal errors, the smallest value"


def chosen(errors: Mapping[str, float]) -> str:
    """The value with the lowest validation error, by RULE; values that are no numbers keep their order. errors: rates,
    or counts among as many examples each."""
    return min(ordered(errors), key=errors.get)


def ordered(values: Iterable[str]) -> tuple[str, ...]:
    """Numbers by size, so that the first of equally good values is the smallest; others as they come."""
    values = tuple(values)
    with suppress(ValueError):
        return tuple(sorted(values, key=float))
    return values


def standard_error(folds: Sequence[int], n: int) -> float:
    """Of the error rate over folds with these errors, which hold n examples together."""
    return float(np.std(folds, ddof=1) * np.sqrt(len(folds)) / n)


def simplest(folds: Mapping[str, Sequence[int]], n: Mapping[str, int]) -> str:
    """The first value at most one standard error above the lowest. folds: errors on each; n: examples in all."""
    rates = {value: sum(of_value) / n[value] for value, of_value in folds.items()}
    best = min(rates, key=rates.get)
    most = rates[best] + standard_error(folds[best], n[best])
    return next(value for value in folds if rates[value] <= most)


def apart(err_a: np.ndarray, err_b: np.ndarray, groups: np.ndarray | None = None) -> tuple[float, float]:
    """(d, h): d is by how much the error rate of a setting is above that of another, and d - h to d + h its 95 %
    interval. err_a, err_b (n,) bool: which of the same examples each of them answered wrongly on the same folds.
    groups (n,) int: which examples are alike, if some are; else each is a group of its own.

        d = sum_g d_g / n,    h = 1.96 sqrt(sum_g d_g^2 + (n / G)^2) / n,    d_g: errors of a less those of b in g

    The root is McNemar's (of single examples that of the number answered differently), but for one of the G groups
    more, of average size: settings that hardly differ answer few examples differently, often none. The interval is for
    the machines of these folds on new examples; of simulated ones 92 to 100 % cover that difference
    (tests/bench/differences.py). With other training examples the difference would be another: of that the interval
    covers 77 to 100 %, and those from the differences on single folds cover 57 to 100 %.
    """
    more = np.asarray(err_a, dtype=np.int64) - np.asarray(err_b, dtype=np.int64)
    n, total = len(more), int(more.sum())
    if groups is not None and len(groups):
        more = np.bincount(np.unique(groups, return_inverse=True)[1], more)
    return total / n, Z95 * float(np.sqrt(np.square(more).sum() + (n / len(more)) ** 2)) / n


class Judged(NamedTuple):
    """What a run's folds predict for its training examples. index (n,); wrong (n,) bool; groups: as in `apart`."""

    index: np.ndarray
    wrong: np.ndarray
    groups: np.ndarray


def judged(run: Run) -> Judged | None:
    """Of a finished run with folds; None where one did not know all classes."""
    if (folded := run.folded()) is None:
        return None
    return Judged(folded.index, np.isin(folded.index, task_of(run.recipe).wrong(folded)), folded.groups)


def above_lowest(best: str, of: Mapping[str, Judged | None]) -> dict[str, tuple[float, float]]:
    """value -> `apart` from the best, of the others whose folds have judged the same examples."""
    if (lowest := of[best]) is None:
        return {}
    others = {value: one for value, one in of.items() if value != best and one is not None}
    alike = {value: one for value, one in others.items() if np.array_equal(one.index, lowest.index)}
    return {value: apart(one.wrong, lowest.wrong, lowest.groups) for value, one in alike.items()}


def apart_text(d: float, h: float) -> str:
    """`+0.35 (−0.10 to 0.80)`, in per cent points."""
    return f"{100 * d:+.2f} ({100 * (d - h):.2f} to {100 * (d + h):.2f})".replace("-", "\N{MINUS SIGN}")


class PowerLaw(NamedTuple):
    """How an error rate falls with the number n of training examples: log rate = level + slope log n."""

    level: float
    slope: float
    covariance: np.ndarray  # (2, 2) of both

    @classmethod
    def fitted(cls, n: Sequence[float], errors: Sequence[int], of: Sequence[int]) -> "PowerLaw | None":
        """By weighted least squares through the rates errors / of: the logarithm of a rate of k errors has a variance
        of 1 / k, or more where the points lie further from the line. None for fewer than three points with errors."""
        errors, of, n = (np.asarray(one, float) for one in (errors, of, n))
        known = errors > 0
        if np.count_nonzero(known) < 3:
            return None
        X, y, weight = (
            np.column_stack([np.ones(known.sum()), np.log(n[known])]),
            np.log(errors / of)[known],
            errors[known],
        )
        covariance = np.linalg.inv((X.T * weight) @ X)
        level, slope = covariance @ (X.T @ (weight * y))
        apart = float(weight @ np.square(y - level - slope * X[:, 1])) / (len(y) - 2)
        return cls(float(level), float(slope), covariance * max(1.0, apart))

    def at(self, n: float) -> tuple[float, float, float]:
        """The error rate that is expected with n examples, and its 95 % interval."""
        x = np.array([1.0, np.log(n)])
        middle, spread = self.level + self.slope * x[1], Z95 * float(np.sqrt(x @ self.covariance @ x))
        return tuple(float(min(np.exp(value), 1.0)) for value in (middle, middle - spread, middle + spread))

    def as_good_as(self, other: "PowerLaw", n: float) -> tuple[float, float, float] | None:
        """How many examples bring this law to the error rate of another one with n, and the 95 % interval: by the
        variances of both laws, as if they were independent. None where this law does not surely fall."""
        if self.slope + Z95 * np.sqrt(self.covariance[1, 1]) >= 0:
            return None
        here = np.array([1.0, np.log(n)])
        middle = (other.level + other.slope * here[1] - self.level) / self.slope
        there = np.array([1.0, middle])
        spread = Z95 * np.sqrt(here @ other.covariance @ here + there @ self.covariance @ there) / abs(self.slope)
        with np.errstate(over="ignore"):
            return tuple(float(value) for value in np.exp([middle, middle - spread, middle + spread]))


FACTOR = 3  # times as many examples on the next rung, for as many times fewer settings


def promoted(rates: Mapping[str, float]) -> list[str]:
    """Which settings the next rung takes, in their order: the third with the lowest rates, and all that equal them."""
    most = sorted(rates.values())[-(-len(rates) // FACTOR) - 1]
    return [value for value, rate in rates.items() if rate <= most]


class Sweep(NamedTuple):
    """Values, written as on the command line, of one field of a recipe with folds, or of two."""

    base: Recipe
    field: str
    values: tuple[str, ...]
    second: str = ""  # empty: one field
    seconds: tuple[str, ...] = ()
    rungs: int = 1  # steps of successive halving

    @property
    def of_amounts(self) -> bool:
        """Whether it is over the number of training examples, so that it gives learning curves."""
        return AMOUNT in (self.field, self.second)

    def cells(self) -> dict[str, tuple[str, ...]]:
        """What each value or pair of values is called -> them, the second running fastest."""
        pairs = product(self.values, self.seconds) if self.second else ((value,) for value in self.values)
        return {BY.join(pair): pair for pair in pairs}

    @lru_cache(maxsize=8)  # asked for at every step, and by every look of a page  # noqa: B019
    def recipes(self) -> dict[str, Recipe]:
        """Value, or pair of values -> recipe, each different one once. RecipeError for a value that cannot be."""
        if self.second == self.field:
            raise RecipeError("and", self.second, f"another field than {self.field}")
        if self.rungs > 1 and self.of_amounts:
            raise RecipeError("halving", self.rungs, f"1 if {AMOUNT} varies")
        if "jitters" in (self.field, self.second) and not METHODS[self.base.method].uses_jitters:
            raise RecipeError("method", self.base.method, "one that uses jitter sets", JITTERING)
        if (many := len(self.values) * max(len(self.seconds), 1)) > MOST:
            raise RecipeError("values", many, f"at most {MOST:,} combinations, because each is a run")
        recipes, fields = {}, (self.field, self.second)
        for called, pair in self.cells().items():
            recipes[called] = self.base
            for field, value in zip(fields, pair):
                recipes[called] = recipes[called].with_text(field, value)
            if self.of_amounts and recipes[called].n_train is None:
                raise RecipeError(AMOUNT, called, "numbers of examples")
        first = {recipe.digest(): value for value, recipe in reversed(recipes.items())}
        return {value: recipe for value, recipe in recipes.items() if first[recipe.digest()] == value}

    def finer(self, called: str) -> "Sweep":
        """Around one of its cells: of each field that has numbers, the values beside this cell's and the ones between,
        halfway on a logarithmic axis where all are above 0; of other fields, and whole numbers, the values as they are.
        """
        at = self.cells()[called]
        finer = self._replace(values=self._between(self.field, self.values, at[0]))
        return finer._replace(seconds=self._between(self.second, self.seconds, at[1])) if self.second else finer

    def _between(self, field: str, values: tuple[str, ...], at: str) -> tuple[str, ...]:
        try:
            given = {float(value): value for value in values}  # as they are written: their runs are stored
        except ValueError:
            return values
        near = sorted(given)
        here = near.index(float(at))
        near = near[max(here - 1, 0) : here + 2]
        middle = (lambda a, b: np.sqrt(a * b)) if near[0] > 0 else (lambda a, b: (a + b) / 2)
        between = (f"{number:.4g}" for number in map(middle, near, near[1:]))
        texts = ordered(({float(text): text for text in between} | {number: given[number] for number in near}).values())
        try:
            for text in texts:
                self.base.with_text(field, text)
        except RecipeError:
            return values
        return texts

    def steps(self) -> list[dict]:
        """Of each rung of halving, the fields of its recipes that are not their own; of the last one none.

        The smallest class of a rung has an example, or a group of them, for each fold. DataError for a dataset that is
        not there.
        """
        if self.rungs == 1:
            return [{}]
        parts = labelled(self.base)
        n = len(parts.y_train)
        least = -(-self.base.folds * n // smallest_class(parts.y_train, parts.groups))
        sizes = sorted({size for rung in range(1, self.rungs) if (size := n // FACTOR**rung) >= least})
        return [*({AMOUNT: size, "split": "stratified"} for size in sizes), {}]

    def group(self, called: str = "") -> Group:
        """What its runs are started for. called: its fields, in words."""
        over = BY.join(filter(None, (self.field, self.second)))
        size = "all" if self.base.n_train is None else f"{self.base.n_train:,}"
        data = titles.data_set(self.base.dataset)[:40]
        title = f"Choose {called or over} · {data} · {self.base.kernel.brief} · {size}"
        return Group.of("sweep", title, self.base.digest(), over)

    def reached(self) -> tuple[dict[str, Recipe], list[Recipe]]:
        """Value -> recipe, with halving as it is on the last step that its stored runs have brought it to, those that
        share kernel values side by side; and recipes as many and as large as the steps after that will have."""
        recipes = {
            value: recipe.replace(title=f"{titles.of_recipe(recipe)} · {recipe.folds} folds"[:120])
            for value, recipe in self.recipes().items()
        }
        left, reached, steps = list(recipes), dict(recipes), self.steps()
        for at, fields in enumerate(steps, 1):
            reached |= {value: recipes[value].replace(**fields) for value in left}
            if at == len(steps):
                break
            there = dict(zip(left, runs.stored(reached[value] for value in left), strict=True))
            if not all(run and run.state == "done" for run in there.values()):
                break
            left = promoted({value: run.result["validation"]["error_rate"] for value, run in there.items()})
        many, later = len(left), []
        for fields in steps[at:]:
            many = -(-many // FACTOR)
            later += [recipes[value].replace(**fields) for value in left[:many]]
        return reached, later

    def done(self) -> dict[str, tuple[Recipe, Run]]:
        """value -> the recipe that it has reached, and its stored run, of those that have finished."""
        reached = self.reached()[0]
        found = zip(reached.items(), runs.stored(reached.values()), strict=True)
        return {value: (recipe, run) for (value, recipe), run in found if run and run.state == "done"}

    def points(self) -> list["SweepPoint"]:
        """What its stored runs have found, those that have finished."""
        whole = self.recipes()
        return [
            SweepPoint.of(value, run, recipe.digest() == whole[value].digest())
            for value, (recipe, run) in self.done().items()
        ]


class SweepPoint(NamedTuple):
    """What one value of the field gives."""

    value: str
    fold_errors: tuple[int, ...]
    n_train: int
    test_errors: int | None  # None of one that halving has left early
    n_test: int | None
    n_sv: float  # mean over the machines of all its examples
    wrong: tuple[int, ...] | None = None  # positions of the training examples that were answered wrongly on the folds
    n_groups: int = 0  # of the n_train, where some belong together: what intervals count
    test_groups: int = 0  # of the n_test, likewise

    @property
    def validation(self) -> tuple[float, float, float]:
        """Error rate over all folds and its 95 % interval."""
        errors = sum(self.fold_errors)
        return errors / self.n_train, *wilson(errors, self.n_train, groups=self.n_groups)

    @property
    def test(self) -> tuple[float, float, float]:
        """Error rate on the test set and its 95 % interval."""
        return self.test_errors / self.n_test, *wilson(self.test_errors, self.n_test, groups=self.test_groups)

    @classmethod
    def of(cls, value: str, run: Run, last: bool) -> "SweepPoint":
        """Of a run with folds; last: whether halving has not left it early."""
        task, result, folded = task_of(run.recipe), run.result, run.folded()
        tested = (task.loss(run.test()), result["n_test"]) if last else (None, None)
        wrong = None if folded is None else task.wrong(folded)
        wrong = None if wrong is None else tuple(wrong.tolist())
        check = result["validation"]
        groups = check.get("n_groups", 0), result.get("n_groups", 0)
        n_sv = float(np.mean(result["n_sv"]))
        return cls(value, tuple(check["folds"]), check["n_test"], *tested, n_sv, wrong, *groups)
