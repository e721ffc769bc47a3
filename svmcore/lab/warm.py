"""Compile what runs need, in the order in which a visitor needs it: small runs, on data that the package brings along,
that between them call every compiled function with every kind of argument that a named recipe has for it.

What is compiled is kept on disk (svmcore/_jit.py): from there all of this takes a few seconds, without it about twenty.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from svmcore.gram.moves import pick
from svmcore.gram.products import LAYOUTS, Operand
from svmcore.kernels import RBF, Linear, Poly, Sigmoid, squared_norms
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.train import execute, prepare
from svmcore.methods.local import LocalPoly
from svmcore.preprocess import Preprocessor
from svmcore.solvers.decomposition.square import _close_up, _widen

SMALL = Recipe(dataset="digits-8x8", n_train=300, n_test=50)
IMAGES = {"dataset": "mnist-5k", "split": "stratified", "n_train": 200, "n_test": 50, "classes": ()}


def first() -> Iterator[Recipe]:
    """Small runs for what a first visit starts, in its order."""
    yield RECIPES[PRESET].replace(n_train=300, n_test=50)
    yield RECIPES["moons"]
    yield RECIPES["mnist-5k-vsv"].replace(n_train=300, n_test=50)
    yield SMALL.replace(solver="decomposition")
    yield from (SMALL.replace(kernel=kernel) for kernel in (RBF(2.0), Linear(), Sigmoid(0.1, 0.2)))


def others() -> Iterator[Recipe]:
    """Small runs for what the other recipes need."""
    yield from (RECIPES[name].replace(**IMAGES) for name in ("mnist-deslant-vsv", "mnist-gradients", "usps-rbf-sv"))
    yield from (SMALL.replace(method=method, jitters="box:1") for method in ("jsv", "query-jitter"))
    yield SMALL.replace(kernel=LocalPoly((8, 8), width=5), n_train=60)
    yield SMALL.replace(preprocess=RECIPES["faces-lfw"].preprocess)
    yield RECIPES["mnist-5k-rs"].replace(dataset="digits-8x8", n_train=200, n_test=50)
    answers = RECIPES["mnist-5000-rs-own-labels"]
    yield answers.replace(**IMAGES, options=answers.options | {"n_vectors": 20, "epochs": 1})
    yield SMALL.replace(solver="smo-digestion")
    yield RECIPES["volcano-synthetic"]
    faces = RECIPES["faces-lfw"]
    yield faces.replace(jitters="flip:h", options=faces.options | {"bootstraps": 1, "mined": 100, "stride": 6})
    yield _windows


def warm_up(go_on: Callable[[], bool] = lambda: True, everything: bool = True) -> None:
    """Do the small runs, and call what larger ones call; only for a first visit where not `everything` is asked for.

    `go_on()` False ends it early.
    """
    problem = prepare(SMALL)
    products = (partial(_products, problem.X_train, problem.X_test, layout) for layout in LAYOUTS)
    for work in (*first(), *products, _moves, *(others() if everything else ())):
        if not go_on():
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of runs that are too small for their settings
            work() if callable(work) else execute(work)


def _windows() -> None:
    steps = Preprocessor(*RECIPES["faces-gradients"].preprocess)
    steps.windows(np.zeros((20, 20), np.uint8), 19)(*np.zeros((2, 3), int))


def _products(X, rows, layout) -> None:
    operand = Operand(X, layout)
    values, f = operand.block(rows, Poly(2)), np.zeros((1, operand.n))
    operand.add_to(f, rows, squared_norms(rows), Poly(2), values[:, :1].T)
    operand.sums(rows, Poly(2), f)
    part = operand.subset(np.arange(100))
    part.block(rows, Poly(2))
    part.add_own_to(f[:, :100], operand, np.arange(50), Poly(2), values[:1, :50])


def _moves() -> None:
    """A matrix kept from round to round, and rows of one that is kept in part."""
    flat, two = np.zeros(16, np.float32), np.arange(2)
    _widen(flat, 3, 4, 0, 3)
    _close_up(flat, 4, two, 0, 2)
    pick(flat.reshape(4, 4), two, two, np.zeros((2, 2), np.float32))
