"""What a run will need, said before it starts.

    seconds = c + r sum cost.seconds    memory = examples + min(cache_mb, what the fit takes)

c  a start's fixed seconds;  r  the median ratio of measured to predicted seconds over stored runs of similar size and
the same method, 1 without any.

cache_mb is a ceiling for all that grows with the data while fitting; left open it is a third of the memory that is
free, less what runs at work were promised.
"""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from svmcore.lab.forecast import cost
from svmcore.lab.forecast.cost import Sizes
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.memory import SHARE, BudgetError, free_mb

FIXED_SECONDS = 0.3
LOOKS_MB = 64  # that live looks may hold
SIMILAR = 5  # stored runs that calibrate a prediction


class Estimate(NamedTuple):
    """What a run will need. `advice` says what would fit when it does not, and is empty when it does."""

    seconds: float
    parts: tuple[tuple[float, float], ...]  # seconds of each training, and of the test that follows it
    memory_mb: float
    cache_mb: float
    fits: bool
    advice: str


def estimate(recipe: Recipe) -> Estimate:
    """Predicted time and memory of a run. UnknownDataset for a data set that the catalogue does not have."""
    size = cost.sizes(recipe)
    promised = sum(run.grant_mb for run in runs.newest_first() if run.state in ("running", "paused"))
    free = max(free_mb() - promised, 0.0)
    ceiling = recipe.cache_mb or SHARE * free
    beside, least = cost.examples_mb(recipe, size) + LOOKS_MB, cost.least_mb(recipe, size)
    need = beside + max(least, min(ceiling, cost.fit_mb(recipe, size)))
    advice = ""
    if least > ceiling or need > free:
        advice = _advice(recipe, size, least, beside, free)
    ratio = _calibration(recipe, size)
    parts = tuple((ratio * fit, ratio * test) for fit, test in cost.seconds(recipe, size))
    return Estimate(FIXED_SECONDS + sum(map(sum, parts)), parts, need, ceiling, not advice, advice)


def require(recipe: Recipe) -> Estimate:
    """`estimate`, or BudgetError for a run that does not fit."""
    predicted = estimate(recipe)
    if not predicted.fits:
        raise BudgetError(predicted.advice)
    return predicted


def _calibration(recipe: Recipe, asked: Sizes) -> float:
    """Measured over predicted seconds, the median of the latest stored runs like this one, compiling left out."""
    ratios = {True: [], False: []}
    expected = sum(map(sum, cost.seconds(recipe, asked)))
    for run in runs.newest_first():
        result = run.result
        if result and not run.recipe.slow_motion and run.recipe.method == recipe.method:
            size = Sizes(result["n_train"], result["n_test"], result["n_features"], len(result["n_sv"]))
            measured = result["fit_seconds"] - result.get("compile_seconds", 0) + result["predict_seconds"]
            measured += result.get("validation", {}).get("seconds", 0)
            predicted = sum(map(sum, cost.seconds(run.recipe, size)))
            if not 0.1 < predicted / expected < 10:
                continue
            alike = (run.recipe.dataset, run.recipe.kernel.name) == (recipe.dataset, recipe.kernel.name)
            ratios[alike].append(max(measured - FIXED_SECONDS, 0.1 * measured) / predicted)
    return median((ratios[True] or ratios[False] or [1.0])[:SIMILAR])


def _advice(recipe: Recipe, size: Sizes, least: float, beside: float, free: float) -> str:
    text = f"{size.n_train} training examples need at least {least + beside:,.0f} MB; {free:,.0f} MB are free"
    if recipe.cache_mb is not None:
        text += f" and cache_mb is {recipe.cache_mb:g}"
    if least + beside <= free:
        return f"{text}. cache_mb from {least:,.0f} to {free - beside:,.0f} would fit."
    n = int(size.n_train * (free - LOOKS_MB) / (least + beside))
    return f"{text}. " + (f"n_train up to {n} would fit." if n >= 2 else "Nothing fits before memory is freed.")
