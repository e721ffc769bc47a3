"""Runs in the background: one bounded queue a process; a run is found by its id from any page, session or thread.

    queued -> running -> paused -> queued ...        and from each of these -> done | failed | cancelled

A run is a thread of its own; at most MAX_RUNNING of them are "running" at a time. The states of the jobs are all that
the queue keeps: who waits and how many run is read off them. They change in `Queue._become` alone, which starts what
there is room for and wakes whoever waits, so that no change can forget to. One lock guards them; nobody holds it while
working or waiting. Whoever asks for a stop only sets a flag: the worker sees it between two bursts, and the store is
told what came of the run.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from svmcore.lab.forecast.estimate import BudgetError, require
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
ENDED = ("done", "failed", "cancelled")
CHANGES = {  # state of a job -> what may follow it
    "queued": ("running", "paused", *ENDED),
    "running": ("paused", *ENDED),
    "paused": ("queued", *ENDED),
} | dict.fromkeys(ENDED, ())
_log = logging.getLogger(__name__)


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

    def __init__(self, queue: Queue, run: runs.Run, looks: bool):
        self.queue, self.run, self.looks = queue, run, looks
        self.stop, self.hold = threading.Event(), False  # asked to end, to pause
        self.thread: threading.Thread | None = None
        self.latest = Status("queued")

    @property
    def state(self) -> str:
        return self.latest.state

    def publish(self, **news) -> None:
        """Make news visible to whoever asks for the status."""
        with self.queue.changed:
            if self.stop.is_set():
                news.pop("message", None)  # "Cancelling" stands until it has stopped
            self.latest = self.latest._replace(**news)

    def checkpoint(self) -> bool:
        """Whether to go on; a job on hold waits here."""
        if self.hold and not self.stop.is_set():
            self.queue.stand_aside(self)
        return not self.stop.is_set()


class Queue:
    """The jobs of a process, by run id in the order in which they came."""

    def __init__(self):
        self.changed = threading.Condition()  # its lock guards all that follows
        self._jobs: dict[str, _Job] = {}
        self._welcomed: set[Path] = set()  # home folders that had their preset, or were found not to need it
        self._welcoming = threading.Lock()  # a second session waits until the first one has its preset
        self._closing = threading.Event()

    def submit(
        self, recipe: Recipe, *, looks: bool = True, parent: str | None = None, group: runs.Group | None = None
    ) -> str:
        """Queue a run and return its id; `looks=False` spares the live looks when nobody will see them. parent: id of
        the run that it grew out of; group: what it is started together with others for.

        BudgetError when it cannot fit into memory, UnknownDataset, QueueFull, OSError when the disk takes no new run.
        """
        require(recipe)
        with self.changed:
            fresh = sum(job.thread is None and job.state in runs.ACTIVE for job in self._jobs.values())
        if fresh >= MAX_QUEUED:
            raise QueueFull(f"{fresh} runs are waiting already; cancel one, or wait for one to end")
        try:
            run = runs.create(recipe, parent, group)
        except OSError as error:
            raise OSError(worker.explain(error)) from error
        with self.changed:
            for old in [job for job in self._jobs.values() if job.state in ENDED][:-KEPT]:
                del self._jobs[old.run.id]
            self._jobs[run.id] = _Job(self, run, looks)
            self._dispatch()
        return run.id

    def status(self, run_id: str) -> Status:
        """State, progress, time left and latest look of a run, at work here or found in the store. UnknownRun."""
        with self.changed:
            job = self._jobs.get(run_id)
            if job is not None and job in (line := self._line()):
                ahead = self._n_running() + line.index(job)
                return job.latest._replace(message=f"Waits for {ahead} other run{'s' if ahead != 1 else ''}")
        if job is not None and job.state not in ENDED:
            return job.latest
        run = runs.get(run_id)  # it may have been deleted since it ended
        if job is not None and not run.damage:
            return job.latest
        if run.damage:
            return Status("damaged", message=run.damage)
        lines = run.progress()
        return Status(run.state, lines[-1] if lines else None, None, run.message)

    def active(self) -> list[str]:
        """Ids of the runs of this process that are queued, running or paused, oldest first."""
        with self.changed:
            return [run_id for run_id, job in self._jobs.items() if job.state in runs.ACTIVE]

    def pause(self, run_id: str) -> None:
        """Hold a run after its burst; another may use its place. No effect on one that has ended."""
        job = self._job(run_id)
        with self.changed:
            job.hold = True
            if job.state == "queued":
                self._become(job, "paused")

    def resume(self, run_id: str) -> None:
        """Let a paused run go on, as soon as there is a place for it."""
        job = self._job(run_id)
        with self.changed:
            job.hold = False
            if job.state == "paused":
                self._become(job, "queued")

    def cancel(self, run_id: str) -> None:
        """Stop a run, wherever it is; the worker follows within a burst. No effect on one that has ended."""
        job = self._job(run_id)
        with self.changed:
            if job.stop.is_set() or job.state in ENDED:
                return
            job.publish(message="Cancelling")
            job.stop.set()
            never_begun = job.thread is None
            self.changed.notify_all()
        if never_begun:
            self._end(job, "cancelled", "")

    def wait(self, run_id: str, timeout: float | None = None) -> Status:
        """Wait until a run of this process has ended (or for `timeout` seconds), and say how."""
        job = self._job(run_id)
        with self.changed:
            self.changed.wait_for(lambda: job.state in ENDED, timeout)
        return job.latest

    def stand_aside(self, job: _Job) -> None:
        """For a worker whose run is on hold: give its place to another run, and wait to get one again."""
        _tell_store(job.run, "paused")
        with self.changed:
            if job.hold and not job.stop.is_set():
                self._become(job, "paused")
                self.changed.wait_for(lambda: job.stop.is_set() or job.state == "running")
        if not job.stop.is_set():
            _tell_store(job.run, "running")

    def at_work(self) -> bool:
        """Whether a run is at work."""
        with self.changed:
            return self._n_running() > 0

    def give_way(self, gone: Callable[[], bool]) -> None:
        """For work beside the runs: wait while one is at work, or until `gone()`, asked again after `look_again`."""
        with self.changed:
            self.changed.wait_for(lambda: gone() or not self._n_running())

    def look_again(self) -> None:
        """Wake whoever waits."""
        with self.changed:
            self.changed.notify_all()

    @property
    def closing(self) -> bool:
        """Whether the process ends."""
        return self._closing.is_set()

    def ensure_preset(self) -> str | None:
        """Submit the preset when the store has no runs at all, so that no page is empty, and warm up behind it.

        Once a process; later calls return at once. Of several processes that start together one submits.
        """
        home, preset = runs.home(), None
        with self._welcoming:
            if home in self._welcomed:
                return None
            self._welcomed.add(home)
            try:
                with folders.exclusive(home / "preset.lock") as alone:
                    if alone and not runs.everything() and not runs.deleted():
                        preset = self.submit(RECIPES[PRESET])
            except (OSError, BudgetError) as error:  # the pages are of use without it
                _log.warning("the preset could not be started: %s", error)
        threading.Thread(target=self._warm_up, args=(preset,), name="warm-up", daemon=True).start()
        return preset

    def close(self) -> None:
        """At the end of the process: cancel what is at work, and give it a moment to say so in the store."""
        self._closing.set()
        self.look_again()
        for run_id in self.active():
            self.cancel(run_id)
        deadline = time.monotonic() + EXIT_SECONDS
        for job in list(self._jobs.values()):
            if job.thread is not None:
                job.thread.join(max(0.0, deadline - time.monotonic()))

    # States; all of these want the lock to be held

    def _become(self, job: _Job, state: str, **news) -> None:
        """The one place where a job's state changes. RuntimeError for a change that CHANGES does not have."""
        if state not in CHANGES[job.state]:
            raise RuntimeError(f"run {job.run.id} is {job.state} and cannot become {state}")
        job.latest = job.latest._replace(state=state, **news)
        if state == "running" and job.thread is None:
            self._start(job)
        self._dispatch()
        self.changed.notify_all()

    def _dispatch(self) -> None:
        """Give a free place to the next in the line; `_become` comes back here for the one after it."""
        if self._n_running() < MAX_RUNNING and (line := self._line()):
            self._become(line[0], "running")

    def _line(self) -> list[_Job]:
        """Who waits for a place, those first that have begun."""
        waiting = [job for job in self._jobs.values() if job.state == "queued" and not job.stop.is_set()]
        return sorted(waiting, key=lambda job: job.thread is None)

    def _n_running(self) -> int:
        return sum(job.state == "running" for job in self._jobs.values())

    def _start(self, job: _Job) -> None:
        job.publish(message="Starting")
        job.thread = threading.Thread(target=self._work, args=(job,), name=f"run-{job.run.id}", daemon=True)
        try:
            job.thread.start()
        except RuntimeError as error:  # the system has no more threads
            job.thread = None
            self._end(job, "failed", str(error))

    # Work, without the lock

    def _work(self, job: _Job) -> None:
        """The thread of a job."""
        try:
            yield_to_others()
            ending = worker.carry_out(job.run, job)
        except BaseException as error:
            ending = "failed", worker.explain(error)
        self._end(job, *ending)

    def _end(self, job: _Job, state: str, message: str) -> None:
        """Write down how a run ended, let go of it and free its place, whatever fails of that: a full disk leaves the
        last word to this process's memory."""
        for farewell in (lambda: _tell_store(job.run, state, message), job.run.release):
            try:
                farewell()
            except Exception as error:
                _log.error("run %s has ended, and something is left of it", job.run.id, exc_info=error)
        with self.changed:
            self._become(job, state, message=message, eta_seconds=None)

    def _warm_up(self, preset: str | None) -> None:
        yield_to_others()
        if preset is not None:
            self.wait(preset)
        try:
            warm_up(lambda: not self._closing.is_set())
        except RuntimeError:  # at the end of the process its pools take no more work
            if not self._closing.is_set():
                raise

    def _job(self, run_id: str) -> _Job:
        with self.changed:
            job = self._jobs.get(run_id)
        if job is None:
            run = runs.get(run_id)
            raise runs.RunBusy(f"run {run.id} is {run.state}, and no work of this process")
        return job


def _tell_store(run: runs.Run, state: str, message: str = "") -> None:
    """On a full disk the state in memory stands alone; the next progress line fails the run, if it comes to one."""
    with suppress(OSError):
        run.set_state(state, message)


def yield_to_others() -> None:
    """This thread, and those that it will start, take what processor time the pages leave (where threads have their
    own priority: Linux)."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def _before_threads_are_joined(close: Callable[[], None]) -> None:
    """Call `close` when the process ends, before it waits for its threads.

    Python has no public way: atexit's turn comes only after the end of every pool's threads, and those that wait in a
    paused run would never end. Without the private one atexit it is, and only a paused run holds up the end.
    """
    register = getattr(threading, "_register_atexit", atexit.register)
    register(close)


QUEUE = Queue()  # of this process
submit, status, active, wait = QUEUE.submit, QUEUE.status, QUEUE.active, QUEUE.wait
pause, resume, cancel, ensure_preset = QUEUE.pause, QUEUE.resume, QUEUE.cancel, QUEUE.ensure_preset
_before_threads_are_joined(QUEUE.close)
