"""Small synthetic problems of two or three classes in the plane, each with a known invariance, for the Playground.

    PROBLEMS[name].sample(seed) -> X (60, 2) float32 in [-1, 1]^2, y (60,) int64: keys of COLOURS
    PROBLEMS[name].fresh(n, seed) -> the same from the whole domain of the rule, not only the part in the sample

    shift      the rule is the sign of x2. The sample has blue only on the left and orange only on the right, so that
               the maximum-margin line is oblique: DeCoste and Schölkopf, Machine Learning 46 (2002), Figure 1
    turn       the rule is a circle about the centre; the sample has blue in one direction and orange in another
    xor        the rule is the sign of x1 x2, invariant to half a turn; the sample lies mostly in two of the quadrants
    banana     a bent band below a cloud, invariant to reflection; the sample has one half of the band
    question   two clouds and a point "?" equally far from both. It has the height of the blue cloud and the distance of
               the orange cloud from the centre: shifts along x1 move blue points to it, rotations orange points
    rings      three classes, a disc and two rings around it; the sample has each of them in one direction alone
    own        nothing: the reader draws the points, of two classes or three

The two clouds of "question" are mirror images of each other in the line through the "?".
"""

import tomllib
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

N = 60
COLOURS = MappingProxyType({1: "blue", -1: "orange", 2: "green"})  # of classes; a problem of two has the first two
RADIUS = 0.62  # of the circle that is the rule of "turn"
GAP = 0.08  # half the width of the empty band around a rule
EDGE = 0.97  # limit of the coordinates of a sample
BLUE_AT, ORANGE_AT = (0.0, 0.46), (0.8, 0.0)  # the clouds of "question"
BETWEEN = (0.36, 0.68)  # radii of the circles that are the rule of "rings"
ALONG = 0.34  # from the midpoint of the clouds to the "?", on their perpendicular bisector


class Plane(NamedTuple):
    """A problem. make(n, rng, narrow) draws from the part that a sample shows, or from the whole domain of the rule;
    None for a problem without a sample.

    kernel, gamma: values that separate it well; jitter, amounts: the invariance (svmcore.jitter.PointJitters);
    law: the rule as a line (m, 2) to draw, or (); classes: how many the points may have.
    """

    name: str
    title: str
    says: str
    make: Callable | None
    kernel: str  # initial value, as in the address
    gamma: float
    jitter: str
    amounts: tuple[float, ...] = ()
    law: tuple = ()
    question: tuple[float, float] | None = None
    classes: int = 2

    @property
    def colours(self) -> dict[int, str]:
        """Those of COLOURS that its points may have."""
        return dict(list(COLOURS.items())[: self.classes])

    def sample(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The training points of this seed."""
        if self.make is None:
            return np.zeros((0, 2), np.float32), np.zeros(0, np.int64)
        return _finished(*self.make(N, np.random.default_rng(seed), True))

    def fresh(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """n other points, from the whole domain of the rule."""
        return _finished(*self.make(n, np.random.default_rng([seed, 1]), False))


def _between(blue, orange, along: float) -> tuple[float, float]:
    """The point at the distance `along` from the midpoint of two clouds, perpendicular to the line between them."""
    blue, orange = np.array(blue), np.array(orange)
    direction = (orange - blue) / np.linalg.norm(orange - blue)
    x1, x2 = (blue + orange) / 2 + along * np.array([-direction[1], direction[0]])
    return float(x1), float(x2)


def _finished(X, y):
    return np.clip(X, -EDGE, EDGE).astype(np.float32), y.astype(np.int64)


def _labels(n: int) -> np.ndarray:
    return np.where(np.arange(n) % 2, -1, 1)


def _shift(n, rng, narrow):
    y = _labels(n)
    x1 = np.where(y > 0, rng.uniform(-0.95, -0.15, n), rng.uniform(0.15, 0.95, n))
    if not narrow:
        x1 = rng.uniform(-0.95, 0.95, n)
    return np.column_stack([x1, y * rng.uniform(GAP, 0.7, n)]), y


def _turn(n, rng, narrow):
    y = _labels(n)
    angle = np.radians(np.where(y > 0, rng.uniform(60, 150, n), rng.uniform(-75, 15, n)))
    if not narrow:
        angle = rng.uniform(0, 2 * np.pi, n)
    inner, outer = rng.uniform(0.15, RADIUS - GAP, n), rng.uniform(RADIUS + GAP, 0.95, n)
    radius = np.where(y > 0, inner, outer)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def _xor(n, rng, narrow):
    y = _labels(n)
    X = rng.uniform(GAP, 0.9, (n, 2))
    X[:, 1] *= y
    half_turn = rng.random(n) < (0.1 if narrow else 0.5)
    return np.where(half_turn[:, None], -X, X), y


def _banana(n, rng, narrow):
    y = _labels(n)
    bend = rng.uniform(-0.15 if narrow else -1, 1, n)
    band = np.column_stack([0.8 * bend, 0.95 * bend**2 - 0.6])
    cloud = np.column_stack([0.25 * rng.uniform(-1, 1, n), np.full(n, 0.3)])
    return np.where(y[:, None] > 0, cloud, band) + 0.1 * rng.standard_normal((n, 2)), y


def _question(n, rng, narrow):
    y = _labels(n)
    return np.where(y[:, None] > 0, BLUE_AT, ORANGE_AT) + 0.09 * rng.standard_normal((n, 2)), y


def _rings(n, rng, narrow):
    kind = np.arange(n) % 3
    bounds = np.array([0.05, BETWEEN[0] - GAP, BETWEEN[0] + GAP, BETWEEN[1] - GAP, BETWEEN[1] + GAP, EDGE])
    radius = rng.uniform(bounds[2 * kind], bounds[2 * kind + 1])
    angle = np.radians(rng.uniform(50, 130, n) + 120 * kind if narrow else rng.uniform(0, 360, n))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), np.array(list(COLOURS))[kind]


def _circle(radius: float) -> tuple:
    angles = np.radians(np.arange(0, 361, 5))
    return tuple(zip((radius * np.cos(angles)).tolist(), (radius * np.sin(angles)).tolist(), strict=True))


_DRAWN_BY = {
    "shift": _shift, "turn": _turn, "xor": _xor, "banana": _banana, "question": _question, "rings": _rings, "own": None,
}  # fmt: skip
_LAWS = {  # problem -> its rule as a line
    "shift": ((-1.0, 0.0), (1.0, 0.0)),
    "turn": _circle(RADIUS),
    "xor": ((-1.0, 0.0), (1.0, 0.0), (None, None), (0.0, -1.0), (0.0, 1.0)),
    "rings": (*_circle(BETWEEN[0]), (None, None), *_circle(BETWEEN[1])),
}
_ASKED = {"question": _between(BLUE_AT, ORANGE_AT, ALONG)}


def _problem(name: str, amounts=(), **fields) -> Plane:
    made = {"make": _DRAWN_BY[name], "law": _LAWS.get(name, ()), "question": _ASKED.get(name)}
    return Plane(name, amounts=tuple(amounts), **made, **fields)


_DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PROBLEMS = {name: _problem(name, **fields) for name, fields in _DECLARED.items()}
MOVES = {  # kind of jitter -> amounts, for problems without their own
    "shift": (-0.6, -0.3, 0.3, 0.6),
    "turn": (-60.0, -40.0, -20.0, 20.0, 40.0, 60.0),
    "mirror": (),
}
