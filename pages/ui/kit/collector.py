"""Garbage is collected now and then, and what libraries leave in memory for good is kept out of the way.

Streamlit would collect after every run of a script and of every part of a page that looks again (`postScriptGC`, which
.streamlit/config.toml turns off): 0.14 s for what imported libraries hold and as much again for what the compiler left,
in which no click of anybody is answered (tests/bench/NOTES.md). Frozen, what libraries hold is passed over.

Every run of a script has a thread, and so an arena of the C library's, of its own: what is freed there is handed back,
or four readers' clicks add 60 MB in 1,500.
"""

import ctypes
import gc
import sys
import threading
import time

GROWN = 40  # modules imported since, from which it is worth freezing again
EVERY = 10.0  # seconds between two collections, at the least

_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
_lock = threading.Lock()
_modules = 0  # imported when objects were last frozen
_next = 0.0  # time from which garbage is collected again


def settle() -> None:
    """At the end of a script run: collect garbage where it was not done lately, and freeze what is there when libraries
    have been imported since the last time.

    Objects that are frozen while in use are still freed by their reference count, though not as parts of a cycle.
    """
    global _modules, _next
    grown = len(sys.modules) >= _modules + GROWN
    if not (grown or time.monotonic() >= _next) or not _lock.acquire(blocking=False):
        return
    try:
        gc.collect()
        if trim := getattr(_libc, "malloc_trim", None):  # hands memory that was freed back to the system
            trim(0)
        if grown:
            gc.freeze()
            _modules = len(sys.modules)
        _next = time.monotonic() + EVERY
    finally:
        _lock.release()
