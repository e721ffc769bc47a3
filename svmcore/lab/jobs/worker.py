"""The work of one run in its thread: prepare, fit, judge, keep; and what the outside sees and asks meanwhile."""

import errno
import logging
import math
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import numpy as np

from svmcore.files import Checkpoint
from svmcore.gram.threads import attended
from svmcore.lab.experiment import train
from svmcore.lab.experiment.meter import Meter
from svmcore.lab.forecast.estimate import Estimate, require
from svmcore.lab.jobs.live import Viewer
from svmcore.lab.jobs.pace import Pace
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.tasks import task_of
from svmcore.lab.store import runs
from svmcore.lab.store.run import named
from svmcore.solvers.progress import Progress

MAX_GAPS = 20  # machines whose gaps a line of progress carries
_log = logging.getLogger(__name__)
STAGES = {
    "loading": "Loading the data",
    "preprocessing": "Preprocessing",
    "searching": "Looking for candidates",
    "mining": "Looking for false alarms to learn from",
    "fitting": "Training",
    "predicting": "Testing",
    "validating": "Cross-validating",
    "bounding": "Bounding the error",
    "saving": "Saving",
}
COMPILING = "Compiling, once"


class Control(Protocol):
    """What a worker needs of whoever runs it."""

    stop: threading.Event  # set: stop as soon as possible
    looks: bool  # whether someone may want to see the machine in training

    def checkpoint(self) -> bool:
        """Wait out a pause; False to stop."""

    def publish(self, **news) -> None:
        """Make progress, live, message or eta_seconds visible."""

    def write(self, save: Callable[..., None], *what) -> None:
        """save(*what), which writes to the run's folder, as long as the run has not ended for its reader."""


def carry_out(run: runs.Run, control: Control) -> tuple[str, str]:
    """Do the run; returns how it ended ("done", "cancelled" or "failed") and, for a failure, why."""
    recipe = run.recipe
    try:
        predicted = require(recipe)  # again, as memory may have changed hands since the run was queued
        with Meter(lambda: _compiling(control)) as meter:
            watch = _Watch(run, predicted, control, meter)
            control.write(run.set_state, "running")
            control.write(run.save_grant, predicted.memory_mb)
            bounded = recipe.replace(cache_mb=predicted.within_mb)
            with attended(watch.attend):
                outcomes = [_part(run, bounded, number, watch) for number in range(task_of(recipe).parts(recipe))]
                validation = train.validate(bounded, watch, watch.check)
            watch.check("saving")
            figures = meter.figures() | {"all_seconds": watch.age}
        if validation.folded is not None:
            control.write(run.save_arrays, "folded", validation.folded._asdict())
        control.write(run.complete, train.gathered(recipe, outcomes) | validation.figures | figures)
    except train.Cancelled:
        return "cancelled", ""
    except Exception as error:
        return "failed", explain(error)
    return "done", ""


def _compiling(control: Control) -> None:
    """Before each function that is compiled, which takes seconds and cannot be broken off."""
    if control.stop.is_set():
        raise train.Cancelled
    control.publish(message=COMPILING)


def _part(run: runs.Run, recipe: Recipe, number: int, watch: "_Watch") -> train.Outcome:
    """Train, test and keep one part of a run."""
    problem = train.prepare(recipe, watch.check, number)._replace(checkpoint=_Left(run, number, watch.control))
    watch.control.write(run.save_split, problem.train_index, problem.test_index, number)
    watch.settle_pace(problem)
    method = METHODS[recipe.method]
    if watch.control.looks and task_of(recipe).looks and method.made and method.looks:
        watch.viewer = Viewer(problem, recipe.seed)
    watch.check("fitting")
    idle = watch.idle
    fitted = train.fit(recipe, problem, watch, watch.check, _trained(run, number, problem.data_hash))
    fitted = fitted._replace(seconds=fitted.seconds - (watch.idle - idle))
    watch.check("predicting")
    outcome = train.judge(recipe, fitted, watch.check)
    watch.viewer = None  # a look is one at the machine of all examples
    watch.check("saving")  # a large machine takes a while to be written, and nobody waits for the end of that
    if fitted.problem is not problem:
        watch.control.write(run.save_split, fitted.problem.train_index, fitted.problem.test_index, number)
    run.save_part(outcome.machine, outcome.test, number)
    for stem, arrays in outcome.kept.items():
        watch.control.write(run.save_arrays, stem, arrays, number)
    return outcome


def _trained(run: runs.Run, number: int, data_hash: str) -> train.Trained | None:
    """The machine that a run begins with, where it begins with one and its parent has it, of the same data."""
    if METHODS[run.recipe.method].made:
        return None
    with suppress(runs.UnknownRun):
        parent = runs.get(run.parent or "")
        alike = parent.state == "done" and parent.recipe.outcome == run.recipe.origin.outcome
        if alike and parent.result["data_hash"] == data_hash:
            return train.Trained(parent.machine(number), parent.test(number))
    return None


class _Left(Checkpoint):
    """The checkpoint of a part in its run's folder, which a run that has ended for its reader writes no more."""

    def __init__(self, run: runs.Run, number: int, control: Control):
        super().__init__(run.path / named("checkpoint", number))
        self.control = control

    def write(self, key: str, arrays: dict[str, np.ndarray]) -> None:
        self.control.write(super().write, key, arrays)


