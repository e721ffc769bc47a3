"""Where data is stored: the folders of SVMLAB_DATA (mirrors, read only), then the home folder (SVMLAB_HOME).

home/downloads/<set>/   downloaded files       home/own/   the user's own sets          home/verified.json
"""

import gzip
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

PART = ".part-"  # prefix of the temporary folder in which a file is written


def home() -> Path:
    """SVMLAB_HOME, or the user's cache folder for svmlab; it may not exist yet."""
    chosen = os.environ.get("SVMLAB_HOME")
    if chosen:
        return Path(chosen).expanduser()
    import pooch  # 0.1 s to import, and rarely needed

    return Path(pooch.os_cache("svmlab"))


def mirrors() -> list[Path]:
    """The folders that SVMLAB_DATA names, in order."""
    return [Path(part).expanduser() for part in os.environ.get("SVMLAB_DATA", "").split(os.pathsep) if part]


def opened(path: Path) -> IO[bytes]:
    """Open a file for reading; decompress it if its name ends in .gz."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that replaces `path` at the end of the block, or leaves it unchanged if the block fails.

    Until then it has the same name in a temporary folder next to `path`, so that the block can read it under that name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=PART, dir=path.parent, ignore_cleanup_errors=True) as folder:
        with Path(folder, path.name).open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, path)
