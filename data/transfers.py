"""Background downloads: at most one thread per dataset, shared by all pages, sessions and reruns.

start(name) -> Transfer      current(name) -> Transfer | None      transfer.stop()
"""

import threading
from typing import NamedTuple

from data import fetch


class State(NamedTuple):
    """The state of a transfer; immutable, so that a reader always sees a consistent one."""

    phase: str  # "running", "done", "stopped" or "failed"
    done: int = 0  # bytes
    total: int = 0  # bytes, 0 if unknown
    message: str = ""


class Transfer:
    """The download of one dataset, running or ended; `state` may be read at any time from any thread."""

    def __init__(self, name: str):
        self.name = name
        self.state = State("running")
        self._stop = threading.Event()
        threading.Thread(target=self._run, name=f"fetch {name}", daemon=True).start()

    def stop(self) -> None:
        """Cancel; the transfer ends at its next chunk and leaves no partial file."""
        self._stop.set()

    def _run(self) -> None:
        try:
            fetch.fetch(self.name, self._report)
            self.state = State("done")
        except fetch.FetchCancelled:
            self.state = State("stopped")
        except Exception as error:  # any error: otherwise the page would wait for this thread for ever
            self.state = State("failed", message=str(error))

    def _report(self, done: int, total: int, message: str) -> None:
        if self._stop.is_set():
            raise fetch.FetchCancelled
        self.state = State("running", done, total, message)


_transfers: dict[str, Transfer] = {}
_lock = threading.Lock()


def start(name: str) -> Transfer:
    """The running transfer of this dataset, or a new one. Raises UnknownDataset for a name without files."""
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
