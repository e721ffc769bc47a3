"""What the queue needs of the process that it runs in: a call before the end."""

import atexit
import threading
from collections.abc import Callable


def before_threads_are_joined(close: Callable[[], None]) -> None:
    """Call `close` when the process ends, before it waits for its threads.

    Python has no public way: atexit's turn comes only after the end of every pool's threads, and those that wait in a
    paused run would never end. Without the private one atexit it is, and only a paused run holds up the end.
    """
    register = getattr(threading, "_register_atexit", atexit.register)
    register(close)
