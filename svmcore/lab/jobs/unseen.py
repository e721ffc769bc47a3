"""The bill of an out-of-fold answer, beside the runs: the machine of the fold is trained again, and kept between clicks
within an eighth of the memory that was free."""

from data.memo import Bounded
from svmcore.lab.experiment import unseen
from svmcore.lab.experiment.unseen import Fold, Unseen
from svmcore.lab.forecast.estimate import require
from svmcore.lab.jobs.beside import PREPARING, Beside, Errand
from svmcore.lab.jobs.queue import QUEUE
from svmcore.lab.store import runs
from svmcore.memory import share_of_memory

STAGES = PREPARING | {"training": "Training without its fold"}
FOLDS = Bounded(share_of_memory(1 / 8, least_mb=256))
TOLD = Beside(QUEUE, "unseen", STAGES, patient=False)  # by run id and row; the result an Unseen


def start(run_id: str, row: int) -> None:
    """Find out, if nobody does, why a training example was answered so by the machine that had not seen it; others of
    the run that still wait are dropped. UnknownRun; Busy."""
    run = runs.get(run_id)
    TOLD.drop_waiting(lambda key: key[0] == run_id and key[1] != row)
    TOLD.start((run_id, row), lambda errand: _told(run, row, errand))


def _told(run: runs.Run, row: int, errand: Errand) -> Unseen:
    number = unseen.fold_of(run, row)
    return unseen.told(FOLDS.get((run.id, number), lambda: _trained(run, number, errand)), row)


def _trained(run: runs.Run, number: int, errand: Errand) -> Fold:
    require(run.recipe.replace(folds=None, bounds=False))
    return unseen.trained(run, number, errand.check, lambda progress: errand.check("training") or True)
