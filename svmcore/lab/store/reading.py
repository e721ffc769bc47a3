"""The one reader of each file of a run: its size, shape and kind are checked before anyone sees what it holds.

Each reader raises FileNotFoundError where there is no file, and Damaged, naming file and reason, for one that is not
what it should be. Fields that are not known here are left as they are: a newer version may have written them.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from svmcore import files
from svmcore.allowed import (
    Allowed,
    amount,
    an_object,
    anything,
    check_object,
    count,
    finite,
    one_of,
    optional,
    several,
    shown,
    size,
    text,
)
from svmcore.explain.bounds import BOUNDS
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import Recipe
from svmcore.lab.tasks import TASKS

Arrays = Mapping[str, tuple[str, int]]  # name -> kinds of number, dimensions
Misfit = Callable[[Mapping[str, tuple[int, ...]]], str]  # why arrays of some shapes do not fit; empty where they do
MAX_JSON = 1 << 20  # bytes of a JSON file
MAX_LINES = 1 << 26  # bytes of progress
RUN_ID = re.compile(r"(\d{8}-\d{6})-(\d{3})-[0-9a-f]{6}", re.ASCII)
GROUP_KEY = re.compile(r"[a-z0-9-]{1,80}")
MAX_TAGS, MAX_TAG = 12, 40  # of a run; characters of one
STATES = ("queued", "running", "paused", "done", "failed", "cancelled", "interrupted")


class Group(NamedTuple):
    """What runs were started together for: one sweep, one table. The same key: they belong together; title: to what."""

    key: str  # [a-z0-9-], at most 80 characters
    title: str  # one line, at most 120 characters

    @classmethod
    def of(cls, kind: str, title: str, *shared: object) -> "Group":
        """The group of the runs of this kind that have `shared` in common: started again, they come to the first."""
        said = hashlib.sha256("\n".join(map(str, shared)).encode()).hexdigest()[:12]
        return cls(f"{kind}-{said}", " ".join(title.split())[:120])


class UnknownRun(KeyError):
    """There is no such run, or none any more."""

    def __str__(self):
        return self.args[0]


class Damaged(ValueError):
    """A file of the store that does not hold what it should: says which and why."""

    def __init__(self, name: str, reason: object):
        self.name, self.reason = name, str(reason) or type(reason).__name__
        super().__init__(f"{name} is damaged: {self.reason}")


def require_there(folder: Path) -> None:
    """UnknownRun where a run's folder is gone."""
    if not folder.is_dir():
        raise UnknownRun(f"run {folder.name} was deleted meanwhile")


def is_id(name: object) -> bool:
    """Whether it can be the id of a run."""
    return created(name) is not None


def created(run_id: object) -> datetime | None:
    """When the run of this id was asked for; None for what cannot be the id of a run."""
    found = RUN_ID.fullmatch(run_id) if isinstance(run_id, str) else None
    try:
        return datetime.strptime(f"{found[1]}{found[2]}000+0000", "%Y%m%d-%H%M%S%f%z") if found else None
    except ValueError:  # no such day, or no such time of it
        return None


def read_json(path: Path, check: Callable) -> object:
    """The value in a JSON file, as `check` returns it."""
    try:
        return check(_loads(files.read(path, MAX_JSON)))
    except FileNotFoundError:
        raise
    except Exception as error:  # whatever a check stumbles over is not what it should be
        raise Damaged(path.name, error) from error


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """A ValueError in the block is damage to this file."""
    try:
        yield
    except Damaged:
        raise
    except ValueError as error:
        raise Damaged(path.name, error) from error


def read_lines(path: Path, more: Mapping[str, Callable]) -> list[dict]:
    """The records of a JSON-lines file, without broken lines. more: further fields that are checked."""
    with naming(path):
        lines = files.read(path, MAX_LINES).split(b"\n")
    return [record for line in lines if (record := _record(line, OFTEN | more)) is not None]


def announced_lines(path: Path) -> None:
    """Damaged when a file of JSON lines is none of a size that can be."""
    with naming(path):
        files.require_plain(path, MAX_LINES)


def announced(path: Path, arrays: Arrays, misfit: Misfit = lambda shapes: "") -> None:
    """Damaged when the headers of an .npz file do not announce these arrays, or such as do not fit each other."""
    with naming(path):
        _check_arrays(files.announced_arrays(path), arrays, misfit)


def read_arrays(path: Path, known: Arrays, misfit: Misfit = lambda shapes: "") -> dict[str, np.ndarray]:
    """The arrays of an .npz file that should hold those known, all numbers finite."""
    with naming(path):
        arrays = files.read_arrays(path)
        _check_arrays({name: (array.shape, array.dtype) for name, array in arrays.items()}, known, misfit)
        for name, array in arrays.items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise ValueError(f"{name} has missing or infinite values")
            if name in POSITIONS and array.min(initial=0) < 0:
                raise ValueError(f"{name} has negative positions")
        return arrays


def _loads(content: bytes) -> object:
    def refuse(constant):
        raise ValueError(f"{constant} is not a JSON number")

    return json.loads(content, parse_constant=refuse)


def _record(line: bytes, optional: Mapping[str, Callable]) -> dict | None:
    try:
        return check_object(_loads(line), LINE, optional)
    except (ValueError, RecursionError):
        return None


