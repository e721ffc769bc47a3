"""How much memory a fit may take: `cache_mb` is a ceiling for everything that grows with the data."""

import ctypes
import gc
import os
import resource
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache

MB = 2**20
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
ARENAS_A_CORE, MOST_ARENAS = 8, 64  # that glibc makes at most; that are visited
LARGE, PIECE = 32 * MB, 100_000  # bytes: the largest piece that is not mapped by itself; one that has an end cut
SHARE = 1 / 3  # of the memory free at the start, where the caller names no ceiling


class BudgetError(ValueError):
    """A fit does not fit: the text says what it needs and what the ceiling was."""


def free_mb() -> float:
    """Memory that can be had without swapping, in MB."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) / 1024
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / MB / 2


def peak_mb() -> float:
    """The most memory that this process has held at a time, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MB


def resident_mb() -> float:
    """Memory that this process holds now, in MB; the most that it has held, where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as line:
            return int(line.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MB
    except (OSError, ValueError, IndexError):
        return peak_mb()


def give_back() -> None:
    """Return unused memory to the system: reference cycles, and what glibc keeps free between pieces in use and at the
    end of each thread's arena."""
    gc.collect()
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)  # which leaves the ends of arenas, but for that of the first
        _cut_ends(libc)


def _cut_ends(libc: ctypes.CDLL) -> None:
    """The end of an arena is cut when a piece is freed in it: threads free one each, in the arenas that ended threads
    have left. By itself glibc lets an end grow to twice the largest piece that was ever freed."""
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    n = min(ARENAS_A_CORE * (os.cpu_count() or 1), MOST_ARENAS)
    together = threading.Barrier(n, timeout=1.0)  # seconds, until those that did begin go on alone

    def visit() -> None:
        with suppress(threading.BrokenBarrierError):
            together.wait()
        libc.free(libc.malloc(PIECE))
        with suppress(threading.BrokenBarrierError):
            together.wait()

    threads = [threading.Thread(target=visit, daemon=True) for _ in range(n)]
    libc.mallopt(M_MMAP_THRESHOLD, LARGE)  # where glibc's own rule ends, which the next line switches off
    libc.mallopt(M_TRIM_THRESHOLD, PIECE)
    with suppress(RuntimeError):  # no more threads can begin
        for thread in threads:
            thread.start()
    for thread in threads:
        if thread.ident is not None:
            thread.join()
    libc.mallopt(M_TRIM_THRESHOLD, 2 * LARGE)


def ceiling_bytes(cache_mb: float | None) -> int:
    """`cache_mb` in bytes, or the default share of the free memory. ValueError unless it is above 0."""
    if cache_mb is None:
        return int(free_mb() * SHARE * MB)
    if not cache_mb > 0:
        raise ValueError(f"cache_mb = {cache_mb!r}; allowed: a number of megabytes above 0, or None")
    return int(cache_mb * MB)


def share_of_memory(share: float, least_mb: float) -> Callable[[], int]:
    """A limit in bytes: a share of the memory that is free when it is first asked for, and at least so many MB."""
    return cache(lambda: int(max(share * free_mb(), least_mb) * MB))
