"""A run's machine without some of its training examples, or with other labels of some: which answers change.

    why_not   why a run's machine cannot be retrained so; empty where it can
    stand     the run's examples, their kernel values and its machine at a small gap: made once, in seconds
    effect    one change: retrained exactly from there (explain/retraining.py), in tenths of a second
    worth     what each example is worth to validation answers (explain/value.py)

Preparation and kernel stay as the run learned them. The test set shows what a change does, and chooses nothing: values
are told by the training examples that the run left over, or, where these are few, by folds of those that it trained on.

Symbols: n training examples, by their positions in the run's training set; t test examples; k machines.
"""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from svmcore.explain.retraining import HELD, Retraining
from svmcore.explain.value import Values, values
from svmcore.lab import split
from svmcore.lab.methods import METHODS
from svmcore.lab.problem import Problem
from svmcore.lab.recipe import RecipeError
from svmcore.lab.solvers import svc
from svmcore.lab.store.runs import Run, require_content
from svmcore.lab.task import Check
from svmcore.lab.tasks import task_of
from svmcore.lab.train import prepare, unchecked
from svmcore.memory import MB, BudgetError
from svmcore.metrics import class_positions
from svmcore.model import answers

FOLDS = 5
ENOUGH, MOST = 200, 2000  # examples left over from which values are told by them, and that are asked at most
PIECE = 256  # examples whose kernel values are computed between two looks at whether to go on


class Change(NamedTuple):
    """What is another in the training set, by positions in it; labels by their place among the machine's classes."""

    take_out: tuple[int, ...] = ()
    labels: tuple[tuple[int, int], ...] = ()


class Stand(NamedTuple):
    """A run's machine before any change; K (t, n) float32: kernel values of its test with its training examples."""

    retraining: Retraining
    K: np.ndarray
    true: np.ndarray  # (t,) places of the classes
    decision: np.ndarray  # (t, k) float64, of the machine at the smaller gap

    @property
    def nbytes(self) -> int:
        gram = self.retraining.source.gram
        return self.K.nbytes + gram.nbytes + (gram.given.nbytes if gram.double else 0) + self.retraining.rows.nbytes


class Effect(NamedTuple):
    """What a change does. support (m,): positions of the support vectors before or after it."""

    true: np.ndarray  # (t,) places of the classes
    before: np.ndarray  # (t,) places of the answers
    after: np.ndarray  # (t,)
    support: np.ndarray  # (m,)
    alpha_before: np.ndarray  # (k, m)
    alpha_after: np.ndarray  # (k, m)
    seconds: float

    @property
    def fixed(self) -> np.ndarray:
        """Test examples that are wrong before and right after."""
        return np.flatnonzero((self.before != self.true) & (self.after == self.true))

    @property
    def broken(self) -> np.ndarray:
        """Test examples that are right before and wrong after."""
        return np.flatnonzero((self.before == self.true) & (self.after != self.true))

    @property
    def otherwise(self) -> np.ndarray:
        """Test examples that are wrong before and after, by another answer."""
        return np.flatnonzero((self.before != self.after) & (self.before != self.true) & (self.after != self.true))


class Worth(NamedTuple):
    """What the examples of a run are worth, as far as it is known. asked: validation examples in all; parts: machines
    whose examples are looked at, 1 where examples were left over, else the folds; share: of the work that is done."""

    values: Values
    asked: int
    parts: int
    share: float


def why_not(run: Run) -> str:
    """Why a run's machine cannot be retrained without some of its examples, in a sentence; empty where it can."""
    method, n = METHODS[run.recipe.method], len(run.train_index())
    if not task_of(run.recipe).answers:
        return f"It {task_of(run.recipe).does}, so it has no prediction for each test example."
    if method.unlike:
        return f"{method.title}: {method.unlike}. Use a run of the method {METHODS['sv'].title}."
    if n > HELD:
        return f"It has {n:,} training examples; allowed: up to {HELD:,}, so that the kernel values fit into memory."
    return ""


def stand(run: Run, ceiling_mb: float, check: Check = unchecked, monitor: Callable | None = None) -> Stand:
    """Where changes of a run begin. RecipeError for one that `why_not` names, BudgetError where its kernel values do
    not fit below the ceiling; what `check` and `monitor` raise."""
    problem, machine = _problem(run, check), run.machine()
    require_room(len(problem.X_train), len(problem.X_test), ceiling_mb)
    retraining = _retraining(run.recipe, problem, machine, ceiling_mb, monitor)
    K = kernel_values(machine.kernel, problem.X_test, retraining.rows, check)
    decision = sums(K, retraining.alpha * retraining.Y) + retraining.bias
    return Stand(retraining, K, class_positions(problem.y_test, machine.classes), decision)


def roomy(asked: int, ceiling_mb: float) -> int:
    """The most training examples for which `require_room` finds room beside those asked."""
    return int((np.sqrt(16.0 * asked**2 + 32 * ceiling_mb * MB) - 4 * asked) / 16)