def recipe(value) -> Recipe:
    """Every version has written at least these fields; by default they would be another recipe's."""
    return Recipe.from_dict(check_object(value, dict.fromkeys(("name", "dataset", "kernel", "C"), anything)))


def state(value) -> dict:
    """How far a run is, and a message."""
    return check_object(value, {"state": one_of(STATES)}, {"message": text})


def title(value) -> str:
    """A name of a reader's own."""
    return _line(value, 120)


def _is_line(value, most: int = 200, least: int = 0) -> bool:
    return isinstance(value, str) and least <= len(value) <= most and value.isprintable()


def _line(value, most: int, least: int = 0):
    if not _is_line(value, most, least):
        raise ValueError(f"it holds {shown(value)}, not one line of at most {most} characters")
    return value


def tags(value) -> tuple[str, ...]:
    """Words of a reader's own for a run. ValueError for what cannot be."""
    if not isinstance(value, list) or len(value) > MAX_TAGS:
        raise ValueError(f"it holds {shown(value)}, not at most {MAX_TAGS} tags")
    return tuple(_line(tag, MAX_TAG, 1) for tag in value)


def group(value) -> Group:
    """What a run was started together with others for."""
    check_object(value, {"key": text, "title": text})
    if not GROUP_KEY.fullmatch(value["key"]) or RUN_ID.fullmatch(value["key"]):  # in lists both are names of entries
        raise ValueError(f"key is {shown(value['key'])}, not letters, digits and hyphens, or it is the id of a run")
    return Group(value["key"], _line(value["title"], 120, 1))


def parent(value) -> str:
    """The id of another run."""
    if not isinstance(value, str) or not RUN_ID.fullmatch(value):
        raise ValueError(f"it holds {shown(value)}, not the id of a run")
    return value


def result(value) -> dict:
    """The figures of a run: common ones, its task's and its method's; those missing in old runs have an empty value."""
    method = METHODS.get(check_object(value, {"method": text})["method"])
    if method is None:
        raise ValueError(f"method is {shown(value['method'])}, which is unknown here")
    task = TASKS.get(value.get("task", "classify"))
    if task is None:
        raise ValueError(f"task is {shown(value['task'])}, which is unknown here")
    outcome = {"n_test": size} | task.figures
    validation = outcome | {"folds": several(finite, 2), "seconds": amount}
    bound = {"errors": amount, "n": size, "seconds": amount}
    others = {
        "ending": text,
        "bounds": an_object({}, dict.fromkeys(BOUNDS, an_object(bound))),
        "strategy": text,
        "compile_seconds": amount,
        "made_with": TEXTS,
        "compile_all_seconds": amount,
        "all_seconds": amount,
        "memory_mb": amount,
        "processor_seconds": amount,
        "others_share": amount,
        "validation": an_object(validation, task.at_times),
    }
    others |= task.at_times
    value = {"compile_seconds": 0.0} | check_object(value, RESULT | outcome, others | method.result_fields)
    if len(value["n_sv"]) != len(value["n_bound"]):
        raise ValueError("n_sv and n_bound have different numbers of machines")
    return value


TEXTS = Allowed(
    "an object of a few short texts",
    lambda value: isinstance(value, dict) and len(value) <= 40 and all(map(_is_line, (*value, *value.values()))),
)
RESULT = {
    "n_train": size,
    "n_features": size,
    "n_sv": several(count),
    "n_bound": several(count),
    "n_union": count,
    "fit_seconds": amount,
    "predict_seconds": amount,
    "peak_rss_mb": amount,
    "kernel_evals": count,
    "iterations": count,
    "dual": finite,
}
LINE = {"stage": text, "iterations": count, "gap": finite, "dual": finite, "n_sv": count, "n_bound": count}
LINE |= {"kernel_evals": count, "cache_hits": count, "cache_misses": count, "seconds": finite}
OFTEN = {"mean_gap": finite, "gaps": several(optional(finite), 0), "compile_seconds": amount, "rest_seconds": amount}
OFTEN |= {"machines": count}
POSITIONS = ("index", "train", "test", "support", "parent", "picture", "tested", "object_picture")
SPLIT = {"train": ("iu", 1), "test": ("iu", 1)}
MODEL = {"header": ("U", 0), "classes": ("biufU", 1), "support": ("iu", 1), "support_vectors": ("f", 2)}
MODEL |= {"coef": ("f", 2), "bias": ("f", 1), "bound": ("b", 2)}


def _check_arrays(found: Mapping[str, tuple[tuple[int, ...], np.dtype]], known: Arrays, misfit: Misfit) -> None:
    for array, (kinds, dimensions) in known.items():
        if array not in found:
            raise ValueError(f"it has no {array}")
        shape, dtype = found[array]
        if dtype.kind not in kinds or len(shape) != dimensions:
            numbers = f"{dimensions} dimension{'s' * (dimensions != 1)}, and of NumPy's kind {' or '.join(kinds)}"
            raise ValueError(f"its array {array} has the type {dtype} and the shape {shape}, but must have {numbers}")
    if wrong := misfit({array: shape for array, (shape, _) in found.items()}):
        raise ValueError(wrong)
