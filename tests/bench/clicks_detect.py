"""How soon the Detect page answers: `python -m tests.bench.clicks_detect [--moves N] [--write]`.

Needs stored runs of volcano-A and faces-cmu in the user's store (`python -m svmcore run NAME`), and the pictures of
volcano-B. Two measurements:

    redraws   from moving the operating point, by an arrow key on its slider or by a click on the curve, until the
              picture with its new marks has been painted; moves that change nothing on the picture shown do not count
    answers   from a click until what it asked for stands: segmented controls of a finished run and other pages, idle
              and then while volcano-B is at work and a browser of its own looks at it, all on the same cores; there the
              controls of the run at work as well, once a part of it is judged
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import re
import sys
import time
from functools import partial
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Page, TimeoutError

from data import places
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from tests.bench import measured
from tests.bench.browser import app_and_tabs
from tests.bench.clicks import click
from tests.bench.machine import machine
from tests.browser.steps import expect_state, press, run_id, settle, visit

LOOKED_AT = ("volcano-A", "faces-cmu")
AT_WORK = "volcano-B"
SOON = 1500  # milliseconds without a new mark after which it is asked whether the script has run
WATCH = """() => {
  const host = [...document.querySelectorAll(".st-key-detect_picture *")].find((node) => node.shadowRoot)
  const moved = { began: 0, drawn: 0 }
  window.moved = moved
  const painted = () => requestAnimationFrame(() => setTimeout(() => { moved.drawn ||= performance.now() }))
  new MutationObserver(painted).observe(host.shadowRoot.querySelector("svg > g"), { childList: true })
  for (const kind of ["keydown", "pointerdown"]) {
    addEventListener(kind, (event) => { moved.began ||= event.timeStamp }, { capture: true, once: true })
  }
}"""
POINTS = """() => {
  const figure = document.querySelector(".st-key-froc .js-plotly-plot"), { xaxis, yaxis } = figure._fullLayout
  const line = figure._fullData.find((trace) => trace.mode === "markers" && trace.customdata)
  const box = figure.getBoundingClientRect()
  return Array.from(line.x, (x, i) => [box.x + xaxis._offset + xaxis.c2p(xaxis.d2c(x)),
    box.y + yaxis._offset + yaxis.c2p(line.y[i])])
}"""
WINDOWS = {
    "Missed": "below the threshold",
    "False alarms": "windows? (with no|without an) object",
    "Hits": "objects? detected, (each )?by",
}
MORE = {
    "By category": "Each curve counts the objects",
    "Ambiguous labels": "no label covers",
    "Published": "DeCoste and Schölkopf .2002., section",
    "Export": "To export the picture with its marks",
    "First chips": "The first 25 of each class",
}
PAGES = ("Datasets", "Train", "Runs", "On a photograph", "Detect")


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.clicks_detect", description=__doc__.split("\n")[0])
    parser.add_argument("--moves", type=int, default=20, help="of the point, with the key and as many on the curve")
    parser.add_argument("--rounds", type=int, default=10, help="of clicks while the run is at work, at most")
    parser.add_argument("--write", action="store_true", help="keep the figures in tests/bench/measured")
    options = parser.parse_args(argv)
    looked_at = dict(zip(LOOKED_AT, runs.stored((RECIPES[name] for name in LOOKED_AT), finished=True), strict=True))
    if missing := [name for name, run in looked_at.items() if run is None]:
        print(f"no stored run of {', '.join(missing)}: `python -m svmcore run NAME` first", file=sys.stderr)
        return 1
    found = {"machine": machine(), "load": round(os.getloadavg()[0], 2)}  # beside other work all times are too long
    with app_and_tabs(places.home()) as (server, new_tab):
        watcher, visitor = new_tab(), new_tab()
        found["redraws"] = {}
        for name, run in looked_at.items():
            visit(visitor, f"{server.url}/detect?run={run.id}")
            found["redraws"][name] = redraws(visitor, options.moves)
        visit(visitor, f"{server.url}/detect?run={looked_at[LOOKED_AT[0]].id}")
        timed(visitor, None, 1, ())  # each once: what it imports is not the training's doing
        found["answers, idle"] = timed(visitor, None, 2, ())
        visit(watcher, f"{server.url}/detect?{urlencode(RECIPES[AT_WORK].to_query())}")
        press(watcher, "detect_start")
        expect_state(watcher, "running", 60)
        found["answers"] = timed(visitor, runs.get(run_id(watcher)), options.rounds, [watcher])
    for how in ("answers, idle", "answers"):
        for name, figures in found[how].items():
            print(f"{how}, {name}: {told(figures)}", flush=True)
    if options.write:
        measured.write("clicks_detect", found)
    return 0


def redraws(page: Page, n: int) -> dict:
    """Seconds of moves that changed the picture shown, the one with most false alarms: by the key, and on the curve."""
    page.set_default_timeout(30_000)
    tiles = page.locator(".st-key-detect_strip button.tile")
    alarms = [int(re.search(r"(\d+) false alarms", tile.get_attribute("aria-label"))[1]) for tile in tiles.all()]
    tiles.nth(int(np.argmax(alarms))).click()
    page.wait_for_timeout(500)
    settle(page)
    slider = page.locator(".st-key-fa input[type=range]")
    slider.focus()
    page.keyboard.press("End")
    page.wait_for_timeout(500)
    settle(page)
    times = {"key": [], "curve": []}
    for _ in range(n):
        slider.focus()
        keep(times["key"], redraw(page, lambda: page.keyboard.press("ArrowLeft")))
    for step in range(n):
        page.locator(".st-key-froc").scroll_into_view_if_needed()
        points = page.evaluate(POINTS)
        x, y = points[(7 + 11 * step) % len(points)]
        keep(times["curve"], redraw(page, partial(page.mouse.click, x, y)))
    found = {how: summary(seconds) for how, seconds in times.items()}
    for how, figures in found.items():
        print(f"{page.get_by_role('heading', level=3).first.inner_text()}, {how}: {told(figures)}", flush=True)
    return found


def redraw(page: Page, act) -> float | None:
    """Seconds from an action until the picture is painted with other marks; None where the marks stay."""
    page.evaluate(WATCH)
    act()
    with contextlib.suppress(TimeoutError):
        page.wait_for_function("moved.drawn", timeout=SOON)
    settle(page)
    return page.evaluate("moved.drawn && (moved.drawn - moved.began) / 1000") or None


def timed(visitor: Page, run, rounds: int, watchers) -> dict:
    """Seconds of every click, by what was clicked; of a run that is given, those that it was at work all the while."""
    times = {}
    for _ in range(rounds):
        for name, act in itertools.chain(clicks(visitor), *map(clicks_at_work, watchers)):
            began = time.perf_counter()
            act()
            if run is not None and run.state not in runs.ACTIVE:
                return summaries(times)
            times.setdefault(name, []).append(time.perf_counter() - began)
    return summaries(times)


def clicks(page: Page):
    """What a reader clicks on a finished run's page, and elsewhere: (name, function that returns when it stands)."""
    for name, words in WINDOWS.items():
        yield "windows", lambda name=name, words=words: pick(page, "gallery", name, words)
    for name, words in MORE.items():
        yield "further looks", lambda name=name, words=words: pick(page, "more", name, words)
    for name in ("Gaussian", "matched filter", "SVM"):
        yield "scores of", lambda name=name: pick(page, "by", name, f"{name}: .* found")
    for title in PAGES:
        yield "pages", lambda title=title: click(page, title)


