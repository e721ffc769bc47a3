"""Points of a study of the decomposition, each from one stored run: what n, |B| and lookahead cost.

Osuna, Freund and Girosi (1997), section 3.2.3, draw such points: time and SVs against n, time against SVs, global
iterations against n, time against |B|.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from svmcore.lab.meter import training_seconds
from svmcore.lab.store.runs import Run


class ScalingPoint(NamedTuple):
    """One run of a study."""

    run: str
    recipe: str
    n: int
    d: int  # features
    working_set: int  # |B| asked for
    lookahead: int
    seconds: float  # of training, without what compiling took
    n_sv: int
    rounds: int  # global iterations
    priced: int  # optimality conditions evaluated
    entered: int
    again: int  # of those that entered, the ones that had been in B before
    peak_mb: float
    examples_mb: float  # of it what holds the examples
    gap: float
    dual: float
    converged: bool


def point(run: Run | None) -> ScalingPoint | None:
    """The point of a run that is done and kept a trace; None for others."""
    result = run and run.result
    if not result or "rounds" not in result.get("trace", ()):
        return None
    recipe, trace = run.recipe, result["trace"]
    asked = (recipe.option(name) or result["n_train"] for name in ("working_set", "lookahead"))
    counted = (trace[name] for name in ("rounds", "priced", "entered", "again", "peak_mb", "examples_mb"))
    ends = result["gap"], result["dual"], result["converged"]
    seconds, n_sv = training_seconds(result), sum(result["n_sv"])
    return ScalingPoint(
        run.id, recipe.name, result["n_train"], result["n_features"], *asked, seconds, n_sv, *counted, *ends
    )


def points(runs: Iterable[Run]) -> list[ScalingPoint]:
    """Those of the runs that have one."""
    return [found for found in map(point, runs) if found]


def exponent(xs, ys) -> float | None:
    """Slope of log ys over log xs; None for fewer than two different xs, or values that have no logarithm."""
    xs, ys = np.asarray(xs, float), np.asarray(ys, float)
    if len(set(xs.tolist())) < 2 or (xs <= 0).any() or (ys <= 0).any():
        return None
    return float(np.polyfit(np.log(xs), np.log(ys), 1)[0])


def text(points: list[ScalingPoint]) -> str:
    """A line a point, under the names of the columns."""
    columns = ("n", "|B|", "lookahead", "s", "SVs", "rounds", "priced", "again", "peak MB", "gap")
    lines = [f"{'recipe':28}" + "".join(f"{name:>10}" for name in columns)]
    for p in points:
        cells = p.n, p.working_set, p.lookahead, f"{p.seconds:.2f}", p.n_sv, p.rounds, p.priced, p.again
        cells += f"{p.peak_mb:.0f}", f"{p.gap:.1e}"
        lines.append(f"{p.recipe:28}" + "".join(f"{cell!s:>10}" for cell in cells))
    return "\n".join(lines)
