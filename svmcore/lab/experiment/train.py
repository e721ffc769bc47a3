"""From a recipe to a trained and tested machine, without a store or a screen.

    prepare   data set -> split -> preprocessing          Problem (problem.py)
    fit       Problem -> machine, by the recipe's method  Fitted  (methods.py)
    judge     machine -> test set, figures                Outcome
    validate  the same on each fold, where the recipe asks for folds
    execute   all in turn

Each takes a callable that may stop it: `fit` the solver's monitor, the others `check(stage)`, called between pieces of
at most some tens of milliseconds.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba.core import event

from svmcore.lab.experiment.methods import METHODS, figures, work
from svmcore.lab.experiment.problem import Problem, held_out, prepare
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.store.runs import TestSet
from svmcore.metrics import wilson
from svmcore.model import Machine, labels
from svmcore.solvers.progress import under_name

PIECE = 4e9  # floating-point operations between two checks while predicting


class Stopped(Exception):
    """The run was asked to stop."""


class Fitted(NamedTuple):
    """A fitted estimator, the seconds that it took, and those of them that went into compiling."""

    estimator: object
    seconds: float
    compile_seconds: float


class Outcome(NamedTuple):
    """All that a run keeps."""

    machine: Machine
    test: TestSet
    train_index: np.ndarray
    result: dict


def execute(recipe: Recipe, monitor: Callable | None = None) -> Outcome:
    """Run a recipe here and now. `monitor(progress) -> bool` may end the training; it is then tested as it is."""
    problem = prepare(recipe)
    outcome = judge(recipe, problem, fit(recipe, problem, monitor))
    return outcome._replace(result=outcome.result | validate(recipe, problem, monitor))


def fit(recipe: Recipe, problem: Problem, monitor: Callable | None = None) -> Fitted:
    """Train by the recipe's method. ValueError for a problem that has fewer than two classes."""
    started = time.perf_counter()
    with event.install_listener("numba:compile", event.TimingListener()) as compiling:
        estimator = METHODS[recipe.method](recipe, problem, monitor)
    seconds = time.perf_counter() - started
    return Fitted(estimator, seconds, compiling.duration if compiling.done else 0.0)


def judge(
    recipe: Recipe, problem: Problem, fitted: Fitted, check: Callable[[str], None] = lambda stage: None
) -> Outcome:
    """Test a fitted estimator and gather the figures of the run."""
    machine = fitted.estimator.machine_
    started = time.perf_counter()
    decision = _decisions(machine, problem.X_test, lambda: check("predicting"))
    seconds = time.perf_counter() - started
    test = TestSet(problem.test_index, problem.y_test, labels(machine.classes, decision), decision, problem.test_split)
    return Outcome(machine, test, problem.train_index, _result(recipe, problem, fitted, test, seconds))


def validate(
    recipe: Recipe,
    problem: Problem,
    monitor: Callable | None = None,
    check: Callable[[str], None] = lambda stage: None,
) -> dict:
    """Cross-validation: {"validation": errors of each fold, their sum and rate}; {} where the recipe has no folds."""
    if recipe.folds is None:
        return {}
    started, errors, n = time.perf_counter(), [], len(problem.y_train)
    for number, part in enumerate(held_out(recipe, problem), 1):
        stage = f"fold {number} of {recipe.folds}"
        listener = under_name(stage, monitor)
        machine = fit(recipe, part, listener).estimator.machine_
        decision = _decisions(machine, part.X_test, lambda: check("validating"))
        errors.append(int(np.sum(labels(machine.classes, decision) != part.y_test)))
    figures = {"folds": errors, "errors": sum(errors), "n_test": n, "seconds": time.perf_counter() - started}
    rate = {"error_rate": sum(errors) / n, "interval": list(wilson(sum(errors), n))}
    return {"validation": figures | rate}


def _decisions(machine: Machine, X: np.ndarray, check: Callable[[], None]) -> np.ndarray:
    """Decision values (n, k) on X, in pieces with a check before each."""
    m, d = machine.support_vectors.shape
    step = max(16, int(PIECE / (2 * d * max(m, 1) * work(machine.kernel))))
    decision = np.empty((len(X), len(machine.bias)))
    for start in range(0, len(decision), step):
        check()
        decision[start : start + step] = machine.decision_values(X[start : start + step])
    return decision


def _result(recipe: Recipe, problem: Problem, fitted: Fitted, test: TestSet, predict_seconds: float) -> dict:
    estimator, machine = fitted.estimator, fitted.estimator.machine_
    errors, n_test = int((test.y_true != test.y_pred).sum()), len(test.y_true)
    last = estimator.history_[-1]
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return {
        "recipe": recipe.name,
        "dataset": recipe.dataset,
        "method": recipe.method,
        "n_train": len(problem.train_index),
        "n_test": n_test,
        "n_features": problem.X_train.shape[1],
        "errors": errors,
        "error_rate": errors / n_test,
        "interval": list(wilson(errors, n_test)),
        "n_sv": machine.n_sv.tolist(),
        "n_bound": machine.bound.sum(axis=1).tolist(),
        "n_union": len(machine.support),
        "fit_seconds": fitted.seconds,
        "compile_seconds": fitted.compile_seconds,
        "predict_seconds": predict_seconds,
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20,
        "converged": bool(estimator.converged_),
        "kernel_evals": int(estimator.kernel_evals_),
        "iterations": int(last.iterations),
        "gap": float(last.gap),
        "dual": float(last.dual),
        "data_hash": problem.data_hash,
    } | figures(estimator)
