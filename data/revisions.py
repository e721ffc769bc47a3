"""Revisions: datasets with reviewed labels, i.e. a base dataset and verdicts on single examples of it.

    mnist-5k@checked        the base mnist-5k with the verdicts of home/revisions/mnist-5k@checked.csv
    mnist-5k@checked.17     the same after its first 17 lines; a run stores this, as the file is only appended to

    y'_i = the label in the verdict on example i, if it has one, else y_i

A revision can be used wherever a dataset can. It shares the arrays of its base and changes only labels. An excluded
example stays at its position, so that example 123 is the same in all revisions; `Dataset.train` and `test` list the
excluded ones. Unlabelled examples of the base come last, and count once a verdict gives them a label. A revision is
created with its first verdict. Files are checked against the base when they are read (data.verdicts).
"""

import math
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data import judging, permission, places, verdicts
from data.dataset import DataError, Dataset, Part, UnknownDataset, in_words
from data.entry import Entry
from data.judging import Log
from data.memo import Bounded
from data.shelf import DamagedSet, slug
from data.verdicts import CONTENT, PARTS, Key, Verdict

FOLDER = "revisions"
AT = "@"
MAX_SLUG = 30  # characters of the name of a revision
FIRST = "first"  # key, besides the verdicts, in counts of verdicts
KEPT = 16  # revisions whose labels stay in memory
COLON, IN_FILE = ":", "+"  # in names of datasets and, as some systems forbid it in files, its substitute in file names

Find = Callable[[str], Entry]  # the entry of a base by its name; raises UnknownDataset

_SLUG = rf"[a-z0-9-]{{1,{MAX_SLUG}}}"
_FILE = re.compile(rf"([A-Za-z0-9][A-Za-z0-9.+-]*)@({_SLUG})\.csv")
_NAME = re.compile(rf"([A-Za-z0-9][A-Za-z0-9.:-]*)@({_SLUG})(?:\.(0|[1-9]\d{{0,8}}))?")


class Name(NamedTuple):
    """The parts of the name of a revision. lines: how many lines of its file are used, None for all."""

    base: str
    slug: str
    lines: int | None

    @property
    def head(self) -> str:
        """The name of the revision in its current state."""
        return f"{self.base}{AT}{self.slug}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Revision(Entry):
    """The catalogue entry of a revision."""

    base: Entry
    judged: dict[str, int]  # verdict -> number of examples
    lines: int  # lines of the file that are used
    content: str  # the first characters of the base's content hash

    def load(self) -> Dataset:
        """The examples of the base with the labels of the verdicts. DataError if they refer to another base."""
        base, name = self.base.load(), parse_name(self.name)
        log = judging.log(_path(name), self.base)
        key = self.name, log.number, self.lines, base.content_hash
        return _loads.get(key, lambda: _made(self, base, log))


_loads = Bounded(lambda: math.inf, most=KEPT)  # unbounded in bytes, as nearly all arrays belong to the bases
_lock = threading.RLock()  # guards changes of files


def parse_name(name: str) -> Name | None:
    """The parts of the name of a revision; None for other names."""
    match = _NAME.fullmatch(name)
    return match and Name(match[1], match[2], None if match[3] is None else int(match[3]))


def base_of(name: str) -> str:
    """The base of a revision by its name; other names unchanged."""
    parsed = parse_name(name)
    return parsed.base if parsed else name


def named(base: str, title: str) -> str:
    """The name of a revision of `base`. DataError for a title without letters or digits, or if `base` is a revision."""
    if AT in base:
        raise DataError(f"{base} is itself a revision", f"a revision of {base_of(base)}")
    return f"{base}{AT}{slug(title)[:MAX_SLUG].strip('-')}"


def entry(name: str, find: Find) -> Revision:
    """The entry of a revision. UnknownDataset if there is none, DataError if it is damaged or its base was deleted."""
    parsed = parse_name(name)
    if parsed is None or not _path(parsed).exists() or not permission.may("read", name):
        raise UnknownDataset(name, known())
    try:
        base = find(parsed.base)
    except UnknownDataset:
        raise DataError(
            f"{parsed.base}, the base of the revision {name}, was deleted", "the same base dataset, added again"
        ) from None
    log = judging.log(_path(parsed), base)
    if parsed.lines is not None and parsed.lines > len(log.lines):
        reason = f"{name} needs {parsed.lines:,} lines, but its file has {len(log.lines):,}"
        raise DataError(reason, "the complete file of the revision")
    return _entry(parsed, base, log)


