"""Long work on data in the background: at most one thread per name, shared by all pages, sessions and reruns."""

import threading
from collections.abc import Callable
from typing import NamedTuple

from data import permission

Report = Callable[[int, int, str], None]  # (done, total or 0, message): called now and then; may raise Cancelled


class Cancelled(Exception):
    """Raised by a report to stop the work that calls it; nothing half-done is left."""


def quiet(done: int, total: int, message: str) -> None:
    """A report that nobody reads."""


class State(NamedTuple):
    """The state of a transfer; immutable, so that a reader always sees a consistent one."""

    phase: str  # "running", "done", "stopped" or "failed"
    done: int = 0  # of total: bytes, files
    total: int = 0  # 0 if unknown
    message: str = ""


class Transfer:
    """One piece of work, such as a download, running or ended; `state` may be read at any time from any thread.

    result : what the work returned, once the phase is "done"
    error : what it raised, once the phase is "failed"
    """

    def __init__(self, name: str, work: Callable[[Report], object]):
        self.name, self.result, self.error = name, None, None
        self.state = State("running")
        self._work, self._stop = work, threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"transfer {name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Cancel; the work ends at its next report and leaves no partial file."""
        self._stop.set()

    def wait(self, seconds: float) -> State:
        """The state once the work has ended, or after `seconds`."""
        self._thread.join(seconds)
        return self.state

    def _run(self) -> None:
        try:
            self.result = self._work(self._report)
            self.state = State("done")
        except Cancelled:
            self.state = State("stopped")
        except Exception as error:  # any error: otherwise the page would wait for this thread for ever
            self.error = error
            self.state = State("failed", message=str(error))
        finally:
            self._work = None

    def _report(self, done: int, total: int, message: str) -> None:
        if self._stop.is_set():
            raise Cancelled
        self.state = State("running", done, total, message)


_transfers: dict[str, Transfer] = {}
_lock = threading.Lock()


def start(name: str, work: Callable[[Report], object]) -> Transfer:
    """The running transfer of this name, or a new one that calls work(report). Forbidden."""
    permission.require("change")
    with _lock:
        known = _transfers.get(name)
        if known is None or known.state.phase != "running":
            known = _transfers[name] = Transfer(name, work)
        return known


def current(name: str) -> Transfer | None:
    """The latest transfer of this name since the program started."""
    with _lock:
        return _transfers.get(name)
