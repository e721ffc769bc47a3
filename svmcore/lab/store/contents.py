"""The files of a run as one table; what they hold is read once for each state that they are in.

A sample comes with the lab, and no dataset does: of its support vectors the file says which examples they are, in
which form, and they are prepared anew from the dataset. Vectors that a reduction constructed are no examples: they
stay.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data import load as load_dataset
from data.memo import Bounded
from svmcore.allowed import amount
from svmcore.jitter import JitterSet
from svmcore.lab.method import MethodFile
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import folders, reading
from svmcore.lab.store.reading import Damaged
from svmcore.lab.task import Task
from svmcore.lab.tasks import TASKS
from svmcore.memory import share_of_memory
from svmcore.model import Machine
from svmcore.saved import load

MAX_MACHINES = 32  # kept at hand
MAX_STATES = 4096  # runs of which it is remembered what was seen


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


class FolderState(NamedTuple):
    """A run's folder as last seen: the stamp of each file (`_stamps`), its content and damage, and the summary."""

    stamps: dict[str, tuple | str | None]
    seen: dict[str, tuple[object, str]]
    contents: RunContents


# Machines stay at hand up to a sixth of the memory that was free at the first one, so that a fit, which may take a
# third, and the pages fit beside them: with 8 GB free three machines of 88,000 virtual SVs, 350 MB each. Of small ones
# no more than a page shows: a day's runs, each looked at once, would add up to that sixth.
MACHINES = Bounded(share_of_memory(1 / 6, least_mb=256), most=MAX_MACHINES)
_states: dict[str, FolderState] = {}  # by folder; of its last state alone, as a run at work has a new one each second


def of(folder: Path) -> RunContents:
    """What a run's folder holds: one `stat` per file, and reading what changed; cached within `folders.one_look`."""
    return folders.seen(folder, lambda: _contents_of(folder))


def _contents_of(folder: Path) -> RunContents:
    stamps = dict(_stamps(folder))
    last = _states.get(str(folder))
    if last is None or last.stamps != stamps:
        reading.require_there(folder)  # a run that went between two stamps looks like one without some of its files
        try:
            last = _states[str(folder)] = _state_of(folder, stamps, last)
        except FileNotFoundError:  # it went after its stamp was taken
            return _contents_of(folder)
        if len(_states) > MAX_STATES:
            for oldest in list(_states)[:-MAX_STATES]:
                _states.pop(oldest, None)
    return last.contents


def blame(path: Path, reason: str) -> Damaged:
    """Remember that a file is damaged, as long as its folder stays as it is; the error to raise."""
    damaged, folder = Damaged(path.name, reason), path.parent
    folders.look_again()
    contents = _contents_of(folder)
    if not contents.damage and (last := _states.get(str(folder))):
        _states[str(folder)] = last._replace(contents=contents._replace(damage=str(damaged)))
        folders.look_again()
    return damaged


def _stamps(folder: Path) -> tuple:
    """What tells two states of a run's files apart, by name: None for one that is not there, a text for one that is
    closed. Whatever any method keeps is looked for, as the recipe is not read yet."""
    stamps = []
    own = {f"{own.stem}.npz" for method in METHODS.values() for own in method.files}
    for name in (*FILES, "test.npz", "folded.npz", *own):
        try:
            found = os.stat(f"{folder}/{name}")
            stamps.append((name, (found.st_mtime_ns, found.st_size, found.st_ino)))
        except FileNotFoundError:
            stamps.append((name, None))
        except OSError as error:
            stamps.append((name, f"it cannot be read ({error.strerror})"))
    return tuple(stamps)


def _state_of(folder: Path, stamps: dict, last: FolderState | None) -> FolderState:
    """See the files of a run in the state that `stamps` tell, but for those that are as they were at the last look."""

    def see(name: str, file: RunFile) -> tuple[object, str]:
        same = last is not None and name in last.seen and last.stamps[name] == stamps[name]
        return last.seen[name] if same else _see(folder / name, stamps[name], file)

    asked = see("recipe.json", FILES["recipe.json"])
    if last is not None and last.seen["recipe.json"] != asked:
        last = None  # of another method, the same file may be looked at otherwise
    table = files(asked[0])
    seen = {name: asked if name == "recipe.json" else see(name, file) for name, file in table.items()}
    wrong = [(file.essential, seen[name][1]) for name, file in table.items() if seen[name][1]]
    damage, oddity = (next((why for essential, why in wrong if essential is of), "") for of in (True, False))
    values = {name: value for name, (value, _) in seen.items()}
    recipe, result = values["recipe.json"], values["result.json"]
    if not damage and result and recipe.folds and "validation" not in result:
        damage = str(Damaged("result.json", "it has no cross-validation, but the recipe has folds"))
    return FolderState(stamps, seen, RunContents(values, damage, oddity))


