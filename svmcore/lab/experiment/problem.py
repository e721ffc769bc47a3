"""From a recipe to the examples that a method trains on and is tested on: data set -> split -> preprocessing.

Methods that transform images are given them before the steps that must follow a transformation (normalisation, crop):

    X_train = last(images),    images = the steps before `last` of the pictures of the data set

Reference: the protocols of DeCoste and Schoelkopf, Machine Learning 46 (2002), sections 5.1 and 5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from data import load
from svmcore.jitter import JitterSet
from svmcore.kernels import Kernel
from svmcore.lab.recipe.recipe import TRANSFORMING, Recipe, RecipeError
from svmcore.methods.definite import PositivePart
from svmcore.methods.jittering import SIDES, Jittered
from svmcore.methods.tangent import TangentFeature, TangentWhitened
from svmcore.preprocess import Preprocessor
from svmcore.svc import Source

CHUNK = 2048  # examples preprocessed between two checks
TANGENTS, FEATURE_TANGENTS = 20_000, 1_000  # tangents that a covariance is found from, in input and in feature space
LAMBDA = 0.03  # of a recipe that names none; found on a validation part, see methods/tangent.py


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
    images: np.ndarray  # (n_train, d') float32: what `last` makes X_train of; X_train itself where last has no steps
    images_shape: tuple[int, ...] | None
    last: Preprocessor  # the fitted steps that come after a transformation
    kernel: Kernel  # that training starts with
    source: Source | None = None  # of its rows, where several fits share one


def prepare(recipe: Recipe, check: Callable[[str], None] = lambda stage: None) -> Problem:
    """Load, split and preprocess; `check(stage)` is called between pieces and may raise to stop.

    RecipeError for a split or folds that the data set does not allow; what `check` raises.
    """
    check("loading")
    data = load(recipe.dataset)
    train, test, part = split(recipe, data)
    smallest = int(np.unique(_labels(recipe, data.y_train[train]), return_counts=True)[1].min())
    if recipe.folds is not None and recipe.folds > smallest:
        raise RecipeError("folds", recipe.folds, f"2 to {smallest}, the examples of the smallest class")
    check("preprocessing")
    first, last = Preprocessor(*recipe.preprocess, image_shape=data.image_shape), Preprocessor()
    if recipe.method in TRANSFORMING:
        first, last = first.split()
    shape = data.image_shape and first.output_shape(data.image_shape)
    last_shape = shape and last.output_shape(shape)
    images = _fit_transform(first, data.X_train[train], check)
    X_train = _fit_transform(last, images, check)
    held, held_labels = (data.X_test, data.y_test) if part == "test" else (data.X_train, data.y_train)
    return Problem(
        X_train=X_train,
        y_train=_labels(recipe, data.y_train[train]),
        X_test=_transform(last, _transform(first, held[test], check), check),
        y_test=_labels(recipe, held_labels[test]),
        train_index=train,
        test_index=test,
        test_split=part,
        image_shape=last_shape,
        data_hash=data.content_hash,
        images=images,
        images_shape=shape,
        last=last,
        kernel=_kernel(recipe, X_train, last_shape),
    )


def held_out(recipe: Recipe, problem: Problem) -> Iterator[Problem]:
    """The recipe's folds of the training set: each is held out once, for a machine of the others to be tested on.

    Steps that learn from the training set (scale01, zscore) have learned from all of it, the fold that is held out
    included.
    """
    splitter = StratifiedKFold(recipe.folds, shuffle=True, random_state=recipe.seed)
    for kept, held in splitter.split(problem.X_train, problem.y_train):
        X_train = problem.X_train[kept]
        yield problem._replace(
            X_train=X_train,
            y_train=problem.y_train[kept],
            images=X_train if problem.images is problem.X_train else problem.images[kept],
            train_index=problem.train_index[kept],
            X_test=problem.X_train[held],
            y_test=problem.y_train[held],
            test_index=problem.train_index[held],
            test_split="train",
            source=None,
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


def steps_after_jitter(recipe: Recipe) -> tuple[str, ...]:
    """The preprocessing steps that a jitter can undo, to be repeated after it."""
    return Preprocessor(*recipe.preprocess).split()[1].steps


def require_images(recipe: Recipe, image_shape: tuple[int, ...] | None) -> None:
    """RecipeError when the method transforms images and the examples are none."""
    if recipe.method != "sv" and image_shape is None:
        raise RecipeError("method", recipe.method, f"sv, as the examples of {recipe.dataset} are no images")


def _kernel(recipe: Recipe, X: np.ndarray, image_shape: tuple[int, ...] | None) -> Kernel:
    """The recipe's kernel, made invariant where the method asks for it."""
    require_images(recipe, image_shape)
    if recipe.method == "jsv":
        sides = recipe.options.get("sides", SIDES[0])
        kernel = Jittered(recipe.kernel, recipe.jitters, image_shape, sides, steps_after_jitter(recipe))
        sample = recipe.options.get("positive")
        return PositivePart.fit(kernel, X[_some_of(recipe, X, sample)]) if sample else kernel
    if recipe.method == "tangent":
        family = TangentFeature if recipe.options.get("space") == "feature" else TangentWhitened
        most = FEATURE_TANGENTS if family is TangentFeature else TANGENTS
        seen = _some_of(recipe, X, most // len(JitterSet.parse(recipe.jitters)))
        return family.fit(recipe.kernel, X[seen], recipe.jitters, recipe.options.get("lam", LAMBDA), image_shape)
    return recipe.kernel


def _some_of(recipe: Recipe, X: np.ndarray, n: int) -> np.ndarray:
    """Positions of at most n rows of X, drawn by the seed."""
    return np.random.default_rng(recipe.seed).permutation(len(X))[:n]


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


def _fit_transform(pipeline: Preprocessor, X: np.ndarray, check: Callable[[str], None]) -> np.ndarray:
    """`_transform`, after learning what the steps learn; X itself when there are no steps."""
    if not pipeline.__sklearn_is_fitted__():
        pipeline.fit(X)
    return _transform(pipeline, X, check)


def _transform(pipeline: Preprocessor, images: np.ndarray, check: Callable[[str], None]) -> np.ndarray:
    """(n, d) float32, in chunks between which the run may be stopped."""
    if not pipeline.steps and images.ndim == 2 and images.dtype == np.float32:
        return images
    out = None
    for start in range(0, len(images), CHUNK):
        check("preprocessing")
        rows = pipeline.transform(images[start : start + CHUNK])
        out = np.empty((len(images), rows.shape[1]), np.float32) if out is None else out
        out[start : start + len(rows)] = rows
    return out
