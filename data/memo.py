"""What has been read stays in memory as long as it fits: a cache bounded in bytes, least recently asked out.

    sum of nbytes of what is kept <= limit,    not too many values,    but the one asked for last stays, however large

    Bounded(limit).get(key, read)        read(), or what it gave for this key before
    Memo(limit).get(name, paths, read)   the same while the files of a set are unchanged

A value may grow after it was read (a machine packs its support vectors when it first decides), so sizes are taken
anew whenever something is asked for.
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
        self._lock = threading.Lock()  # guards the two tables; nobody reads a file under it
        self._values: dict[Hashable, object] = {}  # least recently asked for first
        self._reading: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, read: Callable[[], object]) -> object:
        """The value of a key, read at most once at a time, however many ask. What `read` raises is not kept."""
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
        """Whether a key's value is at hand."""
        with self._lock:
            return key in self._values

    def _asked(self, key: Hashable) -> object:
        """Move a key to the end of the line, and let go of those at its head that do not fit beside it."""
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
    """Sets that are read from files, known by their names and by when the files were changed."""

    def __init__(self, limit: int):
        super().__init__(lambda: limit)

    def get(self, name: str, paths: list[Path], read: Callable[[], object]) -> object:
        """What `read()` makes of `paths`, read again when one of them has changed. DataError if one is gone."""
        with in_words(f"{name} cannot be read", "the same file, uploaded again", OSError):
            stamps = tuple((path, path.stat().st_mtime_ns) for path in paths)
        return super().get((name, stamps), read)
