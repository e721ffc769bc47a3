"""The worker's side of a run on a cluster: do what a recipe says, and send what comes of it while it is done.

    app -> worker    a text (JSON): the recipe, ids, the content hash of its data; an Event, set while it is to wait
    worker -> app    a Queue of lists of messages: plain numbers, texts and bytes, never a Python object
                     ["begun", id] ["news", JSON] ["live", npz] ["line", JSON] ["file", name, bytes, more] ["held"]
                     ["over", state, message]

The worker code proper (worker.py) sees a Control as ever. Its run lies in a folder of dask's own, which dask clears
away after a kill as well. What changes there is sent on by one thread, every TICK, so that nothing that trains waits
for the network. Whoever asked for the task and lets go of it (a cancelled run, an app that ends or is killed) ends it:
the scheduler tells the worker, and the same thread sees that.
"""

import hashlib
import json
import tempfile
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import data
import svmcore
from data.dataset import DataError
from svmcore.lab.forecast import estimate
from svmcore.lab.jobs import live, worker
from svmcore.lab.priority import yield_to_others
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import folders
from svmcore.lab.store.made_with import made_with
from svmcore.lab.store.runs import Run
from svmcore.lab.tasks import task_of

TICK, LOOK_AT_HOLD = 0.05, 4  # seconds between two lists of messages; lists between two looks at the Event
PIECE = 4 << 20  # bytes of a file in one message
FETCHES = 10.0  # seconds in which an app that is there fetches the last word
WAITING = 4  # lists that the scheduler holds at most, before the worker waits for the app
KEEPS = ("recipe.json", "parent.json", "state.json", "grant.json")  # that the app writes, or needs no more


