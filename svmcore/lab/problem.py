"""Problem: the examples that a method trains on and is tested on, made of a dataset by split and preprocessing.

Methods that transform images are given them before the steps that must follow a transformation (normalisation, crop):

    X_train = last(images),    images = the steps before `last` of the pictures of the dataset

Whatever learns (steps such as zscore, kernels fitted to data) learns from the training examples alone.

Reference: the protocols of DeCoste and Schölkopf, Machine Learning 46 (2002), sections 5.1 and 5.2.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmcore.files import Checkpoint
from svmcore.kernels import Kernel
from svmcore.lab.fields import RecipeError
from svmcore.lab.method import makes_features_within
from svmcore.lab.methods import METHODS
from svmcore.lab.split import Split
from svmcore.model import Machine
from svmcore.preprocess import Preprocessor
from svmcore.rows import lost_columns
from svmcore.source import Source

BETWEEN_CHECKS = 2048  # examples preprocessed


class Aside(NamedTuple):
    """Labelled examples that no method trains on, and that no test has seen."""

    X: np.ndarray  # (n, d) float32, preprocessed
    y: np.ndarray  # (n,)


class Problem(NamedTuple):
    """What a method trains on and is tested on."""

    X_train: np.ndarray  # (n_train, d) float32, preprocessed
    y_train: np.ndarray  # (n_train,)
    X_test: np.ndarray  # (n_test, d) float32
    y_test: np.ndarray  # (n_test,)
    train_index: np.ndarray  # (n_train,) int64, positions in the dataset's X_train
    test_index: np.ndarray  # (n_test,) int64
    test_split: str  # "test" | "train": the part that test_index points into
    image_shape: tuple[int, ...] | None  # of a preprocessed example
    data_hash: str
    images: np.ndarray  # (n_train, d') float32: what `last` makes X_train of; X_train itself where last has no steps
    images_shape: tuple[int, ...] | None
    last: Preprocessor  # the fitted steps that come after a transformation
    prepare: Preprocessor  # all fitted steps before the machine: what makes X_test of examples as the dataset has them
    kernel: Kernel  # that training starts with
    source: Source | None = None  # of its rows, where several fits share one
    weight: np.ndarray | None = None  # (n_train,) float64, of each example's C
    search: tuple | None = None  # what else a task keeps of it
    recipe: object | None = None  # where judging needs its settings
    machine: Machine | None = None  # that the method begins with, where it begins with one
    aside: Aside | None = None  # examples for its choices, where it makes any
    checkpoint: Checkpoint | None = None  # where a method leaves what it has come to, and goes on from
    y_noisy: np.ndarray | None = None  # (n_test,) labels with noise, where the recipe asks for some
    groups: np.ndarray | None = None  # (n_train,) int64: which training examples belong together, where some do
    test_groups: np.ndarray | None = None  # (n_test,) int64, likewise

    @property
    def nbytes(self) -> int:
        """What its examples take."""
        return sum(X.nbytes for X in {id(X): X for X in (self.X_train, self.images, self.X_test)}.values())


def left_out(problem: Problem, positions: np.ndarray) -> Problem:
    """The problem without some training examples (positions in X_train); a class that would lose all keeps them."""
    keep = ~np.isin(problem.train_index, positions)
    keep |= ~np.isin(problem.y_train, problem.y_train[keep])
    if keep.all():
        return problem
    rows = "X_train", "y_train", "train_index", "weight", "groups"
    there = {name: array for name in rows if (array := getattr(problem, name)) is not None}
    kept = problem._replace(source=None, **{name: array[keep] for name, array in there.items()})
    return kept._replace(images=kept.X_train if problem.images is problem.X_train else problem.images[keep])


def assemble(recipe, data, parts: Split, check: Callable[[str], None]) -> Problem:
    """The problem of a split dataset; `check(stage)` is called between pieces and may raise to stop.

    RecipeError for a method that needs images where there are none.
    """
    check("preprocessing")
    method = METHODS[recipe.method]
    first, last = Preprocessor(*recipe.preprocess, image_shape=data.image_shape), Preprocessor()
    made = shape_made(recipe, data.image_shape or data.X_train.shape[1:], len(parts.train))
    if data.image_shape and (method.splits or first.makes_features):
        first, last = first.split()
    shape = data.image_shape and first.output_shape(data.image_shape)
    last_shape = None if shape is None or last.makes_features else made
    method.require_images(recipe, shape, parts.groups is not None)
    method.need_classes(recipe, len(np.unique(parts.y_train)))
    _require_digits(recipe, data)
    _learn(first, data.X_train, parts.train)
    images = transformed(first, data.X_train, parts.train, check)
    _learn(last, images)
    X_train = transformed(last, images, None, check)
    within = makes_features_within(recipe)  # the kernel does what is left
    before = Preprocessor() if within else last
    held = data.X_test if parts.part == "test" else data.X_train
    X_test = (images if within else X_train)[:0]  # where no example is tested by itself
    if len(parts.test):
        X_test = transformed(before, transformed(first, held, parts.test, check), None, check)
    return Problem(
        X_train=X_train,
        y_train=parts.y_train,
        X_test=X_test,
        y_test=parts.y_test,
        train_index=parts.train,
        test_index=parts.test,
        test_split=parts.part,
        image_shape=last_shape,
        data_hash=data.content_hash,
        images=images,
        images_shape=shape,
        last=last,
        prepare=first.then(before),
        kernel=method.kernel(recipe, X_train, last_shape),
        y_noisy=parts.y_noisy,
        groups=parts.groups,
        test_groups=None if parts.groups is None else data.groups_of(parts.part, parts.test),
    )


def shape_made(recipe, shape: tuple[int, ...], n_train: int, folds: int | None = None) -> tuple[int, ...]:
    """The shape that the steps of a recipe make of examples of `shape`, (h, w[, c]) or (d,), n_train of which train,
    or what is left of them without one of the folds. RecipeError for examples that are too small or too few for a step,
    or no images where it needs them."""
    steps, table = Preprocessor(*recipe.preprocess), len(shape) == 1
    if table and (of_images := steps.images_only):
        allowed = f"steps without {of_images[0]}, because the examples of {recipe.dataset} are not images"
        raise RecipeError("preprocess", ", ".join(recipe.preprocess), allowed)
    try:
        made = steps.output_shape((1, *shape, 1) if table else shape)
    except ValueError as error:
        said, _, allowed = str(error).rpartition("; allowed: ")
        raise RecipeError("preprocess", ", ".join(recipe.preprocess), f"{allowed} ({said})") from None
    held = -(-n_train // folds) if folds else 0  # by one fold at least
    if steps.examples_needed > n_train - held:
        without = f" when one of {folds} folds is held out" if held else ""
        allowed = f"at most {n_train - held:,} components, as there are {n_train - held:,} training examples{without}"
        raise RecipeError("preprocess", ", ".join(recipe.preprocess), allowed)
    return made[1:2] if table else made


def _require_digits(recipe, data) -> None:
    """RecipeError for features whose differences single precision, as kernels take them, would round away."""
    if data.image_shape is not None or {"zscore", "centre"} & set(recipe.preprocess):
        return
    if len(lost := lost_columns(data.X_train)):
        why = "zscore or centre among the steps, because single precision rounds away differences in the column "
        why += repr(data.feature_names[lost[0]])
        raise RecipeError("preprocess", ", ".join(recipe.preprocess) or "nothing", why)


def transformed(
    steps: Preprocessor, X: np.ndarray, rows: np.ndarray | None, check: Callable[[str], None]
) -> np.ndarray:
    """Rows of X (None: all) after the steps, (n, d) float32, interruptible; X itself if there is nothing to do."""
    if rows is None:
        if not steps.steps and X.ndim == 2 and X.dtype == np.float32:
            return X
        rows = np.arange(len(X))
    out = None
    for start in range(0, len(rows), BETWEEN_CHECKS):
        check("preprocessing")
        piece = steps.transform(X[rows[start : start + BETWEEN_CHECKS]])
        out = np.empty((len(rows), piece.shape[1]), np.float32) if out is None else out
        out[start : start + len(piece)] = piece
    return out


def _learn(steps: Preprocessor, X: np.ndarray, rows: np.ndarray | None = None) -> None:
    """Fit those of the steps that learn, to these rows of X."""
    if not steps.__sklearn_is_fitted__():
        steps.fit(X if rows is None else X[rows])
