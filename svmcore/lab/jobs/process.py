"""What the queue needs of the process that it runs in: a low priority, and a call before the end."""

import atexit
import os
import sys
import threading
from collections.abc import Callable

NICE = 10  # priority of runs below that of pages; 19 is the lowest


def yield_to_others() -> None:
    """This thread, and those that it will start, take what processor time the pages leave (where threads have their
    own priority: Linux)."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def before_threads_are_joined(close: Callable[[], None]) -> None:
    """Call `close` when the process ends, before it waits for its threads.

    Python has no public way: atexit's turn comes only after the end of every pool's threads, and those that wait in a
    paused run would never end. Without the private one atexit it is, and only a paused run holds up the end.
    """
    register = getattr(threading, "_register_atexit", atexit.register)
    register(close)
