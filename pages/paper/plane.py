"""What a machine is in the plane, in pictures.

    invariance  Figure 1: a line learned from a few points, and again with their shifted copies (virtual SVs); the
                classes are invariant under shifts along x1, so that the true boundary is a level line
    spheres     |w| <= A keeps a canonical plane, min_i |w.x_i + b| = 1, at least 1 / A away from every example
    hulls       2 / |w| = |p - q|, the nearest points of the convex hulls of both classes:
                p = sum_{y_i > 0} alpha_i x_i / S,   q = sum_{y_i < 0} alpha_i x_i / S,   S = sum_{y_i > 0} alpha_i
    forces      support vectors push the decision plane, and it stays where it is; those of digits are summed up one
                after another

DeCoste and Schölkopf (2002), Figure 1; Osuna, Freund and Girosi (1997), sections 2.1 and 2.4; Burges and Schölkopf
(1997), section 2.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from scipy.spatial import ConvexHull

from data import load
from pages.ui.figures.frame import bare, side_by_side, worded
from pages.ui.figures.traces import dots, line, note
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from pages.ui.kit.text import with_sign
from pages.ui.play.setting import FIRST_PROBLEM, of_problem, points
from svmcore import SVC
from svmcore.explain.balance import Balance, balance
from svmcore.kernels import Poly
from svmcore.model import Machine
from svmcore.preprocess import Preprocessor

SIDES = ((1, BLUE), (-1, ORANGE))
Plane = tuple[float, float, float]  # w1, w2, b of w.x + b = 0


def _drawn(
    X: np.ndarray, y: np.ndarray, lines: Iterable[Plane], low, high, *, margins: bool = False, level: bool = True,
    x_title: str = "x₁", height: int = 320, **look,
) -> go.Figure:  # fmt: skip
    """Points X (n, 2) of classes y = +-1 with lines, from corner to corner of the plane; margins: of the lines; level:
    one unit is as long along both axes."""
    figure, reach = bare(x_title, "x₂", height=height, hovermode="closest"), np.hypot(*np.subtract(high, low))
    for w1, w2, b in lines:
        w = np.array([w1, w2]) / (length := np.hypot(w1, w2))
        for at, dash, width in ((-1, "dot", 1), (0, "solid", 2), (1, "dot", 1)) if margins else ((0, "solid", 1.5),):
            ends = (at - b) / length * w + np.outer([-reach, reach], [-w[1], w[0]])
            line(figure, *ends.T, GREY, dash=dash, width=width)
    for sign, colour in SIDES:
        dots(figure, *X[y == sign].T, {"color": colour, "size": 9} | look)
    figure.update_xaxes(range=[low[0], high[0]], zeroline=False)
    return figure.update_yaxes(range=[low[1], high[1]], zeroline=False, scaleanchor="x" if level else None)


# Figure 1: the truth, lines that separate, the largest margin from the points alone, and with virtual SVs

POINTS = np.array([[-2.4, 0.6], [-1.2, 2.4], [-2.8, 2.0], [2.4, -0.6], [1.2, -2.4], [2.8, -2.0]], np.float32)
LABELS = np.array([1, 1, 1, -1, -1, -1])
SHIFTS = (-4, -3, -2, -1, 1, 2, 3, 4)  # along x1
ASKED_AT = 2.0  # x1 of the question mark
MANY = 5  # lines that separate


def invariance() -> None:
    plain, virtual, copies = _learned()
    leans = [abs(float(np.degrees(np.arctan(-w1 / w2)))) for w1, w2, _ in (plain, virtual)]
    panels = {
        "figure1_truth": _panel(
            [], "Two classes of three points in the plane, above and below a level true boundary.",
            "The true boundary is level: x₁ makes no difference. A machine sees only the six points.",
        ),
        "figure1_many": _panel(
            _separating(), "The same points with five lines that separate them, at various slopes.",
            "Many lines separate the two classes.",
        ),
        "figure1_margin": _panel(
            [plain],
            f"The line of largest margin leans by {leans[0]:.0f} degrees; a question mark lies between this line and "
            "the true boundary.",
            f"Only one line has the largest margin. It leans by {leans[0]:.0f} degrees and misclassifies the "
            "question mark.", asked=plain,
        ),
        "figure1_virtual": _panel(
            [virtual], f"With {len(copies)} shifted copies of the support vectors the line leans by {leans[1]:.0f} "
            "degrees.",
            f"Trained with {len(copies)} shifted copies of its support vectors as well, the line leans by "
            f"{leans[1]:.0f} degrees and classifies the question mark correctly.", asked=plain, copies=copies,
        ),
    }  # fmt: skip
    side_by_side(panels, 2, 320)


def _panel(lines, alt: str, see: str, asked: Plane | None = None, copies: np.ndarray | None = None) -> go.Figure:
    """asked: of a line, halfway between which and the truth stands the question mark."""
    figure = _drawn(
        POINTS, LABELS, lines, (-4.5, -3), (4.5, 3), margins=asked is not None, level=False, height=300, size=11,
        x_title="x₁: makes no difference to the class",
    )  # fmt: skip
    figure.add_hline(y=0, line={"dash": "dash", "color": GREY, "width": 1}, annotation_text="true boundary")
    if copies is not None:
        dots(figure, *copies.T, {"symbol": "circle-open-dot", "size": 9, "color": GREY})
    if asked:
        w1, w2, b = asked
        note(figure, ASKED_AT, -(b + w1 * ASKED_AT) / w2 / 2, "<b>?</b>", font_size=22)
    return worded(figure, alt, see)


def _separating() -> list[Plane]:
    """Lines of different slopes, each midway between the classes."""
    found = []
    for angle in np.radians(np.arange(1, 180)):
        f = POINTS @ (w := np.array([np.cos(angle), np.sin(angle)]))
        low, high = f[LABELS > 0].min(), f[LABELS < 0].max()
        if low > high:
            found.append((*w, -(low + high) / 2))
    return [found[len(found) * (2 * k + 1) // (2 * MANY)] for k in range(MANY)]


@st.cache_data(show_spinner="Training without and with virtual SVs")
def _learned() -> tuple[Plane, Plane, np.ndarray]:
    """The line from the points, that from the support vectors with their shifts, and these shifts (m, 2)."""
    first = SVC("linear", C=1e3).fit(POINTS, LABELS)
    copies = np.concatenate([POINTS[first.support_] + np.array([dx, 0], np.float32) for dx in SHIFTS])
    X = np.concatenate([POINTS[first.support_], copies])
    second = SVC("linear", C=1e3).fit(X, np.tile(LABELS[first.support_], 1 + len(SHIFTS)))
    plain, virtual = ((*machine.coef_[0], machine.intercept_[0]) for machine in (first, second))
    return plain, virtual, copies


# Spheres that planes avoid, and convex hulls

POINTS_EACH, SEED, HARD = 9, 4, 1e6
CENTRES = np.array([[1.5, 0.9], [-1.5, -0.9]])


class Widest(NamedTuple):
    """The widest margin between points: its line w.x + b = 0, and the nearest points of the hulls."""

    w: np.ndarray
    b: float
    p: np.ndarray
    q: np.ndarray


def clouds() -> tuple[np.ndarray, np.ndarray]:
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


def geometry() -> None:
    X, y = clouds()
    found = widest(X, y)
    figures = [_drawn(X, y, [(*found.w, found.b)], X.min(0) - 1, X.max(0) + 1) for _ in range(2)]
    spheres, hulls = _spheres(figures[0], X, found), _hulls(figures[1], X, y, found)
    side_by_side({"geometry_spheres": spheres, "geometry_hulls": hulls}, 2, 320)
    st.caption("The points are synthetic.")


def _spheres(figure: go.Figure, X, found: Widest) -> go.Figure:
    radius = 1 / np.linalg.norm(found.w)
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
        "Only one such line passes between these circles. A larger A makes the circles smaller and allows more lines.",
    )


def _hulls(figure: go.Figure, X, y, found: Widest) -> go.Figure:
    for sign, colour in SIDES:
        own = X[y == sign]
        corners = own[ConvexHull(own).vertices]
        line(figure, *np.concatenate([corners, corners[:1]]).T, colour, width=1.5)
    apart, nearest = np.linalg.norm(found.p - found.q), {"symbol": "x", "size": 9, "color": GREY}
    line(figure, *np.array([found.p, found.q]).T, GREY, width=2, dash="dash", points=True, marker=nearest)
    return worded(
        figure,
        f"The convex hulls of both classes, their nearest points {apart:.2f} apart, and the line midway between them.",
        f"The nearest points of the two hulls are {apart:.2f} apart, which is 2 / |w|. The line lies midway between "
        "them, perpendicular to the segment that joins them. Each of these two points is the alpha-weighted mean of "
        "its class's support vectors.",
    )


# Forces and torques

LONGEST = 0.6  # of an arrow, in the plane's units
DIGITS, EACH_OF = (3, 8), 2000


def in_the_plane() -> tuple[np.ndarray, np.ndarray, Machine]:
    """The Playground's first problem: X (n, 2), y (n,), and the machine as its widgets begin."""
    setting = of_problem(FIRST_PROBLEM)
    given = points(setting)
    return given.X, given.y, SVC(setting.kernel, C=setting.C, tol=1e-6).fit(given.X, given.y).machine_


