"""From a recipe to a run that waits for its turn: the dataset is pinned, the run forecast, the machine that it begins
with found or asked for before it; then it is stored, and the queue has it."""

import threading

from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.jobs.cluster import CLUSTER
from svmcore.lab.jobs.queue import QUEUE
from svmcore.lab.jobs.worker import explain
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.tasks import task_of
from svmcore.lab.store import runs
from svmcore.memory import BudgetError

_asking = threading.Lock()  # one run is asked for at a time, so that each sees the one before


def submit(
    recipe: Recipe,
    *,
    looks: bool = True,
    parent: str | None = None,
    group: runs.Group | None = None,
    once_in: float = 0.0,
    broken_off: str | None = None,
) -> str:
    """Queue a run and return its id; `looks=False` spares the live looks when nobody will see them. parent: id of
    the run that it grew out of; that of the machine that the recipe begins with is found, or queued before it.
    group: what it is started together with others for. once_in: seconds in which the same recipe, asked for again,
    is the run that it already was: a double click, two tabs. Of a revision of a dataset a run keeps the state that
    it is in now, so that verdicts given later change nothing of what the run says. broken_off: id of a run of this
    recipe that ended before it was done: the new one goes on from what that has left.

    RecipeError for what no new run may ask for, BudgetError when it cannot fit into memory here, UnknownDataset,
    QueueFull, OSError when the disk takes no new run, ClusterError where one is to do it that is not there; with
    `broken_off` UnknownRun, and ValueError where the run cannot go on from that one.
    """
    CLUSTER.settle()
    recipes = [recipe] if recipe.origin is recipe or parent else [recipe.origin, recipe]
    for asked in recipes:
        asked.check_new()
    recipes = [task_of(asked).pinned(asked) for asked in recipes]
    needs = [estimate(asked) for asked in recipes]
    with _asking:
        *machine, wanted = recipes
        if already := runs.asked_within(wanted, once_in):
            return already.id
        left = runs.left_by(broken_off, wanted.outcome) if broken_off else None
        if machine and (there := runs.with_machine(machine[0])):
            parent, recipes, needs = there.id, [wanted], needs[1:]
        for needed in needs:
            if not (needed.fits or CLUSTER.address):  # a worker has a memory of its own
                raise BudgetError(needed.advice)
        QUEUE.require_room()
        for asked, needed in zip(recipes, needs, strict=True):
            theirs = (group, left) if asked is wanted else ()  # of the machine before it neither
            try:
                run = runs.create(asked, parent, *theirs)
            except OSError as error:
                raise OSError(explain(error)) from error
            QUEUE.put(run, needed.seconds, looks)
            parent = run.id
        return run.id
