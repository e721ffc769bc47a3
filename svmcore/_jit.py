"""Numba's disk cache, in a folder named by a digest of the library's own source.

Numba checks only the file that holds a kernel, so a kernel that calls another file's kernel would go stale when that
file is edited. One folder per state of the source cannot.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

KEEP = 3  # cache folders of other source states left for whoever still runs them


def _source_digest(root: Path) -> str:
    digest = hashlib.sha256(f"{sys.version}".encode())
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _home() -> Path:
    if folder := os.environ.get("SVMLAB_HOME"):
        return Path(folder).expanduser()
    import pooch

    return Path(pooch.os_cache("svmlab"))


def _prune(parent: Path, current: Path) -> None:
    others = [folder for folder in parent.iterdir() if folder.is_dir() and folder != current]
    for folder in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[KEEP:]:
        shutil.rmtree(folder, ignore_errors=True)


def settle_cache() -> Path | None:
    """Point Numba at this source state's cache folder; returns it, or None where the disk refuses (JIT in memory)."""
    folder = _home() / "numba" / _source_digest(Path(__file__).parent)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        _prune(folder.parent, folder)
    except OSError:
        return None
    os.environ["NUMBA_CACHE_DIR"] = str(folder)  # the variable: any later change of a NUMBA_ one re-reads them all
    import numba

    numba.config.CACHE_DIR = str(folder)
    return folder


settle_cache()
