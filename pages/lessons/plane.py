"""What the lessons read off the Playground: its machine, the road between the colours, and what a point does to it.

f(x) = w . x + b,  w = sum_i alpha_i y_i x_i;  the road |f| <= 1 is 2 / |w| wide       (linear kernel)
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from pages.lessons import places
from pages.ui.kit.text import many, rounded
from pages.ui.play import solve
from pages.ui.play.setting import FIRST_PROBLEM, Setting, points, read
from pages.ui.play.solved import Picture, Solved
from svmcore.explain import hulls

EXACT = 1e-6  # of a change, or of a sum beside its parts, that is none


class Plane:
    """What the Playground shows of a setting; computed when it is asked for."""

    def __init__(self, setting: Setting):
        self.setting = setting

    @classmethod
    def of(cls, query: Mapping[str, object], seed: int) -> "Plane":
        """What an address shows with a class's seed; at first a straight line between two clouds."""
        return cls(replace(read(places.texts(query))[0], seed=seed))

    @property
    def address(self) -> dict[str, str]:
        return {"problem": FIRST_PROBLEM} | self.setting.query()

    def edited(self, edit: str) -> "Plane":
        """With an edit of its points."""
        return Plane(replace(self.setting, points=edit))

    @property
    def machine(self) -> Solved:
        return solve.solve(self.setting)

    @property
    def picture(self) -> Picture:
        return solve.picture(self.setting)

    @property
    def n(self) -> int:
        """How many points there are."""
        return len(points(self.setting).y)

    @property
    def n_sv(self) -> int:
        return self.machine.n_sv

    @property
    def n_bound(self) -> int:
        return int(self.machine.bound.sum())

    @property
    def wrong(self) -> int:
        """Of the training points."""
        return len(self.picture.wrong)

    @property
    def fresh_wrong(self) -> int:
        """Of other points."""
        return self.picture.fresh_wrong

    @property
    def f(self) -> np.ndarray:
        """(m,) of its examples, of a linear machine."""
        return self.machine.X @ self.machine.w + self.machine.bias

    @property
    def width(self) -> float:
        """Of the road."""
        return 2 / float(np.linalg.norm(self.machine.w))

    @property
    def bounded_inside(self) -> bool:
        """Whether all bounded support vectors lie in the road or at its edge."""
        return bool((self.machine.sign * self.f)[self.machine.bound].max(initial=0) < 1 + 1e-2)

    @property
    def last_alpha(self) -> float:
        """Of the last point: the one that was added, if any."""
        return float(self.machine.alpha[-1])

    @property
    def forces(self) -> dict:
        """What blue and orange points press with."""
        blue, orange = (self.machine.alpha[self.machine.sign == sign] for sign in (1, -1))
        return forces(blue, orange, ("blue point", "orange point"), EXACT)

    @property
    def torques(self) -> dict:
        """About the centre, x ^ alpha y w/|w|, each way; rests: whether they sum to nothing."""
        machine = self.machine
        u, X = machine.w / np.linalg.norm(machine.w), machine.X.astype(np.float64)
        each = machine.alpha * machine.sign * (X[:, 0] * u[1] - X[:, 1] * u[0])
        ways = {"one_way": rounded(float(each[each > 0].sum())), "other_way": rounded(float(-each[each < 0].sum()))}
        return ways | {"rests": bool(abs(each.sum()) < EXACT * np.abs(each).sum())}

    @property
    def halved(self) -> dict:
        """How far the line is from the middle between the nearest points of the hulls, and from that of the centres."""
        machine = self.machine
        middle = np.mean([machine.X[machine.sign == sign].mean(axis=0) for sign in (1, -1)], axis=0)
        ends = hulls.nearest(machine.X, machine.sign, machine.alpha, machine.bound, self.setting.C).ends
        length = np.linalg.norm(machine.w)
        off = [round(float(abs(at @ machine.w + machine.bias) / length), 4) for at in (ends.mean(axis=0), middle)]
        return {"hulls": rounded(off[0], 2), "centres": rounded(off[1], 2), "by_hulls": off[0] < off[1]}

    @cached_property
    def idle(self) -> "Point":
        """The point furthest from the line that is no support vector."""
        return Point(self, int(np.argmax(np.where(self.machine.alpha == 0, np.abs(self.f), -1))))

    @cached_property
    def ringed(self) -> "Point":
        """The support vector without which the road is widest."""
        ringed = [Point(self, int(at)) for at in np.flatnonzero(self.machine.alpha)]
        return max(ringed, key=lambda point: self.edited(point.edit).width)

    @property
    def odd_one(self) -> str:
        """The edit that adds an orange point amid the blue ones."""
        given = points(self.setting)
        x, y = np.rint(100 * given.X[given.y > 0].mean(axis=0)).astype(int)
        return f"o{x}_{y}"


class Point:
    """A training point. edit: what takes it away."""

    def __init__(self, plane: Plane, at: int):
        self.edit, self._machine, self._sign = f"x{at}", plane.machine, plane.machine.sign[at]

    @property
    def colour(self) -> str:
        return "blue" if self._sign > 0 else "orange"

    @property
    def article(self) -> str:
        """`the`, where it is the one support vector of its colour, else `a`."""
        return "the" if np.count_nonzero(self._machine.alpha[self._machine.sign == self._sign]) == 1 else "a"


def forces(first: np.ndarray, second: np.ndarray, names: tuple[str, str], nothing: float) -> dict:
    """Alphas of two classes: counts, in words, and sums; stronger: 0 the first class, 1 the second, 2 neither.
    nothing: a difference of sums, as a share, that is none."""
    counts = " and ".join(many(int(np.count_nonzero(a)), name) for a, name in zip((first, second), names))
    a, b = float(first.sum()), float(second.sum())
    stronger = 2 if abs(a - b) < nothing * a else int(b > a)
    return {"counts": counts, "first": rounded(a), "second": rounded(b), "stronger": stronger}


def turned(a: Solved, b: Solved) -> float:
    """Degrees between the lines of two machines."""
    u, v = a.w, b.w
    cosine = u @ v / np.linalg.norm(u) / np.linalg.norm(v)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def same(a: Solved, b: Solved) -> bool:
    """Whether two machines draw one and the same line."""
    return bool(np.allclose([*a.w, a.bias], [*b.w, b.bias], rtol=1e-4, atol=EXACT))
