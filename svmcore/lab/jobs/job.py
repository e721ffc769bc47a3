"""One run in the background: its states, what the outside sees of it, and what its worker is told.

queued -> running -> paused -> queued ...        and from each of these -> done | failed | cancelled
          running -> queued                      while a run of seconds has its place

A run that is cancelled ends at once for its reader. Its thread, which no one can break off in a native call or in the
compiler, ends when it can: until then it keeps its place, and writes and says nothing more.
"""

import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from svmcore.lab.forecast import QUICK, Estimate, small
from svmcore.lab.jobs.live import Live
from svmcore.lab.store import folders, runs

ENDED = ("done", "failed", "cancelled")
CHANGES = {  # state of a job -> what may follow it
    "queued": ("running", "paused", *ENDED),
    "running": ("paused", "queued", *ENDED),
    "paused": ("queued", *ENDED),
} | dict.fromkeys(ENDED, ())


class Status(NamedTuple):
    """How far a run is. progress: the latest figures; live: the latest look, for runs of this process.

    eta_seconds: seconds left by its forecast, below 0 once it takes longer than that.
    ahead: ids of the runs before it, for one that waits its turn; wait_seconds: how long these will take, about.
    """

    state: str
    progress: dict | None = None
    eta_seconds: float | None = None
    message: str = ""
    live: Live | None = None
    ahead: tuple[str, ...] = ()
    wait_seconds: float | None = None

    @property
    def late(self) -> float:
        """Seconds that it takes longer than forecast; 0 as long as it keeps to it, but for a second."""
        over = -(self.eta_seconds or 0.0)
        return over if over > 1.0 else 0.0


class Job:
    """A run of this process, and what its worker sees of the outside (`worker.Control`).

    forecast: what it will need. rank: its turn among those that have not begun, runs of seconds first.
    stand_aside: called in the worker's thread when it is on hold, or is to let a run of seconds go first; returns when
    it may go on, or is to stop.
    """

    def __init__(
        self,
        run: runs.Run,
        forecast: Estimate,
        changed: threading.Condition,
        stand_aside: "Callable[[Job], None]",
        looks: bool = True,
    ):
        self.run, self.recipe, self.looks, self.forecast = run, run.recipe, looks, forecast
        self._changed, self._stand_aside = changed, stand_aside
        # Many together are no run of seconds
        self.quick = forecast.at_rest <= QUICK and run.group is None
        self.small = run.group is not None and small(self.recipe, forecast)
        self.born = time.monotonic()
        self.rank = (not self.quick, self.born)
        self.stop, self.hold, self.aside = threading.Event(), False, False  # asked to end, to pause, to let another go
        self.thread: threading.Thread | None = None
        self.gone = False  # whether the thread has ended
        self.latest, self._told = Status("queued"), self.born
        self._ended, self._last_word = False, threading.RLock()

    @cached_property
    def begins_with(self) -> str | None:
        """Id of the run whose machine it begins with."""
        return None if self.recipe.origin is self.recipe else self.run.parent

    @property
    def state(self) -> str:
        return self.latest.state

    @property
    def left(self) -> float:
        """Seconds that it still takes, about."""
        eta = self.now().eta_seconds
        return self.forecast.seconds if eta is None else max(eta, 0.0)

    @property
    def at_work(self) -> bool:
        """Whether its thread takes a place, also when it has ended for its reader."""
        return self.thread is not None and not self.gone and self.state not in ("queued", "paused")

    def now(self) -> Status:
        """`latest`, with the time left counted down since that was told, but for pauses."""
        eta = self.latest.eta_seconds
        if eta is None or self.state != "running":
            return self.latest
        return self.latest._replace(eta_seconds=eta - (time.monotonic() - self._told))

    def tell(self, **news) -> None:
        """Make news the latest, at this moment."""
        self.latest, self._told = self.now()._replace(**news), time.monotonic()

    def publish(self, **news) -> None:
        """Make news visible to whoever asks for the status."""
        with self._changed:
            if self.hold and self.state == "running":
                news.pop("message", None)  # what `pause` has said stands until the thread can stand still
            if not self.stop.is_set():
                self.tell(**news)

    def write(self, save: Callable[..., None], *what) -> None:
        """save(*what), which writes to the run's folder; nothing once the run has ended."""
        with self._last_word:
            if not self._ended:
                save(*what)

    def end(self, farewell: Callable[[], None], unless_done: bool) -> bool:
        """Once: `farewell()`, after which nothing is written. False if ended, or if `unless_done` and it is done."""
        with self._last_word:
            folders.look_again()
            if self._ended or (unless_done and self.run.state == "done"):
                return False
            self._ended = True
            farewell()
            return True

    def checkpoint(self) -> bool:
        """Whether to go on; a job on hold, or one that lets another go first, waits here."""
        if (self.hold or self.aside) and not self.stop.is_set():
            self._stand_aside(self)
        return not self.stop.is_set()
