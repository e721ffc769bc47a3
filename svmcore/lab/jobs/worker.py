"""The work of one run in its thread: prepare, fit, judge, keep; and what the outside sees and asks meanwhile.

When to write progress, how long is left, and how slow slow motion is.

    next line   after max(50 ms, 1 % of the run's age): a second gives twenty lines, an hour seven hundred
    time left   l + v (p_2 + ... + p_m),   l = (1 - w) (p_1 - t) + w t_gap,   w = min(1, t / p_1)

p_1 is the predicted time of the training at work, t its age, t_gap the time until the mean gap, which falls about
geometrically, reaches tol at its recent rate; p_2 ... those of what is still to come (stages, folds, tests), v how the
run compares with its prediction so far. Another training begins where the gap has been at tol and rises again. Where it
rises in the last one (copies are drawn batch by batch, and solved for each), the gap tells nothing: l = v p_1 - t.
Below 0 is by how much the run takes longer than that.

A short run reports after bursts of so few pairs that there is something to see: about n / 3 pairs make a machine of n
examples. Where it takes more the bursts grow with them, or a run whose C is large would do little but report. Slow
motion cuts bursts finer still and rests the real solver after its reports, for at most REST each and
RESTS in all: of a training's part of RESTS as much as it has come down of the way from gap 2 to tol, on the log axis.
"""

import errno
import logging
import math
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from math import inf, log
from typing import Protocol

import numpy as np

from svmcore.files import Checkpoint
from svmcore.gram.threads import attended
from svmcore.lab import train
from svmcore.lab.forecast import RESTS, Estimate
from svmcore.lab.jobs.live import Viewer
from svmcore.lab.meter import Meter
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.store.run import named
from svmcore.lab.tasks import task_of
from svmcore.solvers.progress import Progress

SELDOM = 0.1  # seconds between two reports of a stage that nobody looks at
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
    "bounding": "Computing error bounds",
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


def carry_out(run: runs.Run, forecast: Estimate, control: Control) -> tuple[str, str]:
    """Do the run; returns how it ended ("done", "cancelled" or "failed") and, for a failure, why.

    forecast: what it needs, beside the memory that is free now.
    """
    recipe = run.recipe
    try:
        forecast.require()  # memory may have changed hands since the run was queued
        with Meter(lambda: _compiling(control)) as meter:
            watch = _Watch(run, forecast, control, meter)
            control.write(run.set_state, "running")
            control.write(run.save_grant, forecast.memory_mb)
            bounded = recipe.replace(cache_mb=forecast.within_mb)
            parts = range(task_of(recipe).parts(recipe))
            with attended(watch.attend):
                outcomes = [_part(run, bounded, number, watch) for number in parts]
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
    checkpoint = _Left(run, number, watch.control)
    problem = train.prepare(recipe, watch.check, number)._replace(checkpoint=checkpoint)
    watch.control.write(run.save_split, problem.train_index, problem.test_index, number)
    watch.settle_pace(problem)
    method = METHODS[recipe.method]
    shown = problem.X_train.shape[1:] == problem.X_test.shape[1:]  # the machine in training is the one that is tested
    if shown and watch.control.looks and task_of(recipe).looks and method.made and method.looks:
        watch.viewer = Viewer(problem, recipe.seed)
    trained = runs.trained_by_parent(run, number, problem.data_hash)
    watch.check("fitting")
    idle = watch.idle
    fitted = train.fit(recipe, problem, watch, watch.check, trained)
    fitted = fitted._replace(seconds=fitted.seconds - (watch.idle - idle))
    watch.check("predicting")
    outcome = train.judge(recipe, fitted, watch.check)
    watch.viewer = None  # a look is one at the machine of all examples
    watch.check("saving")  # a large machine takes a while to be written, and nobody waits for the end of that
    final = fitted.problem
    if final.train_index is not problem.train_index or final.test_index is not problem.test_index:
        watch.control.write(run.save_split, final.train_index, final.test_index, number)
    run.save_part(outcome.machine, outcome.test, number)
    for stem, arrays in outcome.kept.items():
        watch.control.write(run.save_arrays, stem, arrays, number)
    return outcome


class _Left(Checkpoint):
    """The checkpoint of a part in its run's folder, which a run that has ended for its reader writes no more."""

    def __init__(self, run: runs.Run, number: int, control: Control):
        super().__init__(run.path / named("checkpoint", number))
        self.control = control

    def write(self, key: str, arrays: dict[str, np.ndarray]) -> None:
        self.control.write(super().write, key, arrays)


