"""Fetching in the background: at most one thread a data set, found again by name from any page, session or rerun.

start(name) -> Transfer      current(name) -> Transfer | None      transfer.stop()
"""

import threading
from typing import NamedTuple

from data import fetch


class State(NamedTuple):
    """How far a transfer is; published whole, so that a reader never sees half of it."""

    phase: str  # "running", "done", "stopped" or "failed"
    done: int = 0  # bytes
    total: int = 0  # bytes, 0 while unknown
    message: str = ""


class Transfer:
    """The fetch of one data set, under way or ended; read `state` at any time, from any thread."""

    def __init__(self, name: str):
        self.name = name
        self.state = State("running")
        self._stop = threading.Event()
        threading.Thread(target=self._run, name=f"fetch {name}", daemon=True).start()

    def stop(self) -> None:
        """Ask it to end; it does so at its next piece of data and leaves nothing half-done."""
        self._stop.set()

    def _run(self) -> None:
        try:
            fetch.fetch(self.name, self._report)
            self.state = State("done")
        except fetch.FetchCancelled:
            self.state = State("stopped")
        except Exception as error:  # whatever it is: a thread that ends in silence would be waited for for ever
            self.state = State("failed", message=str(error))

    def _report(self, done: int, total: int, message: str) -> None:
        if self._stop.is_set():
            raise fetch.FetchCancelled
        self.state = State("running", done, total, message)


_transfers: dict[str, Transfer] = {}
_lock = threading.Lock()


def start(name: str) -> Transfer:
    """The transfer of this set that is under way, or a new one. UnknownDataset for a name without files to fetch."""
    fetch.at_hand(name)
    with _lock:
        known = _transfers.get(name)
        if known is None or known.state.phase != "running":
            known = _transfers[name] = Transfer(name)
        return known


def current(name: str) -> Transfer | None:
    """The latest transfer of this set since the program started."""
    with _lock:
        return _transfers.get(name)
