"""How much memory a fit may take: `cache_mb` is a ceiling for everything that grows with the data."""

import ctypes
import gc
import os
import resource
import sys
from collections.abc import Callable
from functools import cache

MB = 2**20
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
    """Return unused memory to the system: reference cycles, and free pieces between those in use, which glibc keeps."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


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
