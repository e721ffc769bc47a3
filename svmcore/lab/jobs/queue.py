"""Runs in the background: one bounded executor a process, found by run id from any page, session or thread.

    submit -> queued -> running <-> paused -> done | failed | cancelled

A run is a thread of its own; at most MAX_RUNNING of them work at a time, the others wait in the queue or, paused, in
the solver's monitor. All state here is guarded by one condition that nobody holds while working or waiting. Whoever
asks for a stop only sets a flag: the worker sees it between two bursts, and settles in the store what came of the run.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from svmcore.lab.forecast.estimate import require
from svmcore.lab.jobs import worker
from svmcore.lab.jobs.live import Live
from svmcore.lab.jobs.warm import warm_up
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.recipes import PRESET, RECIPES
from svmcore.lab.store import folders, runs

MAX_RUNNING = 1  # two cores serve one run
MAX_QUEUED = 100  # all runs of the paper's tables, and some more
KEPT = 50  # finished jobs whose last look stays in memory
NICE = 10  # priority of runs below that of pages; 19 is the lowest
EXIT_SECONDS = 3.0  # that the end of the process waits for workers to stop

_change = threading.Condition()
_jobs: dict[str, _Job] = {}
_queue: deque[_Job] = deque()
_running = 0
_welcomed: set[Path] = set()  # home folders that had their preset, or were found not to need it
_welcoming = threading.Lock()  # a second session waits until the first one has its preset
_closing = threading.Event()


class QueueFull(RuntimeError):
    """Too many runs wait already."""


class Status(NamedTuple):
    """How far a run is. progress: the latest figures; live: the latest look, for runs of this process."""

    state: str
    progress: dict | None = None
    eta_seconds: float | None = None
    message: str = ""
    live: Live | None = None


class _Job:
    """A run of this process, and what its worker sees of the outside (`worker.Control`)."""

    def __init__(self, run: runs.Run, looks: bool):
        self.run, self.looks = run, looks
        self.stop = threading.Event()
        self.hold = self.holding = False  # asked to pause; is pausing
        self.thread: threading.Thread | None = None
        self.latest = Status("queued")

    @property
    def state(self) -> str:
        return self.latest.state

    def publish(self, **news) -> None:
        """Make news visible to whoever asks for the status."""
        self.latest = self.latest._replace(**news)

    def checkpoint(self) -> bool:
        """Whether to go on. A job on hold gives its place away and waits here, without holding anything."""
        global _running
        if not self.hold or self.stop.is_set():
            return not self.stop.is_set()
        self.run.set_state("paused")
        with _change:
            self.holding = True
            self.publish(state="paused")
            _running -= 1
            _dispatch()
            _change.wait_for(lambda: self.stop.is_set() or (not self.hold and _running < MAX_RUNNING))
            _running += 1
            self.holding = False
            self.publish(state="running")
        self.run.set_state("running")
        return not self.stop.is_set()

    def work(self) -> None:
        """The thread of a running job."""
        global _running
        _yield_to_others()
        state, message = worker.carry_out(self.run, self)
        self.settle(state, message)
        with _change:
            _running -= 1
            _dispatch()
            _change.notify_all()

    def settle(self, state: str, message: str = "") -> None:
        """Write down how the run ended and let go of it; a full disk leaves that to this process's memory."""
        with suppress(OSError):
            self.run.set_state(state, message)
        self.run.release()
        with _change:
            self.publish(state=state, message=message, eta_seconds=None)
            _change.notify_all()


def submit(recipe: Recipe, *, looks: bool = True) -> str:
    """Queue a run and return its id; `looks=False` spares the live looks when nobody will see them.

    BudgetError when it cannot fit into memory, UnknownDataset, QueueFull, OSError when the disk takes no new run.
    """
    require(recipe)
    with _change:
        if len(_queue) >= MAX_QUEUED:
            raise QueueFull(f"{len(_queue)} runs are waiting already; cancel one, or wait for one to end")
    try:
        run = runs.create(recipe)
    except OSError as error:
        raise OSError(worker.explain(error)) from error
    job = _Job(run, looks)
    with _change:
        for old in [job for job in _jobs.values() if job.state in runs.TERMINAL][:-KEPT]:
            del _jobs[old.run.id]
        _jobs[run.id] = job
        _queue.append(job)
        _dispatch()
    return run.id


