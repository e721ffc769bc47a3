"""The one reader of each file of a run: its size, shape and kind are checked before anyone sees what it holds.

    read_json(path)     recipe state title grant result .json -> the value      read_lines(path)   progress.jsonl
    announced(path)     split model test .npz, by their headers alone           read_arrays(path)  split test .npz

Each raises FileNotFoundError where there is no file, and Damaged, naming file and reason, for one that is not what it
should be. Fields that are not known here are left as they are: a newer version may have written them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path

import numpy as np

from svmcore import files
from svmcore.lab.recipe.recipe import Recipe

MAX_JSON = 1 << 20  # bytes of a JSON file
MAX_LINES = 1 << 26  # bytes of progress
STATES = ("queued", "running", "paused", "done", "failed", "cancelled", "interrupted")


class Damaged(ValueError):
    """A file of the store that does not hold what it should: says which and why."""

    def __init__(self, name: str, reason: object):
        self.name, self.reason = name, str(reason) or type(reason).__name__
        super().__init__(f"{name} is damaged: {self.reason}")


def read_json(path: Path) -> object:
    """The value in one of the JSON files of a run, checked by its name."""
    try:
        return CHECKS[path.name](_loads(files.read(path, MAX_JSON)))
    except FileNotFoundError:
        raise
    except Exception as error:  # whatever a check stumbles over is not what it should be
        raise Damaged(path.name, error) from error


def read_figures(path: Path, fields: Mapping[str, Callable]) -> dict:
    """A JSON object of which some fields are checked."""
    try:
        return _object(_loads(files.read(path, MAX_JSON)), fields)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise Damaged(path.name, error) from error


def read_lines(path: Path) -> list[dict]:
    """The records of a file of JSON lines; lines that a kill or a full disk cut short, and others, are left out."""
    try:
        lines = files.read(path, MAX_LINES).split(b"\n")
    except FileNotFoundError:
        return []
    except ValueError as error:
        raise Damaged(path.name, error) from error
    return [record for line in lines if (record := _record(line)) is not None]


def announced(path: Path) -> None:
    """Damaged when the headers of an .npz file of a run do not announce what it should hold, or when its progress is
    no file of a size that can be."""
    try:
        if path.name in ARRAYS:
            _check_arrays(path.name, files.announced_arrays(path))
        else:
            files.require_plain(path, MAX_LINES)
    except ValueError as error:
        raise Damaged(path.name, error) from error


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz file of a run, all numbers finite."""
    try:
        arrays = files.read_arrays(path)
        _check_arrays(path.name, {name: (array.shape, array.dtype) for name, array in arrays.items()})
        for name, array in arrays.items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise ValueError(f"{name} has missing or infinite values")
            if name in POSITIONS and array.min(initial=0) < 0:
                raise ValueError(f"{name} has negative positions")
        return arrays
    except ValueError as error:
        raise Damaged(path.name, error) from error


def _loads(content: bytes) -> object:
    def refuse(constant):
        raise ValueError(f"{constant} is no number of JSON")

    return json.loads(content, parse_constant=refuse)


def _record(line: bytes) -> dict | None:
    try:
        return _object(_loads(line), LINE, LINE_OF_SOME)
    except (ValueError, RecursionError):
        return None


# Checks: value -> the value, or ValueError saying what it is not


def _object(value, fields: Mapping[str, Callable], optional: Mapping[str, Callable] | None = None) -> dict:
    if not isinstance(value, dict):
        raise ValueError(f"it holds {_short(value)}, not an object")
    for name, check in fields.items():
        if name not in value:
            raise ValueError(f"it has no {name}")
        _field(name, check, value[name])
    for name, check in (optional or {}).items():
        if name in value:
            _field(name, check, value[name])
    return value


def _field(name, check, value):
    try:
        check(value)
    except ValueError as error:
        raise ValueError(f"{name} is {error}") from None


def number(value) -> float:
    """A finite number that is not absurdly long."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1e300 or not isfinite(value):
        raise ValueError(f"{_short(value)}, not a number")
    return value


def positive(value) -> float:
    """A number that is not negative: seconds, megabytes, a rate."""
    if number(value) < 0:
        raise ValueError(f"{_short(value)}, which is negative")
    return value


def count(value) -> int:
    """A whole number that is not negative."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError(f"{_short(value)}, not a count")
    return value


