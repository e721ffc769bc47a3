"""How soon the next page stands, at rest and while it trains: `python -m tests.bench.clicks [--clicks N] [--write]`.

One browser goes from page to page, through all of them: once in a process that has just begun, then with nothing at
work, then while a second browser watches the run of the recipe. A click's time ends when the page's heading stands, and
again when its script has run. Then the run is cancelled.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.bench import measured
from tests.bench.browser import app_and_tabs
from tests.bench.machine import machine
from tests.browser.steps import MENU, OUTCOME, QUIET, expect_state, press, start, visit

PRESET_SECONDS = 240


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.clicks", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--query",
        default="dataset=mnist&method=vsv&jitters=box:2",
        help="the run, as an address has it; one that lasts",
    )
    parser.add_argument("--clicks", type=int, default=90, help="with nothing at work, and again while it trains")
    parser.add_argument("--write", action="store_true", help="keep the figures in tests/bench/measured")
    options = parser.parse_args(argv)
    found = {"machine": machine(), "load": round(os.getloadavg()[0], 2), "query": options.query}
    with tempfile.TemporaryDirectory() as home, app_and_tabs(Path(home)) as (server, new_tab):
        watcher, visitor = new_tab(), new_tab()
        visit(visitor, server.url)
        visit(watcher, f"{server.url}/train")
        watcher.get_by_text(OUTCOME).first.wait_for(timeout=1000 * PRESET_SECONDS)
        titles = list(dict.fromkeys(name.strip() for name in visitor.locator(MENU).locator("p").all_text_contents()))
        keep(found, "first visits", [click(visitor, title) for title in titles])
        turns = list(itertools.islice(itertools.cycle(titles), options.clicks))
        keep(found, "at rest", [click(visitor, title) for title in turns])
        visit(watcher, f"{server.url}/train?{options.query}")
        start(watcher)
        expect_state(watcher, "running", 60)
        watcher.wait_for_timeout(3000)
        keep(found, "while it trains", [click(visitor, title) for title in turns])
        expect_state(watcher, "running", 1)
        began = time.perf_counter()
        press(watcher, "cancel")
        expect_state(watcher, "cancelled", 20)
        found["cancelled"] = round(time.perf_counter() - began, 2)
        print(f"cancelled on the screen after {found['cancelled']} s")
    if options.write:
        measured.write("clicks", found)
    return 0


def keep(found: dict, name: str, times: list[tuple[float, float]]) -> None:
    """Median and 95th percentile of the seconds until the heading stood, and until the whole page did."""
    found[name] = {"clicks": len(times)}
    for part, seconds in zip(("heading", "whole page"), np.array(times).T, strict=True):
        median, most = np.percentile(seconds, (50, 95))
        found[name][part] = {"median": round(float(median), 3), "of 95 %": round(float(most), 3)}
    print(f"{name}: {found[name]}", flush=True)


def click(page, title: str) -> tuple[float, float]:
    """Seconds until the page's heading stands, and until its script has run."""
    link = page.locator(MENU).filter(has_text=re.compile(f"^\\W*\\w*{title}$")).first
    began = time.perf_counter()
    link.evaluate("link => link.click()")
    page.get_by_role("heading", name=title, level=1, exact=True).wait_for()
    seen = time.perf_counter()
    page.locator(QUIET).wait_for()
    return seen - began, time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
