"""Runs that are asked for together: those that are missing are queued; of a sweep with halving also those that follow.

    reached -> queue what is missing -> wait -> reached -> ...        until all are stored, or one ended otherwise

So a sweep that was cancelled, or whose process was killed, goes on where it was: what has finished is not run again.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import zip_longest
from types import MappingProxyType

from data import DataError, permission
from svmcore.gram.threads import CORES
from svmcore.lab.analyses.sweep import Sweep, SweepPoint, ordered
from svmcore.lab.forecast import estimates
from svmcore.lab.jobs.job import Status
from svmcore.lab.jobs.queue import submit, wait
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Group
from svmcore.memory import BudgetError

NONE: Mapping[Recipe, Recipe] = MappingProxyType({})
Grouping = Group | Callable[[Recipe], Group | None] | None
_looking = threading.Lock()  # a run that two threads find missing is queued once
_steps: dict[str, int] = {}  # of sweeps that are followed, by their groups: steps that have been queued


def carry_out(sweep: Sweep, group: Group | None = None, wait: Callable[[str], Status] = wait) -> str:
    """Until all of its runs are stored. Why one was not done, which ends it; empty where all are. wait: follows a run
    to its end. Raises what `submit_missing` raises."""
    group = group or sweep.group()
    while ids := submit_missing(sweep.reached()[0].values(), group):
        if group.key in _steps:
            _steps[group.key] += 1
        for run_id, status in [(run_id, wait(run_id)) for run_id in ids]:
            if status.state != "done":
                return f"run {run_id} {status.state}: {status.message}"
    return ""


def submit_missing(
    recipes: Iterable[Recipe], group: Grouping = None, parents: Mapping[Recipe, Recipe] = NONE
) -> list[str]:
    """Queue a run of each recipe that has none done or at work, without live looks; the ids of all that are at work
    then.

    group: what they are started together for, or says it of each. parents: of a recipe the one that its run grows out
    of, which stands before it. Raises what `submit` raises; what it says of one recipe when the others are queued.
    """
    recipes, refused = {recipe.digest(): recipe for recipe in recipes}.values(), None
    with _looking:
        with runs.one_look():
            found, needs = runs.stored(recipes), {}
            missing = [recipe for recipe, run in zip(recipes, found, strict=True) if not runs.available(run)]
            ids = [run.id for run in found if runs.available(run) and run.state != "done"]
            with suppress(DataError, RecipeError):  # which `submit` says of those that cannot be
                needs = dict(zip(missing, estimates(missing), strict=True))
        for recipe in missing if parents else _in_turn(missing):
            of = group(recipe) if callable(group) else group
            try:
                before = runs.stored([parents[recipe]])[0] if recipe in parents else None
                parent = before.id if runs.available(before) else None
                ids.append(submit(recipe, looks=False, parent=parent, group=of, needed=needs.get(recipe)))
            except (DataError, RecipeError, BudgetError) as error:
                refused = error
    if refused:
        raise refused
    return ids


def _in_turn(recipes: Iterable[Recipe]) -> list[Recipe]:
    """Those that share kernel values one after the other, of as many such rows side by side as there are cores."""
    alike: dict[str, list[Recipe]] = {}
    for recipe in recipes:
        alike.setdefault(recipe.replace(C=1.0).digest(), []).append(recipe)
    rows = list(alike.values())
    beside = (zip_longest(*rows[at : at + CORES]) for at in range(0, len(rows), CORES))
    return [recipe for some in beside for those in some for recipe in those if recipe]


def follow(sweep: Sweep, group: Group) -> None:
    """Queue what follows from the runs of a sweep that are at work, by a thread of its own, when these have finished.
    Nothing without halving, and for whom may not train with all examples."""
    if sweep.rungs > 1 and all(permission.may("train", recipe) for recipe in sweep.recipes().values()):
        _steps[group.key] = 0
        threading.Thread(target=_follow, args=(sweep, group), name="sweep", daemon=True).start()


def followed(group: Group) -> dict[str, str]:
    """What a page polls beside runs, between two steps, too: {} where nothing follows."""
    return {"sweep": "working", "step": str(_steps[group.key])} if group.key in _steps else {}


def _follow(sweep: Sweep, group: Group) -> None:
    with suppress(ValueError, OSError, RuntimeError, KeyError):  # the page says what is missing
        carry_out(sweep, group)
    _steps.pop(group.key, None)


def sweep(
    recipe: Recipe, field: str, values: Iterable[str], folds: int = 5, second: str = "", seconds: Iterable[str] = (),
    rungs: int = 1,
) -> list[SweepPoint]:  # fmt: skip
    """A SweepPoint for each value, written as on the command line, of a recipe's field, or for each pair of values with
    those of a `second` field; rungs of successive halving (1: all on all examples).

    RecipeError for a field or value that cannot be; ValueError for runs that failed, saying why.
    """
    whole = Sweep(recipe.replace(folds=folds), field, ordered(values), second, ordered(seconds), rungs)
    if why := carry_out(whole):
        raise ValueError(why)
    return whole.points()