def clicks_at_work(page: Page):
    """The same on the page of the run at work, once there is a part to look at."""
    if page.locator(".st-key-gallery").count():
        for name, words in WINDOWS.items():
            yield "windows, at work", lambda name=name, words=words: pick(page, "gallery", name, words)
        for name, words in MORE.items():
            yield "further looks, at work", lambda name=name, words=words: pick(page, "more", name, words)


def pick(page: Page, key: str, name: str, words: str) -> None:
    """Choose one of a segmented control and wait for what it shows."""
    page.locator(f".st-key-{key}").get_by_role("radio", name=name, exact=True).click()
    page.get_by_test_id("stMain").get_by_text(re.compile(words)).first.wait_for()


def keep(times: list, seconds: float | None) -> None:
    if seconds is not None:
        times.append(seconds)


def summaries(times: dict) -> dict:
    return {name: summary(seconds) for name, seconds in times.items()} | {
        "all": summary([*itertools.chain(*times.values())])
    }


def summary(seconds) -> dict:
    """Their number, median and largest."""
    if not seconds:
        return {"n": 0, "median": None, "max": None}
    return {"n": len(seconds), "median": round(float(np.median(seconds)), 3), "max": round(max(seconds), 3)}


def told(figures: dict) -> str:
    return f"median {figures['median']} s, max {figures['max']} s of {figures['n']}"


if __name__ == "__main__":
    sys.exit(main())
