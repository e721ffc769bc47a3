"""Counting which invariance would help, beside the runs: one count at a time, found again by the run's id.

It asks the forecast for memory before it begins; a count that is whole is also in a file.
"""

from contextlib import suppress
from functools import partial

from svmcore.lab.experiment import remedies
from svmcore.lab.experiment.remedies import Totals
from svmcore.lab.forecast.estimate import require
from svmcore.lab.jobs.beside import PREPARING, Beside, Errand, Latest
from svmcore.lab.jobs.queue import QUEUE, Queue
from svmcore.lab.store import runs

STAGES = PREPARING | {"predicting": "Finding the twin's errors", "validating": ""}  # the last is told by its totals


class Counts(Beside):
    """The counts of a process, by run id; the result of one are its Totals."""

    def __init__(self, queue: Queue):
        super().__init__(queue, "remedies", STAGES)

    def start(self, run_id: str) -> None:
        """Count for a run, if nobody does. UnknownRun; RecipeError where there is nothing to count; Busy."""
        run = runs.get(run_id)
        remedies.twin_of(run.learned)
        super().start(run_id, partial(_count, run))

    def status(self, run_id: str) -> Latest:
        """How far it is: at work here, or counted before and found in its file; state "none" where neither is."""
        latest = super().status(run_id)
        if latest.state != "none":
            return latest
        run = runs.get(run_id)
        totals = remedies.measured(run.learned, run.result["data_hash"]) if run.result else None
        return Latest("done", totals) if totals else latest


def _count(run: runs.Run, errand: Errand) -> Totals:
    recipe = run.learned
    runs.require_content(run)
    require(remedies.twin_of(recipe).replace(folds=None))
    totals = remedies.measure(recipe, errand.check, errand.monitor, errand.publish)
    with suppress(OSError):  # on a full disk it stays in memory alone
        remedies.keep(recipe, run.result["data_hash"], totals)
    return totals


COUNTS = Counts(QUEUE)  # of this process
start, status = COUNTS.start, COUNTS.status
