"""The problems that the benchmark solves: data, kernel, C, and the peers that finish them in reasonable time.

Data sets come from the catalogue, so they are found where `SVMLAB_DATA` or an earlier download has them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from data import load
from svmcore import RBF, SVC, JitterSet, Kernel, Poly
from svmcore.preprocess import Preprocessor

NINE = Poly(9, 1.0, 1.0)  # (u.v + 1)^9 / 512
SHAPE = (28, 28)
BOTH = ("sklearnex", "sklearn")
SERIES = (2000, 5000, 10000, 20000, 60000)  # n of the problem whose growth is measured


class Task(NamedTuple):
    X: np.ndarray  # (n, d) float32
    y: np.ndarray  # (n,) labels; more than two classes: one machine each
    X_test: np.ndarray  # (m, d) float32, may be empty
    parents: np.ndarray | None = None  # (n0, d) pixels that X is the 3 x 3 shifts of, where it is
    y_parents: np.ndarray | None = None


@dataclass(frozen=True)
class Problem:
    """One row of the table. `quick`: also part of --quick. `cache_mb` is given to every candidate."""

    make: Callable[[], Task]
    kernel: Kernel = NINE
    C: float = 2.0
    cache_mb: int = 2000
    peers: tuple[str, ...] = BOTH
    quick: bool = False


def digits(n: int = 60000, digit: int | None = None, steps=("unit-norm",), seed: int = 0) -> Task:
    """n MNIST digits drawn at random; one digit against the rest, or all ten classes."""
    mnist = load("mnist")
    prepare = Preprocessor(*steps)
    chosen = np.sort(np.random.default_rng(seed).choice(len(mnist.X_train), n, replace=False))
    y = mnist.y_train[chosen]
    return Task(
        prepare.fit_transform(mnist.X_train[chosen]),
        y if digit is None else (y == digit).astype(int),
        prepare.transform(mnist.X_test) if digit is None else np.empty((0, 784), np.float32),
    )


def virtual(digit: int) -> Task:
    """The second stage of a virtual SV machine: the 3 x 3 shifts of the SVs of a digit against the rest."""
    mnist, task = load("mnist"), digits(digit=digit)
    support = np.sort(SVC(kernel=NINE, C=2.0).fit(task.X, task.y).support_)
    parents = mnist.X_train[support].reshape(len(support), -1).astype(np.float32)
    shifts = JitterSet.parse("box:1", image_shape=SHAPE)
    X = Preprocessor("unit-norm").fit_transform(shifts.apply(parents).reshape(-1, parents.shape[1]))
    return Task(X, np.tile(task.y[support], len(shifts)), X[:0], parents, task.y[support])


def adult() -> Task:
    a9a = load("a9a")
    X = np.ascontiguousarray(a9a.X_train, np.float32)
    return Task(X, a9a.y_train, np.ascontiguousarray(a9a.X_test, np.float32))


def gaussians(n: int, d: int, seed: int = 0) -> Task:
    """Two overlapping Gaussians, every entry different from zero."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, d)) + 0.15 * y[:, None]
    return Task(X.astype(np.float32), y, np.empty((0, d), np.float32))


PROBLEMS: dict[str, Problem] = {
    **{f"digit-8-{n}": Problem(partial(digits, n, 8), quick=n <= 5000) for n in SERIES},
    "classroom-2000": Problem(partial(digits, 2000), quick=True),
    "ten-digits": Problem(digits, cache_mb=4000, peers=("sklearnex",)),
    "ten-digits-rbf": Problem(digits, RBF(2.0), cache_mb=4000, peers=("sklearnex",)),
    "ten-digits-deslanted": Problem(
        partial(digits, steps=("deslant", "unit-norm")), cache_mb=4000, peers=("sklearnex",)
    ),
    "virtual-0": Problem(partial(virtual, 0), cache_mb=8000, peers=("sklearnex",)),
    "virtual-9": Problem(partial(virtual, 9), cache_mb=8000, peers=("sklearnex",)),
    "a9a": Problem(adult, RBF(0.05), C=1.0),
    "gaussians": Problem(partial(gaussians, 20000, 100), RBF(0.005), C=1.0),
    "gaussians-3000": Problem(partial(gaussians, 3000, 100), RBF(0.005), C=1.0, quick=True),
}