class _Watch:
    """Stands between the solver and the outside: keeps the pace, writes lines, takes looks, asks whether to go on."""

    def __init__(self, run: runs.Run, forecast: Estimate, control: Control, meter: Meter, clock=time.perf_counter):
        self.run, self.recipe, self.control, self.meter, self.viewer = run, run.recipe, control, meter, None
        self.pace = Pace(forecast.parts, self.recipe.tol, self.recipe.slow_motion)
        self.burst: int | None = None  # pairs between two reports, for the solver
        self.size = 1, 0  # machines and training examples
        self.rested_at = -1  # iterations at the last rest
        self.seldom = self.recipe.folds is not None and not control.looks  # one of many for a choice
        self.told = "", 0.0  # the stage that was last reported, and at what age
        self._clock, self.paused, self.rested = clock, 0.0, 0.0
        self._thread = threading.get_ident()
        self.started = self._working()
        self.trained: float | None = None  # age when the training began
        self.method, self.points = METHODS[self.recipe.method], 0  # points: that its lines have told so far

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
        self._tell(STAGES.get(stage, f"Computing error bounds: {stage}"))
        if not self._checkpoint():
            raise train.Cancelled

    def attend(self) -> None:
        """Between pieces of work without news: as `check` in the run's own thread; in others only Cancelled."""
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
        self.burst = self._burst()

    def _burst(self, pairs: int = 0) -> int | None:
        """Few pairs where a reader may look on; the solver's own pace for nobody."""
        return self.pace.burst(*self.size, pairs) if not self.seldom or self.pace.slow else None

    def __call__(self, progress: Progress) -> bool:
        """Between bursts of the solver. What is raised here ends the fit: no machine is put together for nobody."""
        if not self.seldom or progress.stage != self.told[0] or self.age > self.told[1] + SELDOM:
            self.told = progress.stage, self.age
            self.meter.sample()
            self._record(progress)
        self._rest(progress)
        self.burst = self._burst(progress.iterations)
        if not self._checkpoint():
            raise train.Cancelled
        return True

    def _record(self, progress: Progress) -> None:
        age, tol = self.age, self.recipe.tol
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
            f"The disk with the runs is full ({free:,.0f} MB left in {runs.home()}). What was stored before is intact. "
            "Free some space and start the run again."
        )
    if isinstance(error, MemoryError):
        return "Memory ran out. Use fewer training examples or a smaller cache_mb."
    if isinstance(error, ValueError | OSError):
        return str(error)
    _log.error("a run failed", exc_info=error)
    return f"{type(error).__name__}: {error}"


REST = 0.2  # seconds
SHORT = 5.0  # seconds of a run that reports by pairs
REPORTS, SLOW_REPORTS = 30, 120  # that such a run has about
RECENT = 40  # progress lines that the rate of the gap is read off
BELIEVED = 0.25  # seconds that count as gone at the forecast's pace: a training of a millisecond does not set it


class Pace:
    """Clockwork of one run; `parts`: predicted seconds of each training and its test. Ages leave pauses out."""

    def __init__(self, parts: Sequence[tuple[float, float]], tol: float, slow_motion: bool = False):
        self.slow = RESTS / len(parts) if slow_motion else 0.0  # seconds that a training rests
        self.parts, self.tol = [(max(training, 1e-3) + self.slow, test) for training, test in parts], tol
        self.prior = sum(map(sum, self.parts))
        self._written = -1.0
        self._part, self._begun = 0, None  # the training at work; when the first one and this one began
        self._gap, self._rested = inf, 0.0  # of this training: smallest mean gap; seconds
        self._again = False  # whether the gap of the last training has risen from tol
        self._recent = deque(maxlen=RECENT)

    def should_write(self, age: float) -> bool:
        """Whether the progress of this moment belongs in the file."""
        if self._written >= 0 and age - self._written < max(0.05, age / 100):
            return False
        self._written = age
        return True

    def seen(self, age: float, gap: float) -> None:
        """Take note of the mean gap."""
        if self._begun is None:
            self._begun = age, age
        if self._done() and gap > self.tol and self._part < len(self.parts) - 1:
            self._part, self._begun = self._part + 1, (self._begun[0], age)
            self._gap, self._rested = inf, 0.0
            self._recent.clear()
        self._again |= self._done() and gap > 2 * self.tol
        self._gap = max(min(gap, self._gap), self.tol)
        if not self._recent or age - self._recent[-1][0] >= 0.02 * self.parts[self._part][0]:
            self._recent.append((age, self._gap))

    def eta(self, age: float) -> float:
        """Seconds left; below 0, by how much it takes longer than forecast."""
        if self._begun is None:
            return self.prior - age
        begun, here = self._begun[0], age - self._begun[1]
        (training, test), by_gap = self.parts[self._part], self._time_to_tol()
        weight = 0.0 if by_gap is None else 1.0 if self._done() else min(1.0, here / training)
        left = (1 - weight) * (training - here) + weight * (by_gap or 0.0)
        before = sum(map(sum, self.parts[: self._part]))
        if self._again:
            left = (self._begun[1] - begun + BELIEVED) / (before + BELIEVED) * training - here
        to_come = test + sum(map(sum, self.parts[self._part + 1 :]))
        return left + (age - begun + left + BELIEVED) / (before + training + BELIEVED) * to_come

    def burst(self, machines: int, n: int, pairs: int = 0) -> int | None:
        """Pairs that a machine solves between two reports, after `pairs` in all; None for the solver's own pace."""
        if not self.slow and self.prior > SHORT:
            return None
        return max(1, max(machines * n // 3, pairs) // (SLOW_REPORTS if self.slow else REPORTS))

    def rest(self) -> float:
        """Seconds to rest after a burst in slow motion."""
        down = 1 - log(min(self._gap, 2.0) / self.tol) / log(2.0 / self.tol)
        rest = min(REST, max(self.slow * down - self._rested, 0.0))
        self._rested += rest
        return rest

    def _done(self) -> bool:
        return self._gap <= self.tol

    def _time_to_tol(self) -> float | None:
        if self._done():
            return 0.0
        if len(self._recent) < 3:
            return None
        (t0, g0), (t1, g1) = self._recent[0], self._recent[-1]
        return log(g1 / self.tol) * (t1 - t0) / log(g0 / g1) if g1 < g0 else None
