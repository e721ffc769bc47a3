"""What can be drawn over the Playground's machine, each as shapes and a sentence: other lines, hulls, forces.

All three are geometry of the plane, so they are drawn for the linear kernel; for the others the feature space has them,
and the sentence says what is known of it.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from data.plane import COLOURS
from pages.ui.kit.text import many, rounded
from pages.ui.play.setting import LAYERS, Setting, points
from pages.ui.play.solve import fitted
from pages.ui.play.solved import Picture, Solved
from svmcore.explain import hulls
from svmcore.explain.balance import Balance, balance

LINES = 6  # others that are drawn
LONGEST = 0.6  # of an arrow, in the plane's units


class Layer(NamedTuple):
    """shapes: JSON for plane.js; says: one sentence or two, with the figures; rows: a table, or none."""

    says: str
    shapes: Mapping = MappingProxyType({})
    rows: Sequence[dict] = ()


NONE = Layer("")


def layer(setting: Setting, picture: Picture) -> Layer:
    """What the setting asks to be drawn over its machine."""
    if setting.layer == "none":
        return NONE
    if len(picture.machines) > 1:
        return Layer(f"*{LAYERS[setting.layer]}* are drawn for one machine only: choose a colour at *Machine of*.")
    (solved,) = picture.machines
    if setting.kernel == "sigmoid":
        return Layer("There is nothing to draw: the sigmoid kernel has no feature space (it is not positive definite).")
    try:
        sums = balance(fitted(setting.still).machine_)
    except ValueError:
        return Layer("The decision value f is the same everywhere: this machine has no line.")
    if setting.layer == "forces":
        return _forces(setting, solved) if setting.kernel == "linear" else _unseen(sums)
    if setting.kernel != "linear":
        what = LAYERS[setting.layer]
        return Layer(f"Choose the kernel *Linear* to see *{what}*: other kernels have them in their feature space.")
    return (_lines if setting.layer == "lines" else _hulls)(setting, solved)


def _trained(setting: Setting, solved: Solved) -> np.ndarray:
    """(m,) bool: the examples of the machine shown; with copies, the support vectors that were copied, and these."""
    if not setting.virtual:
        return np.ones(len(solved.sign), bool)
    mask = solved.copy.copy()
    mask[fitted(setting.still).base_.machine_.support] = True
    return mask


def _lines(setting: Setting, solved: Solved) -> Layer:
    mask = _trained(setting, solved)
    X, y = solved.X[mask], solved.sign[mask]
    others = hulls.perceptrons(X, y, LINES, setting.seed)
    if not others and hulls.separable(X, y):
        return Layer("A straight line separates these points, but no perceptron found one in time: the gap is narrow.")
    if not others:
        return Layer("No straight line separates these points, so there are no other lines to compare with.")
    distances = sorted(hulls.margin(X, y, line) for line in others)
    w = solved.w
    own = hulls.margin(X, y, np.array([*w, solved.bias]) / np.linalg.norm(w))
    wrong = " (a point is on the wrong side)" if own < 0 else ""
    widest = "" if solved.bound.any() else ", the largest possible"
    says = (
        f"{many(len(others), 'perceptron')} started at random. Each stopped at the first line that separates the "
        f"points (dashed). These lines are {rounded(distances[0])} to {rounded(distances[-1])} away from their nearest "
        f"point. For the machine's line this distance is {rounded(own)}{wrong}{widest}."
    )
    return Layer(says, {"lines": [_ends(line) for line in others]})


def _hulls(setting: Setting, solved: Solved) -> Layer:
    mask = _trained(setting, solved)
    X, y = solved.X[mask], solved.sign[mask]
    found = hulls.nearest(X, y, solved.alpha[mask], solved.bound, setting.C)
    corners = (hulls.reduced_hull(X[y == sign], found.mu).tolist() for sign in (1, -1))
    polygons = list(zip(setting.sides, corners, strict=True))
    apart = rounded(float(np.linalg.norm(found.ends[0] - found.ends[1])))
    says = f"The hulls of both sides are {apart} apart at their nearest points (diamonds)."
    if found.mu < 1:
        says = (
            f"The hulls are reduced: no point has more than {100 * found.mu:.2g} % of the weight of its side, so "
            f"single points count less. They are {apart} apart at their nearest points (diamonds)."
        )
    if solved.bound.any():
        says += " The line is at a right angle to the segment between the diamonds."
        says += " With bounded points (alpha = C), the line need not halve this segment."
    else:
        says += " The line halves the segment between the diamonds at a right angle."
    return Layer(says, {"polygons": polygons, "segment": found.ends.tolist()})


def _unseen(sums: Balance) -> Layer:
    return Layer(
        f"{many(len(sums.row), 'support vector')} press on the boundary with their alphas, "
        f"{rounded(float(np.abs(sums.force).sum()))} in all. The boundary is flat only in the kernel's feature space, "
        f"so no arrows are drawn here. The forces add up to {_share(sums.left[0])}, their torques to "
        f"{_share(sums.left[1])}."
    )


def _forces(setting: Setting, solved: Solved) -> Layer:
    at = np.flatnonzero(solved.alpha)
    force = solved.alpha[at] * solved.sign[at]
    X = solved.X[at].astype(np.float64)
    u = solved.w / np.linalg.norm(solved.w)
    torque = force * (X[:, 0] * u[1] - X[:, 1] * u[0])
    arrows = LONGEST * (force / np.abs(force).max())[:, None] * u
    named = zip(solved.parent[at].tolist(), solved.copy[at], strict=True)
    names = [f"{parent}′" if copy else f"{parent}" for parent, copy in named]
    labels = points(setting).y[solved.parent[at]].tolist()
    rows = [
        {"Point": name, "Class": COLOURS[label], "Force": float(f), "Torque": float(t)}
        for name, label, f, t in zip(names, labels, force, torque, strict=True)
    ]
    total = {"Point": "Sum", "Class": "", "Force": _nothing(force), "Torque": _nothing(torque)}
    one, other = setting.sides.values()
    sides = [rounded(float(force[force > 0].sum())), rounded(float(-force[force < 0].sum()))]
    says = (
        f"Each support vector presses on the line with its alpha, at a right angle. The forces are {sides[0]} from "
        f"{one} and {sides[1]} from {other}, so the line does not move. The torques about the centre sum to "
        f"{rounded(total['Torque'])}, so the line does not turn."
    )
    return Layer(says, {"arrows": np.column_stack([X, arrows, labels]).tolist()}, [total, *rows])


def _nothing(parts: np.ndarray) -> float:
    """Their sum; 0 where it is rounding alone."""
    total = float(parts.sum())
    return 0.0 if abs(total) < 1e-6 * np.abs(parts).sum() else total


def _ends(line: np.ndarray) -> list[list[float]]:
    foot, along = -line[2] * line[:2], np.array([-line[1], line[0]])
    return [(foot - along).tolist(), (foot + along).tolist()]


def _share(left: float) -> str:
    return f"{100 * left:.1g} % of their total size" if left > 1e-6 else "zero"
