"""What has been read from large files, kept as long as it fits: a cache bounded in bytes, least recently asked out.

    sum of nbytes of what is kept <= limit,    not too many values,    but the one asked for last stays, however large

A value may grow after it was read (a machine packs its support vectors when it first decides), so sizes are taken
anew whenever something is asked for.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Hashable

from svmcore.memory import MB, free_mb


class Bounded:
    """Values by key. size(value): bytes that it holds now; limit: bytes of all; most: how many there are at most."""

    def __init__(self, limit: Callable[[], int], size: Callable[[object], int], most: float = math.inf):
        self._limit, self._size, self._most = limit, size, most
        self._lock = threading.Lock()  # guards the two tables; nobody reads a file under it
        self._kept: dict[Hashable, object] = {}  # least recently asked for first
        self._reading: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, read: Callable[[], object]) -> object:
        """The value of a key, read at most once at a time, however many ask. What `read` raises is not kept."""
        with self._lock:
            if key in self._kept:
                return self._asked(key)
            reading = self._reading.setdefault(key, threading.Lock())
        with reading:
            with self._lock:
                if key in self._kept:
                    return self._asked(key)
            try:
                value = read()
            finally:
                with self._lock:
                    self._reading.pop(key, None)
            with self._lock:
                self._kept[key] = value
                return self._asked(key)

    def has(self, key: Hashable) -> bool:
        """Whether a key's value is at hand."""
        with self._lock:
            return key in self._kept

    def nbytes(self) -> int:
        """What is kept, in bytes."""
        with self._lock:
            return sum(map(self._size, self._kept.values()))

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._kept.clear()

    def _asked(self, key: Hashable) -> object:
        """Move a key to the end of the line, and let go of those at its head that do not fit beside it."""
        value = self._kept.pop(key)
        self._kept[key] = value
        sizes, limit = {name: self._size(held) for name, held in self._kept.items()}, self._limit()
        total = sum(sizes.values())
        for name in list(self._kept)[:-1]:
            if total <= limit and len(self._kept) <= self._most:
                break
            del self._kept[name]
            total -= sizes[name]
        return value


def share_of_memory(share: float, least_mb: float) -> Callable[[], int]:
    """A limit: a share of the memory that was free when it was first asked for, and at least so many MB."""
    fixed: list[int] = []

    def limit() -> int:
        if not fixed:
            fixed.append(int(max(share * free_mb(), least_mb) * MB))
        return fixed[0]

    return limit
