"""A run in the store, and what may be changed of it: by a reader its name, its tags and whether it is there; by the
process at work all that comes of it."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from svmcore import files
from svmcore.lab.registry.fields import RecipeError
from svmcore.lab.store import folders, reading, trash
from svmcore.lab.store.held import ACTIVE, CHECKPOINT, Held, named
from svmcore.model import Machine
from svmcore.saved import save

BALLAST = "ballast"  # the file that makes room on a full disk
_claims: dict[str, int] = {}  # run id -> open file whose lock says that this process is at work on it


class RunBusy(RuntimeError):
    """The run is at work, or a sample, so that it cannot be moved or deleted."""


class Run(Held):
    """A run in the store."""

    def rename(self, title: str) -> None:
        """Give the run a name of the reader's own. RecipeError for more than one line of 120 characters."""
        self._write("title.json", self.recipe.replace(title=title.strip()).title)

    def tag(self, tags: Iterable[str]) -> None:
        """Give the run these tags instead of those that it had. RecipeError for too many, or for one that is none."""
        tags = list(dict.fromkeys(" ".join(str(tag).split()) for tag in tags))
        try:
            checked = list(reading.tags(tags))
        except ValueError:
            allowed = f"at most {reading.MAX_TAGS} of a run, each one line of 1 to {reading.MAX_TAG} characters"
            raise RecipeError("tags", ", ".join(tags), allowed) from None
        self._write("tags.json", checked)

    def delete(self) -> None:
        """Move the run to the trash, from where `restore` brings it back. RunBusy while it is at work."""
        self._require_own()
        state = self.state
        if state in ACTIVE or (state == "damaged" and folders.is_owned(self.path)):
            raise RunBusy(f"run {self.id} is {state}: cancel it before deleting it")
        try:
            trash.put(self.path)
        except FileNotFoundError:
            reading.require_there(self.path)
            raise

    def _require_own(self) -> None:
        if self.sample:
            raise RunBusy(f"{self.title} is a sample, which came with the lab: it stays as it is")

    def _write(self, name: str, value: object) -> None:
        self._require_own()
        try:
            folders.write_json(self.path / name, value)
        except FileNotFoundError:
            reading.require_there(self.path)
            raise

    def set_state(self, state: str, message: str = "") -> None:
        """For the process at work: say how far the run is. On a full disk the run's ballast makes room."""
        value = {"state": state, "message": message, "at": datetime.now(UTC).isoformat()}
        try:
            folders.write_json(self.path / "state.json", value)
        except OSError:
            (self.path / BALLAST).unlink(missing_ok=True)
            folders.write_json(self.path / "state.json", value)

    def add_progress(self, line: dict) -> None:
        """For the process at work: append to the progress."""
        folders.append_line(self.path / "progress.jsonl", line)

    def save_split(self, train: np.ndarray, test: np.ndarray, part: int = 0) -> None:
        """For the process at work: which examples train and which test."""
        self.save_arrays("split", {"train": train, "test": test}, part)

    def save_grant(self, memory_mb: float) -> None:
        """For the process at work: the memory that the run was promised, for other processes to see."""
        folders.write_json(self.path / "grant.json", memory_mb)

    def save_part(self, machine: Machine, test: NamedTuple, part: int = 0) -> None:
        """For the process at work: keep the machine of a part, then its judgement, which can be read from then on."""
        save(machine, self.path / named("model", part))
        self.save_arrays("test", test._asdict(), part)

    def save_arrays(self, stem: str, arrays: dict[str, np.ndarray], part: int = 0) -> None:
        """For the process at work: keep the arrays of a file, such as what its method keeps of a part."""
        files.write(self.path / named(stem, part), lambda file: np.savez(file, **arrays))

    def complete(self, result: dict) -> None:
        """For the process at work: keep the figures, which make the run done."""
        folders.write_json(self.path / "result.json", result)
        for path in self.checkpoints():
            path.unlink(missing_ok=True)

    def checkpoints(self) -> list[Path]:
        """Those that its parts have left."""
        return sorted(self.path.glob(CHECKPOINT.replace(".", "*.")))

    def own(self, handle: int) -> None:
        """For the process at work: hold the run by its open lock file until `release`."""
        _claims[self.id] = handle

    def release(self) -> None:
        """For the process at work: let go of the run, whatever came of it."""
        try:
            (self.path / BALLAST).unlink(missing_ok=True)
        finally:
            if (handle := _claims.pop(self.id, None)) is not None:
                os.close(handle)
