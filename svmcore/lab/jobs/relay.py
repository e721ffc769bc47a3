"""The thread of a run that is done on a cluster: send the recipe, relay what comes back, write it into the store.

What a worker says (afar.py) becomes what a run that is trained here says to its Job: news, looks, lines of progress,
files, which are written here alone, whole, and under names that a run has. What is asked of the job goes the other way:
it is let go of to stop it, and an Event is set to hold it.
"""

import json
import math
import re
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress

from svmcore import files
from svmcore.lab.jobs import afar, live, worker
from svmcore.lab.jobs.cluster import CLUSTER, Worker, task
from svmcore.lab.jobs.job import Job
from svmcore.lab.store import contents
from svmcore.lab.tasks import task_of

ASK = 0.1  # seconds between two looks at what has come, and at what is asked of the run
STOPS = 60.0  # seconds in which a worker says that it has stopped, also one that is in the compiler
IN_MEMORY = 64 << 20  # bytes of a file on its way; a larger one lies on the disk


class Lost(Exception):
    """What was at work on a run is gone; its text says what and why."""


@contextmanager
def _reaching() -> Iterator[None]:
    """Around what goes to the scheduler: Lost where it is gone."""
    try:
        yield
    except (OSError, RuntimeError, CancelledError) as error:  # what a connection that breaks comes to in dask
        what = f"The scheduler at {CLUSTER.address} was lost" if CLUSTER.address else "The cluster was disconnected"
        raise Lost(what) from error


def carry_out(job: Job) -> tuple[str, str]:
    """Do the run of a job, there or here; how it ended, and for a failure why (`worker.carry_out`)."""
    lost = ""
    while not job.stop.is_set():
        if not CLUSTER.address:
            return worker.carry_out(job.run, job.forecast.with_memory_now(), job)
        taken = CLUSTER.take(job.run.id)
        try:
            if taken is not None:
                return Relay(job, *taken, lost).carry_out()
        except Lost as error:
            if job.run.state == "done":  # all that is kept has come, but for the last word
                return "done", ""
            if lost:
                return "failed", f"{error}, after {lost[0].lower()}{lost[1:]}; a run is repeated only once"
            lost = str(error)
            job.write(_forget, job)
            job.publish(progress=None, live=None, eta_seconds=None)
        finally:
            CLUSTER.leave(job.run.id)
        job.aside = True
        job.checkpoint()  # in the queue, until there is a place
    return "cancelled", ""


def _forget(job: Job) -> None:
    """What a run that begins anew had."""
    for path in job.run.path.iterdir():
        if path.name == "progress.jsonl" or _keeps(job, path.name):
            path.unlink()


def _keeps(job: Job, name: str) -> bool:
    """Whether a run has a file of this name, that its work writes whole."""
    known = re.sub(r"-\d{1,4}(?=\.npz$)", "", name)
    return known in contents.files(job.recipe) and (name.endswith(".npz") or name == "result.json")


