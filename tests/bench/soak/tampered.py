"""Homes in which one thing is damaged: it is named with its reason, or harmless, and nobody else notices.

A home has every kind of run, set and file (homes.py). What is damaged, and how, is drawn; then every reader of the
store reads every run, the catalogues list and load what is there, and for a share of the homes pages are drawn.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pages.ui.views  # noqa: F401  (makes them known)
from data import DataError, catalogue, fetch, pictures
from pages.ui.run import exports
from svmcore.lab import jobs
from svmcore.lab.forecast import estimate
from svmcore.lab.papers import TABLES, fill
from svmcore.lab.store import runs, titles
from svmcore.lab.tasks import task_of
from tests import damage
from tests.bench.soak import Budget, draw, fell, forks, homes, row, temporary_home, ways
from tests.bench.soak.paged import PAGES, Visitor, broken

ONE_PAGE, ALL_PAGES = 3, 40  # one in so many homes is looked at on a page, on all of them
SURE = damage.FILES  # damage that must be named
NAMES = (
    "20269999-000000-000-abcdef", "20250101-000000-000-ABCDEF", "x" * 255, "\u202eevil", "<img src=x>", "a\nb",
    ".new-20250101-000000-000-abcdef", "20250101-000000-000-abcdef ", "..x", "CON", "%2e%2e", "\udcff",
)  # fmt: skip


def tampered(budget: Budget, seed: int) -> list[dict]:
    """One damage a home, and everything read."""
    mirrors = os.environ.pop("SVMLAB_DATA", None)  # the home's own downloads are to be read
    try:
        with temporary_home() as template:
            forks.alone(homes.fill)
            before, failures, done, pages, named = homes.digest(template), [], 0, 0, 0
            known = _Known(template)
            work = lambda number: attempt(template, known, seed, number)  # noqa: E731
            for number, said in forks.shared(work, budget.numbers(), patience=900):
                done += 1
                facts, _, reason = said.partition("|")
                if facts.count(" ") == 1:
                    pages, named = pages + int(facts.split()[0]), named + int(facts.split()[1])
                if reason or facts.count(" ") != 1:
                    failures.append(fell("tampered", seed, number, reason or said))
            if homes.digest(template) != before:
                failures.append("a reader has written into a file in place")
    finally:
        if mirrors is not None:
            os.environ["SVMLAB_DATA"] = mirrors
    return [row("homes with something damaged", done, failures, pages_drawn=pages, named_as_damaged=named)]


class _Known:
    """How the runs of the template stand, and its sets."""

    def __init__(self, template: Path):
        self.states = {run.id: (run.state, run.title) for run in runs.everything()}
        self.sets = {entry.name for entry in (*catalogue.entries(), *pictures.entries())}
        self.files = sorted(path.relative_to(template) for path in template.rglob("*") if _is_target(path, template))


def _is_target(path: Path, template: Path) -> bool:
    return path.is_file() and path.relative_to(template).parts[0] != "numba"


def attempt(template: Path, known: _Known, seed: int, number: int) -> str:
    """`pages drawn, 1 if the damage was named|what fell` of one damaged home."""
    rng = draw(seed, number)
    with homes.copied(template) as home:
        what, at, sure = damaged(home, known, rng)
        try:
            with runs.one_look():
                named = read_all(known, at, rng)
            if sure and not named:
                return f"0 0|{what}: it is named nowhere"
            drawn = look(rng, number, known)
        except Exception as error:
            where = error.__traceback__
            while where.tb_next:
                where = where.tb_next
            at = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}"
            return f"0 0|{what}: {type(error).__name__}: {error} ({at})"
    return f"{drawn} {int(bool(named))}|"


def damaged(home: Path, known: _Known, rng) -> tuple[str, Path, bool]:
    """Damage one thing: what and how, where in the home, whether it must be named."""
    if rng.random() < 0.1:
        return _strange(home, rng), Path(), False
    if rng.random() < 0.4:
        at, way, change = _sure(known, rng)
        change(homes.own_file(home / at))
        return f"{at}, {way}", at, True
    at = known.files[rng.integers(len(known.files))]
    path = homes.own_file(home / at)
    way = rng.choice(list(ways.WAYS))
    ways.WAYS[way](path, rng)
    return f"{at}, {way}", at, False


def _sure(known: _Known, rng):
    """A damage that a run's files cannot have without being named."""
    while True:
        at = known.files[rng.integers(len(known.files))]
        if at.parts[0] != "runs" or at.name not in SURE:
            continue
        way = rng.choice(list(SURE[at.name]))
        arrays_of_detection = at.name == "test.npz" and way not in damage.ANY
        if not arrays_of_detection and known.states[at.parts[1]][0] == "done":
            return at, way, SURE[at.name][way]


