"""What a run will need, said before it starts.

    seconds = c + r cost.seconds    memory = examples + min(cache_mb, what the fit takes)

c  a start's fixed seconds;  r  the median ratio of measured to predicted seconds over stored runs of similar size and
the same method, 1 without any.

cache_mb is a ceiling for all that grows with the data while fitting; left open it is a third of the memory that is
free, less what runs at work were promised.
"""

from __future__ import annotations

from typing import NamedTuple

from svmcore.lab.forecast.calibration import FIXED_SECONDS, Alike, ratio
from svmcore.lab.forecast.cost import Cost, cost
from svmcore.lab.forecast.sizes import sizes
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.memory import SHARE, BudgetError, free_mb

LOOKS_MB = 64  # that live looks may hold


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
    size = sizes(recipe)
    needed = cost(recipe, size)
    promised = sum(run.grant_mb for run in runs.newest_first() if run.state in ("running", "paused"))
    free = max(free_mb() - promised, 0.0)
    ceiling = recipe.cache_mb or SHARE * free
    beside, least = needed.examples_mb + LOOKS_MB, needed.least_mb
    memory = beside + max(least, min(ceiling, needed.fit_mb))
    advice = ""
    if least > ceiling or memory > free:
        advice = _advice(size.n_train, recipe.cache_mb, needed, free)
    pace = ratio(Alike(recipe.method, recipe.dataset, recipe.kernel.name), needed.seconds)
    parts = tuple((pace * fit, pace * test) for fit, test in needed.parts)
    return Estimate(FIXED_SECONDS + sum(map(sum, parts)), parts, memory, ceiling, not advice, advice)


def require(recipe: Recipe) -> Estimate:
    """`estimate`, or BudgetError for a run that does not fit."""
    predicted = estimate(recipe)
    if not predicted.fits:
        raise BudgetError(predicted.advice)
    return predicted


def _advice(n_train: int, cache_mb: float | None, needed: Cost, free: float) -> str:
    beside, least = needed.examples_mb + LOOKS_MB, needed.least_mb
    text = f"{n_train} training examples need at least {least + beside:,.0f} MB; {free:,.0f} MB are free"
    if cache_mb is not None:
        text += f" and cache_mb is {cache_mb:g}"
    if least + beside <= free:
        return f"{text}. cache_mb from {least:,.0f} to {free - beside:,.0f} would fit."
    n = int(n_train * (free - LOOKS_MB) / (least + beside))
    return f"{text}. " + (f"n_train up to {n} would fit." if n >= 2 else "Nothing fits before memory is freed.")