def entries(find: Find) -> list[Revision]:
    """All revisions by name, except those that cannot be read."""
    return [revision for name in known() if isinstance(revision := _entry_or_error(name, find), Revision)]


def damaged(find: Find) -> list[DamagedSet]:
    """The revisions that cannot be read, or whose base was deleted."""
    listed = ((name, _entry_or_error(name, find)) for name in known())
    return [DamagedSet(name, str(error)) for name, error in listed if isinstance(error, DataError)]


def known() -> list[str]:
    """The names of all stored revisions that whoever asks may read."""
    folder = places.home() / FOLDER
    names = sorted(path.name for path in folder.glob("*.csv")) if os.path.isdir(folder) else []
    names = (name.removesuffix(".csv").replace(IN_FILE, COLON) for name in names if _FILE.fullmatch(name))
    return permission.those("read", names)


def forget(name: str) -> None:
    """Delete a revision permanently. DataError if it does not exist or cannot be deleted."""
    permission.require("change")
    parsed = parse_name(name)
    if parsed is None or not _path(parsed).exists():
        raise DataError(f"There is no revision {name!r}", ", ".join(known()))
    with in_words(f"{name} could not be deleted", "a folder with write permission", OSError):
        _path(parsed).unlink(missing_ok=True)


def add(name: str, base: Dataset, given: Iterable[Verdict]) -> int:
    """Append verdicts to a revision, which is created if it is new; returns its number of lines.

    Raises DataError for an invalid verdict, in which case nothing is written, or if the file cannot be written.
    """
    permission.require("change")
    parsed, given = parse_name(name), list(given)
    if parsed is None or parsed.lines is not None or parsed.base != base.entry.name or base.base is not None:
        raise DataError(f"{name} is not a revision of {base.entry.name}", f"{base.entry.name}{AT} followed by a name")
    content = base.content_hash[:CONTENT]
    text = verdicts.written(given, base.entry.name, content, head=False)
    verdicts.require_given(verdicts.read(text, base.entry).verdicts, base)
    path = _path(parsed)
    with _lock:
        before = read(name, base.entry)
        _require_content(before.content, base, name)
        if any(verdict.verdict == verdicts.UNDO for verdict in given):
            verdicts.stack([*before.lines, *given])
        judging.append(path, text.encode())
        return len(judging.log(path, base.entry).lines)


def undo(name: str, base: Dataset) -> Verdict | None:
    """Undo the latest verdict of a revision and return it; None if there is none."""
    with _lock:
        left = verdicts.stack(read(name, base.entry).lines)
        if not left:
            return None
        add(name, base, [left[-1]._replace(verdict=verdicts.UNDO, label=None)])
        return left[-1]


def read(name: str, base: Entry) -> Log:
    """The file of a revision with all its lines; empty if there is none yet. DataError if it is damaged."""
    path = _path(parse_name(name))
    return judging.log(path, base) if path.exists() else Log(b"", -1, [], "", {})


def standing(name: str, base: Entry) -> dict[Key, Verdict]:
    """The latest verdict on each reviewed example, for the lines that the name covers; {} if there is no revision."""
    return _standing(read(name, base), parse_name(name).lines)


def export(name: str, base: Entry) -> str:
    """The latest verdicts of a revision as CSV, to be imported on another computer."""
    log = read(name, base)
    return verdicts.written(sorted(log.standing.values()), base.name, log.content)


class Merged(NamedTuple):
    """Imported verdicts: new on examples not reviewed; alike; unlike: pairs (own, imported) that differ."""

    new: list[Verdict]
    alike: list[Verdict]
    unlike: list[tuple[Verdict, Verdict]]


def compared(name: str, base: Dataset, blob: bytes) -> Merged:
    """Compare a CSV with the revision, without changing it. DataError for a file on another base."""
    own_verdicts, merged = standing(name, base.entry), Merged([], [], [])
    for verdict in verdicts.given(blob, base):
        own_verdict = own_verdicts.get(verdict.key)
        if own_verdict is None:
            merged.new.append(verdict)
        elif own_verdict.says == verdict.says:
            merged.alike.append(verdict)
        else:
            merged.unlike.append((own_verdict, verdict))
    return merged


def _path(name: Name) -> Path:
    return places.home() / FOLDER / f"{name.head.replace(COLON, IN_FILE)}.csv"


