"""Copies, linked pairs and outliers of a run's examples, found beside the runs: seconds, of 60,000 images minutes."""

from svmcore.lab.experiment import suspects
from svmcore.lab.jobs.beside import PREPARING, Beside
from svmcore.lab.jobs.queue import QUEUE
from svmcore.lab.store import runs

STAGES = PREPARING | {"comparing": "Comparing examples"}
RELATED = Beside(QUEUE, "related", STAGES)  # by run id; the result a suspects.Related


def start(run_id: str) -> None:
    """Look for them, if nobody does. UnknownRun; Busy."""
    recipe = runs.get(run_id).recipe
    RELATED.start(run_id, lambda errand: suspects.related(recipe, errand.check))
