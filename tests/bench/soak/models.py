"""Machines whose file was tampered with: `load` refuses clearly, or what it gives back decides finitely.

The machines are those of every kind of run (homes.py). One array, one value of the header or some bytes become others;
a machine that loads is asked about examples of its width, and saved and loaded once more.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from svmcore import load, save
from svmcore.kernels import Precomputed
from svmcore.lab.store import runs
from tests.bench.soak import Budget, draw, fell, forks, homes, row, temporary_home

VALUES = [
    None,
    -1,
    0,
    1e308,
    -1e308,
    10**30,
    "",
    "x",
    [],
    {},
    True,
    [[]],
    [1],
    {"a": 1},
    "nan",
    0.5,
    -0.0,
    2**63,
    1e-320,
]


def models(budget: Budget, seed: int) -> list[dict]:
    """One tampered file a try."""
    with temporary_home() as template:
        forks.alone(homes.fill)
        files = [path for run in runs.newest_first() for path in sorted(run.path.glob("model*.npz"))]
        failures, done, refused = [], 0, 0
        for number, said in forks.shared(lambda number: attempt(files, template, seed, number), budget.numbers()):
            done += 1
            refused += said == "refused"
            if said not in ("refused", "decides"):
                failures.append(fell("models", seed, number, said))
    return [row("machines tampered with", done, failures, refused=refused)]


def attempt(files: list[Path], folder: Path, seed: int, number: int) -> str:
    """Whether a tampered machine was refused or decides; else what fell."""
    rng = draw(seed, number)
    whole = files[rng.integers(len(files))]
    path = folder / f"tampered-{number}.npz"
    try:
        what = _tampered(whole, path, rng)
        with np.errstate(all="ignore"):
            return f"{whole.parent.name}/{whole.name}, {what}: {wrong}" if (wrong := _asked(path)) else _asked.how
    except Exception as error:
        return f"{what}: {type(error).__name__}: {error}"
    finally:
        path.unlink(missing_ok=True)


def _asked(path: Path) -> str:
    """What is wrong with a machine in a file; `_asked.how` says whether it was refused."""
    _asked.how = "refused"
    try:
        machine = load(path)
    except ValueError:
        return ""
    _asked.how = "decides"
    d = machine.kernel.n if isinstance(machine.kernel, Precomputed) else machine.support_vectors.shape[1]
    X = np.random.default_rng(0).random((20, d), np.float32)
    f = machine.decision_values(X)
    if f.shape != (20, len(machine.bias)) or not np.isfinite(f).all():
        return f"decides {f.ravel()[:3]} of the shape {f.shape}"
    save(machine, path)
    again = load(path).decision_values(X)
    return "" if np.array_equal(again, f) else "decides otherwise once saved"


def _tampered(whole: Path, path: Path, rng) -> str:
    """Write a changed copy; what was changed."""
    if rng.random() < 0.2:
        content = bytearray(whole.read_bytes())
        for at in rng.integers(len(content), size=rng.integers(1, 10)):
            content[at] ^= 1 << rng.integers(8)
        path.write_bytes(content)
        return "bytes"
    with np.load(whole) as file:
        arrays = dict(file)
    if rng.random() < 0.6:
        header = json.loads(str(arrays["header"]))
        what = _other_value(header, rng)
        arrays["header"] = np.array(json.dumps(header))
    else:
        name = list(arrays)[rng.integers(len(arrays))]
        how, arrays[name] = _other_array(arrays[name], rng)
        what = f"{name} {how}"
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return what


def _other_value(header: dict, rng) -> str:
    inside, trail = header, []
    while True:
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        key = keys[rng.integers(len(keys))]
        trail.append(str(key))
        if isinstance(inside[key], dict | list) and inside[key] and rng.random() < 0.8:
            inside = inside[key]
            continue
        value = VALUES[rng.integers(len(VALUES))]
        if rng.random() < 0.1:
            del inside[key]
        else:
            inside[key] = value
        return f"{'.'.join(trail)} = {value!r}"


def _other_array(old: np.ndarray, rng) -> tuple[str, np.ndarray | None]:
    ways = {
        "gone": lambda: None,
        "wider": lambda: old[..., None],
        "halved": lambda: old[: len(old) // 2],
        "without columns": lambda: old[..., :0],
        "turned": lambda: old.T,
        "texts": lambda: old.astype(str),
        "objects": lambda: np.array([{}], object),
        "nan": lambda: np.full(old.shape, np.nan, old.dtype),
        "huge": lambda: np.full(old.shape, np.finfo(old.dtype).max, old.dtype),
        "negative": lambda: -abs(old) - 1,
        "other numbers": lambda: rng.standard_normal(old.shape).astype(old.dtype),
        "big-endian": lambda: old.astype(old.dtype.newbyteorder(">")),
        "column-wise": lambda: np.asfortranarray(old),
        "half": lambda: old.astype(np.float16),
        "double": lambda: old.astype(np.longdouble),
    }
    how = str(rng.choice(list(ways)))
    try:
        return how, ways[how]()
    except (ValueError, TypeError, IndexError):
        return "gone", None
