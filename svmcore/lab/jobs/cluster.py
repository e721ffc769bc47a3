"""Runs on other computers: one setting, `SVMLAB_CLUSTER=tcp://host:port`, and the thread of a run sends its recipe to a
worker of that dask.distributed scheduler, instead of training (relay.py), and hears of it what it does (afar.py).

    places      one for each worker that has this version of the lab; a run at work takes one, a paused one lends it
    data        the worker's own, by the recipe's name; the content hash of the app's travels along
    store       written here alone, by the thread of the run, as for one that is trained here: once
    lost        a worker that is gone, or lets go of the task: the run goes back to the queue, once; then it has failed

Whoever names a scheduler trusts it as a program of his own, as dask sends Python objects. So pages switch between here
and the address that the process was started with; they take another one with SVMLAB_CLUSTER=ask alone.
"""

import logging
import os
import platform
import re
import socket
import threading
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from svmcore.lab.jobs import afar

VARIABLE, ON_REQUEST = "SVMLAB_CLUSTER", "ask"
EVERY = 0.5  # seconds between two looks at the workers
ANSWER = 5.0  # seconds that a scheduler has to answer
ADDRESS = re.compile(r"(tcp|tls)://\[?([\w.:%-]+?)\]?:(\d{1,5})")
RUNNING = "running"  # a client's status while it has its scheduler
START = "python -m dask scheduler --host HOST --port PORT"
_log = logging.getLogger(__name__)


class ClusterError(ConnectionError):
    """A scheduler that is not there, or cannot be used: says which, why, and the way out."""


class Worker(NamedTuple):
    """One worker as the scheduler tells of it. obstacle: why it gets no runs; empty where it does.

    differs: what is not as it is here -> (here, there); about: all that it says of itself, {} until it has.
    """

    address: str
    name: str
    memory_mb: float
    limit_mb: float  # 0: none
    tasks: int  # at work on it, of any app
    about: dict[str, str]
    differs: dict[str, tuple[str, str]]
    obstacle: str


class Cluster:
    """The scheduler that this process sends its runs to, and its workers. changed: called when there are others.

    named: what whoever started the process said: an address, ON_REQUEST, or nothing.
    """

    def __init__(self, named: str = "", changed: Callable[[], None] = lambda: None):
        self.named, self.changed, self.trouble = named, changed, ""
        self.address = "" if named == ON_REQUEST else named
        self._using = threading.Lock()  # one change at a time
        self._client = None
        self._workers: dict[str, Worker] = {}
        self._about: dict[str, Asked] = {}  # address -> what it says of itself
        self._at: dict[str, str] = {}  # run id -> address of the worker that is at work on it
        self._resting: set[str] = set()  # those that are paused there

    def use(self, address: str) -> None:
        """Send runs there from now on, or none with "". Runs at work elsewhere go back to the queue. ClusterError."""
        with self._using:
            client = _connected(address) if address else None
            self._let_go()
            self.address, self._client, self.trouble = address, client, ""
            if client is not None:
                self._look(client)
                threading.Thread(target=self._watch, args=(client,), name="cluster", daemon=True).start()
        self.changed()

    def settle(self) -> None:
        """Connect where an address is set and nobody has. ClusterError, and `trouble` then says the same."""
        if self.address and not self.connected:
            try:
                self.use(self.address)
            except ClusterError as error:
                self.trouble = str(error)
                raise

    @property
    def connected(self) -> bool:
        """Whether there is a scheduler, of which `trouble` may say that it does not answer now."""
        return self._client is not None

    def close(self) -> None:
        """At the end of the process: the scheduler lets go of whatever was asked of it."""
        with self._using:
            self._let_go()

    def places(self) -> int | None:
        """How many runs may be at work there; None without a cluster."""
        return sum(not one.obstacle for one in self.workers()) if self.address else None

    def workers(self) -> list[Worker]:
        """Those that there were a moment ago."""
        return list(self._workers.values())

    def doing(self) -> dict[str, list[str]]:
        """Address -> ids of this process's runs on that worker."""
        found: dict[str, list[str]] = {}
        for run_id, address in list(self._at.items()):
            found.setdefault(address, []).append(run_id)
        return found

    def backend(self) -> dict:
        """For `joblib.parallel_config`, which hands its tasks to the same workers. ClusterError."""
        self.settle()
        return {"backend": "dask", "client": self._client} if self.address else {}

    # For the thread of a run

    def take(self, run_id: str) -> tuple[Worker, object] | None:
        """The worker that has the least to do, for a run, and the client that reaches it; None where there is none."""
        client, usable = self._client, [one for one in self.workers() if not one.obstacle]
        if client is None or client.status != RUNNING or not usable:
            return None
        busy = Counter(address for other, address in list(self._at.items()) if other not in self._resting)
        all_of = Counter(self._at.values())
        chosen = min(usable, key=lambda one: (busy[one.address], all_of[one.address], one.tasks))
        self._at[run_id] = chosen.address
        return chosen, client

    def leave(self, run_id: str) -> None:
        self._at.pop(run_id, None)

    def rest(self, run_id: str, wait: Callable[[], object]) -> None:
        """wait(), in which the run's place at its worker is free."""
        self._resting.add(run_id)
        try:
            wait()
        finally:
            self._resting.discard(run_id)

    def has(self, one: Worker, client) -> bool:
        """Whether a worker is still there, by the same connection."""
        return client is self._client and one.address in self._workers

    # The thread that watches

    def _watch(self, client) -> None:
        ended = threading.Event()
        while client is self._client and not ended.wait(EVERY):
            try:
                self._look(client)
            except Exception:  # of many kinds; all say that the scheduler is not to be had now
                with self._using:
                    if client is not self._client:
                        return
                    if not self.trouble:
                        _log.warning("the scheduler at %s is not available", self.address, exc_info=True)
                    self.trouble = f"The scheduler at {self.address} does not answer"
                    self._workers, self._about = {}, {}
                    if client.status == "closed":
                        with suppress(ClusterError):
                            self._client = client = _connected(self.address)
                self.changed()

    def _look(self, client) -> None:
        """Ask the scheduler for its workers, and those that are new what they are."""
        if client.status != RUNNING:  # it would tell of the workers of before
            raise ConnectionError(f"the connection is {client.status}")
        found = client.scheduler_info()["workers"]
        if client is not self._client:
            return
        known = {address: asked for address, asked in self._about.items() if address in found and not asked.vain}
        new = found.keys() - known.keys()
        versions = client.get_versions()["workers"] if new else {}
        self._about = known | {a: Asked(client, a, versions[a]["host"]["python"]) for a in new & versions.keys()}
        for asked in self._about.values():
            asked.look()
        before, self.trouble = self._workers, ""
        self._workers = {address: _told(address, found[address], asked) for address, asked in self._about.items()}
        if {a: one.obstacle for a, one in before.items()} != {a: one.obstacle for a, one in self._workers.items()}:
            for gone in before.keys() - found.keys():
                _log.warning("worker %s of %s is gone", before[gone].name, self.address)
            self.changed()

    def _let_go(self) -> None:
        client, self._client = self._client, None
        self._workers, self._about = {}, {}
        if client is not None:
            with suppress(Exception):
                client.close(timeout=2)


