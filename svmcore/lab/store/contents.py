"""What the files of a run hold, read once for each state that they are in.

small(path)         value of a JSON file           look(path)     the headers of a larger one
large(path, read)   all of it, by one of           machine, test_set, train_index
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from svmcore.jitter import JitterSet
from svmcore.lab.store import reading
from svmcore.lab.store.reading import Damaged
from svmcore.model import Machine, load


class TestSet(NamedTuple):
    """What a machine said about the test examples."""

    index: np.ndarray  # (n,) int64, positions in the data set's test or training part
    y_true: np.ndarray  # (n,)
    y_pred: np.ndarray  # (n,)
    decision: np.ndarray  # (n, k) float64
    split: str  # "test" | "train": the part that `index` points into


_found: dict[tuple[Path, tuple], str] = {}  # file, stamp -> damage that was found when all of it was read


def _stamp(path: Path) -> tuple | None:
    """What tells two states of a file apart; None where there is no file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Damaged(path.name, f"it cannot be read ({error.strerror})") from error
    return found.st_mtime_ns, found.st_size, found.st_ino


def small(path: Path) -> object:
    """The value in a JSON file of a run; None where there is none and need be none. Damaged."""
    value, damage = _parsed(path, _stamp(path))
    if damage:
        raise Damaged(path.name, damage)
    return value


@lru_cache(maxsize=8192)
def _parsed(path: Path, stamp: tuple | None) -> tuple[object, str]:
    """The value of a JSON file, or what is wrong with it."""
    try:
        return reading.read_json(path), ""
    except FileNotFoundError:
        return None, "it is missing" if path.name == "recipe.json" else ""
    except Damaged as error:
        return None, error.reason


def look(path: Path) -> None:
    """Damaged for a file whose headers are wrong, or of which `large` or `blame` found something to be wrong."""
    stamp = _stamp(path)
    damage = _found.get((path, stamp)) or (_announced(path, stamp) if stamp else "")
    if damage:
        raise Damaged(path.name, damage)


def large(path: Path, read: Callable[[Path, tuple], object]):
    """What `read(path, stamp)` makes of a file. FileNotFoundError; Damaged, which `look` then knows."""
    try:
        return read(path, _stamp(path))
    except Damaged as error:
        raise blame(path, error.reason) from error


def blame(path: Path, reason: str) -> Damaged:
    """Remember that a file is damaged, as long as it stays as it is; the error to raise."""
    _found[path, _stamp(path)] = reason
    return Damaged(path.name, reason)


@lru_cache(maxsize=8192)
def _announced(path: Path, stamp: tuple) -> str:
    try:
        reading.announced(path)
    except FileNotFoundError:
        return ""
    except Damaged as error:
        return error.reason
    return ""


@lru_cache(maxsize=2)
def machine(path: Path, stamp: tuple) -> Machine:
    """The machine of a run, which names training examples of its split alone."""
    split = path.with_name("split.npz")
    n = len(train_index(split, ())) if split.exists() else None
    try:
        loaded = load(path)
        _check_origins(loaded, n)
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(path.name, error) from error
    return loaded


def _check_origins(machine: Machine, n: int | None) -> None:
    """ValueError unless its support vectors come from the n training examples, virtual ones by a jitter of a set."""
    origin = machine.support if machine.parent is None else machine.parent
    if n is not None and len(origin) and not 0 <= origin.min() <= origin.max() < n:
        raise ValueError(f"it names training examples that are none of the {n}")
    if machine.jitter is not None:
        jitters = JitterSet.parse(machine.meta["jitters"], tuple(machine.meta["image_shape"]))
        if len(machine.jitter) and not 0 <= machine.jitter.min() <= machine.jitter.max() < len(jitters):
            raise ValueError(f"it names jitters that are none of {machine.meta['jitters']}")


def test_set(path: Path, stamp: tuple) -> TestSet:
    """What the machine of a run said about its test examples."""
    arrays = reading.read_arrays(path)
    if str(arrays["split"]) not in ("test", "train"):
        raise Damaged(path.name, "it does not say of which part its examples are")
    return TestSet(*(arrays[name] for name in TestSet._fields[:4]), split=str(arrays["split"]))


def train_index(path: Path, stamp: tuple) -> np.ndarray:
    """Positions of the training examples."""
    return reading.read_arrays(path)["train"]