@cache
def version() -> str:
    """What tells two states of the lab's code, and of the tables that it reads, apart."""
    digest = hashlib.sha256()
    for root in (Path(svmcore.__file__).parent, Path(data.__file__).parent):
        for path in sorted(path for path in root.rglob("*") if path.suffix in (".py", ".toml", ".json")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def describe() -> dict[str, str]:
    """What the app shows of a worker, and the version of the lab there."""
    return made_with() | {"Lab": version()}


def require_data(recipe: Recipe, expected: str) -> None:
    """DataError where the data of a recipe is not here, or is not what the app has under its name."""
    found = task_of(recipe).data(recipe.dataset).content_hash
    if found != expected:
        reason = f"{recipe.dataset} on the worker is not that of the app (hash {found[:12]}, not {expected[:12]})"
        raise DataError(reason, "the same files on both computers, in the folders of SVMLAB_HOME or SVMLAB_DATA")


def serve(text: str) -> None:
    """The task on a worker. What it comes to is the last message."""
    from distributed import Event, Queue, get_client, get_worker, secede

    asked, dask_worker, client = json.loads(text), get_worker(), get_client()
    key = dask_worker.get_current_task()
    secede()  # the app counts the places; a run that is paused here must not keep another one waiting

    def wanted() -> bool:
        task = dask_worker.state.tasks.get(key)
        return task is not None and task.state in ("executing", "long-running")

    yield_to_others()
    queue = Queue(names(key)[0], client=client)
    with tempfile.TemporaryDirectory(dir=dask_worker.local_directory) as folder:
        run = Run(asked["run"], Path(folder) / asked["run"])
        run.path.mkdir()
        folders.write_json(run.path / "recipe.json", asked["recipe"])
        if asked["parent"]:
            folders.write_json(run.path / "parent.json", asked["parent"])
        line = Line(run, asked["looks"], queue, Event(names(key)[1], client=client).is_set, wanted)
        line.tell("begun", dask_worker.id)
        sending = threading.Thread(target=line.send_all, name=f"sends-{run.id}", daemon=True)
        sending.start()
        line.over(*_done(run, line, asked["data"], dask_worker.name))
        sending.join()
    _leave(queue, wanted)
    if line.error is not None and wanted():
        raise line.error  # so that the app hears of it in dask's way


def _leave(queue, wanted: Callable[[], bool]) -> None:
    """Let go of the queue. What an app that is gone will not fetch must not stay in the scheduler's memory; one that
    has cancelled the run waits for the last word."""
    pause, deadline = threading.Event(), time.monotonic() + FETCHES
    while not wanted() and queue.qsize() and time.monotonic() < deadline:
        pause.wait(TICK)
    if not wanted():
        queue.get(batch=True)
    queue.close()


def names(key: str) -> tuple[str, str]:
    """Of the queue of a task's messages, and of the event by which it is told to wait."""
    return f"messages-{key}", f"hold-{key}"


def _done(run: Run, line: "Line", expected: str, name: str) -> tuple[str, str]:
    try:
        require_data(run.recipe, expected)
    except Exception as error:
        return "failed", f"The worker {name} cannot load the data: {worker.explain(error)}"
    try:
        forecast = estimate(run.recipe)  # this machine's
    except Exception as error:
        return "failed", worker.explain(error)
    return worker.carry_out(run, forecast, line)


class Line:
    """A run's `worker.Control` and its messages. queue: dask's; held(): whether to wait; wanted(): whether to go on."""

    def __init__(self, run: Run, looks: bool, queue, held: Callable[[], bool], wanted: Callable[[], bool]):
        self.run, self.looks, self.stop = run, looks, threading.Event()
        self.error: Exception | None = None  # why nothing more could be sent
        self._queue, self._held, self._wanted = queue, held, wanted
        self._go_on, self._over, self._pause = threading.Event(), threading.Event(), threading.Event()
        self._go_on.set()
        self._lock = threading.Lock()  # guards all that follows
        self._messages: list[list] = []
        self._news: dict = {}
        self._look: live.Live | None = None
        self._sent: dict[str, tuple] = {}  # file -> its stamp when it was handed on
        self._lines = 0  # bytes of progress.jsonl handed on

    # What the worker code calls

    def publish(self, **news) -> None:
        with self._lock:
            self._look = news.pop("live", self._look)
            self._news |= news

    def write(self, save: Callable[..., None], *what) -> None:
        save(*what)
        self._hand_on()

    def checkpoint(self) -> bool:
        if not self._go_on.is_set() and not self.stop.is_set():
            self.tell("held")
            while not self._go_on.wait(TICK) and not self.stop.is_set():
                pass
        return not self.stop.is_set()

    def tell(self, *message) -> None:
        with self._lock:
            self._messages.append(list(message))

    def over(self, state: str, message: str) -> None:
        """The last word."""
        self._hand_on()
        self.tell("over", state, message)
        self._over.set()

    def _hand_on(self) -> None:
        """Send what has changed in the run's folder, in the order in which it was written."""
        changed = []
        for path in self.run.path.iterdir():
            found = path.stat()
            stamp = found.st_mtime_ns, found.st_size, found.st_ino
            if path.name not in KEEPS and self._sent.get(path.name) != stamp:
                self._sent[path.name] = stamp
                changed.append((stamp, path))
        for _, path in sorted(changed):
            if path.name != "progress.jsonl":
                self.tell("path", path)
                continue
            with open(path, "rb") as file:
                file.seek(self._lines)
                new = file.read()
            self._lines += len(new)
            for one in new.decode().splitlines():
                self.tell("line", one)

    # The thread that sends

    def send_all(self) -> None:
        """Until the last word has gone, or nobody wants it. Stops the run when nobody does."""
        number = 0
        try:
            while not self._over.wait(TICK):
                if not self.stop.is_set():
                    number += 1
                    if not self._wanted():
                        self.stop.set()
                    elif number % LOOK_AT_HOLD == 0:
                        self._go_on.clear() if self._held() else self._go_on.set()
                self._send()
            self._send()
        except Exception as error:  # of whatever kind: nobody will hear of the run any more
            self.error = error
            self.stop.set()

    def _send(self) -> None:
        with self._lock:
            messages, self._messages = self._messages, []
            news, self._news = self._news, {}
            look, self._look = self._look, None
        first = [["news", json.dumps(news)]] if news else []
        if look is not None:
            first.append(["live", live.packed(look)])
        batch, size = [], 0
        for message in (*first, *messages):
            for one in _pieces(message[1]) if message[0] == "path" else [message]:
                batch.append(one)
                size += len(one[2]) if one[0] == "file" else 0
                if size >= PIECE:
                    self._hand_over(batch)
                    batch, size = [], 0
        if batch:
            self._hand_over(batch)

    def _hand_over(self, batch: list) -> None:
        """Only this thread adds to the queue, so that there is room once there was."""
        while self._queue.qsize() >= WAITING:
            if not self._wanted():
                self.stop.set()
                return
            self._pause.wait(TICK)
        self._queue.put(batch)


def _pieces(path: Path):
    with open(path, "rb") as file:
        piece = file.read(PIECE)
        while True:
            following = file.read(PIECE)
            yield ["file", path.name, piece, bool(following)]
            if not following:
                return
            piece = following
