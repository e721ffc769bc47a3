"""How fast this machine is: measured over predicted seconds of stored runs."""

from __future__ import annotations

from functools import lru_cache
from statistics import median
from typing import NamedTuple

from svmcore.lab.experiment.meter import training_seconds
from svmcore.lab.forecast.cost import cost
from svmcore.lab.forecast.plans import plans
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.costs import Sizes
from svmcore.lab.store import runs

FIXED_SECONDS = 0.3
SIMILAR = 5  # stored runs that calibrate a prediction


class Alike(NamedTuple):
    """What runs must have in common to be compared; those that share all of it count first."""

    method: str
    dataset: str
    kernel: str


@runs.one_look()
def ratio(alike: Alike, expected: float) -> float:
    """The median over the latest stored runs like this one, compiling left out; 1 without any."""
    ratios = {True: [], False: []}
    for run in runs.newest_first():
        if run.recipe.method != alike.method or (known := _measured(run)) is None:
            continue
        measured, predicted = known
        if 0.1 < predicted / expected < 10:
            same = (run.recipe.dataset, run.recipe.kernel.name) == alike[1:]
            ratios[same].append(max(measured - FIXED_SECONDS, 0.1 * measured) / predicted)
        if len(ratios[True]) == SIMILAR:
            break
    return median((ratios[True] or ratios[False] or [1.0])[:SIMILAR])


def _measured(run) -> tuple[float, float] | None:
    """Seconds that a run took and those predicted for it; None for one that says too little."""
    result = run.result
    if not result or run.recipe.slow_motion:
        return None
    try:
        size = Sizes(result["n_train"], result["n_test"], result["n_features"], len(result["n_sv"]))
        measured = training_seconds(result) + result["predict_seconds"]
        measured += result.get("validation", {}).get("seconds", 0) + sum(result.get("rival_seconds", ()))
        return measured, _predicted(run.recipe, size)
    except (KeyError, TypeError, AttributeError, ValueError):
        return None


@lru_cache(maxsize=4096)
def _predicted(recipe: Recipe, size: Sizes) -> float:
    return cost(*plans(recipe, size)).seconds
