"""What a run was made with: the machine and the versions, kept with its figures."""

import os
import platform
from functools import lru_cache
from importlib import metadata

from llvmlite import binding

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "scikit-image")


@lru_cache(maxsize=1)
def made_with() -> dict[str, str]:
    """Name -> text: processor, cores, system, Python, and the packages that decide numbers."""
    known = {
        "Processor": _processor(),
        "Cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1),
        "System": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "Python": platform.python_version(),
    }
    return known | versions()


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Package -> version, of those that are installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    name = names[0][:120] if names else platform.processor() or "unknown"
    return f"{name} ({binding.get_host_cpu_name()})"  # makers sell several generations under one name
