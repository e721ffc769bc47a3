"""The files of a run as one table; what they hold is read once for each state that they are in.

of(folder)                  the JSON files, and whether the headers of the larger ones are those of a run; UnknownRun
                            where it is gone
files(recipe)               name -> RunFile of a run: those that all have (FILES), and what its task and its method keep
files(recipe)[name].read    all of a larger one; FileNotFoundError, Damaged
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from svmcore.jitter import JitterSet
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.checks import positive
from svmcore.lab.registry.method import Kept
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.task import Task
from svmcore.lab.registry.tasks import TASKS
from svmcore.lab.store import folders, reading, sample
from svmcore.lab.store.reading import Damaged
from svmcore.lab.store.shelf import Bounded, share_of_memory
from svmcore.model import Machine
from svmcore.saved import load

MAX_MACHINES = 32  # kept at hand


class RunFile(NamedTuple):
    """One of the files of a run, or of each of its parts. look(path): what is seen of it to list runs, read(path): all
    of it, where that is more; both raise Damaged.

    essential: whether the run is damaged where it is, else the run stands without; always: whether every run that is
    done has it.
    """

    look: Callable[[Path], object]
    read: Callable[[Path], object] | None = None
    essential: bool = True
    always: bool = False


class RunContents(NamedTuple):
    """What is seen of the files of a run: of a JSON file its value, None where it is missing or damaged; which file is
    damaged and why.

    oddity: the same of a file without which a run is still itself.
    """

    values: dict[str, object]
    damage: str
    oddity: str


# Machines stay at hand up to a sixth of the memory that was free at the first one, so that a fit, which may take a
# third, and the pages fit beside them: with 8 GB free three machines of 88,000 virtual SVs, 350 MB each. Of small ones
# no more than a page shows: a day's runs, each looked at once, would add up to that sixth.
MACHINES = Bounded(share_of_memory(1 / 6, least_mb=256), size=lambda machine: machine.nbytes, most=MAX_MACHINES)
_found: dict[tuple[str, tuple], str] = {}  # folder, stamps -> damage that reading all of a large file has shown


def of(folder: Path) -> RunContents:
    """What a run's folder holds. Reads what has changed since the last time; the rest is one `stat` for each file, and
    nothing within `folders.one_look`."""
    return folders.seen(folder, lambda: _of(folder))


def _of(folder: Path) -> RunContents:
    key = str(folder), _stamps(folder)
    if dict(key[1])["recipe.json"] is None:
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
    """What tells two states of a run's files apart, by name: None for one that is not there, a text for one that is
    closed. Whatever any method keeps is looked for, as the recipe is not read yet."""
    stamps = []
    for name in (*FILES, "test.npz", *{f"{own.stem}.npz" for method in METHODS.values() for own in method.files}):
        try:
            found = os.stat(f"{folder}/{name}")
            stamps.append((name, (found.st_mtime_ns, found.st_size, found.st_ino)))
        except FileNotFoundError:
            stamps.append((name, None))
        except OSError as error:
            stamps.append((name, f"it cannot be read ({error.strerror})"))
    return tuple(stamps)


@lru_cache(maxsize=4096)
def _read(folder: str, stamps: tuple) -> RunContents:
    stamps = dict(stamps)
    recipe, _ = _checked(f"{folder}/recipe.json", stamps["recipe.json"])
    table = files(recipe)
    seen = {
        name: _checked(f"{folder}/{name}", stamps[name], *(() if name in FILES else (recipe.task, recipe.method)))
        for name in table
    }
    wrong = [(file.essential, seen[name][1]) for name, file in table.items() if seen[name][1]]
    damage, oddity = (next((why for essential, why in wrong if essential is of), "") for of in (True, False))
    values = {name: value for name, (value, _) in seen.items()}
    result = values["result.json"]
    if not damage and result and recipe.folds and "validation" not in result:
        damage = str(Damaged("result.json", "it has no validation, which the recipe asks for"))
    return RunContents(values, damage, oddity)


@lru_cache(maxsize=16384)
def _checked(path: str, stamp: tuple | str | None, *owners: str) -> tuple[object, str]:
    """What is seen of a file of a run of this task and method, or None; what is wrong with it."""
    path = Path(path)
    if isinstance(stamp, str):
        return None, str(Damaged(path.name, stamp))
    try:
        file = _files(*owners)[path.name] if owners else FILES[path.name]
        return file.look(path), ""
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
        if path.parent.parent == folders.SAMPLES:
            recipe = reading.read_json(path.with_name("recipe.json"), reading.recipe)
            loaded = sample.with_examples(loaded, recipe, train_index(split))
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
    return _meant(path, task.judged, reading.read_arrays(path, task.arrays, task.misfit))


def train_index(path: Path) -> np.ndarray:
    """Positions of the training examples."""
    return reading.read_arrays(path, reading.SPLIT)["train"]


def kept(path: Path, own: Kept) -> object:
    """What a method keeps of the training of a part."""
    arrays = reading.read_arrays(path, own.arrays)
    return _meant(path, own.read, train_index(path.with_name(path.name.replace(own.stem, "split"))), arrays)


def _meant(path: Path, read: Callable, *what) -> object:
    try:
        return read(*what)
    except ValueError as error:
        raise error if isinstance(error, Damaged) else Damaged(path.name, error) from error


def _arrays(read: Callable, always: bool, **how) -> RunFile:
    """Of arrays; how: what `reading.announced` checks."""
    return RunFile(partial(reading.announced, **how), read, always=always)


def _json(check: Callable, essential: bool = True) -> RunFile:
    return RunFile(partial(reading.read_json, check=check), essential=essential)


FILES = {
    "recipe.json": _json(reading.recipe),
    "state.json": _json(reading.state),
    "title.json": _json(reading.title),
    "grant.json": _json(positive),
    "parent.json": _json(reading.parent),
    "group.json": _json(reading.group, essential=False),
    "tags.json": _json(reading.tags, essential=False),
    "result.json": _json(reading.result),
    "split.npz": _arrays(train_index, True, arrays=reading.SPLIT),
    "model.npz": _arrays(machine, True, arrays=reading.MODEL),
    "progress.jsonl": RunFile(reading.announced_lines, partial(reading.read_lines, more={})),
}


def files(recipe: Recipe | None) -> dict[str, RunFile]:
    """Those of a run; where its recipe cannot be read, those of any."""
    return FILES if recipe is None else _files(recipe.task, recipe.method)


def _files(task: str, method: str) -> dict[str, RunFile]:
    task, method = TASKS[task], METHODS[method]
    own = {
        "progress.jsonl": FILES["progress.jsonl"]._replace(read=partial(reading.read_lines, more=method.line_fields)),
        "test.npz": _arrays(partial(judged, task=task), True, arrays=task.arrays, misfit=task.misfit),
    }
    return FILES | own | {f"{o.stem}.npz": _arrays(partial(kept, own=o), False, arrays=o.arrays) for o in method.files}
