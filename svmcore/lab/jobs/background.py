"""Analyses in the background: found again by their key, watched, stopped, begun again.

    start(*key) -> waiting | working -> done | stopped | failed

An analysis is no run: nobody wants it in the list of runs, and it must never keep one waiting. So each kind has one
thread beside the queue, one task at a time, which gives way between two bursts whenever a run is at work; a quick one
that a reader waits for does not. Its result so far can be read at any moment, is left when it is stopped, and belongs
to the process: every session sees the same, and a page may go and come back.
"""

import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

from data import permission
from svmcore.lab.jobs import worker
from svmcore.lab.jobs.queue import QUEUE, Queue
from svmcore.lab.priority import yield_to_others
from svmcore.lab.train import Cancelled

ENDED = ("done", "stopped", "failed")
MAX_WAITING = 8
MAX_ENDED = 20  # tasks that have ended and stay in memory
PREPARING = {"loading": "Loading the data", "preprocessing": "Preprocessing"}  # stages of a problem


class Busy(RuntimeError):
    """Too many tasks wait already."""


class TaskStatus(NamedTuple):
    """How far a task is."""

    state: str  # none | waiting | working | done | stopped | failed
    result: object = None  # as far as it is known
    message: str = ""

    @property
    def at_work(self) -> bool:
        return self.state in ("waiting", "working")


class Task:
    """One call of an analysis, as its computation sees it; whatever it asks raises Cancelled when it is to stop."""

    def __init__(self, analysis: "Analysis", key: tuple):
        self.analysis, self.key, self.stop, self.begun = analysis, key, threading.Event(), False
        self.status = TaskStatus("waiting", None, "Waiting for another analysis")

    def check(self, stage: str | None = None) -> None:
        """Between two bursts. stage: what is being done, by its name or in words; None for what was."""
        self.analysis.give_way(self)
        message = self.status.message if stage is None else self.analysis.stages.get(stage, stage)
        self.say("working", message=message)

    def monitor(self, progress) -> bool:
        """Of a fit that is a part of the stage at work."""
        self.check()
        return True

    def by_gap(self, progress) -> bool:
        """Of a fit that is told by its gap."""
        self.check(f"gap {progress.gap:.2g}, {progress.n_sv:,} support vectors")
        return True

    def by_stage(self, progress) -> bool:
        """Of fits whose stages have names."""
        self.check(progress.stage)
        return True

    def publish(self, result: object) -> None:
        """The result so far."""
        self.say("working", result, self.status.message)

    def say(self, state: str, result: object = None, message: str = "") -> None:
        self.status = TaskStatus(state, self.status.result if result is None else result, message)


class Analysis:
    """One kind of background task.

    compute(task, *key) gives the result; stages: its stage names in words. patient: whether it gives way to runs, and
    leaves the processors to pages. latest_only: a new task drops those that still wait with the same key[0]: the reader
    has moved on. precondition(*key) raises what stands in the way of a start; stored(*key): a result kept elsewhere.
    """

    def __init__(
        self, name: str, compute: Callable, stages: Mapping[str, str] = PREPARING, *, patient: bool = True,
        latest_only: bool = False, precondition: Callable = lambda *key: None, stored: Callable = lambda *key: None,
        queue: Queue = QUEUE,
    ):  # fmt: skip
        self.name, self.compute, self.stages = name, compute, stages
        self.patient, self.latest_only = patient, latest_only
        self.precondition, self.stored, self.queue = precondition, stored, queue
        self._lock = threading.Lock()  # guards the two that follow
        self._tasks: dict[tuple, Task] = {}
        self._thread: threading.Thread | None = None

    def start(self, *key) -> None:
        """Begin it, if nobody has. Forbidden; Busy; what `precondition` raises."""
        permission.require("analyse")
        self.precondition(*key)
        with self._lock:
            if self.latest_only:
                self._drop(k for k, task in self._tasks.items() if k[0] == key[0] and k != key and not task.begun)
            if key in self._tasks and self._tasks[key].status.at_work:
                return
            if sum(task.status.at_work for task in self._tasks.values()) >= MAX_WAITING:
                raise Busy(f"{MAX_WAITING} analyses are already waiting; stop one, or wait until one ends")
            self._drop([k for k, task in self._tasks.items() if task.status.state in ENDED][:-MAX_ENDED])
            self._tasks.pop(key, None)
            self._tasks[key] = Task(self, key)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self.name, daemon=True)
                self._thread.start()
                self.queue.also_wait_for(self._thread)

    def status(self, *key) -> TaskStatus:
        """How far it is; state "none" where nobody asked for it, or that was long ago."""
        with self._lock:
            task = self._tasks.get(key)
        if task is None:
            result = self.stored(*key)
            return TaskStatus("none") if result is None else TaskStatus("done", result)
        return task.status

    def stop(self, *key) -> None:
        """End it within a burst; the result so far stays. No effect where it is not at work."""
        permission.require("analyse")
        with self._lock:
            task = self._tasks.get(key)
        if task is not None:
            task.stop.set()
            self.queue.look_again()

    def wait(self, *key, timeout: float) -> TaskStatus:
        """Wait until it has ended, or so many seconds."""
        with self.queue.changed:
            self.queue.changed.wait_for(lambda: self.status(*key).state in ENDED, timeout)
        return self.status(*key)

    def give_way(self, task: Task) -> None:
        """Wait while a run is at work. Cancelled when the task is to stop, or at the end of the process."""
        ends = lambda: task.stop.is_set() or self.queue.closing  # noqa: E731
        if self.patient and not ends() and self.queue.at_work():
            before = task.status
            task.say("waiting", message="Waiting while a run trains")
            self.queue.give_way(ends)
            task.say(before.state, message=before.message)
        if ends():
            raise Cancelled

    def _drop(self, keys) -> None:
        for key in list(keys):
            del self._tasks[key]

    def _work(self) -> None:
        """The one thread: all tasks in turn, until there is none."""
        if self.patient:
            yield_to_others()
        while True:
            with self._lock:
                task = next((task for task in self._tasks.values() if task.status.at_work), None)
                if task is None:
                    self._thread = None
                    return
            task.begun = True
            try:
                self.give_way(task)
                task.say("done", self.compute(task, *task.key))
            except Cancelled:
                task.say("stopped")
            except Exception as error:
                task.say("failed", message=worker.explain(error))
            self.queue.look_again()
