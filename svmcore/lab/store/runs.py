"""The run store: one folder a run, under the home folder's `runs/`; the folders are the truth.

    recipe.json     what was asked                       owner.json      the process at work, locked while it lives
    state.json      queued ... done, and a message       title.json      the name a reader gave it
    split.npz       which examples train, which test     progress.jsonl  one line now and then
    model.npz       the machine                          test.npz        labels, predictions, decision values
    result.json     the figures; written last

A run is created under a temporary name and renamed, so it is there whole or not at all. One that says it is at work
while no process owns it was killed: it is shown as interrupted, with what it had.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import numpy as np

from svmcore import _jit, files
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.tasks.classify import TestSet
from svmcore.lab.store import export, folders
from svmcore.model import Machine, load, save

ACTIVE = ("queued", "running", "paused")
TERMINAL = ("done", "failed", "cancelled", "interrupted")
TRASH_DAYS, TRASH_RUNS = 7, 20
BALLAST = 16_384  # bytes that a run sets aside, to have room to say that the disk is full
_ID = re.compile(r"\d{8}-\d{6}-\d{3}-[0-9a-f]{6}")


class UnknownRun(KeyError):
    """No run of that id."""

    def __str__(self):
        return self.args[0]


class RunBusy(RuntimeError):
    """The run is at work, so that it cannot be moved or deleted."""


@dataclass(frozen=True)
class Run:
    """A run in the store; every property is read from its folder, so that two processes see the same."""

    id: str
    path: Path

    @property
    def recipe(self) -> Recipe:
        """What was asked."""
        return _recipe(self.path)

    @property
    def title(self) -> str:
        """The reader's name for it, or the recipe's."""
        return folders.read_json(self.path / "title.json") or self.recipe.title or self.recipe.name

    @property
    def created(self) -> str:
        """When it was asked for: ISO 8601, UTC."""
        day, clock, milli = self.id.split("-")[:3]
        return datetime.strptime(day + clock, "%Y%m%d%H%M%S").isoformat() + f".{milli}+00:00"

    @property
    def state(self) -> str:
        """queued | running | paused | done | failed | cancelled | interrupted"""
        if (self.path / "result.json").exists():
            return "done"
        state = (folders.read_json(self.path / "state.json") or {}).get("state")
        if state in TERMINAL:
            return state
        return state if state in ACTIVE and folders.is_owned(self.path) else "interrupted"

    @property
    def message(self) -> str:
        """Why it failed, or what it is doing."""
        return (folders.read_json(self.path / "state.json") or {}).get("message", "")

    @property
    def grant_mb(self) -> float:
        """Memory promised to it."""
        return folders.read_json(self.path / "grant.json") or 0.0

    @property
    def result(self) -> dict | None:
        """The figures of a run that is done."""
        return folders.read_json(self.path / "result.json")

    def progress(self) -> list[dict]:
        """Progress as far as it was written: stage, iterations, gap, dual, n_sv, n_bound, kernel_evals, seconds, ..."""
        return folders.read_lines(self.path / "progress.jsonl")

    def machine(self) -> Machine:
        """The trained machine. FileNotFoundError when the run did not get that far."""
        path = self.path / "model.npz"
        return _machine(path, path.stat().st_mtime_ns)

    def test(self) -> TestSet:
        """What the machine said about the test examples. FileNotFoundError when the run did not get that far."""
        with np.load(self.path / "test.npz", allow_pickle=False) as arrays:
            return TestSet(*(arrays[name] for name in TestSet._fields[:4]), split=str(arrays["split"]))

    def train_index(self) -> np.ndarray:
        """(n_train,) positions of the training examples in the data set's X_train; known soon after the start."""
        with np.load(self.path / "split.npz", allow_pickle=False) as arrays:
            return arrays["train"]

    def errors_csv(self) -> str:
        """The wrong test examples as a table. FileNotFoundError when the run did not get that far."""
        return export.errors_csv(self.test(), self.machine().classes)

    def export_snippet(self) -> str:
        """A Python script that repeats the run."""
        return export.script(self.recipe.replace(title=self.title), self.result)

    def rename(self, title: str) -> None:
        """Give the run a name of the reader's own. RecipeError for more than one line of 120 characters."""
        folders.write_json(self.path / "title.json", self.recipe.replace(title=title.strip()).title)

    def delete(self) -> None:
        """Move the run to the trash, from where `restore` brings it back. RunBusy while it is at work."""
        if self.state in ACTIVE:
            raise RunBusy(f"run {self.id} is {self.state}: cancel it before deleting it")
        trash = _folder("trash")
        os.replace(self.path, trash / self.id)
        os.utime(trash / self.id)
        _prune(trash)

    def set_state(self, state: str, message: str = "") -> None:
        """For the process at work: say how far the run is. On a full disk the run's ballast makes room."""
        value = {"state": state, "message": message, "at": datetime.now(UTC).isoformat()}
        try:
            folders.write_json(self.path / "state.json", value)
        except OSError:
            (self.path / "ballast").unlink(missing_ok=True)
            folders.write_json(self.path / "state.json", value)

    def add_progress(self, line: dict) -> None:
        """For the process at work: append to the progress."""
        folders.append_line(self.path / "progress.jsonl", line)

    def save_split(self, train: np.ndarray, test: np.ndarray) -> None:
        """For the process at work: which examples train and which test."""
        files.write(self.path / "split.npz", lambda file: np.savez(file, train=train, test=test))

    def save_grant(self, memory_mb: float) -> None:
        """For the process at work: the memory that the run was promised, for other processes to see."""
        folders.write_json(self.path / "grant.json", memory_mb)

    def finish(self, machine: Machine, test: TestSet, result: dict) -> None:
        """For the process at work: keep machine and test, then the figures, which make the run done."""
        save(machine, self.path / "model.npz")
        files.write(self.path / "test.npz", lambda file: np.savez(file, **test._asdict()))
        folders.write_json(self.path / "result.json", result)

    def release(self) -> None:
        """For the process at work: let go of the run, whatever came of it."""
        (self.path / "ballast").unlink(missing_ok=True)
        if (handle := _claims.pop(self.id, None)) is not None:
            os.close(handle)


