"""What a large margin is in the plane, in two pictures.

    spheres    |w| <= A keeps a canonical plane, min_i |w.x_i + b| = 1, at least 1 / A away from every example
    hulls      2 / |w| = |p - q|, the nearest points of the convex hulls of both classes:
               p = sum_{y_i > 0} alpha_i x_i / S,   q = sum_{y_i < 0} alpha_i x_i / S,   S = sum_{y_i > 0} alpha_i

Osuna, Freund and Girosi (1997), sections 2.1 and 2.4.
"""

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from scipy.spatial import ConvexHull

from pages.ui.figures.frame import bare, side_by_side, worded
from pages.ui.figures.traces import dots, line
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from svmcore import SVC

POINTS_EACH, SEED, HARD = 9, 4, 1e6
CENTRES = np.array([[1.5, 0.9], [-1.5, -0.9]])


class Widest(NamedTuple):
    """The widest margin between points: its line w.x + b = 0, and the nearest points of the hulls."""

    w: np.ndarray
    b: float
    p: np.ndarray
    q: np.ndarray


def points() -> tuple[np.ndarray, np.ndarray]:
    """X (n, 2) float32 of two classes that a line separates, y (n,) +1 and -1; synthetic."""
    rng = np.random.default_rng(SEED)
    X = np.concatenate([centre + 0.75 * rng.normal(size=(POINTS_EACH, 2)) for centre in CENTRES])
    return X.astype(np.float32), np.repeat([1, -1], POINTS_EACH)


def widest(X: np.ndarray, y: np.ndarray) -> Widest:
    """The widest margin of classes that a line separates."""
    machine = SVC("linear", C=HARD, tol=1e-6).fit(X, y)
    coef, vectors = machine.dual_coef_[0], machine.support_vectors_
    p, q = (side @ vectors / side.sum() for side in (np.maximum(coef, 0), np.maximum(-coef, 0)))
    return Widest(machine.coef_[0], float(machine.intercept_[0]), p, q)


def draw() -> None:
    """Both pictures, side by side where there is room."""
    X, y = points()
    found = widest(X, y)
    side_by_side({"geometry_spheres": _spheres(X, y, found), "geometry_hulls": _hulls(X, y, found)}, 2, 320)
    st.caption("Synthetic points.")


def _spheres(X, y, found: Widest) -> go.Figure:
    figure, radius = _plane(X, y, found), 1 / np.linalg.norm(found.w)
    for x1, x2 in X.tolist():
        figure.add_shape(
            type="circle", x0=x1 - radius, x1=x1 + radius, y0=x2 - radius, y1=x2 + radius, layer="below",
            line={"color": GREY, "width": 1, "dash": "dot"},
        )  # fmt: skip
    return worded(
        figure,
        f"{len(X)} points of two classes, a circle of radius {radius:.2f} about each, and the line that touches "
        "circles of both classes and cuts none.",
        f"A canonical line with |w| at most A = {1 / radius:.2f} stays 1 / A = {radius:.2f} away from every point. "
        "Only one way leads between these circles. A larger A makes the circles smaller and allows more lines.",
    )


def _hulls(X, y, found: Widest) -> go.Figure:
    figure = _plane(X, y, found)
    for sign, colour in ((1, BLUE), (-1, ORANGE)):
        own = X[y == sign]
        corners = own[ConvexHull(own).vertices]
        line(figure, *np.concatenate([corners, corners[:1]]).T, colour, width=1.5)
    apart, nearest = np.linalg.norm(found.p - found.q), {"symbol": "x", "size": 9, "color": GREY}
    line(figure, *np.array([found.p, found.q]).T, GREY, width=2, dash="dash", points=True, marker=nearest)
    return worded(
        figure,
        f"The convex hulls of both classes, their nearest points {apart:.2f} apart, and the line midway between them.",
        f"The nearest points of the two hulls are {apart:.2f} apart, which is 2 / |w|. The line lies midway between "
        "them, perpendicular to the segment that joins them. Each point is the alpha-weighted mean of its class's "
        "support vectors.",
    )


def _plane(X, y, found: Widest) -> go.Figure:
    figure = bare("x₁", "x₂", height=320, hovermode="closest")
    low, high = X.min(0) - 1, X.max(0) + 1
    ends = np.array([low[1], high[1]])
    line(figure, -(found.b + found.w[1] * ends) / found.w[0], ends, GREY, width=2)
    for sign, colour in ((1, BLUE), (-1, ORANGE)):
        dots(figure, *X[y == sign].T, {"color": colour, "size": 9})
    figure.update_xaxes(range=[low[0], high[0]], zeroline=False)
    figure.update_yaxes(range=[low[1], high[1]], zeroline=False, scaleanchor="x")
    return figure
