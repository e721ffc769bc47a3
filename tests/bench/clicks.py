"""How soon the app answers while it trains: `python -m tests.bench.clicks [--clicks N]`.

The app trains the recipe; two browsers stay open on it, one on the run, one that goes from page to page. A click's time
ends when the page's heading stands, and again when its script has run. Then the run is cancelled.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from tests.bench.machine import machine
from tests.browser.conftest import CHROMIUM_FLAGS, ROOT, running_app
from tests.browser.steps import OUTCOME, QUIET, expect_state, press, start, visit

ROUND = ("Datasets", "Jitters", "Runs", "Support vectors", "Errors", "Digestion", "Paper", "Train")
PRESET_SECONDS = 240


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.clicks", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--query", default="dataset=mnist&method=vsv&jitters=box:1", help="the run, as an address has it"
    )
    parser.add_argument("--clicks", type=int, default=64)
    parser.add_argument("--json", type=Path, help="where the times go")
    options = parser.parse_args(argv)
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as home, running_app(ROOT, Path(home)) as server, sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        watcher, visitor = (browser.new_context(viewport={"width": 1440, "height": 1000}).new_page() for _ in "ab")
        watcher.goto(f"{server.url}/train")
        watcher.get_by_text(OUTCOME).first.wait_for(timeout=1000 * PRESET_SECONDS)
        visit(visitor, server.url)
        for title in ROUND:  # every page once: what it imports is not the training's doing
            click(visitor, title)
        visit(watcher, f"{server.url}/train?{options.query}")
        start(watcher)
        expect_state(watcher, "running", 60)
        watcher.wait_for_timeout(3000)
        times = [click(visitor, title) for title in itertools.islice(itertools.cycle(ROUND), options.clicks)]
        found = {"machine": machine(), "query": options.query, "clicks": options.clicks}
        for name, seconds in zip(("heading", "whole page"), np.array(times).T, strict=True):
            found[name] = {"median": float(np.median(seconds)), "of 95 %": float(np.percentile(seconds, 95))}
            print(f"{name}: median {found[name]['median']:.3f} s, 95 % {found[name]['of 95 %']:.3f} s")
        expect_state(watcher, "running", 1)
        began = time.perf_counter()
        press(watcher, "cancel")
        expect_state(watcher, "cancelled", 20)
        found["cancelled"] = time.perf_counter() - began
        print(f"cancelled on the screen after {found['cancelled']:.2f} s")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def click(page, title: str) -> tuple[float, float]:
    """Seconds until the page's heading stands, and until its script has run."""
    link = page.get_by_test_id("stSidebarNavLink").filter(has_text=re.compile(f"^\\W*\\w*{title}$"))
    began = time.perf_counter()
    link.click()
    page.get_by_role("heading", name=title, level=1).wait_for()
    seen = time.perf_counter()
    page.locator(QUIET).wait_for()
    return seen - began, time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
