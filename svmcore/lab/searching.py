"""A grid of values of C (of nu) as a recipe's own field, and the plain machine's way to choose one: cross-validation.

    chosen = the value with the fewest errors on FOLDS folds of the training set; of equal ones the first in the list

Kernel values of a fold are computed once for all of its values. Bakir, Bottou and Weston (2004), section 4.3: "the
value of parameter C was determined by cross-validation and then used for training a SVM on the full dataset".
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from svmcore.lab.costs import Sizes, Stage, effort
from svmcore.lab.fields import NUMBERS, Field, RecipeError
from svmcore.lab.split import smallest_class
from svmcore.solvers.progress import under_name
from svmcore.svc import SVC

FOLDS = 5
GRID = Field(
    "grid", NUMBERS, "", "Values to choose from",
    "Values of C (or of nu for a nu-SVC), separated by commas. The one with the fewest validation errors is chosen; of "
    "equal ones, the first. If empty, no search.",
)  # fmt: skip


class Chosen(NamedTuple):
    """What a search came to."""

    value: float
    seconds: float


def values_of(text: str) -> list[float] | None:
    """The numbers of a grid's text; None for none."""
    return [float(value) for value in text.split(",")] if text else None


def search(recipe, problem, svc: SVC, name: str, monitor: Callable | None) -> Chosen | None:
    """The best value of the parameter `name` among the recipe's grid, on folds of the problem's training set alone;
    None without a grid. RecipeError for a class with fewer examples than folds, or examples with weights."""
    values = values_of(recipe.option("grid"))
    if values is None:
        return None
    if smallest_class(problem.y_train) < FOLDS or problem.weight is not None:
        raise RecipeError("grid", recipe.option("grid"), f"empty, unless every class has {FOLDS} examples to try on")
    started, wrong = time.perf_counter(), np.zeros(len(values), int)
    X, y = problem.X_train, problem.y_train
    watch = under_name("choosing", monitor)
    for kept, held in StratifiedKFold(FOLDS, shuffle=True, random_state=recipe.seed).split(X, y):
        source = svc.shared_source(X[kept], 1 if len(np.unique(y)) == 2 else len(np.unique(y)))
        for at, value in enumerate(values):
            tried = clone(svc).set_params(**{name: value}).fit(X[kept], y[kept], monitor=watch, source=source)
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
