"""From a recipe to a trained and tested machine, without a store or a screen.

    prepare   dataset -> split -> preprocessing          Problem, by the method's task
    fit       Problem -> machine, by the recipe's method  Fitted
    judge     machine -> test set, figures                Outcome
    bounded   what leave-one-out and bounds say of the error, where the recipe asks for them
    validate  the same on each fold, where the recipe asks for folds
    execute   all in turn; a task may train and judge several parts, whose figures `gathered` puts together

Each takes a callable that may stop it: `fit` the solver's monitor, the others `check(stage)`, called between pieces of
at most some tens of milliseconds.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from data.memo import Bounded
from svmcore.explain import bounds
from svmcore.explain.retraining import Retraining
from svmcore.lab.meter import Compiling, Meter
from svmcore.lab.methods import METHODS
from svmcore.lab.problem import Problem, left_out
from svmcore.lab.recipe import DEFAULT, Recipe
from svmcore.lab.solvers import share
from svmcore.lab.store.made_with import made_with
from svmcore.lab.task import Check
from svmcore.lab.tasks import task_of
from svmcore.memory import peak_mb, share_of_memory
from svmcore.model import Machine
from svmcore.solvers.progress import Passing, under_name

# Figures of which those of a run's parts are added.
ADDED = ("n_union", "fit_seconds", "compile_seconds", "predict_seconds", "kernel_evals", "iterations", "dual")


class Cancelled(Exception):
    """The run was asked to stop."""


def unchecked(stage: str) -> None:
    """The `check` of work that nobody stops."""


class Fitted(NamedTuple):
    """A fitted estimator, the problem it was fitted to, and the seconds that it took, those of compiling among them."""

    estimator: object
    problem: Problem
    seconds: float
    compile_seconds: float


class Validation(NamedTuple):
    """What cross-validation gives, where a recipe asks for it."""

    figures: dict  # "validation": the loss on each fold, and the outcome on all; empty without folds
    folded: tuple | None = None  # what each training example was answered by the machine of the other folds


class Outcome(NamedTuple):
    """All that a run keeps."""

    machine: Machine
    test: NamedTuple  # what the task's `judge` said of the test examples
    train_index: np.ndarray
    result: dict
    kept: dict[str, dict[str, np.ndarray]]  # what the method keeps: file -> arrays
    folded: tuple | None = None  # what the machines of the folds said of the training examples


def prepare(recipe: Recipe, check: Check = unchecked, part: int = 0) -> Problem:
    """The recipe's problem; `check(stage)` is called between pieces and may raise to stop.

    RecipeError for a split, folds or a method that the dataset does not allow; what `check` raises.
    """
    return _problem(recipe, part, lambda: task_of(recipe).prepare(recipe.origin, check, part))


def execute(recipe: Recipe, monitor: Callable | None = None) -> Outcome:
    """Run a recipe here and now. `monitor(progress) -> bool` may end the training; it is then tested as it is."""
    parts = range(task_of(recipe).parts(recipe))
    with Meter() as meter:

        def measured(progress) -> bool:
            meter.sample()
            return monitor is None or monitor(progress)

        watch = Passing(monitor, measured)
        outcomes = [judge(recipe, fit(recipe, prepare(recipe, part=part), watch)) for part in parts]
        validation = validate(recipe, watch)
        result = gathered(recipe, outcomes) | validation.figures | meter.figures()
        return outcomes[0]._replace(result=result, folded=validation.folded)


def fit(
    recipe: Recipe,
    problem: Problem,
    monitor: Callable | None = None,
    check: Check = unchecked,
    trained: tuple[Machine, NamedTuple] | None = None,
) -> Fitted:
    """Train by the recipe's method. trained: the machine that the method begins with, and what it said of its test
    examples; where it begins with one and has none, that is trained first. ValueError for a problem that has fewer than
    two classes."""
    started, task, method = time.perf_counter(), task_of(recipe), METHODS[recipe.method]
    with Compiling() as compiling:
        if method.made:
            shared = _with_kept_values(recipe, problem)
            estimator, problem = task.train(method, recipe, shared, monitor, check)
        else:
            problem = _with_machine(recipe.origin, problem, monitor, check, trained)
            problem = task.with_aside(recipe, problem, check)
            estimator = method.train(recipe, problem, monitor)
    seconds = time.perf_counter() - started
    return Fitted(estimator, problem, seconds, compiling.seconds)


def _with_machine(origin: Recipe, problem: Problem, monitor, check: Check, trained: tuple | None) -> Problem:
    """The problem as the training of its machine left it, with that machine."""
    if trained is None:
        first = fit(origin, problem, monitor and under_name("the original machine", monitor), check)
        return first.problem._replace(machine=first.estimator.machine_)
    machine, judged = trained
    return task_of(origin).resumed(problem, judged)._replace(machine=machine)


def judge(recipe: Recipe, fitted: Fitted, check: Check = unchecked) -> Outcome:
    """Test a fitted estimator and gather the figures of the run."""
    task, machine, problem = task_of(recipe), fitted.estimator.machine_, fitted.problem
    started = time.perf_counter()
    with Compiling() as compiling:
        test = task.judge(machine, problem, check)
    seconds = max(time.perf_counter() - started - compiling.seconds, 0.0)
    result = _result(recipe, fitted, seconds) | task.outcome([test])
    method = METHODS[recipe.method]
    result |= method.figures(fitted.estimator)
    if recipe.bounds:
        result["bounds"] = bounded(fitted, check)
    machine, kept = replace(machine, prepare=problem.prepare), method.arrays(fitted.estimator)
    return Outcome(machine, test, problem.train_index, result, kept)


def bounded(fitted: Fitted, check: Check = unchecked) -> dict[str, dict]:
    """Bounds on the error by name: examples that may be wrong, of n, and seconds. ValueError for too many examples."""

    def monitor(progress) -> bool:
        check(progress.stage)
        return True

    problem = fitted.problem
    retraining = Retraining(fitted.estimator, problem.X_train, problem.y_train, problem.weight, monitor=monitor)
    found = bounds.bounds(retraining, lambda: check("bounding"))
    return {name: bound._asdict() for name, bound in found.items()}


def gathered(recipe: Recipe, outcomes: list[Outcome]) -> dict:
    """The figures of all parts of a run together: counts and seconds add up, the outcome is that of all judgements."""
    results = [outcome.result for outcome in outcomes]
    if len(results) == 1:
        return results[0]
    joined = {name: [n for result in results for n in result[name]] for name in ("n_sv", "n_bound")}
    added = {name: sum(result[name] for result in results) for name in ADDED}
    worst = {name: max(result[name] for result in results) for name in ("n_train", "peak_rss_mb", "gap")}
    ends = {
        "converged": all(result["converged"] for result in results),
        "ending": next((result["ending"] for result in results if result["ending"]), ""),
    }
    outcome = task_of(recipe).outcome([outcome.test for outcome in outcomes])
    return results[0] | joined | added | worst | ends | outcome


def validate(recipe: Recipe, monitor: Callable | None = None, check: Check = unchecked) -> Validation:
    """Cross-validation; nothing where the recipe has no folds.

    Nothing of a fold enters the machine that it judges: steps and kernels that learn do so anew from the others.
    """
    if recipe.folds is None:
        return Validation({})
    task, started, nobody = task_of(recipe), time.perf_counter(), np.empty(0, np.int64)
    judged = _folds(recipe, nobody, "", monitor, check)
    folded = task.folded(judged)
    doubted = nobody if folded is None else task.doubted(recipe, folded)
    if len(doubted):
        folded = task.folded(_folds(recipe, doubted, ", second pass", monitor, check))
        folded = folded and folded._replace(doubted=doubted)
    figures = {"folds": [task.loss(test) for test in judged], "seconds": time.perf_counter() - started}
    return Validation({"validation": figures | task.outcome(judged)}, folded)


def _folds(recipe: Recipe, without: np.ndarray, more: str, monitor: Callable | None, check: Check) -> list[NamedTuple]:
    """What each fold is answered by the machine of the others, which has not seen those `without` either: of all folds
    together where their examples are rows of the whole training set, whose kernel values are there already. Under
    joblib.parallel_config a backend of processes or of a cluster takes a recipe and a number each, and tells nothing
    until it is done."""
    numbers, look = range(recipe.folds), lambda _: check("validating")
    if not getattr(get_active_backend(prefer="threads")[0], "supports_sharedmem", False):
        return Parallel()(delayed(_fold)(recipe, number, without, None, unchecked) for number in numbers)
    if shared_by(recipe):
        listener = under_name(f"{recipe.folds} folds{more}", monitor)
        whole = _with_kept_values(recipe, prepare(recipe, look))
        if (judged := task_of(recipe).judged_folds(recipe, whole, without, listener)) is not None:
            return judged
    named = (under_name(f"fold {number + 1} of {recipe.folds}{more}", monitor) for number in numbers)
    return [_fold(recipe, number, without, listener, look) for number, listener in zip(numbers, named, strict=True)]


def _fold(recipe: Recipe, number: int, without: np.ndarray, monitor: Callable | None, check: Check) -> NamedTuple:
    part = _problem(recipe, ("fold", number), lambda: task_of(recipe).fold(recipe, number, check))
    part = left_out(part, without)
    return task_of(recipe).judge(fit(recipe, part, monitor).estimator.machine_, part, check)


# Values of C are compared by runs with folds, one after the other: what they share is made once.
KEPT_BYTES = share_of_memory(1 / 8, least_mb=256)
KEPT = Bounded(KEPT_BYTES)  # problems and Gram sources


@lru_cache(maxsize=1024)
def shared_by(recipe: Recipe) -> str | None:
    """What recipes that differ in C alone share; None without folds, and where memory has no room for it."""
    task = task_of(recipe)
    if recipe.folds is None or not task.answers:
        return None
    size = task.size(recipe.origin)
    wanted = (recipe.folds + 1) * 4 * size.n_train * (size.n_train + 2 * size.d)
    return recipe.replace(C=1.0).digest() if wanted <= KEPT_BYTES() else None


def _kept(recipe: Recipe, part: object, make: Callable):
    """make(), or what that gave to a run of this process whose recipe differs in C alone. part: what it is made of."""
    alike = shared_by(recipe)
    return KEPT.get((alike, task_of(recipe).content_hash(recipe), part), make) if alike else make()


def _problem(recipe: Recipe, part: object, make: Callable) -> Problem:
    """A problem, shared also by runs that differ in a kernel which learns nothing."""
    if not METHODS[recipe.method].plain:
        return _kept(recipe, part, make)
    return _kept(recipe.replace(kernel=DEFAULT.kernel), part, make)._replace(kernel=recipe.kernel)


def _with_kept_values(recipe: Recipe, problem: Problem) -> Problem:
    """The problem, with kernel values of its training examples that other runs have left, where its machine is an SVC
    on these, of a solver that takes all of them at once."""
    if not (shared_by(recipe) and METHODS[recipe.method].bounded and recipe.solver in ("auto", "smo")):
        return problem
    known = problem.train_index.tobytes()
    return problem._replace(source=_kept(recipe, known, lambda: share(recipe, problem).source))


def _result(recipe: Recipe, fitted: Fitted, predict_seconds: float) -> dict:
    """The figures that all runs share."""
    estimator, machine, problem = fitted.estimator, fitted.estimator.machine_, fitted.problem
    last = estimator.history_[-1]
    trace = getattr(estimator, "trace_", None)
    return ({"trace": trace.summary()} if trace else {}) | {
        "recipe": recipe.name,
        "task": recipe.task,
        "dataset": recipe.dataset,
        "method": recipe.method,
        "n_train": len(problem.train_index),
        "n_features": problem.X_train.shape[1],
        "n_sv": machine.n_sv.tolist(),
        "n_bound": machine.bound.sum(axis=1).tolist(),
        "n_union": len(machine.support),
        "fit_seconds": fitted.seconds,
        "compile_seconds": fitted.compile_seconds,
        "predict_seconds": predict_seconds,
        "peak_rss_mb": peak_mb(),
        "converged": bool(estimator.converged_),
        "ending": getattr(estimator, "ending_", ""),
        "strategy": getattr(estimator, "strategy_", ""),
        "kernel_evals": int(estimator.kernel_evals_),
        "iterations": int(last.iterations),
        "gap": float(last.gap),
        "dual": float(last.dual),
        "data_hash": problem.data_hash,
        "made_with": made_with(),
    }
