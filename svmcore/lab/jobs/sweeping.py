"""A sweep carried out by ordinary runs: those that are missing are queued, and with halving those that follow.

    reached -> queue what is missing -> wait -> reached -> ...        until all are stored, or one ended otherwise

So a sweep that was cancelled, or whose process was killed, goes on where it was: what has finished is not run again.
"""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

from data import permission
from svmcore.lab.analyses.sweep import Sweep, SweepPoint, in_turn
from svmcore.lab.forecast import estimates
from svmcore.lab.jobs.job import Status
from svmcore.lab.jobs.queue import submit, wait
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Group

_steps: dict[str, int] = {}  # of sweeps that are followed, by their groups: steps that have been queued
_queueing = threading.Lock()  # a run that two threads find missing is queued once


def carry_out(sweep: Sweep, group: Group | None = None, wait: Callable[[str], Status] = wait) -> str:
    """Until all of its runs are stored. Why one was not done, which ends it; empty where all are. wait: follows a run
    to its end. Raises what `submit` raises."""
    group = group or sweep.group()
    while ids := _queued(sweep, group):
        if group.key in _steps:
            _steps[group.key] += 1
        for run_id, status in [(run_id, wait(run_id)) for run_id in ids]:
            if status.state != "done":
                return f"run {run_id} {status.state}: {status.message}"
    return ""


def _queued(sweep: Sweep, group: Group) -> list[str]:
    """Ids of its runs that are not done, of which those that were missing are queued now."""
    with _queueing:
        recipes = in_turn(sweep.reached()[0].values())
        with runs.one_look():
            found = runs.stored(recipes)
            missing = [one for one, run in zip(recipes, found, strict=True) if not runs.available(run)]
            queued = [run.id for run in found if runs.available(run) and run.state != "done"]
            needs = estimates(missing)
        return queued + [submit(r, looks=False, group=group, needed=n) for r, n in zip(missing, needs, strict=True)]


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
    whole = Sweep(recipe.replace(folds=folds), field, tuple(values), second, tuple(seconds), rungs)
    if why := carry_out(whole):
        raise ValueError(why)
    return whole.points()
