"""How much memory a fit may take: `cache_mb` is a ceiling for everything that grows with the data."""

from __future__ import annotations

import os

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


def ceiling_bytes(cache_mb: float | None) -> int:
    """`cache_mb` in bytes, or the default share of the free memory. ValueError unless it is above 0."""
    if cache_mb is None:
        return int(free_mb() * SHARE * MB)
    if not cache_mb > 0:
        raise ValueError(f"cache_mb = {cache_mb!r}; allowed: a number of megabytes above 0, or None")
    return int(cache_mb * MB)
