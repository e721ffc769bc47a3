"""Support vectors push the decision plane, and it stays where it is: forces and torques in two pictures.

Left, the Playground's first machine with its forces in the plane; right, a machine of digits, whose forces and torques
are summed up one support vector after another. Burges and Schölkopf (1997), section 2.
"""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from data import load
from pages.ui.figures.frame import bare, side_by_side, worded
from pages.ui.figures.traces import dots, line
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from pages.ui.kit.text import with_sign
from pages.ui.play.setting import FIRST_PROBLEM, of_problem, points
from svmcore import SVC
from svmcore.explain.balance import Balance, balance
from svmcore.kernels import Poly
from svmcore.model import Machine
from svmcore.preprocess import Preprocessor

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


def draw() -> None:
    """Both pictures, side by side where there is room."""
    side_by_side({"forces_plane": _plane(*in_the_plane()), "forces_digits": _summed(of_digits())}, 2, 320)
    st.caption(
        "Support vector i pushes with the force alpha towards its own class, perpendicular to the sheet. Its torque is "
        "taken about the origin. For the digits, the sheet lies in the feature space of the kernel."
    )


def _plane(X, y, machine: Machine) -> go.Figure:
    w, b = machine.coef[0] @ machine.support_vectors, machine.bias[0]
    figure, found, u = bare("x₁", "x₂", height=320, hovermode="closest"), balance(machine), w / np.linalg.norm(w)
    ends = np.array([-1.0, 1.0]) * 1.2
    line(figure, -(b * u / np.linalg.norm(w))[0] - ends * u[1], -(b * u / np.linalg.norm(w))[1] + ends * u[0], GREY)
    for sign, colour in ((1, BLUE), (-1, ORANGE)):
        dots(figure, *X[y == sign].T, {"color": colour, "size": 7, "opacity": 0.5})
    for row, force in zip(found.row, found.force, strict=True):
        at = machine.support_vectors[row]
        to = at + LONGEST * force / np.abs(found.force).max() * u
        figure.add_annotation(
            x=to[0], y=to[1], ax=at[0], ay=at[1], xref="x", yref="y", axref="x", ayref="y", text="", showarrow=True,
            arrowhead=2, arrowwidth=2, arrowcolor=BLUE if force > 0 else ORANGE,
        )  # fmt: skip
    figure.update_xaxes(range=[-1.1, 1.1], zeroline=False)
    figure.update_yaxes(range=[-1.1, 1.1], zeroline=False, scaleanchor="x")
    forces = " and ".join(map(with_sign, found.force))
    forces = forces if len(found.force) == 2 else f"of {len(found.force)} support vectors"
    left = found.left
    return worded(
        figure,
        f"{len(X)} synthetic points, the decision line, and an arrow from each support vector: forces {forces}.",
        f"The Playground's first machine. Its forces sum to {found.force_sum[-1]:.1g} and its torques to "
        f"{found.torque_sum[-1]:.1g}, {_share(left[0])} and {_share(left[1])} of the sums of their sizes.",
    )


def _summed(found: Balance) -> go.Figure:
    figure = bare(
        "support vectors, first those of one class, then those of the other",
        "size of the sum so far",
        height=320,
        margin_r=70,
    )
    at = np.arange(1, len(found.row) + 1)
    lines = {"forces": (found.force_sum, BLUE), "torques": (found.torque_sum, ORANGE)}
    for name, (summed, colour) in lines.items():
        line(figure, at, summed, colour, f"%{{x}} vectors: %{{y:.3g}} ({name})")
    top = {name: int(summed.argmax()) for name, (summed, _) in lines.items()}
    for name, (summed, colour) in lines.items():
        figure.add_annotation(
            x=at[top[name]], y=summed[top[name]], text=name, font={"color": colour}, showarrow=False, yshift=10
        )
    left = found.left
    return worded(
        figure,
        f"Sizes of the summed forces and torques of {len(at)} support vectors, which end at 0.",
        f"{' and '.join(map(str, DIGITS))}, degree 9: {len(at)} support vectors. With the last of them, "
        f"{_share(left[0])} of all forces is left, and {_share(left[1])} of all torques.",
    )


def _share(left: float) -> str:
    return f"{100 * left:.1g} %" if left > 1e-9 else "nothing"
