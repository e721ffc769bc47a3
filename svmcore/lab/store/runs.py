"""The run store: one folder a run, under the home folder's `runs/`; the folders are the truth.

    recipe.json     what was asked                       owner.json      the process at work, locked while it lives
    state.json      queued ... done, and a message       title.json      the name a reader gave it
    parent.json     the run that it grew out of, if any
    split.npz       which examples train, which test     progress.jsonl  one line now and then
    model.npz       the machine                          test.npz        labels, predictions, decision values
    result.json     the figures; written last      (of a run in parts also split-1.npz, model-1.npz, test-1.npz, ...)

A run is created under a temporary name and renamed, so it is there whole or not at all. One that says it is at work
while no process owns it was killed: it is shown as interrupted, with what it had. One with a file that is not what it
should be (store/reading.py) is damaged: `Run.damage` says which file and why. It can be looked at and deleted, and
stands in no list but `everything`.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from svmcore import _jit, files
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.tasks import task_of
from svmcore.lab.store import contents, export, folders, reading
from svmcore.lab.store.reading import Damaged
from svmcore.model import Machine, save

ACTIVE = ("queued", "running", "paused")
TERMINAL = ("done", "failed", "cancelled", "interrupted", "damaged")
TRASH_DAYS, TRASH_RUNS = 7, 20
BALLAST = 16_384  # bytes that a run sets aside, to have room to say that the disk is full
_ID = reading.RUN_ID


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
        """What was asked. Damaged when it cannot be read."""
        recipe = contents.of(self.path).recipe
        if recipe is None:
            raise Damaged("recipe.json", self.damage.partition(": ")[2])
        return recipe

    @property
    def damage(self) -> str:
        """Which of its files is damaged, and why; empty for an intact run."""
        return contents.of(self.path).damage

    @property
    def title(self) -> str:
        """The reader's name for it, or the recipe's; its id, where neither can be read."""
        found = contents.of(self.path)
        asked = found.recipe and (found.recipe.title or found.recipe.name)
        return found.title or asked or f"run {self.id}"

    @property
    def parent(self) -> str | None:
        """Id of the run that it grew out of, to be compared with; that run may be gone."""
        return contents.of(self.path).parent

    @property
    def created(self) -> str:
        """When it was asked for: ISO 8601, UTC."""
        day, clock, milli = self.id.split("-")[:3]
        return datetime.strptime(day + clock, "%Y%m%d%H%M%S").isoformat() + f".{milli}+00:00"

    @property
    def state(self) -> str:
        """queued | running | paused | done | failed | cancelled | interrupted | damaged"""
        found = contents.of(self.path)
        if found.damage or found.result:
            return "damaged" if found.damage else "done"
        state = (found.state or {}).get("state")
        if state in TERMINAL:
            return state
        return state if state in ACTIVE and folders.is_owned(self.path) else "interrupted"

    @property
    def message(self) -> str:
        """Why it failed, what it is doing, or what is damaged."""
        found = contents.of(self.path)
        return found.damage or (found.state or {}).get("message", "")

    @property
    def grant_mb(self) -> float:
        """Memory promised to it."""
        return contents.of(self.path).grant or 0.0

    @property
    def result(self) -> dict | None:
        """The figures of a run that is done."""
        result = contents.of(self.path).result
        return dict(result) if result else None

    def progress(self) -> list[dict]:
        """Progress as far as it was written: stage, iterations, gap, dual, n_sv, n_bound, kernel_evals, seconds, ..."""
        return reading.read_lines(self.path / "progress.jsonl")

    def parts(self) -> int:
        """How many parts of the run are trained and judged so far."""
        done = 0
        while (self.path / _named("test", done)).exists():
            done += 1
        return done

    def machine(self, part: int = 0) -> Machine:
        """The machine of a part. FileNotFoundError when the run did not get that far, Damaged if it cannot be read."""
        return self._large(_named("model", part), contents.machine)

    def at_hand(self, part: int = 0) -> bool:
        """Whether `machine` need not read its file first."""
        return contents.at_hand(self.path / _named("model", part))

    def test(self, part: int = 0) -> NamedTuple:
        """What the machine said about the test examples, as its task judged it. Raises what `machine` raises."""
        task = task_of(self.recipe)
        return self._large(_named("test", part), lambda path: contents.judged(path, task))

    def train_index(self) -> np.ndarray:
        """(n_train,) positions of the training examples in the data set's X_train; known soon after the start."""
        return self._large("split.npz", contents.train_index)

    def check(self) -> None:
        """Read all that a run that is done holds. Damaged when something of it cannot be read or does not fit."""
        self.train_index()
        for part in range(max(self.parts(), 1)):
            if not task_of(self.recipe).fits(self.machine(part), self.test(part)):
                name, of = _named("test", part), _named("model", part)
                raise contents.blame(self.path / name, f"it does not fit the machine in {of}")

    def _large(self, name: str, read):
        """What `read` makes of a file; damage that shows only then stays with the run."""
        try:
            return read(self.path / name)
        except FileNotFoundError:
            if (self.path / "result.json").exists():
                raise contents.blame(self.path / name, "it is missing") from None
            raise
        except Damaged as error:
            raise contents.blame(self.path / error.name, error.reason) from error

    def table(self) -> str:
        """The wrong test examples, or the detections, as CSV. FileNotFoundError when the run did not get that far."""
        parts = range(max(self.parts(), 1))
        return task_of(self.recipe).table([self.test(part) for part in parts], [self.machine(part) for part in parts])

    def export_snippet(self) -> str:
        """A Python script that repeats the run."""
        return export.script(self.recipe.replace(title=self.title), self.result)

    def rename(self, title: str) -> None:
        """Give the run a name of the reader's own. RecipeError for more than one line of 120 characters."""
        folders.write_json(self.path / "title.json", self.recipe.replace(title=title.strip()).title)

    def delete(self) -> None:
        """Move the run to the trash, from where `restore` brings it back. RunBusy while it is at work."""
        state = self.state
        if state in ACTIVE or (state == "damaged" and folders.is_owned(self.path)):
            raise RunBusy(f"run {self.id} is {state}: cancel it before deleting it")
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

    def save_split(self, train: np.ndarray, test: np.ndarray, part: int = 0) -> None:
        """For the process at work: which examples train and which test."""
        files.write(self.path / _named("split", part), lambda file: np.savez(file, train=train, test=test))

    def save_grant(self, memory_mb: float) -> None:
        """For the process at work: the memory that the run was promised, for other processes to see."""
        folders.write_json(self.path / "grant.json", memory_mb)

    def finish(self, machine: Machine, test: NamedTuple, result: dict) -> None:
        """For the process at work: keep machine and test, then the figures, which make the run done."""
        self.save_part(machine, test)
        self.complete(result)

    def save_part(self, machine: Machine, test: NamedTuple, part: int = 0) -> None:
        """For the process at work: keep the machine of a part, then its judgement, which can be read from then on."""
        save(machine, self.path / _named("model", part))
        files.write(self.path / _named("test", part), lambda file: np.savez(file, **test._asdict()))

    def complete(self, result: dict) -> None:
        """For the process at work: keep the figures, which make the run done."""
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


