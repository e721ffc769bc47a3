"""The run store: one folder a run, under the home folder's `runs/`; the folders are the truth.

    recipe.json     what was asked                       owner.json      the process at work, locked while it lives
    state.json      queued ... done, and a message       title.json      the name a reader gave it
    parent.json     the run that it grew out of, if any  group.json      what it was started with others for, if so
    tags.json       the reader's words for it
    split.npz       which examples train, which test     progress.jsonl  one line now and then
    model.npz       the machine                          test.npz        labels, predictions, decision values
    result.json     the figures; written last            folded.npz      the same of the training examples by folds
    checkpoint.npz  what a run that is not done left to go on from
    ...             what its method keeps: edited.npz, ...
                                           (of a run in parts also split-1.npz, model-1.npz, test-1.npz, ...)

A run is created under a temporary name and renamed, so it is there whole or not at all. One that says it is at work
while no process owns it was killed: it is shown as interrupted, with what it had. One with a file that is not what it
should be (store/reading.py) is damaged: `Run.damage` says which file and why. It can be looked at and deleted, and
stands in no list but `everything`.

A few finished runs come with the lab, as samples of what a page shows. `get` opens them as any other; they stand in no
list but `samples`, and cannot be changed.
"""

import os
import secrets
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from data import permission
from data.dataset import DataError, NotAtHand
from svmcore import files
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import contents, folders, reading
from svmcore.lab.store.reading import Damaged, Group, UnknownRun
from svmcore.lab.store.run import ACTIVE, BALLAST, GRANT, TERMINAL, Run, RunBusy
from svmcore.lab.tasks import task_of
from svmcore.model import Machine

__all__ = ["ACTIVE", "TERMINAL", "Damaged", "Group", "Run", "RunBusy", "UnknownRun"]
GONE = "it was already deleted"  # what is said of a run that is not there to be changed
BALLAST_SIZE = 16_384  # bytes that a run sets aside, to have room to say that the disk is full
UNTOUCHED = 60  # seconds after which what is not whole is no longer being written
_cleared: set[Path] = set()  # folders of runs that this process has cleared of what kills had left


class Deleted(NamedTuple):
    """What came of deleting several runs: those in the trash, and why others were not deleted, by id."""

    ids: tuple[str, ...]
    refused: dict[str, str]


home, one_look = folders.home, folders.one_look


def create(recipe: Recipe, parent: str | None = None, group: Group | None = None, broken_off: Run | None = None) -> Run:
    """A new run, queued and owned by this process until `release`. parent: id of the run that it grew out of; group:
    what it is started together with others for; broken_off: a run whose checkpoints it goes on from. OSError when the
    disk is full or read-only."""
    folder = folders.place("runs")
    now = time.time()
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{int(now % 1 * 1000):03d}-{secrets.token_hex(3)}"
    temporary, handle = Run(run_id, folder / f".new-{run_id}"), None
    try:
        temporary.path.mkdir()
        handle = folders.claim(temporary.path)
        folders.write_json(temporary.path / "recipe.json", recipe.to_dict())
        if parent is not None:
            folders.write_json(temporary.path / "parent.json", parent)
        if group is not None:
            folders.write_json(temporary.path / "group.json", group._asdict())
        for path in broken_off.checkpoints() if broken_off else ():
            shutil.copyfile(path, temporary.path / path.name)
        files.write(temporary.path / BALLAST, lambda file: file.write(b"\0" * BALLAST_SIZE))
        temporary.set_state("queued")
        os.replace(temporary.path, folder / run_id)
    except BaseException:
        if handle is not None:
            os.close(handle)
        shutil.rmtree(temporary.path, ignore_errors=True)
        raise
    files.sync_folder(folder)
    folders.look_again()
    run = Run(run_id, folder / run_id)
    run.own(handle)
    return run


def get(run_id: str) -> Run:
    """The run of that id, damaged or not. UnknownRun if there is none, or none that the caller may see."""
    if reading.is_id(run_id):
        for folder in (home() / "runs", folders.SAMPLES):
            with suppress(OSError):
                run = Run(run_id, folder / run_id)
                if run.path.is_dir() and permission.may("see", run):
                    return run
    raise UnknownRun(f"run {str(run_id)[:60]!r} is unknown: it was deleted, or made elsewhere")