def _see(path: Path, stamp: tuple | str | None, file: RunFile) -> tuple[object, str]:
    """What is seen of a file, or None; what is wrong with it."""
    if isinstance(stamp, str):
        return None, str(Damaged(path.name, stamp))
    try:
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
            loaded = with_examples(loaded, recipe, train_index(split))
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(path.name, error) from error
    return loaded


def _check_origins(machine: Machine, n: int | None) -> None:
    """ValueError unless the vectors come from the n training examples, by jitters of the set, or from a reduction."""
    origin = machine.origin
    if "reduced" in machine.meta:
        origin = origin[~machine.constructed]
    if n is not None and len(origin) and not 0 <= origin.min() <= origin.max() < n:
        raise ValueError(f"it refers to training examples that do not exist (there are {n})")
    if machine.jitter is not None:
        jitters = JitterSet.parse(machine.meta["jitters"], tuple(machine.meta["image_shape"]))
        if len(machine.jitter) and not 0 <= machine.jitter.min() <= machine.jitter.max() < len(jitters):
            raise ValueError(f"it names jitters that are not among {machine.meta['jitters']}")


def judged(path: Path, task: Task) -> NamedTuple:
    """What the machine of a run of this task said about its test examples."""
    with reading.naming(path):
        return task.judged(reading.read_arrays(path, task.arrays, task.misfit))


def folded(path: Path, task: Task) -> NamedTuple:
    """What the machines of a run's folds said about its training examples."""
    found = judged(path, task)
    if found.split != "train" or not np.array_equal(found.index, train_index(path.with_name("split.npz"))):
        raise Damaged(path.name, "its examples are not the training examples of the run")
    return found


def train_index(path: Path) -> np.ndarray:
    """Positions of the training examples."""
    return reading.read_arrays(path, reading.SPLIT)["train"]


def method_file(path: Path, own: MethodFile) -> object:
    """What a method keeps of the training of a part."""
    with reading.naming(path):
        arrays = reading.read_arrays(path, own.arrays)
        return own.read(train_index(path.with_name(path.name.replace(own.stem, "split"))), arrays)


def _arrays(read: Callable, always: bool, **how) -> RunFile:
    """Of arrays; how: what `reading.announced` checks."""
    return RunFile(partial(reading.announced, **how), read, always=always)


def _json(check: Callable, essential: bool = True) -> RunFile:
    return RunFile(partial(reading.read_json, check=check), essential=essential)


FILES = {
    "recipe.json": _json(reading.recipe),
    "state.json": _json(reading.state),
    "title.json": _json(reading.title),
    "grant.json": _json(amount.checked),
    "parent.json": _json(reading.parent),
    "group.json": _json(reading.group, essential=False),
    "tags.json": _json(reading.tags, essential=False),
    "result.json": _json(reading.result),
    "checkpoint.npz": RunFile(partial(reading.announced, arrays={}), essential=False),
    "split.npz": _arrays(train_index, True, arrays=reading.SPLIT),
    "model.npz": _arrays(machine, True, arrays=reading.MODEL),
    "progress.jsonl": RunFile(reading.announced_lines, partial(reading.read_lines, more={})),
}


def files(recipe: Recipe | None) -> dict[str, RunFile]:
    """Those of a run; where its recipe cannot be read, those of any."""
    if recipe is None:
        return FILES
    task, method = TASKS[recipe.task], METHODS[recipe.method]
    own = {
        "progress.jsonl": FILES["progress.jsonl"]._replace(read=partial(reading.read_lines, more=method.line_fields)),
        "test.npz": _arrays(partial(judged, task=task), True, arrays=task.arrays, misfit=task.misfit),
        "folded.npz": _arrays(partial(folded, task=task), False, arrays=task.arrays, misfit=task.misfit),
    }
    return (
        FILES
        | own
        | {f"{o.stem}.npz": _arrays(partial(method_file, own=o), False, arrays=o.arrays) for o in method.files}
    )


def with_examples(machine: Machine, recipe: Recipe, train: np.ndarray) -> Machine:
    """A sample's machine with its examples from the dataset; train: (n,) positions there. DataError without it."""
    own = are_examples(machine)
    origin = machine.origin[own]
    if not len(origin):
        return machine
    X = load_dataset(recipe.dataset).X_train[train[origin]]
    if machine.jitter is not None:
        jitters = JitterSet.parse(machine.meta["jitters"], tuple(machine.meta["image_shape"]))
        X = jitters.apply(X)[machine.jitter[own], np.arange(len(X))]
    vectors = machine.support_vectors.copy()
    vectors[own] = machine.prepare.transform(X)
    return replace(machine, support_vectors=vectors)


def are_examples(machine: Machine) -> np.ndarray:
    """(m,) bool: which support vectors are training examples, or jittered ones."""
    return np.ones(len(machine.support), bool) if "reduced" not in machine.meta else ~machine.constructed
