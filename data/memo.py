"""Least-recently-used caches bounded in bytes.

    sum of nbytes of the cached values <= limit,    at most `most` values,    but the latest one stays, however large

A value may grow after it was read (a machine packs its support vectors at its first decision), so sizes are measured at
every request.
"""

import math
import threading
from collections.abc import Callable, Hashable
from pathlib import Path

from data.dataset import in_words


class Bounded:
    """Values with `nbytes`, by key. limit(): bytes of all; most: how many there are at most."""

    def __init__(self, limit: Callable[[], float], most: float = math.inf):
        self._limit, self._most = limit, most
        self._lock = threading.Lock()  # guards the two tables; no file is read while it is held
        self._values: dict[Hashable, object] = {}  # least recently used first
        self._reading: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, read: Callable[[], object]) -> object:
        """The value of a key; concurrent requests read it only once. Errors of `read` are not cached."""
        with self._lock:
            if key in self._values:
                return self._asked(key)
            reading = self._reading.setdefault(key, threading.Lock())
        with reading:
            with self._lock:
                if key in self._values:
                    return self._asked(key)
            try:
                value = read()
            finally:
                with self._lock:
                    self._reading.pop(key, None)
            with self._lock:
                self._values[key] = value
                return self._asked(key)

    def has(self, key: Hashable) -> bool:
        """Whether the value of a key is cached."""
        with self._lock:
            return key in self._values

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._values.clear()

    def _asked(self, key: Hashable) -> object:
        """Mark a key as the latest, and drop the least recently used values that exceed the bounds."""
        value = self._values.pop(key)
        self._values[key] = value
        sizes, limit = {name: stored.nbytes for name, stored in self._values.items()}, self._limit()
        total = sum(sizes.values())
        for name in list(self._values)[:-1]:
            if total <= limit and len(self._values) <= self._most:
                break
            del self._values[name]
            total -= sizes[name]
        return value


class Memo(Bounded):
    """Sets read from files, keyed by name and by the modification times of the files."""

    def __init__(self, limit: int):
        super().__init__(lambda: limit)

    def get(self, name: str, paths: list[Path], read: Callable[[], object]) -> object:
        """`read()`, cached until one of `paths` changes. DataError if one is missing."""
        with in_words(f"{name} cannot be read", "the same file, uploaded again", OSError):
            stamps = tuple((path, path.stat().st_mtime_ns) for path in paths)
        return super().get((name, stamps), read)
