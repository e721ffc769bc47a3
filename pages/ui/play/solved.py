"""A machine in the plane, as the Playground draws it; and the first one that is ever seen, kept as numbers.

The first picture of a process stands before the library is imported and compiled, so its machine is read from
`first.json`: what `solve` makes of the first problem, which a test solves anew.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pages.ui.play.setting import FIRST_PROBLEM, Setting, of_problem, points

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

    @property
    def n_sv(self) -> int:
        return int(np.count_nonzero(self.alpha))

    @property
    def n_virtual(self) -> int:
        return int(np.count_nonzero(self.alpha[self.copy]))


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
