"""Retraining without some examples, and what each example is worth, beside the runs.

A run's stand (experiment/without.py) is kept between clicks, of two runs at most and within an eighth of the memory
that was free; while it is there a change takes tenths of a second, and does not stand aside for runs. Values take
seconds to minutes, and do.
"""

from data.memo import Bounded
from svmcore.lab.experiment import without
from svmcore.lab.experiment.without import Change, Effect, Worth
from svmcore.lab.forecast.estimate import require
from svmcore.lab.jobs.beside import PREPARING, Beside, Errand, Latest
from svmcore.lab.jobs.queue import QUEUE
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.memory import MB, share_of_memory

STAGES = PREPARING | {
    "kernel values": "Kernel values",
    "train": "Training without a fold",
    "to a smaller gap": "To a smaller gap",
    "retraining": "Retraining",
}
LIMIT = share_of_memory(1 / 8, least_mb=256)
STANDS = Bounded(LIMIT, most=2)
RETRAINED = Beside(QUEUE, "retraining", STAGES, patient=False)
VALUED = Beside(QUEUE, "values", STAGES)


def start(run_id: str, change: Change) -> None:
    """Retrain a run's machine with a change, if nobody does; others of it that still wait are dropped. UnknownRun;
    Busy."""
    run = runs.get(run_id)
    RETRAINED.drop_waiting(lambda key: key[0] == run_id and key[1] != change)
    RETRAINED.start((run_id, change), lambda errand: _effect(run, change, errand))


def start_values(run_id: str, machine: int | None) -> None:
    """Find out what the examples are worth to one of a run's machines, or to all together, if nobody does. UnknownRun;
    Busy."""
    run = runs.get(run_id)
    VALUED.start((run_id, machine), lambda errand: _worth(run, machine, errand))


def status(run_id: str, change: Change) -> Latest:
    """How far a change is; its result an Effect."""
    return RETRAINED.status((run_id, change))


def _effect(run: runs.Run, change: Change, errand: Errand) -> Effect:
    stand = STANDS.get(run.id, lambda: without.stand(run, ceiling(run.recipe), errand.check, errand.by_stage))
    stand.retraining.monitor = errand.by_stage  # one thread does all of these
    return without.effect(stand, change)


def ceiling(recipe: Recipe) -> float:
    """Megabytes that the kernel values of a recipe's examples may take between clicks. BudgetError."""
    return min(require(recipe.replace(folds=None, bounds=False)).cache_mb, LIMIT() / MB)


def _worth(run: runs.Run, machine: int | None, errand: Errand) -> Worth:
    ceiling = require(run.recipe.replace(folds=None, bounds=False)).cache_mb
    return without.worth(run, machine, ceiling, errand.check, errand.by_stage, errand.publish)
