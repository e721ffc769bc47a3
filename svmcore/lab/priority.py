"""The priority of runs, and how much of the processors it gets beside other work.

    crowding = sum_t seconds / sum_t processor seconds    over threads t, one for each processor, that never wait

1 on a machine that is at rest. A run of low priority gets what others leave: beside two busy processes on two
processors about a tenth, which neither the load average (two runs waiting) nor the share of the processors in use (all)
tells, as both leave out who has priority. So it is tried, for some milliseconds at rest and LOOK beside other work.
"""

import hashlib
import os
import sys
import threading
import time

NICE = 10  # priority of runs below that of pages; 19 is the lowest
LOOK, AT_LEAST = 0.3, 0.01  # seconds: beside other work a thread waits for up to 30 ms at a time; at rest
AT_REST = 1.2  # crowding that is none
LASTS = 10.0  # seconds that what was found is taken for true
PIECE = bytes(1 << 20)  # to hash, which takes about a millisecond and leaves the interpreter to others

_lock = threading.Lock()
_found = [-LASTS, 1.0]  # when, and the crowding


def yield_to_others() -> None:
    """Lower the priority of this thread and of those that it starts, below that of pages (on Linux)."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def crowding(look: bool = True) -> float:
    """How many times longer a run takes now than on an idle machine, at least 1. look: False for the last value."""
    with _lock:
        if look and time.monotonic() - _found[0] > LASTS:
            _found[:] = time.monotonic(), _tried()
        return _found[1]


def _tried() -> float:
    taken: list[tuple[float, float]] = []
    threads = [threading.Thread(target=_spin, args=(taken,), daemon=True) for _ in range(os.cpu_count() or 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds, worked = map(sum, zip(*taken, strict=True))
    ratio = seconds / max(worked, 1e-6)
    return ratio if ratio > AT_REST else 1.0


def _spin(taken: list[tuple[float, float]]) -> None:
    """One thread's seconds, and those in which it had a processor."""
    yield_to_others()
    started, worked_before, seconds, worked = time.perf_counter(), time.thread_time(), 0.0, 0.0
    while seconds < AT_LEAST or (seconds < LOOK and seconds > AT_REST * worked):
        hashlib.sha256(PIECE)
        seconds, worked = time.perf_counter() - started, time.thread_time() - worked_before
    taken.append((seconds, worked))
