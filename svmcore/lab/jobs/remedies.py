"""Counting which invariance would help, in the background: one count at a time, found again by the run's id.

    asked -> waiting | training | looking -> done | stopped | failed

A count is no run: nobody wants its twin in the list of runs, and it must never keep one waiting. So it has a thread of
its own beside the queue, which stands aside between two bursts whenever a run is at work, and asks the forecast for
memory before it begins. What it has found so far can be seen at any moment, is left when it is stopped, and belongs to
the process: every session sees the same, and a page may go and come back.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from typing import NamedTuple

from svmcore.lab.experiment import remedies
from svmcore.lab.experiment.remedies import Totals
from svmcore.lab.experiment.train import Cancelled
from svmcore.lab.forecast.estimate import require
from svmcore.lab.jobs import worker
from svmcore.lab.jobs.process import yield_to_others
from svmcore.lab.jobs.queue import QUEUE, Queue
from svmcore.lab.store import runs

ENDED = ("done", "stopped", "failed")
MAX_WAITING = 8
COUNTS_KEPT = 20  # counts that have ended and stay in memory; whole ones are also in a file
_log = logging.getLogger(__name__)
STAGES = {"loading": "Loading the data", "preprocessing": "Preprocessing", "predicting": "Finding the twin's errors"}


class Busy(RuntimeError):
    """Too many counts wait already."""


class Count(NamedTuple):
    """How far the count of a run is."""

    state: str  # none | waiting | training | looking | done | stopped | failed
    totals: Totals | None = None
    message: str = ""

    @property
    def at_work(self) -> bool:
        """Whether it waits or counts."""
        return self.state not in (*ENDED, "none")


class _Counted:
    def __init__(self, run: runs.Run):
        self.run, self.stop, self.latest = run, threading.Event(), Count("waiting", None, "Waits for another count")


class Counts:
    """The counts of a process, by run id; `queue` is what they stand aside for."""

    def __init__(self, queue: Queue):
        self._queue = queue
        self._lock = threading.Lock()  # guards the two that follow
        self._known: dict[str, _Counted] = {}
        self._thread: threading.Thread | None = None

    def start(self, run_id: str) -> None:
        """Count for a run, if nobody does. UnknownRun; RecipeError where there is nothing to count; Busy."""
        run = runs.get(run_id)
        remedies.twin_of(run.learned)
        with self._lock:
            known = self._known.get(run_id)
            if known and known.latest.at_work:
                return
            if sum(counted.latest.at_work for counted in self._known.values()) >= MAX_WAITING:
                raise Busy(f"{MAX_WAITING} counts are waiting already; stop one, or wait for one to end")
            for old in [name for name, counted in self._known.items() if counted.latest.state in ENDED][:-COUNTS_KEPT]:
                del self._known[old]
            self._known.pop(run_id, None)
            self._known[run_id] = _Counted(run)
            if self._thread is None:
                thread = threading.Thread(target=self._work, name="remedies", daemon=True)
                thread.start()
                self._thread = thread
                self._queue.also_wait_for(thread)

    def status(self, run_id: str) -> Count:
        """How far it is: at work here, or counted before and found in its file; state "none" where neither is."""
        with self._lock:
            counted = self._known.get(run_id)
        if counted is not None:
            return counted.latest
        run = runs.get(run_id)
        totals = remedies.measured(run.learned, run.result["data_hash"]) if run.result else None
        return Count("done", totals) if totals else Count("none")

    def stop(self, run_id: str) -> None:
        """End a count within a burst; what was found stays. No effect where there is none at work."""
        with self._lock:
            counted = self._known.get(run_id)
        if counted is not None:
            counted.stop.set()
            self._queue.look_again()

    def wait(self, run_id: str, timeout: float) -> Count:
        """Wait until a run's count has ended, for tests and scripts."""
        with self._queue.changed:
            self._queue.changed.wait_for(lambda: self.status(run_id).state in ENDED, timeout)
        return self.status(run_id)

    def _work(self) -> None:
        """The one thread: counts what was asked for, in turn, and ends when there is nothing left."""
        yield_to_others()
        while True:
            with self._lock:
                counted = next((c for c in self._known.values() if c.latest.at_work), None)
                if counted is None:
                    self._thread = None
                    return
            self._carry_out(counted)
            self._queue.look_again()

    def _carry_out(self, counted: _Counted) -> None:
        recipe = counted.run.learned

        def publish(state: str, totals: Totals | None = None, message: str = "") -> None:
            counted.latest = Count(state, totals or counted.latest.totals, message)

        def check(stage: str) -> None:
            self._stand_aside(counted, publish)
            publish("looking" if counted.latest.totals else "training", message=STAGES.get(stage, ""))

        def monitor(progress) -> bool:
            check("fitting")
            publish("training", message=f"gap {progress.gap:.2g}, {progress.n_sv:,} support vectors")
            return True

        try:
            self._stand_aside(counted, publish)
            require(remedies.twin_of(recipe).replace(folds=None))
            totals = remedies.measure(recipe, check, monitor, lambda totals: publish("looking", totals))
            with suppress(OSError):  # on a full disk it stays in memory alone
                remedies.keep(recipe, counted.run.result["data_hash"], totals)
            publish("done", totals)
        except Cancelled:
            publish("stopped")
        except Exception as error:
            publish("failed", message=worker.explain(error))

    def _stand_aside(self, counted: _Counted, publish) -> None:
        """Wait while a run is at work. Cancelled when asked to stop, or at the end of the process."""
        gone = lambda: counted.stop.is_set() or self._queue.closing  # noqa: E731
        if not gone() and self._queue.at_work():
            before = counted.latest
            publish("waiting", message="Waits while a run trains")
            self._queue.give_way(gone)
            publish(before.state, message=before.message)
        if gone():
            raise Cancelled


COUNTS = Counts(QUEUE)  # of this process
start, status, stop, wait = COUNTS.start, COUNTS.status, COUNTS.stop, COUNTS.wait
