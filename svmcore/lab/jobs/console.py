"""Runs from the command line: carried out in turn, with their forecast and progress on stderr, and the line that a run
that is done comes to."""

import sys
from collections.abc import Iterable, Iterator

from svmcore.lab import jobs
from svmcore.lab.jobs.cluster import CLUSTER
from svmcore.lab.meter import training_seconds
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.tasks import TASKS

EVERY = 0.5  # seconds between two lines of progress


def carry_out(
    recipes: Iterable[Recipe], group: runs.Group | None = None, broken_off: str | None = None
) -> Iterator[tuple[str, int]]:
    """Run recipes to their ends, in turn, or side by side on a cluster; of each its run id, and the exit status that it
    calls for. Whoever listens no more stops what is left. broken_off: the run that one goes on from."""
    submitted = (_submit(recipe, group, broken_off) for recipe in recipes)
    try:
        for run_id in list(submitted) if CLUSTER.address else submitted:
            status = follow(run_id)
            if status.state != "done":
                print(f"run {run_id} {status.state}: {status.message}", file=sys.stderr)
            yield run_id, int(status.state != "done")
    except GeneratorExit:
        jobs.cancel(*jobs.active())
        raise


def _submit(recipe: Recipe, group: runs.Group | None, broken_off: str | None) -> str:
    run_id = jobs.submit(recipe, looks=False, group=group, broken_off=broken_off)
    forecast = jobs.forecast(run_id)
    print(f"{recipe.name}: about {forecast.seconds:.0f} s and {forecast.memory_mb:.0f} MB", file=sys.stderr)
    return run_id


def follow(run_id: str) -> jobs.Status:
    """Tell the progress on stderr, each time that it has changed, until the run has ended."""
    told = None
    while True:
        status = jobs.wait(run_id, EVERY)
        if status.state in runs.TERMINAL:
            return status
        text = status.message
        if p := status.progress:
            text += f": gap {p['mean_gap']:.2g}, {p['n_sv']} support vectors, {p['iterations']} iterations"
        if (text, bool(status.late)) != told:  # the clock alone is no news
            print(text + left(status), file=sys.stderr, flush=True)
        told = text, bool(status.late)


def left(status: jobs.Status) -> str:
    """The end of a line of progress: the time left, or by how much it takes longer than forecast."""
    if status.eta_seconds is None:
        return ""
    late = f", {status.late:.0f} s longer than forecast"
    return late if status.late else f", {max(status.eta_seconds, 0.0):.0f} s left"


def summary(result: dict) -> str:
    """What a run came to, in one line."""
    method = METHODS[result["method"]]
    task = TASKS[result["task"]]
    check = (
        f"; cross-validation ({len(v['folds'])} folds): {task.headline(v)}" if (v := result.get("validation")) else ""
    )
    words = f"; {said}" if (said := method.words(result).rstrip(".")) else ""
    words += f"; did not reach tol: {result['ending']}" if result.get("ending") else ""
    compiling = result["compile_all_seconds"]
    once = f", compiling took {compiling:.1f} s more (once)" if compiling >= 0.05 else ""
    return (
        f"{task.headline(result)}{check}; support vectors {result['n_sv']}, bounded {result['n_bound']}{words}; "
        f"trained in {training_seconds(result):.1f} s{once}, "
        f"tested in {result['predict_seconds']:.1f} s; run {result['run']}"
    )
