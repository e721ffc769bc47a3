"""Two servers on one home: both start, rename, tag, delete and restore runs; nothing is lost, nothing is there twice.

Each server is a process that does to the store what its pages do, and writes down what it was told. Afterwards every
run that was started is among the runs or in the trash, once, ended, and with one of the names that it was given. Then
two real servers start at once on an empty home, with a browser each: one preset.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

from svmcore.lab import jobs
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store import runs
from tests.bench.soak import ROOT, Budget, draw, fell, forks, homes, row, temporary_home

OURS = [homes.PLANE.replace(C=C, n_train=60, n_test=20) for C in (0.5, 1.0, 2.0)]
MOST_DELETED = 18  # the trash keeps twenty


def servers(budget: Budget, seed: int) -> list[dict]:
    """Rounds of two processes each, then two real servers."""
    failures, started, done = [], 0, 0
    for number in budget.numbers():
        done += 1
        with temporary_home() as home:
            said = list(forks.shared(lambda who, n=number: _serve(home, seed, n, who), (0, 1), workers=2, patience=300))
            failures += [fell("servers", seed, number, reason) for _, reason in said if reason]
            count, wrong = _judged(home)
            started += count
            failures += [fell("servers", seed, number, reason) for reason in wrong]
    rows = [row("rounds of two servers on one home", done, failures, runs_started=started)]
    return [*rows, *_real()]


def _serve(home: Path, seed: int, number: int, who: int) -> str:
    """Work as one of the two; what fell."""
    rng = draw(seed, 2 * number + who)
    started, named, ends = [], {}, time.monotonic() + 6
    deleted = 0
    while time.monotonic() < ends or not started:
        what = rng.choice(["start", "rename", "tag", "delete", "restore", "list", "list"])
        found = runs.newest_first()
        one = found[rng.integers(len(found))] if found else None
        try:
            if what == "start" and len(started) < 12:
                started.append(jobs.submit(OURS[rng.integers(len(OURS))]))
            elif what == "rename" and one:
                name = f"{who} {rng.integers(1000)}"
                one.rename(name)
                named.setdefault(one.id, []).append(name)
            elif what == "tag" and one:
                one.tag([f"tag {who}"])
            elif what == "delete" and one and deleted < MOST_DELETED // 2:
                deleted += len(runs.delete([one]).ids)
            elif what == "restore" and (gone := runs.deleted()):
                runs.restore(gone[rng.integers(len(gone))])
                deleted -= 1
            else:
                for run in found:
                    run.state, run.title, run.tags, jobs.status(run.id)
        except (runs.RunBusy, runs.UnknownRun, FileNotFoundError, jobs.QueueFull, RecipeError):
            pass  # the other one was quicker: pages say so
        time.sleep(float(rng.uniform(0, 0.05)))
    for run_id in started:
        with suppress(runs.UnknownRun):
            jobs.wait(run_id, 120)
    (home / f"told-{who}.json").write_text(json.dumps({"started": started, "named": named}))
    return ""


def _judged(home: Path) -> tuple[int, list[str]]:
    """How many runs were started, and what is wrong with them."""
    told = [
        json.loads((home / f"told-{who}.json").read_text()) for who in (0, 1) if (home / f"told-{who}.json").exists()
    ]
    started = [run_id for one in told for run_id in one["started"]]
    here, gone, wrong = {run.id: run for run in runs.everything()}, set(runs.deleted()), []
    for run_id in started:
        if (run_id in here) + (run_id in gone) != 1:
            wrong.append(f"run {run_id} is {'twice' if run_id in here else 'nowhere'}")
    if strange := (here.keys() | gone) - set(started):
        wrong.append(f"runs that nobody started: {strange}")
    for run_id, run in here.items():
        names = [name for one in told for name in one["named"].get(run_id, [])]
        if run.state != "done":
            wrong.append(f"run {run_id} is {run.state}: {run.message}")
        elif names and run.title not in names:
            wrong.append(f"run {run_id} is called {run.title!r}, none of {names}")
        else:
            run.check()
    return len(started), wrong


def _real() -> list[dict]:
    """Two servers that start at once on an empty home."""
    from playwright.sync_api import expect, sync_playwright

    from tests.browser.conftest import running_app
    from tests.browser.headless import how_to_launch
    from tests.browser.steps import OUTCOME, visit

    wrong = []
    expect.set_options(timeout=120_000)
    with (
        temporary_home() as home,
        running_app(ROOT, home) as one,
        running_app(ROOT, home) as other,
        sync_playwright() as tool,
    ):
        browser = tool.chromium.launch(**how_to_launch())
        tabs = [browser.new_context().new_page() for _ in range(2)]
        for tab, server in zip(tabs, (one, other), strict=True):
            tab.set_default_timeout(120_000)
            tab.goto(server.url)
        for tab, server in zip(tabs, (one, other), strict=True):
            visit(tab, f"{server.url}/train")
            tab.get_by_text(OUTCOME).first.wait_for(timeout=240_000)
        browser.close()
        found = [run.title for run in runs.everything()]
        wrong += [] if len(found) == 1 else [f"two servers that start together have trained {found}"]
    return [row("two real servers that start together on an empty home", 1, wrong)]