class Relay:
    """One attempt at a run, by one worker. again: what was lost before it, if anything was."""

    def __init__(self, job: Job, one: Worker, client, again: str = ""):
        self.job, self.worker, self.client = job, one, client
        self.note = f" ({again}; the run starts again)" if again else ""
        self._hold, self._holds = None, False
        self._file, self._process, self._pause = None, "", threading.Event()

    def carry_out(self) -> tuple[str, str]:
        """Until the worker has said the last word. Lost."""
        from distributed import Event, Queue

        run, recipe = self.job.run, self.job.recipe
        content = task_of(recipe).data(recipe.dataset).content_hash
        asked = {"run": run.id, "recipe": recipe.to_dict(), "parent": run.parent, "looks": self.job.looks}
        key = f"svmlab-{run.id}-{uuid.uuid4().hex[:8]}"
        messages, hold = afar.names(key)
        alone = {"workers": [self.worker.address], "allow_other_workers": False, "pure": False, "retries": 0}
        queue = future = None
        try:
            with _reaching():
                queue = Queue(messages, client=self.client)
                self._hold = Event(hold, client=self.client)
                future = self.client.submit(task("serve"), json.dumps(asked | {"data": content}), key=key, **alone)
            return self._follow(queue, future)
        finally:
            with suppress(Exception):  # nobody may be there to be told
                if future is not None:
                    future.cancel()
                if queue is not None:
                    queue.close()
                if self._holds:
                    self._hold.clear()

    def _follow(self, queue, future) -> tuple[str, str]:
        stopping, deadline = False, math.inf
        while time.monotonic() < deadline:
            finished = future.status == "finished"  # all that it has said is there
            for kind, *what in self._heard(queue):
                if kind == "over":
                    return what[0], what[1]
                HEARD[kind](self, *what)
            if self.job.stop.is_set():
                if not stopping:
                    with _reaching():
                        future.cancel()
                    stopping, deadline = True, time.monotonic() + (STOPS if self._process else 0.0)
            elif (wanted := self.job.hold or self.job.aside) != self._holds:
                self._set_hold(wanted)
            self._require_worker(future, stopping, finished)
        return "cancelled", ""

    def _heard(self, queue) -> list:
        """What has come; after a while, where nothing has."""
        with _reaching():
            found = queue.get(batch=True)
        if not found:
            (self._pause if self.job.stop.is_set() else self.job.stop).wait(ASK)
        return [message for messages in found for message in messages]

    def _require_worker(self, future, stopping: bool, finished: bool) -> None:
        if not CLUSTER.has(self.worker, self.client):
            raise Lost(f"The worker {self.worker.name} was lost")
        if future.status == "error" or finished:
            raise Lost(f"The worker {self.worker.name} failed: {future.exception() or 'no reason given'}")
        if future.status in ("lost", "cancelled") and not stopping:
            raise Lost(f"The scheduler took the run from the worker {self.worker.name}")

    def _set_hold(self, wanted: bool) -> None:
        with _reaching():
            self._hold.set() if wanted else self._hold.clear()
        self._holds = wanted

    # What the worker says

    def begun(self, process: str) -> None:
        """Once: a worker that comes back under its address must not do the run a second time beside this one."""
        if self._process not in ("", process):
            raise Lost(f"The worker {self.worker.name} was lost and has returned")
        self._process = process
        self.job.write(self.job.run.set_state, "running")

    def news(self, text: str) -> None:
        news = json.loads(text)
        if "message" in news:
            news["message"] += self.note
        self.job.publish(**news)

    def look(self, blob: bytes) -> None:
        self.job.publish(live=live.unpacked(blob))

    def progress(self, text: str) -> None:
        self.job.write(self.job.run.add_progress, json.loads(text))

    def file(self, name: str, piece: bytes, more: bool) -> None:
        """The next piece of a file of the run, which is written whole, as one that is made here."""
        if not _keeps(self.job, name):
            raise ValueError(f"The worker {self.worker.name} sent a file that does not belong to a run: {name[:60]!r}")
        self._file = self._file or tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
        self._file.write(piece)
        if more:
            return
        self._file.seek(0)
        with self._file as whole:
            self._file = None
            if name == "result.json":
                self.job.write(self.job.run.complete, json.load(whole))
            else:
                self.job.write(files.write, self.job.run.path / name, lambda to: shutil.copyfileobj(whole, to))

    def held(self) -> None:
        """It stands still: so does this thread, until it may go on or is to stop."""
        CLUSTER.rest(self.job.run.id, self.job.checkpoint)
        if not self.job.stop.is_set():
            self._set_hold(self.job.hold or self.job.aside)


HEARD = {  # what a message begins with -> what it does
    "begun": Relay.begun,
    "news": Relay.news,
    "live": Relay.look,
    "line": Relay.progress,
    "file": Relay.file,
    "held": Relay.held,
}
