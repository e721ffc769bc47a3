"""The priority of runs, and how much of the processors it gets beside other work.

    crowding = sum_t seconds / sum_t processor seconds    over threads t that never wait, as many as the work has

1 on a machine that is at rest. A run of low priority gets what others leave: beside two busy processes on two
processors about a tenth, which neither the load average (two runs waiting) nor the share of the processors in use (all)
tells, as both leave out who has priority. So it is tried, for some milliseconds at rest and LOOK beside other work.
What others take rises and falls: a look counts half as much as one made HALF seconds later.
"""

import hashlib
import os
import sys
import threading
import time

NICE = 10  # priority of runs below that of pages; 19 is the lowest
LOOK, AT_LEAST = 0.5, 0.03  # seconds: beside other work a thread waits for up to 30 ms at a time; at rest
AT_REST = 1.2  # crowding that is none
LASTS, HALF = 10.0, 30.0  # seconds until the next look, and by which a look is older that counts half as much
MOST = 10  # looks that still say something
PIECE = bytes(1 << 20)  # to hash, which takes about a millisecond and leaves the interpreter to others

_lock = threading.Lock()
_looks: dict[int, list[tuple[float, float]]] = {}  # by number of threads: when, and what was found; the last at the end


def yield_to_others() -> None:
    """Lower the priority of this thread and of those that it starts, below that of pages (on Linux)."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def crowding(threads: int, look: bool = True) -> float:
    """Seconds that work of `threads` threads takes now, as a multiple (at least 1) of those on this computer at rest.
    look: False returns what was found last, as a look would count our own work as that of others."""
    with _lock:
        now, looks = time.monotonic(), _looks.setdefault(threads, [])
        if look and (not looks or now - looks[-1][0] > LASTS):
            found = _tried(threads)
            looks[:] = [] if found == 1.0 else looks[-MOST:]  # at rest: nothing from before goes on
            looks.append((now, found))
        if not looks:
            return 1.0
        weights = [0.5 ** ((looks[-1][0] - at) / HALF) for at, _ in looks]  # the last has 1, whenever it was
        share = sum(weight / found for weight, (_, found) in zip(weights, looks, strict=True))  # of a processor
        return sum(weights) / share


def _tried(threads: int) -> float:
    taken: list[tuple[float, float]] = []
    spinning = [threading.Thread(target=_spin, args=(taken,), daemon=True) for _ in range(threads)]
    for thread in spinning:
        thread.start()
    for thread in spinning:
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
