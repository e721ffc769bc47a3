"""The data of the benchmark, each a Task drawn with a fixed seed.

MNIST, USPS, adult, forest-part and the faces come from the catalogue, so they are found where `SVMLAB_DATA` or an
earlier download has them; the volcano images from a folder of `SVMLAB_DATA`. NotAtHand where they are not. Gaussians,
the table, showers, letters and words are made up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import ndimage

from data import load, places
from data.dataset import NotAtHand
from data.loaders import jartool
from svmcore import SVC, JitterSet, Poly
from svmcore.preprocess import Preprocessor

NINE = Poly(9, 1.0, 1.0)  # (u.v + 1)^9 / 512
SHAPE = (28, 28)
SIDE, FACE = 15, 19  # pixels of a volcano's chip and of a face window
TESTED = 2000  # examples at most that one machine decides


class Task(NamedTuple):
    X: np.ndarray  # (n, d) float32
    y: np.ndarray  # (n,) labels; more than two classes: one machine each
    X_test: np.ndarray  # (m, d) float32, may be empty
    parents: np.ndarray | None = None  # (n0, d) pixels that X is the 3 x 3 shifts of, where it is
    y_parents: np.ndarray | None = None


def digits(n: int = 60000, digit: int | None = None, steps=("unit-norm",), seed: int = 0) -> Task:
    """n MNIST digits drawn at random; one digit against the rest, or all ten classes."""
    mnist = load("mnist")
    prepare = Preprocessor(*steps)
    chosen = np.sort(np.random.default_rng(seed).choice(len(mnist.X_train), n, replace=False))
    y, X = mnist.y_train[chosen], prepare.fit_transform(mnist.X_train[chosen])
    tested = prepare.transform(mnist.X_test if digit is None else mnist.X_test[:TESTED])
    return Task(X, y if digit is None else (y == digit).astype(int), tested)


def usps() -> Task:
    """All of USPS, ten classes, unit norm."""
    known, prepare = load("usps"), Preprocessor("unit-norm")
    return Task(prepare.fit_transform(known.X_train), known.y_train, prepare.transform(known.X_test))


def virtual(digit: int) -> Task:
    """The second stage of a virtual SV machine: the 3 x 3 shifts of the SVs of a digit against the rest."""
    mnist, task = load("mnist"), digits(digit=digit)
    support = np.sort(SVC(kernel=NINE, C=2.0).fit(task.X, task.y).support_)
    parents = mnist.X_train[support].reshape(len(support), -1).astype(np.float32)
    shifts = JitterSet.parse("box:1", image_shape=SHAPE)
    X = Preprocessor("unit-norm").fit_transform(shifts.apply(parents).reshape(-1, parents.shape[1]))
    return Task(X, np.tile(task.y[support], len(shifts)), task.X_test, parents, task.y[support])


def adult(n: int = 32561) -> Task:
    """n examples of a9a drawn at random; all 32561 of them in their order."""
    a9a = load("a9a")
    chosen = np.sort(np.random.default_rng(0).choice(len(a9a.X_train), n, replace=False))
    X, tested = (np.ascontiguousarray(X, np.float32) for X in (a9a.X_train[chosen], a9a.X_test[:TESTED]))
    return Task(X, a9a.y_train[chosen], tested)


def gaussians(n: int, d: int, seed: int = 0) -> Task:
    """Two overlapping Gaussians, every entry different from zero."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, d)) + 0.15 * y[:, None]
    return Task(X.astype(np.float32), y, rng.standard_normal((TESTED, d)).astype(np.float32) + np.float32(0.075))