def _text(value):
    if not isinstance(value, str):
        raise ValueError(f"{_short(value)}, not a text")
    return value


def _share(value):
    if positive(value) > 1:
        raise ValueError(f"{_short(value)}, not a share")
    return value


def _several(check, least=1, most=10_000):
    def check_all(value):
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise ValueError(f"{_short(value)}, not a list of {least} or more")
        return [check(item) for item in value]

    return check_all


def size(value) -> int:
    """A whole number above 0."""
    if not count(value):
        raise ValueError("0, where there should be some")
    return value


def _short(value) -> str:
    shown = repr(value) if not isinstance(value, int) or abs(value) < 1e300 else "a number of hundreds of digits"
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _recipe(value):
    """Every version has written at least these fields; by default they would be another recipe's."""
    return Recipe.from_dict(_object(value, dict.fromkeys(("name", "dataset", "kernel", "C"), _anything)))


def _anything(value):
    return value


def _state(value):
    _object(value, {"state": _text}, {"message": _text})
    if value["state"] not in STATES:
        raise ValueError(f"state is {_short(value['state'])}, none of {', '.join(STATES)}")
    return value


def _title(value):
    if not isinstance(value, str) or len(value) > 120 or not (value.isprintable() or not value):
        raise ValueError(f"it holds {_short(value)}, not one line of at most 120 characters")
    return value


def _kernel_check(value):
    return _object(value, {"violations": number, "warning": _text})


def _validation(value):
    return _object(value, _RATE | {"folds": _several(count, 2), "seconds": positive})


def _result(value):
    """The figures of a run; those that the first versions did not keep have a value that says nothing."""
    value = {"compile_seconds": 0.0} | _object(value, RESULT, RESULT_OF_SOME)
    if len(value["n_sv"]) != len(value["n_bound"]):
        raise ValueError("n_sv and n_bound are of different machines")
    return value


_RATE = {"n_test": size, "errors": count, "error_rate": _share, "interval": _several(_share, 2, 2)}
RESULT = _RATE | {
    "n_train": size,
    "n_features": size,
    "n_sv": _several(count),
    "n_bound": _several(count),
    "n_union": count,
    "fit_seconds": positive,
    "predict_seconds": positive,
    "peak_rss_mb": positive,
    "kernel_evals": count,
    "iterations": count,
    "dual": number,
}
RESULT_OF_SOME = {
    "compile_seconds": positive,
    "n_virtual": _several(count),
    "validation": _validation,
    "kernel_check": _kernel_check,
}
LINE = {"stage": _text, "iterations": count, "gap": number, "dual": number, "n_sv": count, "n_bound": count}
LINE |= {"kernel_evals": count, "cache_hits": count, "cache_misses": count, "seconds": number}
LINE_OF_SOME = {"mean_gap": number, "gaps": _several(lambda gap: gap is None or number(gap), 0)}
CHECKS = {
    "recipe.json": _recipe,
    "state.json": _state,
    "title.json": _title,
    "grant.json": positive,
    "result.json": _result,
}
POSITIONS = ("index", "train", "test", "support", "parent")
ARRAYS = {  # file -> array -> (kinds of number, dimensions)
    "split.npz": {"train": ("iu", 1), "test": ("iu", 1)},
    "test.npz": {
        "index": ("iu", 1),
        "y_true": ("biufU", 1),
        "y_pred": ("biufU", 1),
        "decision": ("f", 2),
        "split": ("U", 0),
    },
    "model.npz": {"header": ("U", 0), "classes": ("biufU", 1), "support": ("iu", 1), "support_vectors": ("f", 2)}
    | {"coef": ("f", 2), "bias": ("f", 1), "bound": ("b", 2)},
}


def _check_arrays(name: str, found: Mapping[str, tuple[tuple[int, ...], np.dtype]]) -> None:
    for array, (kinds, dimensions) in ARRAYS[name].items():
        if array not in found:
            raise ValueError(f"it has no {array}")
        shape, dtype = found[array]
        if dtype.kind not in kinds or len(shape) != dimensions:
            raise ValueError(f"{array} is {dtype} of the shape {shape}")
    if name == "test.npz":
        lengths = {found[array][0][0] for array in ("index", "y_true", "y_pred", "decision")}
        if len(lengths) > 1:
            raise ValueError(f"its arrays have different lengths, {', '.join(map(str, sorted(lengths)))}")