class _Watch:
    """Stands between the solver and the outside: keeps the pace, writes lines, takes looks, asks whether to go on."""

    def __init__(self, run: runs.Run, predicted: Estimate, control: Control, meter: Meter, clock=time.perf_counter):
        self.run, self.control, self.meter, self.viewer = run, control, meter, None
        self.pace = Pace(predicted.parts, run.recipe.tol, run.recipe.slow_motion)
        self.burst: int | None = None  # pairs between two reports, for the solver
        self.size = 1, 0  # machines and training examples
        self.rested_at = -1  # iterations at the last rest
        self._clock, self.paused, self.rested = clock, 0.0, 0.0
        self._thread = threading.get_ident()
        self.started = self._working()
        self.trained: float | None = None  # age when the training began
        self.method, self.points = METHODS[run.recipe.method], 0  # points: that its lines have told so far

    @property
    def age(self) -> float:
        """Seconds at work, slow motion's rests among them; pauses and compiling are none."""
        return self._working() - self.started - self.paused

    def _working(self) -> float:
        """The clock, which stands still while something is compiled: whoever takes time by it counts none twice."""
        return self._clock() - self.meter.seconds

    @property
    def idle(self) -> float:
        """Seconds of pauses and rests."""
        return self.paused + self.rested

    def check(self, stage: str) -> None:
        """Between pieces of work outside the solver: tell the stage, wait out a pause. Cancelled when asked to stop."""
        self.meter.sample()
        self._tell(STAGES.get(stage, f"Bounding the error: {stage}"))
        if not self._checkpoint():
            raise train.Cancelled

    def attend(self) -> None:
        """Between pieces of work of which nothing is to be told: as `check` in the thread of the run; in others, which
        it waits for, Cancelled alone."""
        if threading.get_ident() == self._thread and not self._checkpoint():
            raise train.Cancelled
        self._raise_if_stopping()

    def _tell(self, stage: str, **news) -> None:
        """Publish news; as long as a machine of the run waits for the compiler that is what it does."""
        self.control.publish(message=COMPILING if self.meter.compiling else stage, **news)

    def settle_pace(self, problem: train.Problem) -> None:
        """Choose how often the solver reports, once the problem is known."""
        classes = len(np.unique(problem.y_train))
        self.size = classes if classes > 2 else 1, len(problem.y_train)
        self.burst = self.pace.burst(*self.size)

    def __call__(self, progress: Progress) -> bool:
        """Between bursts of the solver. What is raised here ends the fit: no machine is put together for nobody."""
        self.meter.sample()
        self._record(progress)
        self._rest(progress)
        self.burst = self.pace.burst(*self.size, progress.iterations)
        if not self._checkpoint():
            raise train.Cancelled
        return True

    def _record(self, progress: Progress) -> None:
        age, tol = self.age, self.run.recipe.tol
        self.trained = age if self.trained is None else self.trained
        line = _line(progress, tol) | {
            "seconds": round(age - self.trained - self.rested, 3),
            "compile_seconds": round(self.meter.seconds, 3),
            "rest_seconds": round(self.rested, 3),
        }
        if line["mean_gap"] is None:  # several fits side by side, of which none has reported yet
            return
        self.pace.seen(age, line["mean_gap"] if self.method.made else math.inf)
        stage = "" if progress.stage == "train" else f": {progress.stage}"
        self._tell(STAGES["fitting"] + stage, progress=line, eta_seconds=self.pace.eta(age))
        final = progress.gap <= tol and self.method.made
        points, self.points = self.points, self.method.points(line)
        final |= self.points > points
        if self.pace.should_write(age) or final:
            self.control.write(self.run.add_progress, line)
        if self.viewer is not None and self.viewer.due(progress, final):
            live = self.viewer.look(progress, self._raise_if_stopping)
            if live is not None:
                self.control.publish(live=live)

    def _rest(self, progress: Progress) -> None:
        if self.pace.slow and progress.iterations != self.rested_at:
            self.rested_at = progress.iterations
            started = self._working()
            self.control.stop.wait(self.pace.rest())
            self.rested += self._working() - started

    def _checkpoint(self) -> bool:
        started = self._working()
        go_on = self.control.checkpoint()
        self.paused += self._working() - started
        return go_on

    def _raise_if_stopping(self) -> None:
        if self.control.stop.is_set():
            raise train.Cancelled


def _line(progress: Progress, tol: float) -> dict:
    """A Progress as it is written: plain numbers, null for what is not finite; the gaps of up to MAX_GAPS
    machines, of more how many they are.

    mean_gap = (prod_m max(gap_m, tol))^(1/k) of k machines, which are solved in turn: it falls when one of them does.
    """
    values = {name: value for name, value in progress._asdict().items() if name not in ("snapshot", "facts")}
    gaps = values.pop("gaps")
    values["mean_gap"] = np.exp(np.log(np.maximum(gaps, tol)).mean()) if len(gaps) > 1 else progress.gap
    line = {name: _plain(value) for name, value in (values | (progress.facts or {})).items()}
    return line | ({"gaps": [_plain(gap) for gap in gaps]} if len(gaps) <= MAX_GAPS else {"machines": len(gaps)})


def _plain(value):
    """A value with its numbers in at most six digits after the first, so that lines stay short."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, int | np.integer):
        return int(value)
    return float(f"{value:.7g}") if math.isfinite(value) else None


def explain(error: Exception) -> str:
    """A failure in words for the reader; what is a fault of the program also goes to the log."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        free = shutil.disk_usage(runs.home()).free / 2**20
        return (
            f"The disk that holds the runs is full ({free:,.0f} MB left in {runs.home()}). What was kept before is "
            "intact; free some space and start the run again."
        )
    if isinstance(error, MemoryError):
        return "The memory ran out. Use fewer training examples or a smaller cache_mb."
    if isinstance(error, ValueError | OSError):
        return str(error)
    _log.error("a run failed", exc_info=error)
    return f"{type(error).__name__}: {error}"