def _connected(address: str):
    """A client of the scheduler there. ClusterError, at once where nobody listens."""
    parts = ADDRESS.fullmatch(address)
    if not parts:
        raise ClusterError(f"{VARIABLE} = {address!r}; allowed: tcp://host:port, the address of a dask scheduler")
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(
            "A cluster needs dask.distributed, which is not installed: pip install -r requirements-cluster.txt"
        ) from None
    way_out = (
        f"Start one ({START}), or run on this computer: without {VARIABLE}, --cluster or an address on the page Runs"
    )
    try:
        socket.create_connection((parts[2], int(parts[3])), ANSWER).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(f"No scheduler at {address}: {error}. {way_out}") from None
    try:
        return Client(address, timeout=ANSWER, set_as_default=False, name="svmlab")
    except Exception as error:  # what listens there may be anything
        raise ClusterError(f"The program at {address} is not a dask scheduler: {error}. {way_out}") from None


def task(name: str) -> Callable:
    """A function of afar.py for a worker, sent as code, so that the scheduler needs no lab."""

    def call(*arguments):
        from importlib import import_module

        return getattr(import_module("svmcore.lab.jobs.afar"), name)(*arguments)

    return call


class Asked:
    """What a worker says, `about`, and why it gets no runs, `obstacle`. python: its version, as dask reports it."""

    def __init__(self, client, address: str, python: str):
        self.about, self.obstacle, self._future = {}, "is starting", None
        here = ".".join(platform.python_version_tuple()[:2])
        if not python.startswith(f"{here}."):
            self.obstacle = f"has Python {python}, but the app has {here}"
            return
        key, alone = f"svmlab-about-{uuid.uuid4().hex}", {"workers": [address], "allow_other_workers": False}
        self._future = client.submit(task("describe"), key=key, pure=False, **alone)

    @property
    def vain(self) -> bool:
        """Whether it is to be asked again: somebody has cleared the cluster."""
        return self._future is not None and self._future.status in ("cancelled", "lost")

    def look(self) -> None:
        """Whether it has answered. The answer is fetched once: later its worker may be gone, and with it the answer."""
        if self._future is None or self._future.status not in ("finished", "error"):
            return
        if self._future.status == "error":
            self.obstacle = f"has no lab ({self._future.exception()}); start it in the folder of the lab"
        else:
            with suppress(TimeoutError):
                self.about = self._future.result(timeout=EVERY)
            if not self.about:
                return
            other = self.about["Lab"] != afar.version()
            self.obstacle = "has another version of the lab; start it with the same version" if other else ""
        self._future = None


def _told(address: str, what: dict, asked: Asked) -> Worker:
    about = asked.about
    here = afar.describe()
    differs = {name: (here[name], there) for name, there in about.items() if name in here and here[name] != there}
    metrics = what["metrics"]
    counts = metrics.get("task_counts") or {}
    return Worker(
        address=address,
        name=str(what["name"]),
        memory_mb=metrics.get("memory", 0) / 2**20,
        limit_mb=(what["memory_limit"] or 0) / 2**20,
        tasks=counts.get("executing", 0) + counts.get("long-running", 0),
        about=about,
        differs=differs,
        obstacle=asked.obstacle,
    )


CLUSTER = Cluster(os.environ.get(VARIABLE, ""))  # of this process
