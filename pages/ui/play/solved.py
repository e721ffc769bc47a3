"""A machine in the plane, as the Playground draws it; and the first one that is ever seen, kept as numbers.

The first picture of a process stands before the library is imported and compiled, so its machine is read from
`first.json`: what `solve` makes of the first problem, which a test solves anew.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pages.ui.kit.text import many, rounded
from pages.ui.play.setting import FIRST_PROBLEM, Points, Setting, of_problem, points

FIRST = Path(__file__).with_name("first.json")


class Solved(NamedTuple):
    """A machine in the plane. Its examples are the training points, in their order, and then their copies."""

    X: np.ndarray  # (m, 2) float32
    sign: np.ndarray  # (m,) +1, -1
    parent: np.ndarray  # (m,) training point that a copy was made of; of a training point itself
    copy: np.ndarray  # (m,) bool
    alpha: np.ndarray  # (m,) float64
    bound: np.ndarray  # (m,) bool, alpha is at C
    bias: float
    wrong: np.ndarray  # training points that come out wrong
    fresh_wrong: int | None  # of FRESH other points; None where the problem has no law
    question: float | None  # f of the "?"
    ending: str  # why the solver ended early; empty where it did not
    lowest: float | None = None  # least eigenvalue of K of its examples, where the kernel may have negative ones

    @property
    def w(self) -> np.ndarray:
        """(2,) the normal of a linear machine's line; the road |f| <= 1 is 2 / |w| wide."""
        return (self.alpha * self.sign) @ self.X.astype(np.float64)

    @property
    def n_sv(self) -> int:
        return int(np.count_nonzero(self.alpha))

    @property
    def n_virtual(self) -> int:
        return int(np.count_nonzero(self.alpha[self.copy]))


def described(setting: Setting, given: Points, solved: Solved) -> str:
    """What the picture shows, in one or two sentences that hold of every picture."""
    n, wrong, blue = len(given.y), len(solved.wrong), int(np.count_nonzero(given.y > 0))
    says_blue = (given.y > 0).copy()
    says_blue[solved.wrong] ^= True
    line = {"linear": "A straight line", "poly": f"A curve of degree {setting.degree}"}.get(setting.kernel, "A curve")
    if says_blue.all() or not says_blue.any():
        text = f"The machine predicts {'blue' if says_blue.all() else 'orange'} for all {n} points, {wrong} wrongly."
    elif wrong:
        text = f"{line} divides {blue} blue from {n - blue} orange points, {wrong} of them on the wrong side."
    else:
        text = f"{line} separates {blue} blue from {n - blue} orange points."
    parts = [f"{solved.n_virtual} of them virtual copies"] if solved.copy.any() else []
    parts += [f"{int(solved.bound.sum())} of them bounded"] if solved.bound.any() else []
    text += f" {many(solved.n_sv, 'support vector')} {'holds' if solved.n_sv == 1 else 'hold'} it"
    text += f", {' and '.join(parts)}" if parts else ""
    if setting.kernel == "linear" and np.linalg.norm(solved.w) > 1e-6:
        text += f"; the road between the thin lines is {rounded(2 / float(np.linalg.norm(solved.w)), 2)} wide"
    return f"{text}. The solver stopped early." if solved.ending else f"{text}."


def numbers(solved: Solved) -> dict:
    """What of a machine without copies does not follow from its points; JSON-able."""
    alpha = {str(at): float(solved.alpha[at]) for at in np.flatnonzero(solved.alpha)}
    bound, wrong = np.flatnonzero(solved.bound).tolist(), solved.wrong.tolist()
    rest = {name: getattr(solved, name) for name in ("bias", "fresh_wrong", "question", "ending")}
    return {"alpha": alpha, "bound": bound, "wrong": wrong} | rest


def first(setting: Setting) -> Solved | None:
    """The machine of the first problem as it begins; None for any other setting."""
    if setting.still != of_problem(FIRST_PROBLEM):
        return None
    known, given = json.loads(FIRST.read_text("utf-8")), points(setting)
    n = len(given.y)
    alpha, bound = np.zeros(n), np.zeros(n, bool)
    alpha[list(map(int, known["alpha"]))] = list(known["alpha"].values())
    bound[known["bound"]] = True
    found = known | {"alpha": alpha, "bound": bound, "wrong": np.array(known["wrong"], int)}
    return Solved(X=given.X, sign=given.y, parent=np.arange(n), copy=np.zeros(n, bool), **found)
