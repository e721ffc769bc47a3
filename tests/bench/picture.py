"""The README's picture, the errors of a stored run as the app shows them: `python -m tests.bench.picture [--run NAME]`.

Needs the run (`python -m svmcore run mnist-vsv`) and Chromium; writes tests/bench/measured/errors.png.
"""

from __future__ import annotations

import argparse
import sys

from data import places
from svmcore.lab.recipes import RECIPES
from svmcore.lab.tables import stored_runs
from tests.bench import measured
from tests.bench.browser import app_and_tabs
from tests.browser.steps import tiles, visit

RUN = "mnist-vsv"
PATH = measured.FOLDER / "errors.png"
MOST_BYTES = 300_000


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.picture", description=__doc__.split("\n")[0])
    parser.add_argument("--run", default=RUN, help="name of a recipe with a stored run")
    (run,) = stored_runs([RECIPES[name := parser.parse_args(argv).run]])
    if run is None:
        print(f"no stored run of {name}: `python -m svmcore run {name}` first", file=sys.stderr)
        return 1
    with app_and_tabs(places.home()) as (server, new_tab):
        page = new_tab(height=900)
        visit(page, f"{server.url}/errors?run={run.id}")
        tiles(page, "errors_gallery").last.wait_for()
        page.locator(".st-key-confusion").wait_for()
        picture = page.screenshot(animations="disabled")
    if len(picture) >= MOST_BYTES:
        print(f"the picture has {len(picture):,} bytes, more than {MOST_BYTES:,}", file=sys.stderr)
        return 1
    PATH.write_bytes(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
