"""How soon the page Compare answers: `python -m tests.bench.clicks_compare HOME RUN RUN ... [--clicks N]`.

HOME holds the runs, such as `mnist-sv` and `mnist-vsv` with their 10,000 test digits. Times end when the gallery shows
the pictures asked for: of a browser that opens the address cold, of one that has been here, of a visitor who comes from
another page, of a choice among fixed, broken, both wrong and both right, and of a click on a cell of the matrix.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from tests.bench.browser import app_and_tabs
from tests.bench.machine import machine
from tests.browser.steps import go_to, settle, visit

KINDS = ("broken", "both wrong", "both right", "fixed")
REFS = """[...document.querySelectorAll(".st-key-compare_gallery *")]
  .flatMap((node) => [...(node.shadowRoot?.querySelectorAll("button.tile") ?? [])])
  .map((tile) => tile.dataset.ref).join()"""
CELLS = ".st-key-compare_change_figure [role=gridcell][data-shaded]"


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.clicks_compare", description=__doc__.split("\n")[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--clicks", type=int, default=20)
    parser.add_argument("--json", type=Path, help="where the times go")
    options = parser.parse_args(argv)
    query = "&".join(f"compare={run_id}" for run_id in options.runs)
    with app_and_tabs(options.home) as (server, new_tab):

        def cold():
            page = new_tab(height=1400)
            began = time.perf_counter()
            page.goto(f"{server.url}/compare?{query}")
            return page, changed(page, "", began)

        visit(cold()[0], f"{server.url}/compare?{query}")  # what the server imports and reads but once
        times = {"cold": []}
        for _ in range(5):
            page, seconds = cold()
            times["cold"].append(seconds)
        settle(page)
        times["again"] = [_again(page, f"{server.url}/compare?{query}") for _ in range(5)]
        times["from another page"] = [_from_another_page(page) for _ in range(5)]
        times["kind"] = [_kind(page, KINDS[i % len(KINDS)]) for i in range(options.clicks)]
        times["cell"] = [_cell(page, i) for i in range(options.clicks)]
    found = {"machine": machine(), "load": os.getloadavg()[0]}
    for name, seconds in times.items():
        found[name] = {"median": float(np.median(seconds)), "of 95 %": float(np.percentile(seconds, 95))}
        print(f"{name}: median {found[name]['median']:.2f} s, 95 % {found[name]['of 95 %']:.2f} s")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def changed(page, before: str, began: float) -> float:
    """Seconds since `began` until the gallery shows others than `before`."""
    page.wait_for_function(
        f"(before) => {{ const now = {REFS}; return now && now !== before }}", arg=before, polling=10
    )
    return time.perf_counter() - began


def _again(page, url: str) -> float:
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(url)
    seconds = changed(page, "", began)
    settle(page)
    return seconds


def _from_another_page(page) -> float:
    go_to(page, "Runs")
    began = time.perf_counter()
    page.locator(".st-key-menu a:visible").filter(has_text="Compare").first.click()
    page.get_by_role("heading", name="Compare", level=1).wait_for()
    seconds = changed(page, "", began)
    settle(page)
    return seconds


def _kind(page, name: str) -> float:
    before = page.evaluate(REFS)
    choice = page.locator(".st-key-compare_shown").get_by_role("radio").filter(has_text=name)
    began = time.perf_counter()
    choice.click()
    seconds = changed(page, before, began)
    settle(page)
    return seconds


def _cell(page, number: int) -> float:
    cells = page.locator(CELLS)
    cell = cells.nth(7 * number % cells.count())
    cell.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    before = page.evaluate(REFS)
    began = time.perf_counter()
    cell.click()
    seconds = changed(page, before, began)
    settle(page)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
