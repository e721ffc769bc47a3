"""Where data lies: the folders of SVMLAB_DATA (mirrors, never written), then the home folder (SVMLAB_HOME).

home/downloads/<set>/   fetched files          home/own/   the user's own sets          home/verified.json
"""

import gzip
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

PART = ".part-"  # begins the name of a folder that a file is filled in


def home() -> Path:
    """SVMLAB_HOME, or the user's cache folder for svmlab; it need not exist yet."""
    chosen = os.environ.get("SVMLAB_HOME")
    if chosen:
        return Path(chosen).expanduser()
    import pooch  # 0.1 s to import, and seldom needed

    return Path(pooch.os_cache("svmlab"))


def mirrors() -> list[Path]:
    """The folders that SVMLAB_DATA names, in order."""
    return [Path(part).expanduser() for part in os.environ.get("SVMLAB_DATA", "").split(os.pathsep) if part]


def opened(path: Path) -> IO[bytes]:
    """A file to be read, unpacked where its name ends in .gz."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """An open file that becomes `path` at the end of the block, complete on disk, or not at all.

    Until then it has the same name, in a folder of its own beside `path`, so that the block may read it as if in place.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=PART, dir=path.parent, ignore_cleanup_errors=True) as folder:
        with Path(folder, path.name).open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, path)
