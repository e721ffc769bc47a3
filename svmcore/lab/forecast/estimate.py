"""What a run will need, said before it starts.

    seconds = w (c + r cost.seconds) + rests    memory = examples + min(cache_mb, what the fit takes)

c      a start's fixed seconds
w      how many times as long a run takes now, beside other work (experiment/priority.py)
rests  those of slow motion, about as long in every run
r      the median ratio of measured to predicted seconds over stored runs of similar size and the same method;
       without any what the processor tells (calibration.py)

cache_mb is a ceiling for all that grows with the data while fitting; left open it is a third of the memory that is
free, less what runs at work were promised. How many examples become support vectors nobody knows before; a fit keeps
within ROOM times what was said of it, as long as that suffices if all of them do.
"""

from collections.abc import Iterable
from typing import NamedTuple

from svmcore.lab.experiment.priority import crowding
from svmcore.lab.forecast.calibration import FIXED_SECONDS, calibrated
from svmcore.lab.forecast.cost import cost, enough_mb
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.plans import plans
from svmcore.lab.registry.tasks import task_of
from svmcore.lab.store import runs
from svmcore.memory import SHARE, BudgetError, free_mb

ROOM = 1.4  # times what a fit is forecast to take, that it may
LITTLE_MB = 150.0  # that any fit may take
RESTS = 20.0  # seconds that slow motion rests in all


class Estimate(NamedTuple):
    """What a run will need. `advice` says what would fit when it does not, and is empty when it does."""

    seconds: float
    parts: tuple[tuple[float, float], ...]  # seconds of each training, rests left out, and of the test that follows it
    memory_mb: float  # see Meter
    cache_mb: float  # the ceiling of its fit that the recipe or the free memory sets
    within_mb: float  # that of what was said: what is faster with more memory is done without
    fits: bool
    advice: str
    first: bool = False  # no stored run of this task and method is done: compiling may come on top of the seconds


@runs.one_look()
def estimate(recipe: Recipe) -> Estimate:
    """Predicted time and memory of a run. UnknownDataset for a dataset that the catalogue does not have."""
    size = task_of(recipe).size(recipe.origin)
    plan, others = plans(recipe, size)
    needed, enough = cost(plan, others), enough_mb(plan)
    pace, first = calibrated(recipe, needed.seconds)
    working = [run for run in runs.newest_first() if run.state in ("running", "paused")]
    promised = sum(run.grant_mb for run in working)
    wait = crowding(look=not any(run.state == "running" for run in working))
    free = max(free_mb() - promised, 0.0)
    ceiling = recipe.cache_mb or SHARE * free
    memory = needed.examples_mb + min(ceiling, needed.fit_mb)
    fits = needed.least_mb <= ceiling and max(memory, needed.examples_mb + needed.least_mb) <= free
    within = min(ceiling, max(ROOM * needed.fit_mb, enough, LITTLE_MB))
    advice = "" if fits else needed.advice(size.n_train, recipe.cache_mb, free)
    parts = tuple((wait * pace * fit, wait * pace * test) for fit, test in needed.parts)
    seconds = wait * FIXED_SECONDS + sum(map(sum, parts)) + (RESTS if recipe.slow_motion else 0.0)
    return Estimate(seconds, parts, memory, ceiling, within, fits, advice, first)


@runs.one_look()
def seconds_of(recipes: Iterable[Recipe]) -> float:
    """Predicted for all of these runs; those that differ in their seeds alone are forecast once. As `estimate`."""
    alike: dict[str, list[Recipe]] = {}
    for recipe in recipes:
        alike.setdefault(recipe.but_for_seed, []).append(recipe)
    return sum(len(those) * estimate(those[0]).seconds for those in alike.values())


def require(recipe: Recipe) -> Estimate:
    """`estimate`, or BudgetError for a run that does not fit."""
    predicted = estimate(recipe)
    if not predicted.fits:
        raise BudgetError(predicted.advice)
    return predicted