def create(recipe: Recipe, parent: str | None = None) -> Run:
    """A new run, queued and owned by this process until `release`. OSError when the disk is full or read-only."""
    folder = _folder("runs")
    now = time.time()
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{int(now % 1 * 1000):03d}-{secrets.token_hex(3)}"
    temporary = Run(run_id, folder / f".new-{run_id}")
    temporary.path.mkdir()
    handle = folders.claim(temporary.path)
    try:
        folders.write_json(temporary.path / "recipe.json", recipe.to_dict())
        if parent is not None:
            folders.write_json(temporary.path / "parent.json", parent)
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
    """The run of that id, damaged or not. UnknownRun when there is none; what is no id never reaches the disk."""
    if isinstance(run_id, str) and _ID.fullmatch(run_id):
        run = Run(run_id, home() / "runs" / run_id)
        with suppress(OSError):
            if run.path.is_dir():
                return run
    raise UnknownRun(f"run {str(run_id)[:60]!r} is unknown: it was deleted, or made elsewhere")


def newest_first() -> list[Run]:
    """All intact runs, newest first."""
    return [run for run in everything() if not run.damage]


def everything() -> list[Run]:
    """All runs, also the damaged ones, newest first; what a kill left half made is cleared away."""
    folder = _folder("runs")
    found = []
    for path in sorted(folder.iterdir(), reverse=True):
        if _ID.fullmatch(path.name):
            with suppress(OSError):
                if path.is_dir():
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


def _named(stem: str, part: int) -> str:
    """The file of a part: model.npz, model-1.npz, ..."""
    return f"{stem}-{part}.npz" if part else f"{stem}.npz"


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
