"""The contributions to the out-of-fold prediction of a training example, by the machine that had not seen it.

    f_c(x) = b_c + sum_i coef[c, i] K(x_i, x)        c the machines of the folds without x; i their support vectors

A run keeps what the machines of its folds said, and not these machines. The one that is asked for is trained again:
the same recipe on the same examples, so it is the same machine, and says what was kept.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from svmcore.explain import contributions
from svmcore.explain.contributions import Contributions
from svmcore.lab import split
from svmcore.lab.problem import left_out
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store.runs import Run, require_content
from svmcore.lab.task import Check
from svmcore.lab.tasks import task_of
from svmcore.lab.tasks.classify import labelled
from svmcore.lab.train import fit, unchecked
from svmcore.model import Machine

LINES = 8  # support vectors of each machine that are told one by one


class Fold(NamedTuple):
    """A machine, and the examples that were held out from it."""

    number: int
    machine: Machine  # its support vectors by positions in the run's training set
    rows: np.ndarray  # (t,) int64, positions in the dataset
    X: np.ndarray  # (t, d) float32, as the machine takes them

    @property
    def nbytes(self) -> int:
        return self.machine.support_vectors.nbytes + self.machine.coef.nbytes + self.X.nbytes


class Unseen(NamedTuple):
    """The answer on one example. contributions: of each machine, all its support vectors; strongest: of each, the lines
    that weigh most, as places in `machine`, which holds these support vectors alone, and k (p,) their kernel values."""

    number: int
    f: np.ndarray  # (k,) float64
    contributions: tuple[Contributions, ...]
    strongest: tuple[np.ndarray, ...]
    machine: Machine
    k: np.ndarray


def fold_of(run: Run, row: int) -> int:
    """The fold that held out an example, by its position in the dataset. ValueError for one that none did."""
    for number, fold in enumerate(split.folds(run.recipe, labelled(run.recipe)) if run.recipe.folds else ()):
        if row in fold.test:
            return number
    raise ValueError(f"row = {row}; allowed: a training example of a run with folds")


def trained(run: Run, number: int, check: Check = unchecked, monitor: Callable | None = None) -> Fold:
    """The machine that did not see a fold. RecipeError for a run whose dataset was replaced; what `check` raises."""
    recipe, folded = run.recipe, run.folded()
    if folded is None:
        raise RecipeError("folds", recipe.folds, "folds whose predictions the run has stored")
    problem = left_out(task_of(recipe).fold(recipe, number, check), folded.doubted)
    require_content(run, problem.data_hash)
    fitted = fit(recipe, problem, monitor)
    machine, rows = fitted.estimator.machine_, fitted.problem.train_index
    places = {
        name: _placed(run.train_index(), rows, of)
        for name in ("support", "parent")
        if (of := getattr(machine, name)) is not None
    }
    return Fold(number, replace(machine, **places), problem.test_index, problem.X_test)


def of_example(fold: Fold, row: int) -> Unseen:
    """What the machine says of an example that was held out from it, and which support vectors say so."""
    machine = fold.machine
    k = machine.kernel_values(fold.X[fold.rows == row])[0]
    sums = tuple(contributions.of_machine(machine, c, k) for c in range(len(machine.bias)))
    names = [one.name[one.strongest(LINES)] for one in sums]
    held = np.unique(np.concatenate(names))
    few = {name: of[held] for name in ("support", "parent", "jitter") if (of := getattr(machine, name)) is not None}
    few |= {name: getattr(machine, name)[:, held] for name in ("coef", "bound")}
    alone = replace(machine, support_vectors=machine.support_vectors[held], **few)
    places = tuple(np.searchsorted(held, of) for of in names)
    return Unseen(fold.number, machine.coef @ k + machine.bias, sums, places, alone, k[held])


def _placed(all_rows: np.ndarray, rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Positions in the training set of a fold, whose examples are `rows`, as positions in that of the run; -1 stays."""
    order = np.argsort(all_rows)
    places = order[np.searchsorted(all_rows, rows[positions], sorter=order)]
    return np.where(positions < 0, -1, places)
