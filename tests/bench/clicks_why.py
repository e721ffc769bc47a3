"""How soon the view of one example answers: `python -m tests.bench.clicks_why [--run NAME] [--clicks N] [--write]`.

Needs a stored run (`python -m svmcore run mnist-vsv`): by default that of 60,000 digits and their virtual support
vectors. In one browser, on its page of errors, with the machine read:

    open     from a click on an error until its bill stands
    next     from an arrow key until the bill of the next error stands
    panel    from a click on a panel until it stands, one after the other
    off      from a click on a support vector until f has moved

A time ends when what was asked for has been painted; the script may still be at work on what stands below it, so that
the seconds until it has run are kept beside it.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections.abc import Callable

import numpy as np
from playwright.sync_api import Page

from data import places
from svmcore.lab.presets import RECIPES
from svmcore.lab.store.runs import stored
from tests.bench import measured
from tests.bench.browser import app_and_tabs
from tests.bench.machine import machine
from tests.browser.steps import QUIET, settle, tiles, visit

RUN = "mnist-vsv"
BUDGET = {"median": 0.5, "of 95 %": 1.5}  # seconds
PANELS = {  # clicked in turn -> what stands there then
    "Small changes": ".st-key-orbit_strip .orbit > *",
    "Shift map": ".js-plotly-plot .heatmaplayer",
    "Hidden parts": ".st-key-hidden_0 .js-plotly-plot .heatmaplayer",
    "What would fix it": "text=/make it correct|stays correct|make it wrong|No single change/",
    "Family": ".st-key-why_tree_0 button.tile",
    "Contributions": ".st-key-why_waterfall button.toggle",
}
STANDS = """() => {
  const text = (key) => [...document.querySelectorAll(`[role=dialog] .st-key-${key} *`)]
    .map((node) => node.shadowRoot?.textContent ?? "").join("")
  return text("why_waterfall") + text("why_tree_0")
}"""


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.clicks_why", description=__doc__.split("\n")[0])
    parser.add_argument("--run", default=RUN, help="name of a recipe with a stored run")
    parser.add_argument("--clicks", type=int, default=20, help="of each kind")
    parser.add_argument("--write", action="store_true", help="keep the figures in tests/bench/measured")
    options = parser.parse_args(argv)
    (run,) = stored([RECIPES[options.run]], finished=True)
    if run is None:
        print(f"no stored run of {options.run}: `python -m svmcore run {options.run}` first", file=sys.stderr)
        return 1
    found = {"machine": machine(), "load": round(os.getloadavg()[0], 2), "run": options.run, "clicks": options.clicks}
    with app_and_tabs(places.home()) as (server, new_tab):
        page = new_tab()
        visit(page, f"{server.url}/errors?run={run.id}")
        open_error(page, 0)  # reads the machine, and packs its support vectors
        shut(page)
        for name, times in measure(page, options.clicks).items():
            found[name] = summary(times)
            print(f"{name}: {told(found[name])}", flush=True)
    kinds = [figures for figures in found.values() if isinstance(figures, dict) and "median" in figures]
    late = [f for f in kinds if any(f[name] > most for name, most in BUDGET.items())]
    if options.write:
        measured.write("clicks_why", found)
    return 1 if late else 0


def measure(page: Page, n: int) -> dict[str, list[tuple[float, float]]]:
    """Seconds of n clicks of each kind: until what was asked for stands, and until the script has run."""
    times = {"open": [], "next": [], **{f"panel, {name}": [] for name in PANELS}, "off": []}
    for at in range(n):
        times["open"].append(timed(page, lambda at=at: tiles(page, "errors_gallery").nth(at).click()))
        shut(page)
    open_error(page, 0)
    for _ in range(n):
        times["next"].append(timed(page, lambda: page.keyboard.press("ArrowRight")))
    for name in itertools.islice(itertools.cycle(PANELS), n * len(PANELS)):
        times[f"panel, {name}"].append(panel(page, name))
    lines = page.locator(".st-key-why_waterfall button.toggle")
    for at in range(n):
        times["off"].append(timed(page, lambda at=at: lines.nth(at % lines.count()).click()))
    return times


def timed(page: Page, act: Callable[[], None]) -> tuple[float, float]:
    """Seconds from an action until a bill or a tree stands that was not there, and until all is quiet."""
    before = page.evaluate(STANDS)
    began = time.perf_counter()
    act()
    page.wait_for_function(f"(before) => ![before, ''].includes(({STANDS})())", arg=before, polling="raf")
    stood = time.perf_counter() - began
    page.locator(QUIET).wait_for()
    return stood, time.perf_counter() - began


def open_error(page: Page, at: int) -> None:
    tiles(page, "errors_gallery").nth(at).click()
    page.locator(".st-key-why_waterfall button.toggle").first.wait_for()
    settle(page)


def shut(page: Page) -> None:
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.get_by_role("dialog").wait_for(state="detached")
    settle(page)


def panel(page: Page, name: str) -> tuple[float, float]:
    """Seconds from a click on a panel until it stands, and until all is quiet."""
    dialog = page.get_by_role("dialog")
    began = time.perf_counter()
    dialog.locator(".st-key-why_panel").get_by_role("radio", name=name).click()
    dialog.locator(PANELS[name]).first.wait_for()
    stood = time.perf_counter() - began
    page.locator(QUIET).wait_for()
    return stood, time.perf_counter() - began


def summary(times: list[tuple[float, float]]) -> dict:
    """Median and 95th percentile until it stands, and of the whole script."""
    stood, whole = np.array(times).T
    return {
        "median": round(float(np.median(stood)), 3),
        "of 95 %": round(float(np.percentile(stood, 95)), 3),
        "whole script, median": round(float(np.median(whole)), 3),
        "whole script, of 95 %": round(float(np.percentile(whole, 95)), 3),
    }


def told(figures: dict) -> str:
    return ", ".join(f"{name} {seconds} s" for name, seconds in figures.items())


if __name__ == "__main__":
    sys.exit(main())
