"""What the lessons read off the Playground: its machines, the road between the colours, and what a point does to it.

f(x) = w . x + b,  w = sum_i alpha_i y_i x_i;  the road |f| <= 1 is 2 / |w| wide       (linear kernel)
"""

from dataclasses import replace

import numpy as np

from pages.lessons.parts import Facts
from pages.ui.play.setting import Setting, of_problem, points
from pages.ui.play.solve import solve
from pages.ui.play.solved import Solved

EXACT = 1e-6  # of a change that is none


def setting(facts: Facts, problem: str = "shift", **changes) -> Setting:
    """A problem, at first a straight line between two clouds, with the class's seed."""
    return replace(of_problem(problem), seed=facts.seed, **changes)


def address(**changes):
    """The address of the Playground with these changes; each a value, or worked out from the facts."""

    def query(facts: Facts) -> dict:
        worked_out = {name: value(facts) if callable(value) else value for name, value in changes.items()}
        return {"problem": "shift"} | setting(facts, **worked_out).query()

    return query


def solved(facts: Facts, **changes) -> Solved:
    """The machine of `setting`."""
    return solve(setting(facts, **changes))


def width(machine: Solved) -> float:
    """Of the road."""
    return 2 / float(np.linalg.norm(machine.w))


def turned(a: Solved, b: Solved) -> float:
    """Degrees between the lines of two machines."""
    u, v = a.w, b.w
    cosine = u @ v / np.linalg.norm(u) / np.linalg.norm(v)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def same(a: Solved, b: Solved) -> bool:
    """Whether two machines draw one and the same line."""
    return bool(np.allclose([*a.w, a.bias], [*b.w, b.bias], rtol=1e-4, atol=EXACT))


def without_idle(facts: Facts) -> str:
    """The edit that takes away a point which is no support vector: the one furthest from the line."""
    machine = solved(facts)
    f = np.abs(machine.X @ machine.w + machine.bias)
    return f"x{int(np.argmax(np.where(machine.alpha == 0, f, -1)))}"


def without_ringed(facts: Facts) -> str:
    """The edit that takes away the support vector that widens the road most."""
    kept = np.flatnonzero(solved(facts).alpha)
    return max((f"x{int(at)}" for at in kept), key=lambda edit: width(solved(facts, points=edit)))


def colour(facts: Facts, edit, kind: str = "") -> str:
    """In words, the points of the colour, and the kind, of the one that an edit takes away: "the ringed blue", "a
    ringed orange" where there are more of it; without a kind only the colour."""
    machine, at = solved(facts), int(edit(facts)[1:])
    name = "blue" if machine.sign[at] > 0 else "orange"
    if not kind:
        return name
    alone = np.count_nonzero(machine.alpha[machine.sign == machine.sign[at]]) == 1
    return f"{'the' if alone else 'a'} {kind} {name}"


def odd_one(facts: Facts) -> str:
    """The edit that adds an orange point amid the blue ones."""
    given = points(setting(facts))
    x, y = np.rint(100 * given.X[given.y > 0].mean(axis=0)).astype(int)
    return f"o{x}_{y}"