_claims: dict[str, int] = {}  # run id -> open file whose lock says that this process is at work on it


def home() -> Path:
    """The user's folder of runs, data and caches: SVMLAB_HOME, or the system's cache folder."""
    return _jit.home()


def create(recipe: Recipe) -> Run:
    """A new run, queued and owned by this process until `release`. OSError when the disk is full or read-only."""
    folder = _folder("runs")
    now = time.time()
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{int(now % 1 * 1000):03d}-{secrets.token_hex(3)}"
    temporary = Run(run_id, folder / f".new-{run_id}")
    temporary.path.mkdir()
    handle = folders.claim(temporary.path)
    try:
        folders.write_json(temporary.path / "recipe.json", recipe.to_dict())
        files.write(temporary.path / "ballast", lambda file: file.write(b"\0" * BALLAST))
        temporary.set_state("queued")
        os.replace(temporary.path, folder / run_id)
    except BaseException:
        os.close(handle)
        shutil.rmtree(temporary.path, ignore_errors=True)
        raise
    files.sync_folder(folder)
    _claims[run_id] = handle
    return Run(run_id, folder / run_id)


def get(run_id: str) -> Run:
    """The run of that id. UnknownRun when there is none; an id that cannot be one never reaches the disk."""
    if isinstance(run_id, str) and _ID.fullmatch(run_id):
        run = Run(run_id, home() / "runs" / run_id)
        with suppress(OSError, ValueError):
            _recipe(run.path)
            if run.path.is_dir():
                return run
    raise UnknownRun(f"run {str(run_id)[:60]!r} is unknown: it was deleted, made elsewhere, or cannot be read")


def newest_first() -> list[Run]:
    """All runs that can be read, newest first; what a kill left half made is cleared away."""
    folder = _folder("runs")
    found = []
    for path in sorted(folder.iterdir(), reverse=True):
        if _ID.fullmatch(path.name):
            with suppress(OSError, ValueError):
                _recipe(path)
                found.append(Run(path.name, path))
        elif path.name.startswith(".new-") and not folders.is_owned(path) and _age(path) > 60:
            shutil.rmtree(path, ignore_errors=True)
    return found


def trash() -> tuple[str, ...]:
    """Ids of the deleted runs that `restore` can bring back, newest first."""
    return tuple(sorted((path.name for path in _folder("trash").iterdir() if _ID.fullmatch(path.name)), reverse=True))


def restore(run_id: str) -> Run:
    """Undo `delete`. UnknownRun when the trash has no such run (any more)."""
    if not isinstance(run_id, str) or not _ID.fullmatch(run_id) or not (_folder("trash") / run_id).is_dir():
        raise UnknownRun(f"run {str(run_id)[:60]!r} is not in the trash")
    os.replace(_folder("trash") / run_id, _folder("runs") / run_id)
    return get(run_id)


def _folder(name: str) -> Path:
    folder = home() / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _age(path: Path) -> float:
    """Seconds since a folder was changed; 0 for one that another process has renamed or removed meanwhile."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _prune(trash: Path) -> None:
    """Empty the trash of runs beyond TRASH_RUNS or older than TRASH_DAYS."""
    for rank, path in enumerate(sorted(trash.iterdir(), key=_age)):
        if rank >= TRASH_RUNS or _age(path) > TRASH_DAYS * 86_400:
            shutil.rmtree(path, ignore_errors=True)


@lru_cache(maxsize=1024)
def _recipe(path: Path) -> Recipe:
    return Recipe.from_json((path / "recipe.json").read_text())


@lru_cache(maxsize=2)
def _machine(path: Path, modified: int) -> Machine:
    return load(path)