def newest_first() -> list[Run]:
    """All intact runs, newest first."""
    return list(folders.seen("intact", lambda: [run for run in everything() if _intact(run)]))


def _intact(run: Run) -> bool:
    try:
        return not run.damage
    except UnknownRun:
        return False


@one_look()
def stored(recipes: Iterable[Recipe], finished: bool = False, among: Iterable[Run] | None = None) -> list[Run | None]:
    """For each recipe its run or None: a finished one, else one at work, else one that ended; of these the newest. Two
    recipes are the same experiment when their digests agree, whatever they are called. finished: those alone that are
    done and have their outcome; among: runs, newest first, in place of all that are stored."""
    recipes, found = list(recipes), {}
    wanted = {recipe.digest() for recipe in recipes}
    for run in newest_first() if among is None else among:
        key, rank = run.recipe.digest(), _rank(run)
        if key not in wanted or (key in found and rank <= found[key][0]):
            continue
        if (not finished or (rank == 2 and _has_outcome(run))) and is_current(run):
            found[key] = rank, run
    return [found.get(recipe.digest(), (0, None))[1] for recipe in recipes]


def _has_outcome(run: Run) -> bool:
    """Of a sample always; it may be figures alone."""
    try:
        return run.sample or bool(run.test())
    except (Damaged, UnknownRun):
        return False


def available(run: Run | None) -> bool:
    """Whether a run of the reader's own is done or at work, so that its recipe need not be run again."""
    return run is not None and not run.sample and _rank(run) > 0


def _rank(run: Run) -> int:
    name = run.state
    return 2 if name == "done" else 1 if name in ACTIVE else 0


def content(recipe: Recipe) -> str:
    """The hash of what a recipe trains on as it is today; "" where names alone say what is in it (`SetFacts.fixed`),
    and where its files are not on this computer. "unreadable" where they are and cannot be read."""
    task = task_of(recipe)
    names = task.content_names(recipe)

    def read() -> str:
        try:
            return "" if all(entry.fixed for entry in task.content_entries(recipe)) else task.content_hash(recipe)
        except NotAtHand:
            return ""
        except (DataError, RecipeError):
            return "unreadable"

    return folders.seen(("content", *names), read)


def is_current(run: Run) -> bool:
    """Whether a run answers for its recipe today: it does not where its dataset was replaced under its name since.

    Every lookup by recipe asks this, after it has compared digests: a digest knows the names of datasets alone.
    """
    trained_on = (run.result or {}).get("data_hash")
    if trained_on is None:
        created = reading.created(run.id).timestamp()  # without a result: no file of its data is newer than the run
        try:
            entries = [entry for entry in task_of(run.recipe).content_entries(run.recipe) if not entry.fixed]
            return all(path.stat().st_mtime <= created for entry in entries for path in entry.paths())
        except (DataError, OSError):
            return True  # it will say so itself
    return content(run.recipe) in ("", trained_on)


def require_content(run: Run, data_hash: str | None = None) -> None:
    """RecipeError unless data of this content, None for its dataset as it is now, are those that a run was trained on:
    what is found out about a run on other data is said of neither. Whatever looks into a run's data again asks this."""
    if data_hash is None:
        data_hash = task_of(run.recipe).content_hash(run.recipe)
    if (run.result or {}).get("data_hash") != data_hash:
        raise RecipeError(
            "dataset", run.recipe.dataset, "the dataset that the run was trained on; it has been replaced since"
        )


def samples() -> list[Run]:
    """The finished runs that come with the lab, newest first."""
    return list(folders.seen("samples", lambda: _in(folders.SAMPLES)))


def _in(folder: Path) -> list[Run]:
    return [Run(path.name, path) for path in sorted(folder.glob("*"), reverse=True) if reading.is_id(path.name)]


@one_look()
def asked_within(recipe: Recipe, seconds: float) -> Run | None:
    """The run of this recipe that was asked for so lately, unless it was stopped or failed since."""
    since = datetime.now(UTC) - timedelta(seconds=seconds)
    lately = takewhile(lambda run: reading.created(run.id) > since, everything()) if seconds else ()
    alike = (run for run in lately if _intact(run) and run.recipe == recipe and run.state in ("done", *ACTIVE))
    return next(filter(is_current, alike), None)


