"""What libraries leave in memory for good, kept out of the garbage collector's way.

Streamlit collects garbage after every run of a script. Going through the hundreds of thousands of objects that imported
libraries hold takes 0.14 s, in which no click is answered (tests/bench/NOTES.md); frozen, they are passed over.
"""

import gc
import sys
import threading

GROWN = 40  # modules imported since, from which it is worth freezing again

_lock = threading.Lock()
_modules = 0  # imported when objects were last frozen


def settle() -> None:
    """At the end of a script run: freeze what is there, when libraries have been imported since the last time.

    Objects that are frozen while in use are still freed by their reference count, though not as parts of a cycle.
    """
    global _modules
    if len(sys.modules) < _modules + GROWN or not _lock.acquire(blocking=False):
        return
    try:
        gc.collect()
        gc.freeze()
        _modules = len(sys.modules)
    finally:
        _lock.release()
