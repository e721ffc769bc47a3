"""What the files of a run hold, read once for each state that they are in.

of(folder)    the JSON files, and whether the headers of the larger ones are those of a run; UnknownRun where it is gone
machine(path), judged(path, task), train_index(path), edited(path)      all of a larger one; FileNotFoundError, Damaged
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from svmcore.jitter import JitterSet
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.task import Task
from svmcore.lab.registry.tasks import TASKS
from svmcore.lab.store import folders, reading
from svmcore.lab.store.edited import Edited
from svmcore.lab.store.group import Group
from svmcore.lab.store.reading import Damaged
from svmcore.lab.store.shelf import Shelf, share_of_memory
from svmcore.model import Machine, load


class Contents(NamedTuple):
    """The small files of a run, None for those that are missing or damaged, and which file is damaged and why.

    oddity: the same of `group` and `tags`, without which a run is still itself.
    """

    recipe: Recipe | None
    state: dict | None
    title: str | None
    grant: float | None
    parent: str | None
    group: Group | None
    tags: tuple[str, ...] | None
    result: dict | None
    damage: str
    oddity: str


JSON = (  # as in Contents
    "recipe.json", "state.json", "title.json", "grant.json", "parent.json", "group.json", "tags.json", "result.json"
)  # fmt: skip
BESIDE = ("group.json", "tags.json")
LARGE = (
    "split.npz",
    "model.npz",
    "test.npz",
    "edited.npz",
    "progress.jsonl",
)  # of which the headers are read to list a run
# Machines stay at hand up to a sixth of the memory that was free at the first one, so that a fit, which may take a
# third, and the pages fit beside them: with 8 GB free three machines of 88,000 virtual SVs, 350 MB each.
MACHINES = Shelf(share_of_memory(1 / 6, least_mb=256), size=lambda machine: machine.nbytes)
_found: dict[tuple[str, tuple], str] = {}  # folder, stamps -> damage that reading all of a large file has shown


def of(folder: Path) -> Contents:
    """What a run's folder holds. Reads what has changed since the last time; the rest is one `stat` for each file, and
    nothing within `folders.one_look`."""
    return folders.seen(folder, lambda: _of(folder))


def _of(folder: Path) -> Contents:
    key = str(folder), _stamps(folder)
    if not key[1][0]:  # no recipe
        reading.require_there(folder)
    try:
        contents = _read(*key)
    except FileNotFoundError:  # it went after its stamp was taken
        return _of(folder)
    return contents._replace(damage=_found[key]) if key in _found and not contents.damage else contents


def blame(path: Path, reason: str) -> Damaged:
    """Remember that a file is damaged, as long as its folder stays as it is; the error to raise."""
    damaged = Damaged(path.name, reason)
    _found[str(path.parent), _stamps(path.parent)] = str(damaged)
    folders.look_again()
    return damaged


def _stamps(folder: Path) -> tuple:
    """What tells two states of a run's files apart: of each None where it is not there, a text where it is closed."""
    stamps = []
    for name in (*JSON, *LARGE):
        try:
            found = os.stat(f"{folder}/{name}")
            stamps.append((found.st_mtime_ns, found.st_size, found.st_ino))
        except FileNotFoundError:
            stamps.append(None)
        except OSError as error:
            stamps.append(f"it cannot be read ({error.strerror})")
    return tuple(stamps)


@lru_cache(maxsize=4096)
def _read(folder: str, stamps: tuple) -> Contents:
    small = [_checked(f"{folder}/{name}", stamp) for name, stamp in zip(JSON, stamps, strict=False)]
    values = [value for value, _ in small]
    recipe, result = values[0], values[-1]
    task = recipe.task if recipe else ""
    large = [_checked(f"{folder}/{name}", stamp, task) for name, stamp in zip(LARGE, stamps[len(JSON) :], strict=True)]
    wrong = dict(zip((*JSON, *LARGE), (damage for _, damage in (*small, *large)), strict=True))
    oddity = next((wrong[name] for name in BESIDE if wrong[name]), "")
    damage = next((damage for name, damage in wrong.items() if damage and name not in BESIDE), "")
    if not damage and result and recipe.folds and "validation" not in result:
        damage = str(Damaged("result.json", "it has no validation, which the recipe asks for"))
    return Contents(*values, damage, oddity)


@lru_cache(maxsize=16384)
def _checked(path: str, stamp: tuple | str | None, task: str = "") -> tuple[object, str]:
    """The value of a JSON file, or None, and what is wrong with a file of a run of this task."""
    path = Path(path)
    if isinstance(stamp, str):
        return None, str(Damaged(path.name, stamp))
    try:
        if path.name in JSON:
            return reading.read_json(path), ""
        return (reading.announced(path, TASKS[task]), "") if task else (None, "")
    except FileNotFoundError:
        if stamp is not None:
            raise
        return None, str(Damaged(path.name, "it is missing")) if path.name == "recipe.json" else ""
    except Damaged as error:
        return None, str(error)


def machine(path: Path) -> Machine:
    """The machine of a run, which names training examples of its split alone."""
    return MACHINES.get((path, _stamps(path.parent)), lambda: _machine(path))


def at_hand(path: Path) -> bool:
    """Whether a machine need not be read first."""
    return MACHINES.has((path, _stamps(path.parent)))


def _machine(path: Path) -> Machine:
    split = path.with_name(path.name.replace("model", "split"))
    n = len(train_index(split)) if split.exists() else None
    try:
        loaded = load(path)
        _check_origins(loaded, n)
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(path.name, error) from error
    return loaded


def _check_origins(machine: Machine, n: int | None) -> None:
    """ValueError unless its support vectors come from the n training examples, virtual ones by a jitter of a set, or
    are a reduction's."""
    origin = machine.support if machine.parent is None else machine.parent
    if "reduced" in machine.meta:
        origin = origin[~machine.constructed]
    if n is not None and len(origin) and not 0 <= origin.min() <= origin.max() < n:
        raise ValueError(f"it names training examples that are none of the {n}")
    if machine.jitter is not None:
        jitters = JitterSet.parse(machine.meta["jitters"], tuple(machine.meta["image_shape"]))
        if len(machine.jitter) and not 0 <= machine.jitter.min() <= machine.jitter.max() < len(jitters):
            raise ValueError(f"it names jitters that are none of {machine.meta['jitters']}")


def judged(path: Path, task: Task) -> NamedTuple:
    """What the machine of a run of this task said about its test examples."""
    try:
        return task.judged(reading.read_arrays(path, task))
    except ValueError as error:
        raise error if isinstance(error, Damaged) else Damaged(path.name, error) from error


def train_index(path: Path) -> np.ndarray:
    """Positions of the training examples."""
    return reading.read_arrays(path)["train"]


def edited(path: Path) -> Edited:
    """What an editing method made of each training example."""
    arrays = reading.read_arrays(path)
    index = train_index(path.with_name(path.name.replace("edited", "split")))
    try:
        return Edited.read(index, arrays)
    except ValueError as error:
        raise Damaged(path.name, error) from error
