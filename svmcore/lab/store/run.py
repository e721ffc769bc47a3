"""A run in the store: every property is read from its folder, so that two processes see the same.

A reader may change its name, its tags and whether it is there; all that comes of it is written by the process at work.
Whatever is asked of a run that was deleted meanwhile raises UnknownRun.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data import permission
from svmcore import files
from svmcore.lab.fields import RecipeError
from svmcore.lab.methods import METHODS
from svmcore.lab.methods.editing import Edited
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import contents, export, folders, pipeline, reading
from svmcore.lab.store.reading import Damaged
from svmcore.lab.tasks import task_of
from svmcore.model import Machine
from svmcore.saved import save

ACTIVE = ("queued", "running", "paused")
TERMINAL = ("done", "failed", "cancelled", "interrupted", "damaged")
BALLAST, GRANT = "ballast", "grant.json"  # the file that makes room on a full disk; the memory that was promised
_claims: dict[str, int] = {}  # run id -> open file whose lock says that this process is at work on it


class RunBusy(RuntimeError):
    """The run is at work, or a sample, so that it cannot be moved or deleted."""


def named(stem: str, part: int) -> str:
    """The file of a part: model.npz, model-1.npz, ..."""
    return f"{stem}-{part}.npz" if part else f"{stem}.npz"


def _value(name: str, default=None) -> property:
    """What one of the JSON files of a run holds; the default where it is missing or damaged."""
    return property(lambda run: contents.of(run.path).values[name] or default)


@dataclass(frozen=True)
class Run:
    """A run. Each of its large files is read when it is asked for."""

    id: str
    path: Path

    parent = _value("parent.json")  # id of the run that it grew out of, to be compared with, which may be gone
    group = _value("group.json")  # what it was started together with others for
    tags = _value("tags.json", ())  # the reader's own words for it
    grant_mb = _value(GRANT, 0.0)  # memory promised to it
    damage = property(lambda self: contents.of(self.path).damage)  # which of its files, and why; "" for an intact run
    oddity = property(lambda self: contents.of(self.path).oddity)  # the same of files without which it is still itself

    @property
    def recipe(self) -> Recipe:
        """What was asked. Damaged when it cannot be read."""
        found = contents.of(self.path)
        if found.values["recipe.json"] is None:
            raise Damaged("recipe.json", found.damage.partition(": ")[2])
        return found.values["recipe.json"]

    @property
    def learned(self) -> Recipe:
        """What trains the machine that it found, where its method searches for one; else its recipe."""
        return METHODS[self.recipe.method].learned(self.recipe, self.result) if self.result else self.recipe

    @property
    def sample(self) -> bool:
        """Whether it came with the lab: nobody here has run it."""
        return self.path.parent == folders.SAMPLES

    @property
    def title(self) -> str:
        """The reader's name for it, or the recipe's; its id, where neither can be read."""
        found = contents.of(self.path).values
        asked = (recipe := found["recipe.json"]) and (recipe.title or recipe.name)
        return found["title.json"] or asked or f"run {self.id}"

    @property
    def created(self) -> str:
        """When it was asked for: ISO 8601, UTC."""
        return reading.created(self.id).isoformat(timespec="milliseconds")

    @property
    def state(self) -> str:
        """queued | running | paused | done | failed | cancelled | interrupted | damaged"""
        state = self._state_now()
        folders.seen_first(self.path, state)
        return state

    @property
    def state_seen_first(self) -> str:
        """Within `one_look` the state that it had when it was first asked for."""
        return folders.seen_first(self.path, self._state_now())

    def _state_now(self) -> str:
        found = contents.of(self.path)
        state = (found.values["state.json"] or {}).get("state")
        if state in ACTIVE and not (found.values["result.json"] or found.damage):
            if folders.is_owned(self.path):
                return state
            folders.look_again()  # it may have ended since
            found = contents.of(self.path)
            state = (found.values["state.json"] or {}).get("state")
        if found.damage or found.values["result.json"]:
            return "damaged" if found.damage else "done"
        return state if state in TERMINAL else "interrupted"

    @property
    def message(self) -> str:
        """Why it failed, what it is doing, or what is damaged."""
        found = contents.of(self.path)
        return found.damage or (found.values["state.json"] or {}).get("message", "")

    @property
    def result(self) -> dict | None:
        """The figures of a run that is done."""
        return dict(contents.of(self.path).values["result.json"] or {}) or None

    @property
    def broken_off(self) -> bool:
        """Whether it ended before it was done, and left what another run can go on from."""
        return self.state in ("failed", "cancelled", "interrupted") and (self.path / named("checkpoint", 0)).exists()

    # Its larger files. FileNotFoundError when the run did not get that far, Damaged when one cannot be read

    def progress(self) -> list[dict]:
        """Progress as far as it was written: stage, iterations, gap, dual, n_sv, n_bound, kernel_evals, seconds, ..."""
        try:
            return self._large("progress.jsonl")
        except FileNotFoundError:
            return []

    def parts(self) -> int:
        """How many parts of the run are trained and judged so far."""
        done = 0
        while (self.path / named("test", done)).exists():
            done += 1
        return done

    def machine(self, part: int = 0) -> Machine:
        """The machine of a part."""
        return self._large("model.npz", part)

    def at_hand(self, part: int = 0) -> bool:
        """Whether `machine` need not read its file first."""
        return contents.at_hand(self.path / named("model", part))

    def test(self, part: int = 0) -> NamedTuple:
        """What the machine said about the test examples, as its task judged it."""
        return self._large("test.npz", part)

    def train_index(self) -> np.ndarray:
        """(n_train,) positions of the training examples in the dataset's X_train; known soon after the start."""
        return self._large("split.npz")

    def folded(self) -> tuple | None:
        """What each training example was answered by the machine that was trained without its fold, in the order of
        `train_index`; None for a run without folds, or of a version that did not keep it."""
        try:
            return self._large("folded.npz")
        except FileNotFoundError:
            return None

    def edited(self, part: int = 0) -> Edited:
        """What an editing method (cross-training, editing) made of each training example of a part."""
        return self.method_file("edited", part)

    def method_file(self, stem: str, part: int = 0):
        """What is in one of its method's `files`; FileNotFoundError also where its method has no such file."""
        return self._large(f"{stem}.npz", part)

    def check(self) -> None:
        """Read all that a run that is done holds. Damaged when something of it cannot be read or does not fit."""
        task = task_of(self.recipe)
        self.train_index()
        if (folded := self.folded()) is not None and not task.fits(self.machine(), folded):
            raise contents.blame(self.path / "folded.npz", "it does not fit the machine in model.npz")
        for part in range(max(self.parts(), 1)):
            if not task.fits(self.machine(part), self.test(part)):
                why = f"it does not fit the machine in {named('model', part)}"
                raise contents.blame(self.path / named("test", part), why)
            for own in METHODS[self.recipe.method].files:
                with suppress(FileNotFoundError):
                    self.method_file(own.stem, part)

    def _large(self, name: str, part: int = 0):
        """All that a larger file holds; damage that shows only then stays with the run."""
        file = contents.files(contents.of(self.path).values["recipe.json"]).get(name)
        path = self.path / named(name.removesuffix(".npz"), part) if part else self.path / name
        try:
            if file is None:
                raise FileNotFoundError(f"runs of its method store no {name}")
            return file.read(path)
        except (FileNotFoundError, Damaged) as error:
            reading.require_there(self.path)
            if isinstance(error, Damaged):
                raise contents.blame(self.path / error.name, error.reason) from error
            if file and file.always and (self.path / "result.json").exists():
                raise contents.blame(path, "it is missing") from None
            raise

    # Taken away

    def table(self, name: str) -> str:
        """One of its task's `tables` as CSV."""
        parts = range(max(self.parts(), 1))
        judged, machines = [self.test(part) for part in parts], [self.machine(part) for part in parts]
        return task_of(self.recipe).table(name, judged, machines)

    def export_snippet(self) -> str:
        """A Python script that repeats the run."""
        return export.script(self.recipe.replace(title=self.title), self.result)

    def export_onnx(self) -> bytes:
        """Its machine as an ONNX file, checked on its test examples. Raises what `to_onnx` raises, too."""
        return export.onnx(self.recipe, self.machine())

    def export_pipeline(self) -> bytes:
        """A script by which scikit-learn alone trains its machine, with the examples, in a zip file."""
        return pipeline.archive(self.recipe.replace(title=self.title), self.result)

    # Changed by a reader

    def rename(self, title: str) -> None:
        """Give the run a name of the reader's own. RecipeError for more than one line of 120 characters."""
        self._write("title.json", self.recipe.replace(title=title.strip()).title)

    def tag(self, tags: Iterable[str]) -> None:
        """Give the run these tags instead of those that it had. RecipeError for too many, or for one that is none."""
        tags = list(dict.fromkeys(" ".join(str(tag).split()) for tag in tags))
        try:
            checked = list(reading.tags(tags))
        except ValueError:
            allowed = f"at most {reading.MAX_TAGS} tags, each a single line of 1 to {reading.MAX_TAG} characters"
            raise RecipeError("tags", ", ".join(tags), allowed) from None
        self._write("tags.json", checked)

    def delete(self) -> None:
        """Move the run to the trash, from where `restore` brings it back. RunBusy while it is at work."""
        state = self.state
        if state in ACTIVE or (state == "damaged" and folders.is_owned(self.path)):
            raise RunBusy(f"run {self.id} is {state}: cancel it before deleting it")
        self._change(folders.throw_away, self.path)

    def _write(self, name: str, value: object) -> None:
        self._change(folders.write_json, self.path / name, value)

    def _change(self, change, *what) -> None:
        """change(*what), of a run of the reader's own that is there."""
        permission.require("change")
        if self.sample:
            raise RunBusy(f"{self.title} is a sample that came with the lab and cannot be changed")
        try:
            change(*what)
        except FileNotFoundError:
            reading.require_there(self.path)
            raise

    # Written by the process at work

    def own(self, handle: int) -> None:
        """Hold the run by its open lock file until `release`."""
        _claims[self.id] = handle

    def release(self) -> None:
        """Let go of the run, whatever came of it."""
        try:
            (self.path / BALLAST).unlink(missing_ok=True)
        finally:
            if (handle := _claims.pop(self.id, None)) is not None:
                os.close(handle)

    def forget(self) -> None:
        """Remove the run for good: one that never began, so that it has nothing to show."""
        shutil.rmtree(self.path, ignore_errors=True)
        folders.look_again()

    def set_state(self, state: str, message: str = "") -> None:
        """Say how far the run is. On a full disk its ballast makes room."""
        value = {"state": state, "message": message, "at": datetime.now(UTC).isoformat()}
        try:
            folders.write_json(self.path / "state.json", value)
        except OSError:
            (self.path / BALLAST).unlink(missing_ok=True)
            folders.write_json(self.path / "state.json", value)

    def add_progress(self, line: dict) -> None:
        folders.append_line(self.path / "progress.jsonl", line)

    def save_grant(self, memory_mb: float) -> None:
        """The memory that the run was promised, for other processes to see."""
        folders.write_json(self.path / GRANT, memory_mb)

    def save_arrays(self, stem: str, arrays: dict[str, np.ndarray], part: int = 0) -> None:
        """The arrays of a file, such as what its method keeps of a part."""
        files.write(self.path / named(stem, part), lambda file: np.savez(file, **arrays))

    def save_split(self, train: np.ndarray, test: np.ndarray, part: int = 0) -> None:
        """Which examples train and which test."""
        self.save_arrays("split", {"train": train, "test": test}, part)

    def save_part(self, machine: Machine, test: NamedTuple, part: int = 0) -> None:
        """The machine of a part, then its judgement, which can be read from then on."""
        save(machine, self.path / named("model", part))
        self.save_arrays("test", test._asdict(), part)

    def complete(self, result: dict) -> None:
        """The figures, which make the run done."""
        folders.write_json(self.path / "result.json", result)
        for path in self.checkpoints():
            path.unlink(missing_ok=True)

    def checkpoints(self) -> list[Path]:
        """Those that its parts have left."""
        return sorted(self.path.glob("checkpoint*.npz"))
