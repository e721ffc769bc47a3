"""sv: one machine on the examples as they are. nu-sv: the same; nu, the share of margin errors, replaces C.

A grid of values of C (of nu) is a field of both, by which a machine chooses one:

    chosen = the value with the fewest errors on FOLDS folds of the training set; of equal ones the first in the list

Kernel values of a fold are computed once for all of its values. Bakir, Bottou and Weston (2004), section 4.3: "the
value of parameter C was determined by cross-validation and then used for training a SVM on the full dataset".
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone

from svmcore.allowed import amount, several
from svmcore.lab.costs import Sizes, Stage, effort
from svmcore.lab.fields import NUMBERS, Field, RecipeError, choice, numeric
from svmcore.lab.method import Method
from svmcore.lab.solvers import nu_svc, svc
from svmcore.lab.split import smallest_class
from svmcore.metrics import stratified_folds
from svmcore.preprocess import parse_step
from svmcore.solvers.progress import under_name
from svmcore.svc import SVC

SEARCHED = {"chosen": several(amount, 1, 2), "search_seconds": amount}  # of a result: what a grid came to
FOLDS = 5
GRID = Field("grid", NUMBERS, "")


class Chosen(NamedTuple):
    """What a search came to."""

    value: float
    seconds: float


def values_of(text: str) -> list[float] | None:
    """The numbers of a grid's text; None for none."""
    return [float(value) for value in text.split(",")] if text else None


def search(recipe, problem, machine: SVC, name: str, monitor: Callable | None) -> Chosen | None:
    """The best value of the parameter `name` among the recipe's grid, on folds of the problem's training set alone;
    None without a grid. RecipeError for a class with fewer examples than folds, or examples with weights."""
    values = values_of(recipe.option("grid"))
    if values is None:
        return None
    if smallest_class(problem.y_train, problem.groups) < FOLDS or problem.weight is not None:
        allowed = f"empty; a search needs {FOLDS} examples of every class, all of equal weight"
        raise RecipeError("grid", recipe.option("grid"), allowed)
    started, wrong = time.perf_counter(), np.zeros(len(values), int)
    X, y = problem.X_train, problem.y_train
    watch = under_name("choosing", monitor)
    for kept, held in stratified_folds(y, FOLDS, recipe.seed, problem.groups):
        source = machine.shared_source(X[kept], 1 if len(np.unique(y)) == 2 else len(np.unique(y)))
        for at, value in enumerate(values):
            tried = clone(machine).set_params(**{name: value}).fit(X[kept], y[kept], monitor=watch, source=source)
            wrong[at] += np.count_nonzero(tried.predict(X[held]) != y[held])
    return Chosen(values[int(np.argmin(wrong))], time.perf_counter() - started)


def trainings(recipe, size: Sizes) -> list[Stage]:
    """Those of a search, for the forecast; none without a grid."""
    values = values_of(recipe.option("grid")) or ()
    if not values:
        return []
    n = max(2, size.n_train * (FOLDS - 1) // FOLDS)
    return [Stage(n, size.machines, FOLDS * len(values), rounds=effort(size, values))]


def search_result(estimator) -> dict:
    """What a result says of the search that a `train` has left on its estimator; {} of none."""
    found = getattr(estimator, "chosen_", None)
    return {} if found is None else {"chosen": [found.value], "search_seconds": found.seconds}


LOSS = Field("loss", choice({"hinge": "hinge", "squared_hinge": "squared hinge"}, str), "hinge")


def squared(recipe) -> bool:
    """Whether the loss is the square of the hinge loss."""
    return recipe.options.get(LOSS.name) == "squared_hinge"


class SupportVectors(Method):
    """Plain support vector machines, one for each class against the rest."""

    name = "sv"
    title = "Support vectors"
    short = "SV"
    help = "Trains a plain machine on the examples themselves."
    source = "Boser, Guyon and Vapnik, COLT (1992)"
    plain = bounded = True
    unlike = ""
    result_fields: ClassVar = SEARCHED
    fields = (LOSS, replace(GRID, shown=False))
    parameter = "C"  # that a grid is about

    def machine(self, recipe, problem):
        """The unfitted estimator."""
        return svc(recipe, problem)

    def train(self, recipe, problem, monitor):
        estimator = self.machine(recipe, problem)
        chosen = search(recipe, problem, estimator, self.parameter, monitor)
        if chosen is not None:
            estimator.set_params(**{self.parameter: chosen.value})
        estimator.fit(problem.X_train, problem.y_train, problem.weight, monitor=monitor, source=problem.source)
        estimator.chosen_ = chosen
        return estimator

    def check(self, recipe) -> None:
        super().check(recipe)
        if squared(recipe):
            if recipe.bounds:
                raise RecipeError("bounds", True, "false for the squared hinge loss")
            if recipe.solver == "smo-digestion":
                raise RecipeError("solver", recipe.solver, "another solver for the squared hinge loss")

    def folds_together(self, recipe) -> bool:
        alone = squared(recipe) or recipe.option("grid") or not self.bounded
        return not (alone or any(parse_step(step).step.learn for step in recipe.preprocess))

    def out_of_reach(self, recipe) -> str:
        why = "scikit-learn has no squared hinge loss for kernel machines; allowed: loss hinge"
        return why if squared(recipe) else ""

    def figures(self, estimator) -> dict:
        return search_result(estimator)

    def words(self, result: dict) -> str:
        if "chosen" not in result:
            return ""
        return f"{self.parameter} = {result['chosen'][0]:g} chosen in {result['search_seconds']:.1f} s."

    def stages(self, recipe, size: Sizes) -> list[Stage]:
        tried = values_of(recipe.option("grid")) or [recipe.C]
        return [*trainings(recipe, size), Stage(size.n_train, size.machines, rounds=effort(size, tried))]

    def brief(self, recipe) -> str:
        return "squared hinge loss" if squared(recipe) else ""

    def summary(self, recipe) -> str:
        return self.brief(recipe)


NU = Field(
    "nu", numeric(0, 1), 0.5, "nu",
    "At most this share of the training examples lies inside the margin. At least this share becomes support vectors.",
    step=0.05,
)  # fmt: skip


class NuSupportVectors(SupportVectors):
    """Support vector machines in the nu formulation."""

    name = "nu-sv"
    title = "Support vectors with nu"
    short = "nu-SV"
    help = "Trains a plain machine on the examples themselves. nu, a share of the examples, replaces C."
    source = "Schölkopf, Smola, Williamson and Bartlett, Neural Computation 12 (2000)"
    tasks, bounded = ("classify",), False
    unlike = "nu-SVC would find another C when examples are excluded"
    fields = (NU, *(field for field in SupportVectors.fields if field is not LOSS))
    parameter = "nu"

    def machine(self, recipe, problem):
        return nu_svc(recipe, problem, recipe.option("nu"))

    def brief(self, recipe) -> str:
        return f"nu = {recipe.option('nu'):g}"

    def summary(self, recipe) -> str:
        return f"{self.title} · nu = {recipe.option('nu'):g}"
