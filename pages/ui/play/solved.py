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
    """A machine in the plane. Its examples are the training points, in their order, and then their copies. Of three
    colours it has one on the side +1, the two others on the side -1."""

    X: np.ndarray  # (m, 2) float32
    sign: np.ndarray  # (m,) +1, -1
    parent: np.ndarray  # (m,) training point that a copy was made of; of a training point itself
    copy: np.ndarray  # (m,) bool
    alpha: np.ndarray  # (m,) float64
    bound: np.ndarray  # (m,) bool, alpha is at C
    bias: float
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


class Picture(NamedTuple):
    """What is seen in the plane: one machine, or three, each one colour against the rest; the largest f decides."""

    machines: tuple[Solved, ...]
    wrong: np.ndarray  # training points that come out wrong
    fresh_wrong: int | None  # of FRESH other points; None where the problem has no law
    question: tuple[str, float] | None  # the side on which the "?" is, and f of the machine that has it there

    @property
    def ending(self) -> str:
        """Why a solver ended early; empty where none did."""
        return next((one.ending for one in self.machines if one.ending), "")


def described(setting: Setting, given: Points, picture: Picture) -> str:
    """What the picture shows, in sentences that hold of every picture."""
    if len(picture.machines) > 1:
        return _three(setting, given, picture)
    (solved,), n, wrong = picture.machines, len(given.y), len(picture.wrong)
    own = solved.sign[:n] > 0
    says_own, (one, other), n_own = own.copy(), setting.sides.values(), int(np.count_nonzero(own))
    says_own[picture.wrong] ^= True
    line = {"linear": "A straight line", "poly": f"A curve of degree {setting.degree}"}.get(setting.kernel, "A curve")
    rest = "other" if 0 in setting.sides else other
    if says_own.all() or not says_own.any():
        text = f"The machine predicts {one if says_own.all() else other} for all {n} points, {wrong} wrongly."
    elif wrong:
        text = f"{line} divides {n_own} {one} from {n - n_own} {rest} points, {wrong} of them on the wrong side."
    else:
        text = f"{line} separates {n_own} {one} from {n - n_own} {rest} points."
    text += f" The machine has {many(solved.n_sv, 'support vector')}{_kinds(solved)}"
    if setting.kernel == "linear" and np.linalg.norm(solved.w) > 1e-6:
        text += f"; the margin between the thin lines is {rounded(2 / float(np.linalg.norm(solved.w)), 2)} wide"
    return f"{text}. The solver stopped early." if solved.ending else f"{text}."


def _three(setting: Setting, given: Points, picture: Picture) -> str:
    colours = setting.colours
    counts = [f"{np.count_nonzero(given.y == label)} {colour}" for label, colour in colours.items()]
    wrong = len(picture.wrong)
    told = f"{wrong or 'none'} {'are' if wrong > 1 else 'is'} predicted wrongly"
    held = [
        f"{colour} has {many(one.n_sv, 'support vector')}{_kinds(one)}"
        for colour, one in zip(colours.values(), picture.machines, strict=True)
    ]
    text = (
        f"Three machines each separate one colour from the rest; the largest f decides. Of {counts[0]}, {counts[1]} "
        f"and {counts[2]} points, {told}. By machine: {'; '.join(held)}."
    )
    return f"{text} A solver stopped early." if picture.ending else text


def _kinds(solved: Solved) -> str:
    parts = [f"{solved.n_virtual} of them virtual copies"] if solved.copy.any() else []
    parts += [f"{int(solved.bound.sum())} of them bounded"] if solved.bound.any() else []
    return f", {' and '.join(parts)}" if parts else ""


def numbers(picture: Picture) -> dict:
    """What of a picture of one machine without copies does not follow from its points; JSON-able."""
    (solved,) = picture.machines
    alpha = {str(at): float(solved.alpha[at]) for at in np.flatnonzero(solved.alpha)}
    bound, wrong = np.flatnonzero(solved.bound).tolist(), picture.wrong.tolist()
    rest = {"bias": solved.bias, "fresh_wrong": picture.fresh_wrong, "ending": solved.ending}
    return {"alpha": alpha, "bound": bound, "wrong": wrong} | rest


def first(setting: Setting) -> Picture | None:
    """The picture of the first problem as it begins; None for any other setting."""
    if setting.still != of_problem(FIRST_PROBLEM):
        return None
    known, given = json.loads(FIRST.read_text("utf-8")), points(setting)
    n = len(given.y)
    alpha, bound = np.zeros(n), np.zeros(n, bool)
    alpha[list(map(int, known["alpha"]))] = list(known["alpha"].values())
    bound[known["bound"]] = True
    own = {"alpha": alpha, "bound": bound, "bias": known["bias"], "ending": known["ending"]}
    one = Solved(X=given.X, sign=given.y, parent=np.arange(n), copy=np.zeros(n, bool), **own)
    return Picture((one,), np.array(known["wrong"], int), known["fresh_wrong"], None)