def table(n: int, seed: int = 0) -> Task:
    """A made-up table in the manner of covertype: 20 measures, 34 features that are seldom on, noise in the labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + TESTED, 54)).astype(np.float32)
    X[:, 20:] = (X[:, 20:] > 1.5) * 2
    noise = rng.normal(size=n + TESTED)
    y = np.sin(X[:, 0] * 2) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.7 * noise > 0
    return Task(X[:n], y[:n].astype(int), X[n:])


def forest(n: int) -> Task:
    """Lodgepole pine against the other covers of forest-part, features standardised."""
    known = load("forest-part")
    chosen = np.random.default_rng(0).choice(len(known.X_train), n + TESTED, replace=False)
    return _parted(_standard(known.X_train[chosen]), known.y_train[chosen] == 2, n)


def showers(n: int) -> Task:
    """A made-up table in the manner of the MAGIC gamma telescope, 19,020 x 10: measures of a shower's picture, skewed
    and correlated, two thirds of them of gamma rays (narrow), the others of hadrons (broad, of any direction)."""
    rng = np.random.default_rng(0)
    y = rng.random(n + TESTED) < 0.65
    broad = np.where(y, 1.0, 1.6)
    size, width, slant, light, turn = rng.standard_normal((5, len(y)))
    length = 0.7 * size + 0.5 * broad * light + 0.4 * ~y
    width = 0.6 * size + 0.5 * broad * width + 0.3 * ~y
    turn = np.where(y, np.abs(turn) * 0.35, rng.random(len(y)) * 1.6)  # radians away from the source
    columns = [np.exp(length), np.exp(width), size, -0.6 * size + 0.5 * rng.standard_normal(len(y))]
    columns.append(columns[-1] + 0.15 * rng.standard_normal(len(y)))
    columns += [broad * skew * np.exp(0.5 * length) for skew in (slant, *rng.standard_normal((2, len(y))))]
    columns += [np.minimum(turn, 1.6), np.abs(2 + size + 0.7 * broad * rng.standard_normal(len(y)))]
    return _parted(_standard(np.stack(columns, 1)), y, n)


def letters(n: int) -> Task:
    """A made-up table in the manner of the letter images, 20,000 x 16 whole numbers from 0 to 15: the first half of 26
    letters against the other, each letter in four typefaces."""
    rng = np.random.default_rng(0)
    letter, face = rng.integers(0, 26, n + TESTED), rng.integers(0, 4, n + TESTED)
    centres = rng.normal(7, 1.5, (26, 1, 16)) + rng.normal(0, 1.3, (26, 4, 16))
    X = centres[letter, face] + rng.normal(0, 1.6, (n + TESTED, 16))
    return _parted(_standard(np.clip(np.rint(X), 0, 15)), letter < 13, n)


def words(n: int) -> Task:
    """A made-up table in the manner of the web pages of w8a, 49,749 x 300 of 0 and 1, a dozen of them 1: a page has one
    of 40 subjects with words of its own; of two subjects, 3 % of the pages, most are positive."""
    rng = np.random.default_rng(0)
    subject = rng.choice(40, n + TESTED, p=np.append(np.full(38, 0.96 / 38), [0.02, 0.02]))
    common = 2.2 / (3 + np.arange(300)) ** 0.9
    own = np.where(rng.random((40, 300)) < 0.06, rng.random((40, 300)), 0)
    long = rng.lognormal(0, 0.5, n + TESTED)
    chance = np.minimum(long[:, None] * (0.35 * common + 0.65 * own[subject]), 0.95)
    y = np.where(subject >= 38, rng.random(n + TESTED) < 0.75, rng.random(n + TESTED) < 0.004)
    return _parted(np.float32(rng.random(chance.shape) < chance), y, n)


def gradients(n: int = 60000) -> Task:
    """Directions of gradients of n MNIST digits, ten classes: 8 directions in 7 x 7 smoothed cells, their square roots
    scaled to unit length (392 features, none negative, few zero).

    Source: Liu, Nakashima, Sako and Fujisawa (2003), Handwritten digit recognition; Dalal and Triggs (2005).
    """
    mnist = load("mnist")
    chosen = np.sort(np.random.default_rng(0).choice(len(mnist.X_train), n, replace=False))
    pixels = np.concatenate([mnist.X_train[chosen], mnist.X_test]).reshape(-1, *SHAPE).astype(np.float32)
    steps = range(0, len(pixels), TESTED)
    X = np.concatenate([_directions(pixels[at : at + TESTED] / np.float32(255)) for at in steps])
    return Task(X[:n], mnist.y_train[chosen], X[n:])


def faces(n: int) -> Task:
    """n windows (283 features) drawn from `face-windows`, masked, less the brightness plane, equalised."""
    known = load("face-windows")
    chosen = np.sort(np.random.default_rng(0).choice(len(known.X_train), n, replace=False))
    y, x = np.mgrid[:FACE, :FACE] - FACE // 2
    oval = (y / 1.08) ** 2 + x**2
    mask = oval <= np.sort(oval, axis=None)[282]
    V = known.X_train[chosen].astype(np.float32)[:, mask][:, :283]
    plane = np.linalg.qr(np.stack([np.ones(283), y[mask][:283], x[mask][:283]], 1))[0].astype(np.float32)
    V -= (V @ plane) @ plane.T
    rank = V.argsort(1, kind="stable").argsort(1, kind="stable").astype(np.float32)
    X = _unit(rank)
    return Task(X, known.y_train[chosen], X[:TESTED])


def volcanoes(n: int) -> Task:
    """n chips (225 features) of mean 0 and length 1 from the radar images: every label and its eight neighbours by one
    pixel are positive; the others are windows at random, half of them those most like a volcano."""
    folder = next((m / "volcanoes" for m in places.mirrors() if (m / "volcanoes").is_dir()), None)
    if folder is None:
        raise NotAtHand("volcanoes/Images is in no folder of SVMLAB_DATA")
    rng, positive, negative = np.random.default_rng(0), [], []
    for sdt in sorted((folder / "Images").glob("img*.sdt")):
        image = jartool.read_image(sdt, sdt.with_suffix(".spr")).astype(np.float32)
        image = image.reshape(512, 2, 512, 2).mean((1, 3))
        views = np.lib.stride_tricks.sliding_window_view(image, (SIDE, SIDE))
        truth = jartool.read_truth(folder / "GroundTruths" / f"{sdt.stem}.lxyr")
        for _, x, y, _ in np.atleast_2d(truth) if truth.size else ():
            at = np.array([y, x]) // 2 - SIDE // 2
            around = (at[:, None] + np.mgrid[-1:2, -1:2].reshape(2, -1)).astype(int)
            inside = ((around >= 0) & (around < len(views))).all(0)
            positive.append(views[around[0, inside], around[1, inside]])
        negative.append(views[tuple(rng.integers(0, len(views), (2, 6000)))])
    positive, negative = (_unit(np.concatenate(some).reshape(-1, SIDE * SIDE)) for some in (positive, negative))
    alike = np.argsort(-(negative @ positive.mean(0)), kind="stable")
    positive = positive[rng.permutation(len(positive))[: n // 5]]
    hard, wanted = alike[: (n - len(positive)) // 2], n - len(positive)
    others = rng.permutation(np.setdiff1d(alike, hard))[: wanted - len(hard)]
    X = np.concatenate([positive, negative[hard], negative[others]])
    order = rng.permutation(len(X))
    return Task(X[order], np.where(np.arange(len(X)) < len(positive), 1, -1)[order], X[:TESTED])


def _directions(images: np.ndarray, cells: int = 7, directions: int = 8) -> np.ndarray:
    """(n, h, w) in 0..1 -> (n, cells * cells * directions) float32 of unit length."""
    images = ndimage.gaussian_filter(np.pad(images, ((0, 0), (4, 4), (4, 4))), (0, 0.6, 0.6))
    dx, dy = (
        ndimage.correlate1d(ndimage.correlate1d(images, (-1, 0, 1), along), (1, 2, 1), across)
        for along, across in ((2, 1), (1, 2))
    )
    size, turn = np.hypot(dx, dy), (np.arctan2(dy, dx) / (2 * np.pi) * directions) % directions
    side = images.shape[1]
    centres = (np.arange(cells) + 0.5) * side / cells - 0.5
    near = np.exp(-((np.arange(side) - centres[:, None]) ** 2) / (2 * (0.45 * side / cells) ** 2)).astype(np.float32)
    near /= near.sum(1, keepdims=True)
    away = [np.abs((turn - k + directions / 2) % directions - directions / 2) for k in range(directions)]
    planes = [near @ (size * np.maximum(1 - apart, 0)) @ near.T for apart in away]
    X = np.sqrt(np.stack(planes, -1).reshape(len(images), -1))
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)


def _standard(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and deviation 1, float32."""
    return np.ascontiguousarray((X - X.mean(0)) / np.maximum(X.std(0), 1e-6), np.float32)


def _parted(X: np.ndarray, y: np.ndarray, n: int) -> Task:
    """The first n rows train, the others test."""
    return Task(X[:n], y[:n].astype(int), X[n:])


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows of mean 0 and length 1, float32."""
    rows = rows - rows.mean(1, keepdims=True)
    return np.ascontiguousarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6), np.float32)
