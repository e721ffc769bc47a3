"""Synthetic two-class problems in the plane, with fixed seeds, for pictures of decision boundaries.

    moons, circles, gaussians, banana, ripley : (n, seed) -> X (n, 2) float32, y (n,) int64 in {-1, +1}, half each

moons and circles have the shapes known from scikit-learn. banana is a bent band around a cloud, with noise that
grows along the band; it resembles Raetsch's benchmark of that name, but is not its data. ripley resembles the dataset
of 1994, but is not it.
"""

from collections.abc import Callable

import numpy as np

from data.dataset import SYNTHETIC, Arrays
from data.entry import Entry

N_TRAIN, N_TEST = 300, 300


def moons(n: int, seed: int, noise: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """Two interleaving half circles."""
    rng, y = _start(n, seed)
    angle = rng.uniform(0, np.pi, n)
    X = np.column_stack([y * np.cos(angle) + (y < 0), y * np.sin(angle) + 0.5 * (y < 0)])
    return _finish(X, noise, rng), y


def circles(n: int, seed: int, noise: float = 0.12) -> tuple[np.ndarray, np.ndarray]:
    """A circle of radius 1/2 (+1) inside one of radius 1 (-1)."""
    rng, y = _start(n, seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = np.where(y > 0, 0.5, 1.0)
    return _finish(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), noise, rng), y


def gaussians(n: int, seed: int, distance: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Two unit Gaussians whose means lie `distance` apart, so that the best possible error is Phi(-distance / 2)."""
    rng, y = _start(n, seed)
    return _finish(np.outer(y, [distance / 2, 0]), 1.0, rng), y


def banana(n: int, seed: int, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """A curved band (-1) bent around a compact cloud (+1)."""
    rng, y = _start(n, seed)
    bend = rng.uniform(-1, 1, n)
    band = np.column_stack([1.8 * bend, 1.6 * bend**2 - 1.2])
    cloud = np.column_stack([0.5 * bend, 0.7 + 0.2 * bend])
    X = np.where(y[:, None] > 0, cloud, band)
    return _finish(X, noise * (1 + 0.5 * np.abs(bend))[:, None], rng), y


def ripley(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Each class an equal mixture of two Gaussians of variance 0.03; the best possible error is 8.9 %.

    After B. D. Ripley, Neural networks and related methods for classification, JRSS B 56 (1994). The Bayes error of
    his own dataset is given as 8 %; his means are not available.
    """
    rng, y = _start(n, seed)
    means = np.array([[[-0.7, 0.3], [0.3, 0.3]], [[-0.3, 0.7], [0.4, 0.7]]])
    X = means[(y > 0).astype(int), rng.integers(2, size=n)]
    return _finish(X, 0.03**0.5, rng), y


def entries() -> list[Entry]:
    """The catalogue entries of these problems."""
    note = "Synthetic points in the plane: the same on every computer."
    return [
        entry_of(f"toy-{make.__name__}", title, "toy", 2, make, N_TRAIN, N_TEST, note) for title, make in TOYS.items()
    ]


def entry_of(name: str, title: str, kind: str, d: int, make: Callable, n_train: int, n_test: int, note: str) -> Entry:
    """The entry of a problem with d features; `make(n, seed)` draws the training and the test set independently."""
    return Entry(
        name=name,
        title=f"{title} (synthetic)",
        kind=kind,
        shape=(d,),
        classes=(-1, 1),
        n_train=n_train,
        n_test=n_test,
        **SYNTHETIC,
        note=note,
        parse=lambda _: Arrays(*make(n_train, 0), *make(n_test, 1)),
    )


def _start(n: int, seed: int) -> tuple[np.random.Generator, np.ndarray]:
    return np.random.default_rng(seed), np.where(np.arange(n) % 2, -1, 1)


def _finish(X: np.ndarray, noise, rng: np.random.Generator) -> np.ndarray:
    return (X + noise * rng.standard_normal(X.shape)).astype(np.float32)


TOYS = {
    "Two moons": moons,
    "Two circles": circles,
    "Two Gaussians": gaussians,
    "Banana": banana,
    "Mixtures of Gaussians, after Ripley": ripley,
}
