"""Ending a command by signals; shared by the commands of `data` and `svmcore`."""

import signal
from collections.abc import Callable


def interrupt(number: int, frame) -> None:
    """Raise KeyboardInterrupt, as Ctrl-C does, with the number of the signal."""
    raise KeyboardInterrupt(number)


def end_by_signals(handler: Callable = interrupt) -> None:
    """Let SIGTERM and SIGHUP (a closed terminal) end a command as Ctrl-C does, unless ignored at the start (nohup)."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)
