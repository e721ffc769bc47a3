"""What a linear machine does to two clouds of points, as geometry: convex hulls, and other lines that separate them.

Hard margin: the boundary halves the shortest segment between the convex hulls of the classes, at right angles.
Soft margin: the same normal w, between reduced convex hulls, in which no example has more than the weight mu:

    hull(X, mu) = { sum_i l_i x_i :  sum_i l_i = 1,  0 <= l_i <= mu }          mu = 1: the convex hull
    nearest points   z+ = sum_+ alpha_i x_i / S,   z- likewise;   S = sum_+ alpha_i = sum_- alpha_i,   mu = C / S
    w = S (z+ - z-)

References: Bennett and Bredensteiner, ICML (2000); Crisp and Burges, NIPS 12 (2000). Perceptron: Rosenblatt (1958);
Novikoff (1962): at most (R / margin)^2 corrections.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

MAX_CORRECTIONS = 20_000
TOUCHES = 1e-9  # of a weight


class Nearest(NamedTuple):
    """The nearest points of two (reduced) hulls, as the alphas of a machine give them."""

    ends: np.ndarray  # (2, d) float64: z of the class +1, z of the class -1
    mu: float  # largest weight of an example; 1 where no alpha is bounded


def nearest(X, y, alpha, bound, C: float) -> Nearest:
    """Of X (n, d), y (n,) in {-1, +1}, alpha (n,), bound (n,) bool. ValueError where a class has no alpha above 0."""
    X, sums = np.asarray(X, np.float64), [float(alpha[y == sign].sum()) for sign in (1, -1)]
    if min(sums) <= 0:
        raise ValueError("a class has no support vectors")
    ends = np.array([alpha[y == sign] @ X[y == sign] / total for sign, total in zip((1, -1), sums, strict=True)])
    return Nearest(ends, min(1.0, C / min(sums)) if np.any(bound) else 1.0)


def reduced_hull(X, mu: float) -> np.ndarray:
    """(k, 2) float64, the corners of hull(X, mu) of X (n, 2), counterclockwise. ValueError where n mu < 1: it is empty.

    In the direction u its furthest point gives the weight mu to the examples furthest along u, so corners change only
    where two examples lie equally far along u.
    """
    X = np.unique(np.asarray(X, np.float64), axis=0) if mu >= 1 else np.asarray(X, np.float64)
    n = len(X)
    if n * mu < 1 - TOUCHES:
        raise ValueError(f"mu = {mu:g}: weights of at most mu for {n} examples cannot sum to 1; allowed: from 1 / {n}")
    i, j = np.triu_indices(n, 1)
    apart = X[i] - X[j]
    apart = apart[np.any(apart != 0, axis=1)]
    turns = np.arctan2(apart[:, 0], -apart[:, 1]) % np.pi
    angles = np.unique(np.concatenate([turns, turns + np.pi]))
    if not len(angles):
        return X[:1]
    between = (angles + np.diff(angles, append=angles[0] + 2 * np.pi) / 2)[:, None]
    weights = np.clip(1 - mu * np.arange(n), 0, mu)
    order = np.argsort(-(np.cos(between) * X[:, 0] + np.sin(between) * X[:, 1]), axis=1)
    corners = weights @ X[order]
    kept = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1) > TOUCHES
    return corners[kept] if kept.any() else corners[:1]


def separable(X, y) -> bool:
    """Whether a hyperplane separates X (n, d) with y (n,) in {-1, +1}: y (w.x + b) >= 1 has a solution."""
    rows = -np.asarray(y, np.float64)[:, None] * np.hstack([np.asarray(X, np.float64), np.ones((len(X), 1))])
    none = np.zeros(rows.shape[1])
    return linprog(none, rows, -np.ones(len(rows)), bounds=(None, None), method="highs").status == 0


def perceptrons(X, y, how_many: int, seed: int = 0) -> list[np.ndarray]:
    """Lines (w, b), each (d + 1,) with |w| = 1, at which perceptrons stop that start at random and separate X (n, d).

    Fewer than `how_many` where one needs more than MAX_CORRECTIONS; none where nothing separates.
    """
    if not separable(X, y):
        return []
    rng, Z = np.random.default_rng(seed), np.hstack([np.asarray(X, np.float64), np.ones((len(X), 1))])
    Z *= np.asarray(y, np.float64)[:, None]
    found = []
    for _ in range(how_many):
        line = 3 * rng.standard_normal(Z.shape[1])
        for _ in range(MAX_CORRECTIONS):
            wrong = np.flatnonzero(Z @ line <= 0)
            if not len(wrong):
                found.append(line / np.linalg.norm(line[:-1]))
                break
            line = line + Z[rng.choice(wrong)]
    return found


def margin(X, y, line) -> float:
    """The distance of the line (w, b), |w| = 1, to the nearest of X (n, d); negative if that is misclassified."""
    return float((np.asarray(y) * (np.asarray(X, np.float64) @ line[:-1] + line[-1])).min())
