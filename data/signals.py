"""How a command ends that is asked to from outside; those of `data` and of `svmcore` alike."""

import signal
from collections.abc import Callable


def interrupt(number: int, frame) -> None:
    """As Ctrl-C does, with the signal that asked."""
    raise KeyboardInterrupt(number)


def end_by_signals(handler: Callable = interrupt) -> None:
    """Have a closed terminal (SIGHUP) and SIGTERM end a command as Ctrl-C does; what whoever started it ignores stays
    ignored, such as SIGHUP under nohup."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)
