"""Deleted runs, kept for a while so that a deletion can be undone."""

import os
import shutil
import time
from pathlib import Path

from svmcore.lab.store import folders
from svmcore.lab.store.reading import is_id

DAYS, RUNS = 7, 20
TOGETHER = 60  # seconds within which deletions count as one, which can be undone whole


def put(path: Path) -> None:
    """Move a run's folder here; older ones beyond RUNS, or than DAYS, are gone for good."""
    folder = folders.place("trash")
    os.replace(path, folder / path.name)
    folders.look_again()
    os.utime(folder / path.name)
    for rank, old in enumerate(sorted(folder.iterdir(), key=age)):
        if (rank >= RUNS and age(old) > TOGETHER) or age(old) > DAYS * 86_400:
            shutil.rmtree(old, ignore_errors=True)


def ids() -> tuple[str, ...]:
    """Of the runs that can be brought back, newest first."""
    return tuple(sorted((path.name for path in folders.place("trash").iterdir() if is_id(path.name)), reverse=True))


def take(run_id: str) -> Path | None:
    """Move a run back to the others; its folder, or None where it is not here."""
    if not is_id(run_id) or not (folders.place("trash") / run_id).is_dir():
        return None
    path = folders.place("runs") / run_id
    os.replace(folders.place("trash") / run_id, path)
    folders.look_again()
    return path


def age(path: Path) -> float:
    """Seconds since a folder was changed; 0 for one that another process has renamed or removed meanwhile."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
