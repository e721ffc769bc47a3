"""The README's pictures of the app: `python -m tests.bench.picture [NAME ...]`.

errors.png   one error of the run mnist-vsv explained: needs that run, `python -m svmcore run mnist-vsv`
froc.png     a detector's FROC curve while it is trained: starts the recipe volcano-synthetic in slow motion

Both need Chromium and are written to tests/bench/measured/.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Page, expect

from data import places
from svmcore.lab.presets import RECIPES
from svmcore.lab.store.runs import stored
from tests.bench import measured
from tests.bench.browser import app_and_tabs
from tests.browser.steps import press, settle, tiles, visit

RUN, WATCHED = "mnist-vsv", "volcano-synthetic"
ERROR = 0  # position in the gallery of errors
JUDGED = re.compile("[23] of 4 splits")
SIZE, COLOURS = {"width": 1280, "height": 960}, 128  # pixels of a picture; enough for speckle of radar
STEPS = 4  # of the operating point, away from no false positives
MOST_BYTES = 200_000


def errors(page: Page, url: str) -> None:
    """The errors of the run behind Why, opened on one of them."""
    (run,) = stored([RECIPES[RUN]], finished=True)
    if run is None:
        raise LookupError(f"no stored run of {RUN}: `python -m svmcore run {RUN}` first")
    visit(page, f"{url}/errors?run={run.id}")
    tiles(page, "errors_gallery").nth(ERROR).click()
    expect(page.locator(".st-key-why_waterfall button.toggle").nth(7)).to_be_visible()
    settle(page)


def froc(page: Page, url: str) -> None:
    """A detection run, two of its four parts judged."""
    visit(page, f"{url}/detect?{urlencode(RECIPES[WATCHED].replace(slow_motion=True).to_query())}")
    press(page, "detect_start")
    expect(page.get_by_text(JUDGED)).to_be_visible()
    page.locator(".st-key-froc .js-plotly-plot").last.wait_for()
    page.locator(".st-key-detect_picture svg image").last.wait_for()
    slider = page.locator(".st-key-fa input[type=range]")
    slider.focus()
    for _ in range(STEPS):
        page.keyboard.press("ArrowRight")
    curve = page.locator(".st-key-froc .scatterlayer .trace").last
    expect(page.locator(".st-key-fa input")).to_have_attribute("aria-valuetext", re.compile("[1-9]"))
    page.wait_for_timeout(1000)  # the page answers the last step
    while not curve.is_visible():  # it is drawn anew with each report of the run
        page.wait_for_timeout(100)


PICTURES = {"errors": errors, "froc": froc}
PATHS = {name: measured.FOLDER / f"{name}.png" for name in PICTURES}


def small(screenshot: bytes) -> bytes:
    """A PNG of as many colours as are needed."""
    picture = Image.open(io.BytesIO(screenshot)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(out := io.BytesIO(), "PNG", optimize=True)
    return out.getvalue()


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.picture", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="errors, froc")
    names = parser.parse_args(argv).names or list(PICTURES)
    with app_and_tabs(places.home()) as (server, new_tab):
        for name in names:
            page = new_tab()
            page.set_viewport_size(SIZE)
            try:
                PICTURES[name](page, server.url)
            except LookupError as error:
                print(error, file=sys.stderr)
                return 1
            picture = small(page.screenshot(animations="disabled"))
            if len(picture) >= MOST_BYTES:
                print(f"{name} has {len(picture):,} bytes, more than {MOST_BYTES:,}", file=sys.stderr)
                return 1
            PATHS[name].write_bytes(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
