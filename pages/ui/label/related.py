"""Copies, linked pairs and outliers of a run's examples, found beside the runs: there, or how far they are."""

from functools import partial

from pages.ui.why.working import Work, by_stage, watched
from svmcore.lab.experiment.suspects import Related
from svmcore.lab.jobs import related as jobs
from svmcore.lab.store.runs import Run

BAR = by_stage(list(jobs.STAGES.values()))


def of(run: Run) -> Related | None:
    """What was found; None, and how far it is or why there is nothing on screen, until then."""
    work = Work(
        jobs.RELATED, run.id, partial(jobs.start, run.id), "related", BAR, "The examples were not compared",
        begin="Compare the examples", stop="Ends it.",
        help="Looks for copies, for pairs of unlike labels, and for examples far from their class.",
    )  # fmt: skip
    now = watched(work, at_once=True)
    return now.result if now.state == "done" else None