def require_room(n: int, asked: int, ceiling_mb: float) -> None:
    """BudgetError where the kernel values of n training examples, among them and with those asked, are too many."""
    need = (2 * 4 * n * n + 4 * n * asked) / MB
    if need > ceiling_mb:
        what = f"the kernel values of {n:,} training and {asked:,} other examples"
        room = f"but only {ceiling_mb:,.0f} MB may be used"
        raise BudgetError(f"{what} need {need:,.0f} MB, {room}; allowed: fewer examples")


def effect(at: Stand, change: Change) -> Effect:
    """What a change does. ValueError for one that leaves no example of a class."""
    started, before = time.perf_counter(), at.retraining
    classes = before.targets.classes
    machine = before.changed(change.take_out, {i: classes[c].item() for i, c in change.labels})
    alpha = np.zeros_like(before.alpha)
    alpha[:, machine.support] = machine.alpha
    coef = np.zeros_like(alpha)
    coef[:, machine.support] = machine.coef
    moved = (coef - before.alpha * before.Y).astype(np.float32)  # small: single precision serves
    after = answers(at.decision + sums(at.K, moved) + machine.bias - before.bias)
    support = np.flatnonzero((before.alpha > 0).any(0) | (alpha > 0).any(0))
    alphas = before.alpha[:, support], alpha[:, support]
    return Effect(at.true, answers(at.decision), after, support, *alphas, time.perf_counter() - started)


def worth(
    run: Run,
    machine: int | None,
    ceiling_mb: float,
    check: Check = unchecked,
    monitor: Callable | None = None,
    publish: Callable[[Worth], None] = lambda worth: None,
) -> Worth:
    """The influence of each training example on one machine, or on all (None). publish: takes partial results. Raises
    as `stand` does."""
    parts, n = _parts(run, ceiling_mb, check, monitor)
    index = run.train_index()
    order = np.argsort(index)
    found, asked = Values.none(len(index)), 0
    for part, (retraining, rows, X, y) in enumerate(parts):
        at = order[np.searchsorted(index, rows, sorter=order)]
        K = kernel_values(retraining.kernel, X, retraining.rows, check)
        asked += len(y)
        for share, some in values(retraining, K, y, machine):
            so_far = Worth(found.plus(some, at), asked, n, (part + share) / n)
            publish(so_far)
        found = so_far.values
    return so_far


def _problem(run: Run, check: Check) -> Problem:
    """What the run was trained on. RecipeError where that cannot be retrained, or is another set now."""
    if reason := why_not(run):
        raise RecipeError("method", run.recipe.method, reason)
    problem = prepare(run.recipe, check)
    require_content(run, problem.data_hash)
    return problem


def _parts(run: Run, ceiling_mb: float, check: Check, monitor) -> tuple[Iterator, int]:
    """(retraining, rows of its examples in the dataset, validation examples, their labels), and how many of those."""
    problem = _problem(run, check)
    task, recipe, machine = task_of(run.recipe), run.recipe, run.machine()
    aside = task.with_aside(recipe, problem, check).aside
    if aside is not None and len(aside.y) >= ENOUGH:
        some = np.random.default_rng(recipe.seed).permutation(len(aside.y))[:MOST]
        require_room(len(problem.X_train), len(some), ceiling_mb)
        one = _retraining(recipe, problem, machine, ceiling_mb, monitor)
        return iter([(one, problem.train_index, aside.X[some], aside.y[some])]), 1
    folded = recipe.replace(folds=split.possible_folds(recipe, problem, FOLDS))
    require_room(len(problem.X_train), len(problem.X_train) // folded.folds, ceiling_mb)

    def parts() -> Iterator:
        for number in range(folded.folds):
            fold = task.fold(folded, number, check)
            estimator = svc(folded, fold).set_params(C=machine.C)
            estimator.fit(fold.X_train, fold.y_train, fold.weight, monitor=monitor)
            one = _retraining(folded, fold, estimator.machine_, ceiling_mb, monitor)
            yield one, fold.train_index, fold.X_test, fold.y_test

    return parts(), folded.folds


def _retraining(recipe, problem, machine, ceiling_mb: float, monitor) -> Retraining:
    estimator = svc(recipe, problem).set_params(C=machine.C, cache_mb=ceiling_mb)
    examples = problem.X_train, problem.y_train, problem.weight
    return Retraining(estimator, *examples, machine=machine, monitor=monitor)


def kernel_values(kernel, X: np.ndarray, rows: np.ndarray, check: Check) -> np.ndarray:
    """K (len(X), n) float32."""
    K = np.empty((len(X), len(rows)), np.float32)
    for at in range(0, len(X), PIECE):
        check("kernel values")
        kernel.block(X[at : at + PIECE], rows, K[at : at + PIECE])
    return K


def sums(K: np.ndarray, coef: np.ndarray, held: np.ndarray | None = None) -> np.ndarray:
    """sum_i coef_ci K_ti (t, k), coef (k, n), or of columns `held` (m,) alone, coef (k, m); double if coef is."""
    if held is None:
        held = np.flatnonzero(coef.any(0))
        coef = coef[:, held]
    found = np.empty((len(K), len(coef)))
    for at in range(0, len(K), PIECE):
        found[at : at + PIECE] = K[at : at + PIECE, held] @ coef.T
    return found