@st.cache_data(show_spinner="Training")
def of_digits() -> Balance:
    """Threes and eights of the first MNIST digits, degree 9."""
    dataset = load("mnist-5k")
    some = np.flatnonzero(np.isin(dataset.y_train, DIGITS))[:EACH_OF]
    X = Preprocessor("unit-norm").transform(dataset.X_train[some].reshape(len(some), -1))
    return balance(SVC(Poly(9, 1.0, 1.0), C=2.0).fit(X, dataset.y_train[some]).machine_)


def forces() -> None:
    side_by_side({"forces_plane": _pushed(*in_the_plane()), "forces_digits": _summed(of_digits())}, 2, 320)
    st.caption(
        "Support vector i pushes the decision plane with the force alpha, towards its own class and perpendicular to "
        "the plane. Its torque is taken about the origin. For the digits, the plane lies in the feature space of the "
        "kernel."
    )


def _pushed(X, y, machine: Machine) -> go.Figure:
    w, found = machine.coef[0] @ machine.support_vectors, balance(machine)
    figure = _drawn(X, y, [(*w, machine.bias[0])], (-1.1, -1.1), (1.1, 1.1), size=7, opacity=0.5)
    for row, force in zip(found.row, found.force, strict=True):
        at = machine.support_vectors[row]
        to = at + LONGEST * force / np.abs(found.force).max() * w / np.linalg.norm(w)
        figure.add_annotation(
            x=to[0], y=to[1], ax=at[0], ay=at[1], xref="x", yref="y", axref="x", ayref="y", text="", showarrow=True,
            arrowhead=2, arrowwidth=2, arrowcolor=BLUE if force > 0 else ORANGE,
        )  # fmt: skip
    forces = " and ".join(map(with_sign, found.force))
    forces = forces if len(found.force) == 2 else f"of {len(found.force)} support vectors"
    left = found.left
    return worded(
        figure,
        f"{len(X)} synthetic points, the decision line, and an arrow from each support vector: forces {forces}.",
        f"This is the Playground's first machine. Its forces sum to {found.force_sum[-1]:.1g}, which is "
        f"{_share(left[0])} of what their sizes add up to. Its torques sum to {found.torque_sum[-1]:.1g}, which is "
        f"{_share(left[1])} of what their sizes add up to.",
    )


def _summed(found: Balance) -> go.Figure:
    x_title = "support vectors, one class after the other"
    figure, at = bare(x_title, "size of the running sum", height=320, margin_r=70), np.arange(1, len(found.row) + 1)
    for name, summed, colour in (("forces", found.force_sum, BLUE), ("torques", found.torque_sum, ORANGE)):
        line(figure, at, summed, colour, f"%{{x}} vectors: %{{y:.3g}} ({name})")
        top = int(summed.argmax())
        note(figure, at[top], summed[top], name, colour, yshift=10)
    left = found.left
    return worded(
        figure,
        f"Sizes of the running sums of forces and torques over {len(at)} support vectors; both end at 0.",
        f"This machine for {' and '.join(map(str, DIGITS))}, degree 9, has {len(at)} support vectors. The sum of all "
        f"forces is {_share(left[0])} of what their sizes add up to. For the torques, this share is {_share(left[1])}.",
    )


def _share(left: float) -> str:
    return f"{100 * left:.1g} %" if left > 1e-9 else "0 %"
