"""How fast this machine is: measured over predicted seconds of stored runs."""

from functools import lru_cache
from statistics import median
from typing import NamedTuple

from llvmlite import binding

from svmcore.lab.experiment.meter import training_seconds
from svmcore.lab.forecast.cost import cost
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.plans import plans
from svmcore.lab.registry.tasks import task_of
from svmcore.lab.store import runs

FIXED_SECONDS = 0.5  # of a start, the loading of compiled code in a process that has just begun among them
SIMILAR = 5  # stored runs that calibrate a prediction
# Share of the processors that others may have taken from a run that teaches: one that uses them all took at most 1.25
# times as long. Its processor seconds cannot teach instead: how many processors a run can use differs by recipe.
QUIET = 0.2
WITHOUT_VNNI = 2.2  # times as long as where the rates were read off; digits took 2.2 to 3.2 times


class Calibration(NamedTuple):
    """What the stored runs say of a new one."""

    ratio: float  # of measured to predicted seconds, the median over the latest alike; without any `pace`
    first: bool  # whether none of this task and method is done


@runs.one_look()
def calibrated(recipe: Recipe, expected: float) -> Calibration:
    """By the stored runs of this method that take about as long, compiling left out. Those of the same dataset and
    kind of kernel count first."""
    ratios, first = {True: [], False: []}, True
    for run in runs.newest_first():
        if run.recipe.method != recipe.method or not (result := run.result):
            continue
        first = first and run.recipe.task != recipe.task
        if (known := _measured(run.recipe, result)) is None:
            continue
        measured, predicted = known
        if 0.1 < predicted / expected < 10:
            same = _like(run.recipe) == _like(recipe)
            ratios[same].append(max(measured - FIXED_SECONDS, 0.1 * measured) / predicted)
        if len(ratios[True]) == SIMILAR:
            break
    return Calibration(median((ratios[True] or ratios[False] or [pace()])[:SIMILAR]), first)


@lru_cache(maxsize=1)
def pace() -> float:
    """How many times as long a run takes here as where the rates were read off, as far as the processor tells: whether
    it multiplies and adds whole numbers in one instruction (gram/registers.py)."""
    features = binding.get_host_cpu_features()
    return 1.0 if any("vnni" in name for name, has in features.items() if has) else WITHOUT_VNNI


def _like(recipe: Recipe) -> tuple[str, str]:
    return recipe.dataset, recipe.kernel.name


def _measured(recipe: Recipe, result: dict) -> tuple[float, float] | None:
    """Seconds that a run took and those predicted for it; None for one that says too little, or was held up."""
    if recipe.slow_motion or result.get("others_share", 0.0) > QUIET:
        return None
    try:
        size = result["n_train"], result["n_test"], result["n_features"], len(result["n_sv"])
        measured = training_seconds(result) + result["predict_seconds"]
        measured += result.get("validation", {}).get("seconds", 0) + sum(result.get("rival_seconds", ()))
        return measured, _predicted(recipe, *size)
    except (KeyError, TypeError, AttributeError, ValueError):
        return None


@lru_cache(maxsize=4096)
def _predicted(recipe: Recipe, n_train: int, n_test: int, d: int, machines: int) -> float:
    """By the rule, for the sizes that the run had. ValueError for data that are gone."""
    size = task_of(recipe).size(recipe.origin)
    return cost(*plans(recipe, size._replace(n_train=n_train, n_test=n_test, d=d, machines=machines))).seconds
