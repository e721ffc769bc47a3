"""What has been read stays in memory while its files are unchanged, for the few sets in use.

Memo(limit).get(name, paths, read) -> read(), or what it gave for these files before
"""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from data.dataset import DataError


class Memo:
    """Sets with `nbytes`, least recently used out; the one asked for last is always kept."""

    def __init__(self, limit: int):
        self.limit = limit
        self._kept: OrderedDict[tuple, object] = OrderedDict()
        self._lock = threading.Lock()  # of the two dicts, never held while something is read
        self._turns: weakref.WeakValueDictionary[str, threading.Lock] = weakref.WeakValueDictionary()

    def get(self, name: str, paths: list[Path], read: Callable):
        """What `read()` makes of `paths`, read again when one of them has changed. DataError if one is gone."""
        try:
            key = (name, *((path, path.stat().st_mtime_ns) for path in paths))
        except OSError as error:
            raise DataError(f"{name} cannot be read ({error.strerror})", "the file, uploaded once more") from error
        with self._lock:
            turn = self._turns.setdefault(name, threading.Lock())
        with turn:  # one reader at a time of a set: two sessions asking for MNIST read it once
            if (found := self._known(key)) is None:
                found = read()
                self._keep(key, found)
        return found

    def _known(self, key: tuple):
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep(self, key: tuple, found) -> None:
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > 1 and sum(kept.nbytes for kept in self._kept.values()) > self.limit:
                self._kept.popitem(last=False)