def status(run_id: str) -> Status:
    """State, progress, time left and latest look of a run, at work here or found in the store. UnknownRun."""
    run = runs.get(run_id)
    job = _jobs.get(run_id)
    if job is not None:
        return job.latest if job.state != "queued" else job.latest._replace(message=_waits_for(job))
    lines = run.progress()
    return Status(run.state, lines[-1] if lines else None, None, run.message)


def active() -> list[str]:
    """Ids of the runs of this process that are queued, running or paused, oldest first."""
    return [run_id for run_id, job in list(_jobs.items()) if job.state in runs.ACTIVE]


def pause(run_id: str) -> None:
    """Hold a run after its burst; another may use its place. No effect on one that has ended."""
    job = _job(run_id)
    with _change:
        job.hold = True
        if job in _queue:
            job.publish(state="paused")


def resume(run_id: str) -> None:
    """Let a paused run go on, as soon as there is a place for it."""
    job = _job(run_id)
    with _change:
        job.hold = False
        if job.state == "paused":
            job.publish(state="queued")
        _dispatch()
        _change.notify_all()


def cancel(run_id: str) -> None:
    """Stop a run, wherever it is; the worker follows within a burst. No effect on one that has ended."""
    job = _job(run_id)
    with _change:
        job.stop.set()
        waiting = job in _queue
        if waiting:
            _queue.remove(job)
        _change.notify_all()
    if waiting:
        job.settle("cancelled")


def wait(run_id: str, timeout: float | None = None) -> Status:
    """Wait until a run of this process has ended (or for `timeout` seconds), and say how."""
    job = _job(run_id)
    with _change:
        _change.wait_for(lambda: job.state in runs.TERMINAL, timeout)
    return job.latest


def ensure_preset() -> str | None:
    """Submit the preset when the store has no runs at all, so that no page is empty, and warm up behind it.

    Once a process; later calls return at once. Of several processes that start together one submits.
    """
    home, preset = runs.home(), None
    with _welcoming:
        if home in _welcomed:
            return None
        _welcomed.add(home)
        with folders.exclusive(home / "preset.lock") as alone:
            if alone and not runs.newest_first() and not runs.trash():
                preset = submit(RECIPES[PRESET])
    threading.Thread(target=_warm_up, args=(preset,), name="warm-up", daemon=True).start()
    return preset


def _yield_to_others() -> None:
    """This thread, and those that it will start, take what processor time the pages leave (where threads have their
    own priority: Linux)."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def _warm_up(preset: str | None) -> None:
    _yield_to_others()
    if preset is not None:
        wait(preset)
    if not _closing.is_set():
        warm_up(lambda: not _closing.is_set())


def _job(run_id: str) -> _Job:
    job = _jobs.get(run_id)
    if job is None:
        run = runs.get(run_id)
        raise runs.RunBusy(f"run {run.id} is {run.state}, and no work of this process")
    return job


def _waits_for(job: _Job) -> str:
    with _change:
        ahead = _running + (_queue.index(job) if job in _queue else 0)
    return f"Waits for {ahead} other run{'s' if ahead != 1 else ''}"


def _dispatch() -> None:
    """With `_change` held: start queued jobs while there is room; a job that resumes goes first."""
    global _running
    resuming = sum(job.holding and not job.hold for job in _jobs.values())
    ready = deque(job for job in _queue if not job.hold)
    while ready and _running + resuming < MAX_RUNNING:
        job = ready.popleft()
        _queue.remove(job)
        _running += 1
        job.publish(state="running", message="Starting")
        job.thread = threading.Thread(target=job.work, name=f"run-{job.run.id}", daemon=True)
        job.thread.start()


def _shut_down() -> None:
    """Cancel what is at work, and give it a moment to say so in the store."""
    _closing.set()
    for run_id in active():
        cancel(run_id)
    deadline = time.monotonic() + EXIT_SECONDS
    for job in list(_jobs.values()):
        if job.thread is not None:
            job.thread.join(max(0.0, deadline - time.monotonic()))


# Not by atexit: its turn comes only after the end of every pool's threads, and those of a paused run would never end.
threading._register_atexit(_shut_down)
