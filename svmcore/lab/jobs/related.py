"""Copies, linked pairs and outliers of a run's examples, found beside the runs: seconds, of 60,000 images minutes."""

from svmcore.lab.experiment import suspects
from svmcore.lab.jobs.beside import PREPARING, Beside, Errand
from svmcore.lab.jobs.queue import QUEUE
from svmcore.lab.store import runs

STAGES = PREPARING | {"comparing": "Comparing examples"}
RELATED = Beside(QUEUE, "related", STAGES)  # by run id; the result a suspects.Related


def start(run_id: str) -> None:
    """Look for them, if nobody does. UnknownRun; Busy. It fails for a run whose data set was replaced."""
    run = runs.get(run_id)

    def work(errand: Errand) -> suspects.Related:
        runs.require_content(run)
        return suspects.related(run.recipe, errand.check)

    RELATED.start(run_id, work)
