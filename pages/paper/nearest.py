"""Note 3 of Bakir, Bottou and Weston (2004): a Gaussian machine without b becomes the nearest neighbour.

    f(x) = sum_i alpha_i y_i exp(-gamma |x - x_i|^2)        0 <= alpha_i <= C, and no sum that must be 0

Far from every x_i all terms are tiny, but the nearest one is the largest by more and more orders of magnitude. With b
the sign is b's there.
"""

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from data import load
from pages.ui.figures.crossing import Line, growth
from pages.ui.figures.frame import show, worded
from svmcore import SVC

GAMMAS = tuple(float(gamma) for gamma in np.logspace(0, 4, 9))
DIGIT, TRAIN, TESTS, C = 3, 600, 600, 10.0
NAMES = "without b", "with b"


def without_b(K: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    """y_i alpha_i (n,) of the machine without b. K (n, n); y (n,) +1 and -1.

    It is the ordinary machine of each example and its mirror image, -phi(x_i) with the label -y_i, that share C: their
    alphas balance by themselves, and b is 0 by symmetry.
    """
    svc = SVC(kernel="precomputed", C=C / 2).fit(np.block([[K, -K], [-K, K]]), np.concatenate([y, -y]))
    return np.subtract(*np.split(_spread(svc, 2 * len(y)), 2))


def signs(squared: np.ndarray, gamma: float, coef: np.ndarray, b: float = 0.0) -> np.ndarray:
    """Sign of f (m,) at squared distances (m, n), by logarithms: right where every kernel value is below what a number
    can hold."""
    exponents = np.hstack([-gamma * squared, np.zeros((len(squared), 1))])
    return logsumexp(exponents, axis=1, b=np.append(coef, b), return_sign=True)[1]


def agreement(X, y, X_test, gamma: float, C: float) -> tuple[float, float]:
    """The share of X_test (m, d) that the machine without b and the one with it answer as the nearest of X (n, d),
    labels y (n,) +1 and -1."""
    squared = cdist(X_test, X, "sqeuclidean")
    K = np.exp(-gamma * cdist(X, X, "sqeuclidean"))
    svc = SVC(kernel="precomputed", C=C).fit(K, y)
    nearest = y[squared.argmin(axis=1)]
    free = signs(squared, gamma, without_b(K, y, C))
    tied = signs(squared, gamma, _spread(svc, len(y)), float(svc.intercept_[0]))
    return float(np.mean(free == nearest)), float(np.mean(tied == nearest))


def note() -> None:
    """The shares that are answered otherwise, against gamma."""
    show(_figure(_shares()), "nearest")
    st.caption(
        f"The training set is {TRAIN} digits of 8x8 pixels and unit norm: {DIGIT} against the rest, at C = {C:g}. The "
        f"machines classify {TESTS} other digits. Signs are computed with logarithms, because kernel values become too "
        "small for floating-point numbers."
    )


@st.cache_data(show_spinner="Training")
def _shares() -> list[tuple[float, float]]:
    dataset = load("digits-8x8")
    X = dataset.X_train.reshape(len(dataset.X_train), -1).astype(float)[: TRAIN + TESTS]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(dataset.y_train[: TRAIN + TESTS] == DIGIT, 1, -1)
    return [agreement(X[:TRAIN], y[:TRAIN], X[TRAIN:], gamma, C) for gamma in GAMMAS]


def _figure(shares: list[tuple[float, float]]) -> go.Figure:
    lines = {name: Line(GAMMAS, [100 * (1 - one[at]) for one in shares]) for at, name in enumerate(NAMES)}
    span = GAMMAS[0], GAMMAS[-1]
    figure = growth(lines, "gamma", "different predictions, %", per_cent=True, span=span, log_x=True)
    said = "; ".join(f"{name} from {line.ys[0]:.1f} to {line.ys[-1]:.1f} %" for name, line in lines.items())
    return worded(
        figure,
        "Share of predictions that differ from the nearest neighbour's, from the smallest gamma to the largest: "
        f"{said}.",
        "Share of predictions that differ from the nearest neighbour's, from the smallest gamma to the largest: "
        f"{said}. At a large gamma, every prediction without b is the nearest neighbour's. With b, the sign of b then "
        "decides all predictions.",
    )


def _spread(svc: SVC, n: int) -> np.ndarray:
    """y_i alpha_i of every example."""
    coef = np.zeros(n)
    coef[svc.support_] = svc.dual_coef_[0]
    return coef
