"""A run as it lies in its folder: every property is read from there, so that two processes see the same.

Whatever is asked of a run that was deleted meanwhile raises UnknownRun.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.edited import Edited
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.tasks import task_of
from svmcore.lab.store import contents, export, folders, pipeline, reading
from svmcore.lab.store.group import Group
from svmcore.lab.store.reading import Damaged
from svmcore.model import Machine

ACTIVE = ("queued", "running", "paused")
CHECKPOINT = "checkpoint.npz"  # its name; of a later part checkpoint-1.npz, ...
TERMINAL = ("done", "failed", "cancelled", "interrupted", "damaged")


@dataclass(frozen=True)
class Held:
    """What a run holds. Each of its large files is read when it is asked for."""

    id: str
    path: Path

    @property
    def recipe(self) -> Recipe:
        """What was asked. Damaged when it cannot be read."""
        recipe = self._value("recipe.json")
        if recipe is None:
            raise Damaged("recipe.json", self.damage.partition(": ")[2])
        return recipe

    @property
    def sample(self) -> bool:
        """Whether it came with the lab: nobody here has run it."""
        return self.path.parent == folders.SAMPLES

    @property
    def learned(self) -> Recipe:
        """What trains the machine that it found, where its method searches for one; else its recipe."""
        return METHODS[self.recipe.method].learned(self.recipe, self.result) if self.result else self.recipe

    @property
    def damage(self) -> str:
        """Which of its files is damaged, and why; empty for an intact run."""
        return contents.of(self.path).damage

    @property
    def title(self) -> str:
        """The reader's name for it, or the recipe's; its id, where neither can be read."""
        found = contents.of(self.path).values
        asked = (recipe := found["recipe.json"]) and (recipe.title or recipe.name)
        return found["title.json"] or asked or f"run {self.id}"

    @property
    def parent(self) -> str | None:
        """Id of the run that it grew out of, to be compared with; that run may be gone."""
        return self._value("parent.json")

    @property
    def group(self) -> Group | None:
        """What it was started together with others for, if it was."""
        return self._value("group.json")

    @property
    def tags(self) -> tuple[str, ...]:
        """The reader's own words for it."""
        return self._value("tags.json") or ()

    @property
    def oddity(self) -> str:
        """Which of its group, tags and checkpoint cannot be read, and why: it stands without. Empty when all can."""
        return contents.of(self.path).oddity

    @property
    def created(self) -> str:
        """When it was asked for: ISO 8601, UTC."""
        return reading.created(self.id).isoformat(timespec="milliseconds")

    @property
    def state(self) -> str:
        """queued | running | paused | done | failed | cancelled | interrupted | damaged"""
        found = contents.of(self.path)
        if found.damage or found.values["result.json"]:
            return "damaged" if found.damage else "done"
        state = (found.values["state.json"] or {}).get("state")
        if state in TERMINAL:
            return state
        return state if state in ACTIVE and folders.is_owned(self.path) else "interrupted"

    @property
    def message(self) -> str:
        """Why it failed, what it is doing, or what is damaged."""
        found = contents.of(self.path)
        return found.damage or (found.values["state.json"] or {}).get("message", "")

    @property
    def grant_mb(self) -> float:
        """Memory promised to it."""
        return self._value("grant.json") or 0.0

    @property
    def result(self) -> dict | None:
        """The figures of a run that is done."""
        result = self._value("result.json")
        return dict(result) if result else None

    @property
    def broken_off(self) -> bool:
        """Whether it ended before it was done, and left what another run can go on from."""
        return self.state in ("failed", "cancelled", "interrupted") and (self.path / CHECKPOINT).exists()

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
        """The machine of a part. FileNotFoundError when the run did not get that far, Damaged if it cannot be read."""
        return self._large("model.npz", part)

    def at_hand(self, part: int = 0) -> bool:
        """Whether `machine` need not read its file first."""
        return contents.at_hand(self.path / named("model", part))

    def test(self, part: int = 0) -> NamedTuple:
        """What the machine said about the test examples, as its task judged it. Raises what `machine` raises."""
        return self._large("test.npz", part)

    def train_index(self) -> np.ndarray:
        """(n_train,) positions of the training examples in the data set's X_train; known soon after the start."""
        return self._large("split.npz")

    def folded(self) -> tuple | None:
        """What each training example was answered by the machine that was trained without its fold, in the order of
        `train_index`; None for a run without folds, or of a version that did not keep it. Damaged if it cannot be read.
        """
        try:
            return self._large("folded.npz")
        except FileNotFoundError:
            return None

    def edited(self, part: int = 0) -> Edited:
        """What an editing method (cross-training, editing) made of each training example of a part. Raises what `kept`
        raises."""
        return self.kept("edited", part)

    def kept(self, stem: str, part: int = 0):
        """What is in one of its method's `files`. FileNotFoundError for a run of a method that has no such file, or one
        that did not get that far; Damaged if it cannot be read."""
        return self._large(f"{stem}.npz", part)

    def check(self) -> None:
        """Read all that a run that is done holds. Damaged when something of it cannot be read or does not fit."""
        self.train_index()
        folded = self.folded()
        if folded is not None and not task_of(self.recipe).fits(self.machine(), folded):
            raise contents.blame(self.path / "folded.npz", "it does not fit the machine in model.npz")
        for part in range(max(self.parts(), 1)):
            if not task_of(self.recipe).fits(self.machine(part), self.test(part)):
                name, of = named("test", part), named("model", part)
                raise contents.blame(self.path / name, f"it does not fit the machine in {of}")
            for own in METHODS[self.recipe.method].files:
                with suppress(FileNotFoundError):
                    self.kept(own.stem, part)

    def _value(self, name: str):
        """What one of its JSON files holds; None where it is missing or damaged."""
        return contents.of(self.path).values[name]

    def _large(self, name: str, part: int = 0):
        """All that a larger file holds; damage that shows only then stays with the run. UnknownRun where that is gone,
        Damaged where the run must have had it."""
        file = contents.files(self._value("recipe.json")).get(name)
        path = self.path / named(name.removesuffix(".npz"), part) if part else self.path / name
        try:
            if file is None:
                raise FileNotFoundError(f"its runs keep no {name}")
            return file.read(path)
        except (FileNotFoundError, Damaged) as error:
            reading.require_there(self.path)
            if isinstance(error, Damaged):
                raise contents.blame(self.path / error.name, error.reason) from error
            if file and file.always and (self.path / "result.json").exists():
                raise contents.blame(path, "it is missing") from None
            raise

    def table(self, name: str) -> str:
        """One of its task's `tables` as CSV. FileNotFoundError when the run did not get that far."""
        parts = range(max(self.parts(), 1))
        judged, machines = [self.test(part) for part in parts], [self.machine(part) for part in parts]
        return task_of(self.recipe).table(name, judged, machines)

    def export_snippet(self) -> str:
        """A Python script that repeats the run."""
        return export.script(self.recipe.replace(title=self.title), self.result)

    def export_onnx(self) -> bytes:
        """Its machine as an ONNX file, checked on its test examples. Raises what `machine` and `to_onnx` raise."""
        return export.onnx(self.recipe, self.machine())

    def export_pipeline(self) -> bytes:
        """A script by which scikit-learn alone trains its machine, with the examples, in a zip file."""
        return pipeline.archive(self.recipe.replace(title=self.title), self.result)


def named(stem: str, part: int) -> str:
    """The file of a part: model.npz, model-1.npz, ..."""
    return f"{stem}-{part}.npz" if part else f"{stem}.npz"
