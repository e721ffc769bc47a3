"""Work beside the runs of a process, in a thread of its own: found again by its key, watched, stopped.

    asked -> waiting | working -> done | stopped | failed

Such work is no run: nobody wants it in the list of runs, and it must never keep one waiting. So it has a thread beside
the queue, one piece of work at a time, which stands aside between two bursts whenever a run is at work; short work that
a reader waits for does not. What it has found so far can be seen at any moment, is left when it is stopped, and belongs
to the process: every session sees the same, and a page may go and come back.
"""

import threading
from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

from svmcore.lab.experiment.priority import yield_to_others
from svmcore.lab.experiment.train import Cancelled
from svmcore.lab.jobs import worker
from svmcore.lab.jobs.queue import Queue

ENDED = ("done", "stopped", "failed")
MAX_WAITING = 8
KEPT = 20  # pieces of work that have ended and stay in memory
PREPARING = {"loading": "Loading the data", "preprocessing": "Preprocessing"}  # stages of a problem


class Busy(RuntimeError):
    """Too much of it waits already."""


class Latest(NamedTuple):
    """How far a piece of work is."""

    state: str  # none | waiting | working | done | stopped | failed
    result: object = None  # what was found until now
    message: str = ""

    @property
    def at_work(self) -> bool:
        """Whether it waits or works."""
        return self.state not in (*ENDED, "none")


class Errand:
    """One piece of work, as it sees itself: whom it asks whether to go on, and tells what it has found. `check` and
    `monitor` raise Cancelled when it is asked to stop, or at the end of the process. stages: how they are said."""

    def __init__(
        self, work: "Callable[[Errand], object]", stand_aside: "Callable[[Errand], None]", stages: Mapping[str, str]
    ):
        self.work, self._stand_aside, self._stages = work, stand_aside, stages
        self.stop, self.begun = threading.Event(), False
        self.latest = Latest("waiting", None, "Waits for another one")

    def check(self, stage: str = "") -> None:
        """Between two bursts; stage: what is being done, in words where it is none of its stages."""
        self._stand_aside(self)
        self.say("working", message=self._stages.get(stage, stage))

    def monitor(self, progress) -> bool:
        """Of a fit."""
        self.check(f"gap {progress.gap:.2g}, {progress.n_sv:,} support vectors")
        return True

    def by_stage(self, progress) -> bool:
        """The monitor of fits whose stages are told by name."""
        self.check(progress.stage)
        return True

    def publish(self, result: object) -> None:
        """What was found until now."""
        self.say("working", result, self.latest.message)

    def say(self, state: str, result: object = None, message: str = "") -> None:
        """How far it is now; what was found stays where there is nothing new."""
        self.latest = Latest(state, self.latest.result if result is None else result, message)


class Beside:
    """Such work by key; `queue` is what it stands aside for. patient: whether it stands aside at all, and leaves the
    processors to pages; a reader waits for what is not. stages: of its work -> how they are said."""

    def __init__(self, queue: Queue, name: str, stages: Mapping[str, str] = PREPARING, patient: bool = True):
        self._queue, self._name, self._stages, self._patient = queue, name, stages, patient
        self._lock = threading.Lock()  # guards the two that follow
        self._known: dict[Hashable, Errand] = {}
        self._thread: threading.Thread | None = None

    def start(self, key: Hashable, work: Callable[[Errand], object]) -> None:
        """Do it, if nobody does: work(errand) gives its result. Busy."""
        with self._lock:
            known = self._known.get(key)
            if known and known.latest.at_work:
                return
            if sum(errand.latest.at_work for errand in self._known.values()) >= MAX_WAITING:
                raise Busy(f"{MAX_WAITING} others are waiting already; stop one, or wait for one to end")
            for old in [name for name, errand in self._known.items() if errand.latest.state in ENDED][:-KEPT]:
                del self._known[old]
            self._known.pop(key, None)
            self._known[key] = Errand(work, self._stand_aside, self._stages)
            if self._thread is None:
                thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                thread.start()
                self._thread = thread
                self._queue.also_wait_for(thread)

    def status(self, key: Hashable) -> Latest:
        """How far it is; state "none" where nobody asked for it, or that was long ago."""
        with self._lock:
            errand = self._known.get(key)
        return Latest("none") if errand is None else errand.latest

    def stop(self, key: Hashable) -> None:
        """End it within a burst; what was found stays. No effect where it is not at work."""
        with self._lock:
            errand = self._known.get(key)
        if errand is not None:
            errand.stop.set()
            self._queue.look_again()

    def drop_waiting(self, which: Callable[[Hashable], bool]) -> None:
        """Forget those of these keys that have not begun."""
        with self._lock:
            for key in [key for key, errand in self._known.items() if which(key) and not errand.begun]:
                del self._known[key]

    def wait(self, key: Hashable, timeout: float) -> Latest:
        """Wait so many seconds until it has ended."""
        with self._queue.changed:
            self._queue.changed.wait_for(lambda: self.status(key).state in ENDED, timeout)
        return self.status(key)

    def _work(self) -> None:
        """The one thread: does what was asked for, in turn, and ends when there is nothing left."""
        if self._patient:
            yield_to_others()
        while True:
            with self._lock:
                errand = next((errand for errand in self._known.values() if errand.latest.at_work), None)
                if errand is None:
                    self._thread = None
                    return
            self._carry_out(errand)
            self._queue.look_again()

    def _carry_out(self, errand: Errand) -> None:
        errand.begun = True
        try:
            self._stand_aside(errand)
            errand.say("done", errand.work(errand))
        except Cancelled:
            errand.say("stopped")
        except Exception as error:
            errand.say("failed", message=worker.explain(error))

    def _stand_aside(self, errand: Errand) -> None:
        """Wait while a run is at work. Cancelled when asked to stop, or at the end of the process."""
        gone = lambda: errand.stop.is_set() or self._queue.closing  # noqa: E731
        if self._patient and not gone() and self._queue.at_work():
            before = errand.latest
            errand.say("waiting", message="Waits while a run trains")
            self._queue.give_way(gone)
            errand.say(before.state, message=before.message)
        if gone():
            raise Cancelled