def _strange(home: Path, rng) -> str:
    """A folder or a file of a hostile name among the runs or the sets."""
    folder = home / rng.choice(["runs", "own", "own/pictures", "trash", "."])
    name = str(rng.choice(NAMES)) + rng.choice(["", ".npz"])
    try:
        path = folder / name[-255:]
        path.mkdir() if rng.random() < 0.5 else path.write_bytes(rng.bytes(100))
    except (OSError, UnicodeEncodeError):
        return "a name that the disk refuses"
    return f"{folder.name}/{name!r:.60} added"


def read_all(known: _Known, at: Path, rng) -> str:
    """Read everything: what is not damaged is as it was. What is said of the damage."""
    of_run = at.parts[1] if at.parts[:1] == ("runs",) else ""
    here = {run.id: run for run in runs.everything()}
    intact = runs.newest_first()
    for run_id, (state, title) in known.states.items():
        if run_id == of_run:
            continue
        run = here[run_id]
        if (run.state, run.title) != (state, title):
            raise AssertionError(f"run {run_id} was {state} and is {run.state}: {run.message}")
        if run not in intact:
            raise AssertionError(f"run {run_id} is not listed")
        if state == "done":
            run.check()
    named = [_read(run) for run_id, run in here.items() if run_id == of_run or run_id not in known.states]
    titles.of_entries(titles.folded(intact)), titles.of_members(intact)
    runs.deleted()
    with suppress(DataError):  # of a set that is damaged
        estimate(intact[rng.integers(len(intact))].recipe)
    fill(TABLES[list(TABLES)[rng.integers(len(TABLES))]])
    return "; ".join(filter(None, [*named, *_read_data(known, at)]))


def _read(run: runs.Run) -> str:
    """What is said of the damage of a run, all of which is read."""
    jobs.status(run.id), run.title, run.tags, run.group, run.parent, run.grant_mb, run.created
    try:
        run.progress()
        if run.state == "done":
            run.check()
            exports.report(run), run.export_snippet()
            for table in task_of(run.recipe).tables:
                run.table(table)
            for part in range(run.parts()):
                run.machine(part).kernel.to_dict()
    except runs.Damaged:
        if not run.damage:
            raise
    except DataError as error:  # it names examples that its dataset does not have
        return str(error)
    return run.damage or run.oddity


def _read_data(known: _Known, at: Path) -> list[str]:
    """What is said of damaged sets; all are loaded, and a download that may be damaged is verified anew."""
    listed = set()
    said = [f"{found.name}: {found.reason}" for found in (*catalogue.damaged(), *pictures.damaged())]
    for shelf in (catalogue, pictures):
        for entry in shelf.entries():
            listed.add(entry.name)
            if entry.name.startswith("own:"):
                try:
                    shelf.load(entry.name)
                except DataError as error:
                    said.append(str(error))
    if lost := {name for name in known.sets - listed if name.rpartition(":")[2] != at.stem}:
        raise AssertionError(f"sets that nobody damaged are not listed: {lost}")
    if at.parts[:1] in (("downloads",), ("verified.json",)):
        try:
            fetch.find("usps")
        except DataError as error:
            said.append(str(error))
    return said


def look(rng, number: int, known: _Known) -> int:
    """Draw pages for a share of the homes; how many."""
    pages = PAGES if number % ALL_PAGES == 0 else [rng.choice(PAGES)] if number % ONE_PAGE == 0 else []
    visitor = Visitor() if len(pages) else None
    for page in pages:
        run_id = list(known.states)[rng.integers(len(known.states))]
        if fault := broken(visitor.opened(str(page), run=run_id, digit="own:mine/train/3")):
            raise AssertionError(f"page {page}, run {run_id}: {fault}")
    return len(pages)