def left_by(run_id: str, outcome: str) -> Run:
    """The run of this id, to be continued. UnknownRun; ValueError if a run with this outcome cannot continue it."""
    run = get(run_id)
    if not run.broken_off:
        raise ValueError(f"run {run.id} is {run.state}, and has no checkpoint to continue from")
    if run.recipe.outcome != outcome:
        raise ValueError(f"run {run.id} has another recipe; allowed: a run with the same recipe")
    return run


@one_look()
def with_machine(recipe: Recipe) -> Run | None:
    """The latest run that has the machine of this recipe, or else the latest that is about to."""
    alike = [run for run in newest_first() if run.state in ("done", *ACTIVE) and run.recipe.outcome == recipe.outcome]
    alike = list(filter(is_current, alike))
    return next((run for run in alike if run.state == "done"), alike[0] if alike else None)


def trained_by_parent(run: Run, part: int, data_hash: str) -> tuple[Machine, NamedTuple] | None:
    """The parent's machine, which the run begins with, and its test; None without it, or on other data."""
    if run.recipe.origin is run.recipe:
        return None
    with suppress(UnknownRun):
        parent = get(run.parent or "")
        alike = parent.state == "done" and parent.recipe.outcome == run.recipe.origin.outcome
        if alike and parent.result["data_hash"] == data_hash:
            return parent.machine(part), parent.test(part)
    return None


def everything() -> list[Run]:
    """All runs that the caller may see, damaged ones too, newest first; removes what a kill left half made."""
    return list(folders.seen("everything", lambda: permission.those("see", _everything())))


def _everything() -> list[Run]:
    folder = folders.place("runs")
    if folder not in _cleared:
        _clear(folder)
    found = []
    for path in sorted(folder.iterdir(), reverse=True):
        if reading.is_id(path.name):
            with suppress(OSError):
                if path.is_dir():
                    found.append(Run(path.name, path))
        elif path.name.startswith(".new-") and not folders.is_owned(path) and folders.age(path) > UNTOUCHED:
            shutil.rmtree(path, ignore_errors=True)
    return found


def _clear(folder: Path) -> None:
    """Once a process: remove what kills have left in the home folder."""
    _cleared.add(folder)
    for path in folder.glob("[0-9]*"):
        if (path / BALLAST).exists() and _never_began(run := Run(path.name, path)):
            run.forget()
        folders.clear(path, 0, BALLAST)
    below = ("own", "own/pictures", "revisions", "downloads/*")
    for path in (home(), *(found for name in below for found in home().glob(name))):
        folders.clear(path, UNTOUCHED)


def at_work() -> list[Run]:
    """Runs of any process running or paused: only they have a grant and their ballast, which is quick to see."""
    begun = (path.parent for path in folders.place("runs").glob(f"*/{BALLAST}") if (path.parent / GRANT).exists())
    held = (Run(path.name, path) for path in begun if reading.is_id(path.name))
    return [run for run in held if _intact(run) and run.state in ("running", "paused")]


def _never_began(run: Run) -> bool:
    """Whether a run is one of many that a killed process had queued."""
    values = contents.of(run.path).values
    queued = (values["state.json"] or {}).get("state") == "queued" and values["group.json"]
    return bool(queued) and not folders.is_owned(run.path)


def delete(found: Iterable[Run]) -> Deleted:
    """Move runs to the trash together; those at work, or that the disk will not move, stay and are named."""
    gone, refused = [], {}
    for run in found:
        try:
            run.delete()
            gone.append(run.id)
        except UnknownRun:
            refused[run.id] = GONE
        except (RunBusy, OSError) as error:
            refused[run.id] = str(error)
    return Deleted(tuple(gone), refused)


def deleted() -> tuple[str, ...]:
    """Ids of the deleted runs that `restore` can bring back, newest first."""
    if not permission.may("change"):
        return ()
    ids = (path.name for path in folders.place("trash").iterdir() if reading.is_id(path.name))
    return tuple(sorted(ids, reverse=True))


def restore(run_id: str) -> Run:
    """Undo `delete`. Forbidden; UnknownRun when the trash has no such run (any more)."""
    permission.require("change")
    if not reading.is_id(run_id) or not (folders.place("trash") / run_id).is_dir():
        raise UnknownRun(f"run {str(run_id)[:60]!r} is not in the trash")
    os.replace(folders.place("trash") / run_id, folders.place("runs") / run_id)
    folders.look_again()
    return get(run_id)
