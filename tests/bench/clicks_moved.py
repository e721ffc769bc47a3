"""How soon the panels that move an example answer: `python -m tests.bench.clicks_moved RUN [--clicks N]`.

RUN: id of a finished run of the home folder SVMLAB_HOME. A browser opens the page Errors of that run, goes through its
wrong examples one after the other, and asks each panel; a click's time ends when the panel's own thing stands and the
script has run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import expect, sync_playwright

from tests.bench.machine import machine
from tests.browser.conftest import CHROMIUM_FLAGS, ROOT, running_app
from tests.browser.steps import QUIET, tiles, visit

PANELS = {
    "orbit": ("Moved a little", ".st-key-orbit_strip .cell"),
    "map": ("Where it holds", ".st-key-map_0 .js-plotly-plot"),
    "remedy": ("What would fix it", "text=/It would be right|No single change/"),
}


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.clicks_moved", description=__doc__.split("\n")[0])
    parser.add_argument("run", help="id of a finished run")
    parser.add_argument("--clicks", type=int, default=20)
    parser.add_argument("--json", type=Path, help="where the times go")
    options = parser.parse_args(argv)
    path = shutil.which("chromium") or shutil.which("google-chrome")
    home = Path(os.environ["SVMLAB_HOME"])
    times = {name: [] for name in PANELS}
    expect.set_options(timeout=120_000)
    with running_app(ROOT, home) as server, sync_playwright() as tool:
        page = tool.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS).new_page(
            viewport={"width": 1440, "height": 1000}
        )
        page.set_default_timeout(60_000)
        visit(page, f"{server.url}/errors?run={options.run}")
        refs = [tile.get_attribute("data-ref") for tile in tiles(page, "errors_gallery").all()]
        for ref in refs[: options.clicks + 1]:
            visit(page, f"{server.url}/errors?run={options.run}&digit={ref}&why=bill")
            page.get_by_role("dialog").get_by_role("radio").first.wait_for()
            page.locator(QUIET).wait_for()
            for name in PANELS:
                times[name].append(click(page, *PANELS[name]))
    found = {"machine": machine(), "run": options.run, "load": os.getloadavg()[0]}
    for name, seconds in times.items():
        later = np.array(seconds[1:])  # the first one reads the machines
        found[name] = {
            "first": seconds[0],
            "median": float(np.median(later)),
            "of 95 %": float(np.percentile(later, 95)),
        }
        print(f"{name}: first {seconds[0]:.3f} s, median {found[name]['median']:.3f} s, "
              f"95 % {found[name]['of 95 %']:.3f} s")  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def click(page, label: str, mark: str) -> float:
    """Seconds until the panel's own thing stands and the script has run."""
    began = time.perf_counter()
    page.get_by_role("dialog").get_by_role("radio", name=label).click()
    page.get_by_role("dialog").locator(mark).first.wait_for()
    page.locator(QUIET).wait_for()
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