def _standing(log: Log, lines: int | None) -> dict[Key, Verdict]:
    if lines is None or lines == len(log.lines):
        return log.standing
    return judging.after(log, lines)


def _entry_or_error(name: str, find: Find) -> Revision | DataError:
    try:
        return entry(name, find)
    except DataError as error:
        return error


def _entry(name: Name, base: Entry, log: Log) -> Revision:
    lines = len(log.lines) if name.lines is None else name.lines
    of_parts = log.judged if lines == len(log.lines) else judging.counted(judging.after(log, lines))
    judged = _summed(of_parts)
    shared = {field.name: getattr(base, field.name) for field in fields(Entry)}
    own = {
        "name": name.head if name.lines is None else f"{name.head}.{name.lines}",
        "title": f"{base.title} · {name.slug}" + ("" if name.lines is None else f" {name.lines}"),
        "size_mb": len(log.blob) / 1e6,
        "fetchable": False,
        "note": f"A revision of {base.name}. {summary(judged)}",
        "verified": False,
        "paths": lambda: [*base.paths(), _path(name)],
        "n_train": base.n_train + judged[FIRST],
        "unlabelled": base.unlabelled - judged[FIRST] - of_parts["train", verdicts.OUT, False],
        "asked": judged[FIRST],
        "out": tuple(of_parts[part, verdicts.OUT, True] for part in PARTS),
    }
    return Revision(**shared | own, base=base, judged=dict(judged), lines=lines, content=log.content)


def counted(by_example: Mapping[Key, Verdict]) -> Counter:
    """The number of examples by verdict; a label of an unlabelled example counts as FIRST."""
    return _summed(judging.counted(by_example))


def _summed(of_parts: Counter) -> Counter:
    judged = Counter()
    for (_, verdict, had), n in of_parts.items():
        judged[FIRST if verdict == verdicts.LABEL and not had else verdict] += n
    return judged


def summary(judged: dict[str, int]) -> str:
    """`40 examples reviewed: 31 relabelled, 2 excluded, 5 confirmed, 2 unsure.`"""
    words = ((verdicts.LABEL, "relabelled"), (FIRST, "labelled for the first time"), (verdicts.OUT, "excluded"))
    words += ((verdicts.KEEP, "confirmed"), (verdicts.UNSURE, "unsure"))
    parts = [f"{judged[verdict]:,} {word}" for verdict, word in words if judged.get(verdict)]
    n = sum(judged.values())
    examples = "1 example" if n == 1 else f"{n:,} examples"
    return f"{examples} reviewed: {', '.join(parts)}." if parts else "Nothing reviewed yet."


def _require_content(content: str, base: Dataset, name: str) -> None:
    if content and content != base.content_hash[:CONTENT]:
        raise DataError(
            f"{base.entry.name} was replaced after the verdicts of {name} were given: its content hash is "
            f"now {base.content_hash[:CONTENT]}, but the verdicts were given on {content}",
            "verdicts on the current dataset, in a revision with another name",
        )


def _made(entry: Revision, base: Dataset, log: Log) -> Dataset:
    """The dataset of a revision: its base with the changes of the verdicts."""
    _require_content(log.content, base, entry.name)
    verdicts.require_given(log.lines[: entry.lines], base)
    by_example = _standing(log, entry.lines)
    judged = {part: [verdict for verdict in by_example.values() if verdict.part == part] for part in PARTS}
    X, X_test = base.rows, base.X_test
    train, test = _part(base.y_train, len(X), judged["train"]), _part(base.y_test, len(X_test), judged["test"])
    return Dataset(entry, X, train.y, X_test, test.y, X, base=base, train=train, test=test, album=base.album,
                   groups=base.groups, files=base.files)  # fmt: skip


def _part(y: np.ndarray, n: int, judged: list[Verdict]) -> Part:
    """The labels of n examples after the verdicts, and the rows that changed. y: labels of those that had one."""
    mended = [verdict for verdict in judged if verdict.verdict == verdicts.LABEL]
    labels = np.concatenate([y, np.repeat(y[:1], n - len(y))])
    rows = np.array(sorted(verdict.row for verdict in mended), np.int64)
    if mended:
        labels[[verdict.row for verdict in mended]] = np.array([verdict.label for verdict in mended], y.dtype)
    out = np.array(sorted(verdict.row for verdict in judged if verdict.verdict == verdicts.OUT), np.int64)
    return Part(labels, rows, out, np.setdiff1d(np.arange(len(y), n), rows))
