"""The file of a revision: one verdict per line (data.verdicts), read once and only appended to.

Each verdict is written to disk at once. A killed process may leave half a line: it is ignored, and the next verdict
replaces it. Parsed lines stay in memory, so that appending to a file of 100,000 verdicts takes milliseconds. A file
with unchanged size and time is not read again, as a page that lists datasets asks for it several times.
"""

import os
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count
from pathlib import Path

from data import places, verdicts
from data.dataset import DataError, Facts, in_words, megabytes
from data.verdicts import Key, Verdict

_lock = threading.RLock()  # guards the parsed files
_numbers = count()


@dataclass(frozen=True, eq=False)
class Log:
    """A parsed file of verdicts. blob: the parsed complete lines; number: a new one whenever the file was not merely
    continued; standing: the latest verdict on each reviewed example; stat: see `_stat`."""

    blob: bytes
    number: int
    lines: list[Verdict]
    content: str
    standing: dict[Key, Verdict]
    stat: tuple = ()

    @cached_property
    def judged(self) -> Counter:
        """As of `counted`."""
        return counted(self.standing)


_logs: dict[Path, Log] = {}


def counted(standing: Mapping[Key, Verdict]) -> Counter:
    """(part, verdict, whether the example had a label before) -> number of examples."""
    had = lambda verdict: verdict.given != verdicts.UNLABELLED  # noqa: E731
    return Counter((verdict.part, verdict.verdict, had(verdict)) for verdict in standing.values())


@lru_cache(maxsize=4)  # states of earlier runs, several of which a page may list
def after(log: Log, lines: int) -> dict[Key, Verdict]:
    """The latest verdict on each example after this many lines."""
    return verdicts.standing(log.lines[:lines])


def append(path: Path, text: bytes) -> None:
    """Append complete lines to a file and sync it to disk; write the header first, and replace an incomplete line."""
    with in_words("The verdict could not be saved", "a home folder (SVMLAB_HOME) with write permission", OSError):
        if not path.exists():
            with places.replacing(path) as file:
                file.write(",".join(verdicts.COLUMNS).encode() + b"\n" + text)
            return
        with path.open("r+b") as file:
            file.seek(len(_whole(path)))
            file.truncate()
            file.write(text)
            file.flush()
            os.fsync(file.fileno())


def log(path: Path, base: Facts) -> Log:
    """The parsed file; if it has only grown, only the new lines are parsed."""
    with _lock:
        last, stat = _logs.get(path), _stat(path)
        if last is not None and last.stat == stat:
            return last
        blob = _whole(path)
        if last is not None and blob.startswith(last.blob):
            more = verdicts.read(verdicts.text_of(blob[len(last.blob) :]), base, len(last.lines) + 2, last.content)
            lines = last.lines + more.verdicts
            updated = Log(blob, last.number, lines, more.content, _after(last.standing, more.verdicts, lines), stat)
        else:
            parsed = verdicts.read(verdicts.headed(blob), base)
            standing = verdicts.standing(parsed.verdicts)
            updated = Log(blob, next(_numbers), parsed.verdicts, parsed.content, standing, stat)
        _logs[path] = updated
        return updated


def _stat(path: Path) -> tuple:
    """A stamp that changes with the file, whose size grows with every line; unique if the file cannot be read."""
    try:
        stat = path.stat()
    except OSError:
        return (None, next(_numbers))
    return stat.st_size, stat.st_mtime_ns, stat.st_ino


def _whole(path: Path) -> bytes:
    """The complete lines of a file."""
    with in_words(f"{path.name} cannot be read", verdicts.ACCEPTED, OSError):
        if (size := path.stat().st_size) > verdicts.MAX_BYTES:
            raise DataError(f"{path.name} is too large: {megabytes(size)}", f"at most {verdicts.MAX_BYTES >> 20} MB")
        blob = path.read_bytes()
    return blob[: blob.rfind(b"\n") + 1]


def _after(before: dict[Key, Verdict], more: list[Verdict], lines: list[Verdict]) -> dict[Key, Verdict]:
    """The latest verdicts after the new lines `more`, which are the last ones of `lines`."""
    if any(verdict.verdict == verdicts.UNDO for verdict in more):
        return verdicts.standing(lines)
    return before | {verdict.key: verdict for verdict in more}
