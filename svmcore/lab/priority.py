"""The priority of runs, and how much of the processors it gets beside other work.

    crowding = sum_t seconds / sum_t processor seconds    over threads t, one for each processor, that never wait
             = min_t seconds / processor seconds          of work that one thread does, beside one busy process still 1

1 on a machine that is at rest. A run of low priority gets what others leave: beside two busy processes on two
processors about a tenth, which neither the load average (two runs waiting) nor the share of the processors in use (all)
tells, as both leave out who has priority. So it is tried, for some milliseconds at rest and LOOK beside other work.
What others take rises and falls: looks count by half for every HALF seconds that have passed since.
"""

import hashlib
import os
import sys
import threading
import time
from operator import mul
from typing import NamedTuple

NICE = 10  # priority of runs below that of pages; 19 is the lowest
LOOK, AT_LEAST = 0.5, 0.01  # seconds: beside other work a thread waits for up to 30 ms at a time; at rest
AT_REST = 1.2  # crowding that is none
LASTS, HALF = 10.0, 30.0  # seconds that what was found is taken for true, and in which it comes to count by half
PIECE = bytes(1 << 20)  # to hash, which takes about a millisecond and leaves the interpreter to others


class Crowding(NamedTuple):
    """Times as long as at rest, at least 1."""

    all: float  # of work that takes all processors
    one: float  # of work that takes one


MOST = 10  # looks that still say something
_lock = threading.Lock()
_looks: list[tuple[float, Crowding]] = []  # when, and what was found; the last one at the end


def yield_to_others() -> None:
    """Lower the priority of this thread and of those that it starts, below that of pages (on Linux)."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def crowding(look: bool = True) -> Crowding:
    """How many times as long a run takes now as on this machine at rest. look: False to take what was found last, where
    work of our own would be taken for that of others."""
    with _lock:
        now = time.monotonic()
        if look and (not _looks or now - _looks[-1][0] > LASTS):
            found = _tried()
            if found.all == 1.0:  # at rest: nothing from before goes on
                _looks.clear()
            _looks[:] = [*_looks[-MOST:], (now, found)]
        weights = [0.5 ** ((now - at) / HALF) for at, _ in _looks]
        shares = ([1 / found[kind] for _, found in _looks] for kind in range(len(Crowding._fields)))
        mean = (sum(map(mul, weights, share)) / sum(weights) if weights else 1.0 for share in shares)
        return Crowding(*(1 / share for share in mean))


def _tried() -> Crowding:
    taken: list[tuple[float, float]] = []
    threads = [threading.Thread(target=_spin, args=(taken,), daemon=True) for _ in range(os.cpu_count() or 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds, worked = map(sum, zip(*taken, strict=True))
    ratios = seconds / max(worked, 1e-6), min(seconds / max(worked, 1e-6) for seconds, worked in taken)
    return Crowding(*(ratio if ratio > AT_REST else 1.0 for ratio in ratios))


def _spin(taken: list[tuple[float, float]]) -> None:
    """One thread's seconds, and those in which it had a processor."""
    yield_to_others()
    started, worked_before, seconds, worked = time.perf_counter(), time.thread_time(), 0.0, 0.0
    while seconds < AT_LEAST or (seconds < LOOK and seconds > AT_REST * worked):
        hashlib.sha256(PIECE)
        seconds, worked = time.perf_counter() - started, time.thread_time() - worked_before
    taken.append((seconds, worked))
