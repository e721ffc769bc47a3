"""Ways of damaging any file, each a function (path, rng): those that tests/damage.py lists, and drawn ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests import damage


def _flipped(path: Path, rng) -> None:
    content = bytearray(path.read_bytes())
    for at in rng.integers(len(content), size=rng.integers(1, 20)) if content else ():
        content[at] ^= 1 << rng.integers(8)
    path.write_bytes(content)


def _another_value(path: Path, rng) -> None:
    """One value inside of the JSON that a file holds, at any depth, becomes one of another type."""
    try:
        value = json.loads(path.read_bytes())
    except ValueError:
        return _flipped(path, rng)
    strange = [None, -1, 1e308, 10**30, "", "x" * 5000, [], {}, True, [[]], {"a": 1}, "\u202e<b>", "nan", 0.5, -0.0]
    other = strange[rng.integers(len(strange))]
    if not isinstance(value, dict | list) or not value:
        return path.write_text(json.dumps(other)) and None
    inside = value
    while True:
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        key = keys[rng.integers(len(keys))]
        if isinstance(inside[key], dict | list) and inside[key] and rng.random() < 0.8:
            inside = inside[key]
            continue
        inside[key] = other
        path.write_text(json.dumps(value))
        return None


def _another_array(path: Path, rng) -> None:
    """One array of an .npz file becomes another one."""
    if path.suffix != ".npz":
        return _another_value(path, rng)
    with np.load(path) as file:
        arrays = dict(file)
    name = list(arrays)[rng.integers(len(arrays))]
    old = arrays[name]
    changes = [
        lambda: None, lambda: old[..., None], lambda: old.astype(str), lambda: np.zeros((0,)), lambda: old[:0],
        lambda: old.astype(complex), lambda: np.array([{}], object), lambda: np.full(old.shape, np.nan),
        lambda: np.full(old.shape, 2**62), lambda: old.ravel()[::-1], lambda: np.zeros(old.shape, "M8[s]"),
        lambda: -np.ones(old.shape, int), lambda: np.full(old.shape, 1e300),
        lambda: np.repeat(np.atleast_1d(old), 2, 0),
    ]  # fmt: skip
    try:
        new = changes[rng.integers(len(changes))]()
    except (ValueError, TypeError, IndexError):
        new = None
    arrays = {key: value for key, value in (arrays | {name: new}).items() if value is not None}
    return np.savez(path, **arrays)


def _elsewhere(path: Path, rng) -> None:
    path.unlink()
    path.symlink_to(rng.choice(["/etc/passwd", "/dev/zero", "/nowhere", "..", path.name]))


def _of_another(path: Path, rng) -> None:
    """The same file of another run, or a file of another kind."""
    others = [other for other in path.parent.parent.rglob("*") if other.is_file() and other.stat().st_size < 1 << 20]
    content = others[rng.integers(len(others))].read_bytes()
    path.write_bytes(content)


def _without_rights(path: Path, rng) -> None:
    path.chmod(0)


WAYS = {name: lambda path, rng, change=change: change(path) for name, change in damage.ANY.items()}
WAYS |= {
    "bytes flipped": _flipped,
    "cut at random": lambda path, rng: path.write_bytes(path.read_bytes()[: rng.integers(path.stat().st_size + 1)]),
    "another value": _another_value,
    "another array": _another_array,
    "a link elsewhere": _elsewhere,
    "of another": _of_another,
    "no rights": _without_rights,
    "gone": lambda path, rng: path.unlink(),
    "JSON": lambda path, rng: list(damage.JSON.values())[rng.integers(len(damage.JSON))](path),
}
