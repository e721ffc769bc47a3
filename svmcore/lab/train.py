"""From a recipe to a trained and tested machine, without a store or a screen.

    prepare   data set -> split -> preprocessing          Problem
    fit       Problem -> machine, by the recipe's method  Fitted
    judge     machine -> test set, figures                Outcome
    execute   the three in turn

Each takes a callable that may stop it: `fit` the solver's monitor, the others `check(stage)`, called between pieces of
at most some tens of milliseconds. A new method is one function in METHODS, from recipe and problem to an estimator.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba.core import event
from sklearn.model_selection import train_test_split

from data import load
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.runs import TestSet
from svmcore.metrics import wilson
from svmcore.model import Machine, labels
from svmcore.preprocess import Pipeline
from svmcore.svc import SVC

PIECE = 4e9  # floating-point operations between two checks while predicting
CHUNK = 2048  # examples preprocessed between two checks


class Stopped(Exception):
    """The run was asked to stop."""


class Problem(NamedTuple):
    """What a method trains on and is tested on."""

    X_train: np.ndarray  # (n_train, d) float32, preprocessed
    y_train: np.ndarray  # (n_train,)
    X_test: np.ndarray  # (n_test, d) float32
    y_test: np.ndarray  # (n_test,)
    train_index: np.ndarray  # (n_train,) int64, positions in the data set's X_train
    test_index: np.ndarray  # (n_test,) int64
    test_split: str  # "test" | "train": the part that test_index points into
    image_shape: tuple[int, ...] | None  # of a preprocessed example
    data_hash: str


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
    return judge(recipe, problem, fit(recipe, problem, monitor))


def prepare(recipe: Recipe, check: Callable[[str], None] = lambda stage: None) -> Problem:
    """Load, split and preprocess. RecipeError for a split that the data set does not allow; what `check` raises."""
    check("loading")
    data = load(recipe.dataset)
    train, test, part = split(recipe, data)
    check("preprocessing")
    pipeline = Pipeline(*recipe.preprocess, image_shape=data.image_shape)
    images = data.X_train[train]
    if not pipeline.__sklearn_is_fitted__():
        pipeline.fit(images)
    held = data.X_test if part == "test" else data.X_train
    held_labels = data.y_test if part == "test" else data.y_train
    return Problem(
        X_train=_transform(pipeline, images, check),
        y_train=_labels(recipe, data.y_train[train]),
        X_test=_transform(pipeline, held[test], check),
        y_test=_labels(recipe, held_labels[test]),
        train_index=train,
        test_index=test,
        test_split=part,
        image_shape=data.image_shape and pipeline.output_shape(data.image_shape),
        data_hash=data.content_hash,
    )


def split(recipe: Recipe, data) -> tuple[np.ndarray, np.ndarray, str]:
    """Positions (n_train,) into X_train, and (n_test,) into the part "test" or, where the set has none, "train"."""
    train = np.flatnonzero(_wanted(recipe, data.y_train))
    test, part = np.flatnonzero(_wanted(recipe, data.y_test)), "test"
    if not len(data.y_test):
        if recipe.split != "stratified":
            raise RecipeError("split", recipe.split, f"stratified, as {recipe.dataset} has no test part of its own")
        n_test = recipe.n_test or max(1, len(train) - recipe.n_train if recipe.n_train else len(train) // 5)
        if n_test >= len(train):
            raise RecipeError("n_test", n_test, f"fewer than the {len(train)} examples of {recipe.dataset}")
        train, test = _draw(recipe, train, data.y_train, len(train) - n_test, n_test, "n_test")
        part = "train"
    elif recipe.split == "stratified":
        test = _some(recipe, test, data.y_test, recipe.n_test, "n_test")
    else:
        test = test[: recipe.n_test]
    if recipe.split == "stratified":
        train = _some(recipe, train, data.y_train, recipe.n_train, "n_train")
    elif recipe.split == "first-of-each":
        train = _first_of_each(train, data.y_train, recipe.n_train)
    else:
        train = train[: recipe.n_train]
    return train, test, part


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
    estimator, machine = fitted.estimator, fitted.estimator.machine_
    started = time.perf_counter()
    m, d = machine.support_vectors.shape
    step = max(16, int(PIECE / (2 * d * max(m, 1))))
    decision = np.empty((len(problem.X_test), len(machine.bias)))
    for start in range(0, len(decision), step):
        check("predicting")
        rows = slice(start, start + step)
        decision[rows] = estimator.decision_function(problem.X_test[rows]).reshape(-1, decision.shape[1])
    seconds = time.perf_counter() - started
    test = TestSet(problem.test_index, problem.y_test, labels(machine.classes, decision), decision, problem.test_split)
    return Outcome(machine, test, problem.train_index, _result(recipe, problem, fitted, test, seconds))


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
    }


def _support_vectors(recipe: Recipe, problem: Problem, monitor: Callable | None) -> SVC:
    return _svc(recipe, problem).fit(problem.X_train, problem.y_train, monitor=monitor)


METHODS = {"sv": _support_vectors}


def _svc(recipe: Recipe, problem: Problem) -> SVC:
    weight = recipe.class_weight
    if isinstance(weight, dict):
        labels = {str(label): label for label in np.unique(problem.y_train).tolist()}
        if unknown := weight.keys() - labels.keys():
            raise RecipeError("class_weight", min(unknown), f"the labels {', '.join(labels)}")
        weight = {labels[name]: w for name, w in weight.items()}
    return SVC(
        recipe.kernel,
        C=recipe.C,
        class_weight=weight,
        tol=recipe.tol,
        cache_mb=recipe.cache_mb,
        solver=recipe.solver,
        random_state=recipe.seed,
    )


def _wanted(recipe: Recipe, y: np.ndarray) -> np.ndarray:
    """(n,) bool: the examples of the classes asked for; all of them when one class stands against the rest."""
    if len(recipe.classes) < 2:
        return np.ones(len(y), bool)
    return np.isin(y.astype(str), [str(label) for label in recipe.classes])


def _labels(recipe: Recipe, y: np.ndarray) -> np.ndarray:
    """The labels to learn: +1 and -1 for one class against the rest."""
    if len(recipe.classes) != 1:
        return y
    own = y.astype(str) == str(recipe.classes[0])
    return np.where(own, 1, -1)


def _some(recipe, index, y, n, field):
    if n is None or n >= len(index):
        return index
    return _draw(recipe, index, y, n, len(index) - n, field)[0]


def _draw(recipe, index, y, n_first, n_second, field):
    """Two disjoint sorted parts of `index`, each class in its proportion where every class has enough."""
    try:
        parts = train_test_split(
            index, train_size=n_first, test_size=n_second, stratify=y[index], random_state=recipe.seed
        )
    except ValueError as error:
        raise RecipeError(field, n_second if field == "n_test" else n_first, f"a stratified split ({error})") from None
    return np.sort(parts[0]), np.sort(parts[1])


def _first_of_each(index, y, n):
    classes = np.unique(y[index])
    each = len(index) if n is None else n // len(classes)
    return np.sort(np.concatenate([index[y[index] == label][:each] for label in classes]))


def _transform(pipeline: Pipeline, images: np.ndarray, check: Callable[[str], None]) -> np.ndarray:
    """(n, d) float32, in chunks between which the run may be stopped."""
    out = None
    for start in range(0, len(images), CHUNK):
        check("preprocessing")
        rows = pipeline.transform(images[start : start + CHUNK])
        out = np.empty((len(images), rows.shape[1]), np.float32) if out is None else out
        out[start : start + len(rows)] = rows
    return out
