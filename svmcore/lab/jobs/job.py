"""One run in the background: its states, what the outside sees of it, and what its worker is told.

queued -> running -> paused -> queued ...        and from each of these -> done | failed | cancelled
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from svmcore.lab.jobs.live import Live
from svmcore.lab.store import runs

ENDED = ("done", "failed", "cancelled")
CHANGES = {  # state of a job -> what may follow it
    "queued": ("running", "paused", *ENDED),
    "running": ("paused", *ENDED),
    "paused": ("queued", *ENDED),
} | dict.fromkeys(ENDED, ())


class Status(NamedTuple):
    """How far a run is. progress: the latest figures; live: the latest look, for runs of this process.

    stopping: whether it was asked to stop and has not stopped yet. ahead: ids of the runs before it, for one that waits
    its turn; wait_seconds: how long these will take, about.
    """

    state: str
    progress: dict | None = None
    eta_seconds: float | None = None
    message: str = ""
    live: Live | None = None
    stopping: bool = False
    ahead: tuple[str, ...] = ()
    wait_seconds: float | None = None

    @property
    def word(self) -> str:
        """The state as it is said: a run that was asked to stop is "cancelling" until it has stopped."""
        return "cancelling" if self.stopping else self.state


class Job:
    """A run of this process, and what its worker sees of the outside (`worker.Control`).

    forecast: seconds that it will take. rank: its turn among those that have not begun. stand_aside: called in the
    worker's thread when it is on hold; returns when it may go on, or is to stop.
    """

    def __init__(
        self,
        run: runs.Run,
        changed: threading.Condition,
        stand_aside: Callable[[Job], None],
        looks: bool = True,
        forecast: float = 0.0,
    ):
        self.run, self.recipe, self.looks, self.forecast = run, run.recipe, looks, forecast
        self._changed, self._stand_aside = changed, stand_aside
        self.rank = self.born = time.monotonic()
        self.stop, self.hold = threading.Event(), False  # asked to end, to pause
        self.thread: threading.Thread | None = None
        self.latest = Status("queued")

    @property
    def state(self) -> str:
        return self.latest.state

    @property
    def left(self) -> float:
        """Seconds that it still takes, about."""
        return self.forecast if self.latest.eta_seconds is None else self.latest.eta_seconds

    def publish(self, **news) -> None:
        """Make news visible to whoever asks for the status."""
        with self._changed:
            if self.stop.is_set():
                news.pop("message", None)  # "Cancelling" stands until it has stopped
            self.latest = self.latest._replace(**news)

    def checkpoint(self) -> bool:
        """Whether to go on; a job on hold waits here."""
        if self.hold and not self.stop.is_set():
            self._stand_aside(self)
        return not self.stop.is_set()
