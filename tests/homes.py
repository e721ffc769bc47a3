"""Home folders made for tests."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


def compiled() -> Path:
    """Where this process, and those that it starts, keep what Numba compiles."""
    settled = os.environ.get("NUMBA_CACHE_DIR")  # once the library is imported: whatever home comes after
    return Path(settled).parent if settled else Path(os.environ["SVMLAB_HOME"]) / "numba"


def kept_compiled() -> Path | None:
    """Where compiled code stays for the next session, beside what pytest keeps for itself; None where that cannot be
    written. The library has a folder in it for each state of its source, and prunes them."""
    folder = ROOT / ".pytest_cache" / "numba"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def lend_compiled(home: Path, folder: Path | None = None) -> Path:
    """Let a new home use what was compiled, by default for this process, and add to it; the home."""
    folder = folder or compiled()
    home.mkdir(parents=True, exist_ok=True)
    folder.mkdir(exist_ok=True)
    if not (home / "numba").exists():
        (home / "numba").symlink_to(folder)
    return home


@contextmanager
def new_home() -> Iterator[Path]:
    """An empty home folder for a while, for what looks the folder up at call time."""
    before = os.environ.get("SVMLAB_HOME")
    with tempfile.TemporaryDirectory(prefix="svmlab-home-") as folder:
        os.environ["SVMLAB_HOME"] = folder
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ["SVMLAB_HOME"]
            else:
                os.environ["SVMLAB_HOME"] = before
