"""What a run will need, said before it starts.

    seconds = w_1 c + w r cost.seconds + rests
    memory  = examples + max(what they are looked for with, min(cache_mb, what the fit takes))

c      seconds of a start, and of reading the examples
w      how many times as long a fit takes now, beside other work (lab/priority.py); w_1: work of one processor
rests  those of slow motion, about as long in every run
r      the median ratio of measured to predicted seconds over stored runs of similar size and the same method;
       1 without any

cache_mb is a ceiling for all that grows with the data while fitting. By default it is a third of the free memory minus
the memory granted to running runs. How many examples become support vectors nobody knows before; a fit keeps
within ROOM times what was said of it, as long as that suffices if all of them do.

Cells of a map, small runs with folds, are side by side, each on one processor: it takes CELL_SECONDS for c and CORES
times as long otherwise, and makes no kernel values that another one has made (train.py); r is that of stored cells.

A job carries the Estimate that it was submitted with; when it starts, only the free memory is asked for again.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import inf
from statistics import mean, median
from typing import NamedTuple

from svmcore.gram.threads import CORES
from svmcore.jitter import JitterSet
from svmcore.lab.costs import Cost, Plan, Sizes, cost
from svmcore.lab.meter import training_seconds
from svmcore.lab.methods import METHODS
from svmcore.lab.priority import crowding
from svmcore.lab.recipe import Recipe
from svmcore.lab.solvers import SOLVERS
from svmcore.lab.store import runs
from svmcore.lab.tasks import task_of
from svmcore.lab.train import shared_by
from svmcore.memory import SHARE, BudgetError, free_mb
from svmcore.preprocess import parse_step

ROOM = 1.4  # times what a fit is forecast to take, that it may
LITTLE_MB = 150.0  # that any fit may take
RESTS = 20.0  # seconds that slow motion rests in all
CELL_SECONDS = 0.1  # of the start of a cell of a map
QUICK = 10.0  # of a run of seconds at rest, at the most
SIMILAR = 5  # stored runs that calibrate a prediction
# Share of the processors that others may have taken from a run that teaches: one that uses them all took at most 1.25
# times as long. Its processor seconds cannot teach instead: how many processors a run can use differs by recipe.
QUIET = 0.2


class Estimate(NamedTuple):
    """What a run will need. Its memory follows from the cost and from `free_mb`, the memory that is free now."""

    seconds: float
    start: float  # of these, seconds in which compiled code is loaded: once where several runs follow each other
    at_rest: float  # seconds without other work, and without the rests
    parts: tuple[tuple[float, float], ...]  # seconds of each training, rests left out, and of the test that follows it
    cost: Cost
    asked_mb: float | None  # the recipe's cache_mb
    free_mb: float
    rests: float = 0.0  # those of the seconds in which slow motion rests
    first: bool = False  # no stored run of this task and method is done: compiling may come on top of the seconds

    @property
    def cache_mb(self) -> float:
        """The ceiling of its fit that the recipe or the free memory sets."""
        return self.asked_mb or SHARE * self.free_mb

    @property
    def within_mb(self) -> float:
        """The ceiling of what was said: what is faster with more memory is done without."""
        return min(self.cache_mb, max(ROOM * self.cost.fit_mb, self.cost.enough_mb, LITTLE_MB))

    @property
    def memory_mb(self) -> float:
        """Of the whole run; see Meter."""
        return self.cost.examples_mb + max(self.cost.looking_mb, min(self.cache_mb, self.cost.fit_mb))

    @property
    def fits(self) -> bool:
        """Whether it can do with the memory that it may take."""
        least = max(self.memory_mb, self.cost.examples_mb + self.cost.least_mb)
        return self.cost.least_mb <= self.cache_mb and least <= self.free_mb

    @property
    def advice(self) -> str:
        """What would fit where it does not; empty where it does."""
        return "" if self.fits else self.cost.advice(self.asked_mb, self.free_mb)

    def require(self) -> "Estimate":
        """Itself; BudgetError for a run that does not fit."""
        if not self.fits:
            raise BudgetError(self.advice)
        return self

    def with_memory_now(self) -> "Estimate":
        """The same beside the memory that is free by now."""
        return self._replace(free_mb=_free_mb())


@runs.one_look()
def estimate(recipe: Recipe) -> Estimate:
    """Predicted time and memory of a run. UnknownDataset for a dataset that the catalogue does not have."""
    needed = cost(*plans(recipe, sized(recipe)))
    pace, first = _calibrated(recipe, needed)
    idle = not any(run.state == "running" for run in runs.at_work())
    wait_all = crowding(CORES, look=idle)
    # One thread cannot get more than what all of them were left; a single look may be too low
    wait_one = max(crowding(1, look=idle), wait_all / CORES)
    wait = wait_one if needed.alone else (wait_one + wait_all) / 2  # a fit keeps three quarters of two processors busy
    parts = tuple((wait * pace * fit, wait * pace * test) for fit, test in needed.parts)
    rests = RESTS if recipe.slow_motion else 0.0
    start, reading = wait_one * needed.start, wait_one * needed.reading
    at_rest = needed.start + needed.reading + pace * needed.seconds
    seconds = start + reading + sum(map(sum, parts)) + rests
    return Estimate(seconds, start, at_rest, parts, needed, recipe.cache_mb, _free_mb(), rests, first)


@runs.one_look()
def _free_mb() -> float:
    """Megabytes of free memory, minus those granted to running and paused runs."""
    promised = sum(run.grant_mb for run in runs.at_work())
    return max(free_mb() - promised, 0.0)


@runs.one_look()
def estimates(recipes: Iterable[Recipe]) -> list[Estimate]:
    """Of each of these runs, queued together; those that differ in their seeds alone are forecast once. Errors as of
    `estimate`."""
    recipes, found, rows = list(recipes), {}, set()
    for recipe in recipes:
        if recipe.but_for_seed not in found:
            found[recipe.but_for_seed] = need = estimate(recipe)
            if len(recipes) > 1 and small(recipe, need):
                row = shared_by(recipe)
                found[recipe.but_for_seed] = _of_cell(recipe, need, alone=row is None or row not in rows)
                rows.add(row)
    return [found[recipe.but_for_seed] for recipe in recipes]


def _of_cell(recipe: Recipe, need: Estimate, alone: bool) -> Estimate:
    """Of a small run among others, by its estimate as a run of its own. alone: whether no other one has made its kernel
    values."""
    needed = cost(*plans(recipe, sized(recipe), made=float(alone)))
    pace, _ = _calibrated(recipe, needed, cells=True)
    wait = crowding(CORES, look=False)
    parts = tuple((wait * pace * CORES * fit, wait * pace * CORES * test) for fit, test in needed.parts)
    return need._replace(seconds=wait * CELL_SECONDS + sum(map(sum, parts)) + need.rests, parts=parts)


def small(recipe: Recipe, needed: Estimate) -> bool:
    """Whether a run of a group is at work beside others: of a fit of few examples most is not for two cores; with folds
    runs are for a choice, and not to be timed."""
    return needed.at_rest <= QUICK and recipe.folds is not None


def seconds_of(recipes: Iterable[Recipe], needs: Sequence[Estimate] | None = None) -> float:
    """Predicted for runs that are queued together: compiled code is loaded once, and small ones are side by side.
    needs: their estimates, where they are known. As `estimate`."""
    recipes = list(recipes)
    needs = estimates(recipes) if needs is None else needs
    if len(recipes) < 2:
        return sum(need.seconds for need in needs)
    each = (
        need.seconds / CORES if small(recipe, need) else max(need.seconds - need.start, 0.0)
        for recipe, need in zip(recipes, needs, strict=True)
    )  # fmt: skip
    return needs[0].start + sum(each)


def sized(recipe: Recipe) -> Sizes:
    """How large its problem is, with the support vectors of the machine that it begins with, where that is stored.
    UnknownDataset, RecipeError."""
    task, size = task_of(recipe), task_of(recipe).size(recipe.origin)
    known = None if recipe.origin is recipe else runs.with_machine(recipe.origin)
    if known is None or known.state != "done" or not (result := known.result):
        return size
    return size._replace(counted=(mean(result["n_sv"]), result["n_union"] / task.parts(recipe)))


def plans(recipe: Recipe, size: Sizes, made: float | None = None) -> tuple[Plan, list[Plan]]:
    """What a recipe's method makes of a problem of this size, with all that its task, solver and jitters say of it: of
    the first training, and of each that follows (folds, parts). made: of a cell of a map, the share of its kernel
    values that no other one has made."""
    method, task = METHODS[recipe.method], task_of(recipe)
    how = {
        "solver": recipe.solver,
        "working_set": recipe.options.get("working_set"),
        "settings": SOLVERS[recipe.solver].settings(recipe),
        "filled": method.filled(recipe),
        "real": _real(tuple(recipe.preprocess), recipe.jitters if method.uses_jitters else "none"),
        "bounds": recipe.bounds,
        "beside": task.beside(recipe),
    }
    whole, *others = (method.plan(recipe, n)._replace(**how) for n in (size, *task.others(recipe, size)))
    if made is not None:
        together = 0.0 if method.folds_together(recipe) else made
        whole, others = whole._replace(made=made), [other._replace(made=together) for other in others]
    hardest = method.plan(recipe, size._replace(hardness=inf))
    return whole._replace(most=max(size.n_train, *(stage.n for stage in hardest.stages))), others


@lru_cache(maxsize=256)
def _real(steps: tuple[str, ...], jitters: str) -> bool:
    """Whether steps or jitters make other than whole numbers of pixels."""
    return not all(parse_step(step).step.steady for step in steps) or JitterSet.parse(jitters).offsets is None


# How fast this machine is: measured over predicted seconds of stored runs


def _calibrated(recipe: Recipe, needed: Cost, cells: bool = False) -> tuple[float, bool]:
    """Times as long as predicted that a run takes here: the median over the latest stored runs of this method that take
    about as long, compiling left out, those of the same dataset and kind of kernel first; 1 without any. And whether no
    run of this task and method is done. Of a start half may lie in what a run was measured to take. cells: of cells of
    maps, by such alone."""
    ratios, first, start = {True: [], False: []}, True, CELL_SECONDS if cells else needed.start / 2
    for run in runs.newest_first():
        if run.recipe.method != recipe.method or not (result := run.result):
            continue
        first = first and run.recipe.task != recipe.task
        if cells and (run.group is None or run.recipe.folds is None):
            continue
        if (known := _measured(run.recipe, result, 0.0 if cells else None)) is None:
            continue
        measured, predicted = known
        if 0.1 < predicted / needed.seconds < 10:
            same, alone = _like(run.recipe) == _like(recipe), CORES if cells else 1
            ratios[same].append(max(measured - start, measured / 2) / (alone * predicted))
        if len(ratios[True]) == SIMILAR:
            break
    return median((ratios[True] or ratios[False] or [1.0])[:SIMILAR]), first


def _like(recipe: Recipe) -> tuple[str, str]:
    return recipe.dataset, recipe.kernel.name


def _measured(recipe: Recipe, result: dict, made: float | None) -> tuple[float, float] | None:
    """Seconds that a run took and those predicted for it; None for one that says too little, or was held up."""
    if recipe.slow_motion or result.get("others_share", 0.0) > QUIET:
        return None
    try:
        size = result["n_train"], result["n_test"], result["n_features"], len(result["n_sv"])
        measured = training_seconds(result) + result["predict_seconds"]
        measured += result.get("validation", {}).get("seconds", 0) + sum(result.get("rival_seconds", ()))
        counted = sized(recipe).counted if recipe.origin is not recipe else None
        return measured, _predicted(recipe, *size, made, counted)
    except (KeyError, TypeError, AttributeError, ValueError):
        return None


@lru_cache(maxsize=4096)
def _predicted(
    recipe: Recipe, n_train: int, n_test: int, d: int, machines: int, made: float | None, counted: tuple | None
) -> float:
    """By the rule, for the sizes that the run had; made: as in `plans`. ValueError for data that are gone."""
    had = {"n_train": n_train, "n_test": n_test, "d": d, "machines": machines, "counted": counted}
    return cost(*plans(recipe, task_of(recipe).size(recipe.origin)._replace(**had), made)).seconds
