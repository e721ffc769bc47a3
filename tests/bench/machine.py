"""The machine that figures were measured on, in a line."""

import os
import platform


def machine() -> str:
    """Cores, processor and Python."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor()
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}"
