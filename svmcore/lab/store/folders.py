"""Writing JSON files that survive a kill or a full disk, who is at work on a folder, and the trash.

Lines are appended in one write each; a reader skips a torn one (reading.py). A folder's owner is the process that
holds the lock on its `owner.json`; the system drops the lock with the process, however it ends. Where a file system
has no locks, the process number with its start time decides.
"""

import errno
import json
import os
import shutil
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from data import places
from svmcore import _jit, files

try:
    import fcntl
except ImportError:  # no flock on this system
    fcntl = None

OWNER, MAX_OWNER = "owner.json", 4096  # file, and its bytes at most
TRASH_DAYS, TRASHED = 7, 20  # how long deleted runs are kept, and how many
TOGETHER = 60  # seconds within which deletions count as one, which can be undone whole
SAMPLES = Path(__file__).with_name("samples")  # finished runs that come with the lab, to be read alone


class _Look(dict):
    """What a thread has seen, by what it looked at. first: what stays known also after it has looked again."""

    def __init__(self):
        self.first = {}


_seen: ContextVar[_Look | None] = ContextVar("seen", default=None)  # by this thread, within `one_look`


def home() -> Path:
    """The user's folder of runs, data and caches: SVMLAB_HOME, or the system's cache folder."""
    return _jit.home()


def place(name: str) -> Path:
    """A folder of the home folder, made where there is none."""
    folder = home() / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


@contextmanager
def one_look() -> Iterator[None]:
    """Within it this thread reads each run once, so that all is of one moment; its own changes count at once."""
    outer = _seen.get()
    before = _seen.set(_Look() if outer is None else outer)
    try:
        yield
    finally:
        _seen.reset(before)


def seen(key: Hashable, look: Callable[[], object]) -> object:
    """What `look()` finds; within `one_look`, what it found the first time."""
    kept = _seen.get()
    if kept is None:
        return look()
    if key not in kept:
        kept[key] = look()
    return kept[key]


def seen_first(key: Hashable, value: object) -> object:
    """`value`; within `one_look`, the first one under this key, however often the store was looked at again since."""
    kept = _seen.get()
    return value if kept is None else kept.first.setdefault(key, value)


def look_again() -> None:
    """Something was changed: what was seen of the store may be so no more."""
    if (kept := _seen.get()) is not None:
        kept.clear()


def write_json(path: Path, value: object) -> None:
    """Replace a JSON file, whole or not at all. OSError when the disk refuses."""
    look_again()
    text = json.dumps(value, indent=1, allow_nan=False)
    files.write(path, lambda file: file.write(text.encode()))


def append_line(path: Path, value: dict) -> None:
    """Add one JSON object as a line, in one write; after a line that a full disk has torn, on a line of its own."""
    line = (json.dumps(value, separators=(",", ":"), allow_nan=False) + "\n").encode()
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        size = os.fstat(handle).st_size
        if size:
            os.lseek(handle, size - 1, os.SEEK_SET)
            line = line if os.read(handle, 1) == b"\n" else b"\n" + line
        if os.write(handle, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    finally:
        os.close(handle)


def throw_away(path: Path) -> None:
    """Move a run's folder to the trash; deletes folders there beyond TRASHED, or older than TRASH_DAYS."""
    folder = place("trash")
    os.replace(path, folder / path.name)
    look_again()
    os.utime(folder / path.name)
    for rank, old in enumerate(sorted(folder.iterdir(), key=age)):
        if (rank >= TRASHED and age(old) > TOGETHER) or age(old) > TRASH_DAYS * 86_400:
            shutil.rmtree(old, ignore_errors=True)


def age(path: Path) -> float:
    """Seconds since a folder was changed; 0 for one that another process has renamed or removed meanwhile."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def claim(folder: Path) -> int:
    """Make this process the owner of a folder; returns the open file that holds the lock until `os.close`."""
    handle = os.open(folder / OWNER, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        locked = _lock(handle, exclusive=True)
        owner = {"pid": os.getpid(), "started": _started(os.getpid()), "locked": locked}
        os.write(handle, json.dumps(owner).encode())
    except BaseException:
        os.close(handle)
        raise
    return handle


def is_owned(folder: Path) -> bool:
    """Whether the process that claimed the folder still lives and holds it."""
    try:
        owner = json.loads(files.read(folder / OWNER, MAX_OWNER))
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(owner, dict):
        return False
    if not owner.get("locked"):
        started = owner.get("started")
        return started is not None and started == _started(owner.get("pid"))
    try:
        handle = os.open(folder / OWNER, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _lock(handle, exclusive=False)
    finally:
        os.close(handle)


def clear(folder: Path, idle: float, *others: str) -> None:
    """Remove what a kill has left in a folder: files and folders that were never whole, and files called `others`; none
    that somebody has written to within `idle` seconds, or of a run that is at work."""
    with suppress(OSError):
        begun = files.PART, places.PART
        left = [path for path in folder.iterdir() if path.name.startswith(begun) or path.name in others]
        if left and not is_owned(folder):
            for path in left:
                with suppress(OSError):
                    written = max(one.stat().st_mtime for one in (path, *path.glob("*")))
                    if time.time() - written >= idle:
                        shutil.rmtree(path) if path.is_dir() else path.unlink()


@contextmanager
def exclusive(path: Path) -> Iterator[bool]:
    """Hold a lock file for a while; yields False when another process or thread holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield fcntl is None or _lock(handle, exclusive=True)
    finally:
        os.close(handle)


def _lock(handle: int, exclusive: bool) -> bool:
    """Try to lock an open file; False when someone else holds it or the system has no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _started(pid: object) -> str | None:
    """When a process started, in clock ticks since boot; None when it is gone or the system does not say."""
    try:
        return Path(f"/proc/{int(pid)}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, TypeError, ValueError, OverflowError, IndexError):
        return None
