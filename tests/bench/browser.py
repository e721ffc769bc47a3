"""The app on a home folder and a headless Chromium that looks at it, for the benches of clicks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.conftest import ROOT, running_app
from tests.browser.headless import how_to_launch

PATIENCE = 120_000  # milliseconds that a step may take before the bench gives up


@contextmanager
def app_and_tabs(home: Path) -> Iterator[tuple]:
    """(server, new_tab): the app of this tree, and a function that opens a page `height` pixels high, 1440 wide."""
    expect.set_options(timeout=PATIENCE)
    with running_app(ROOT, home) as server, sync_playwright() as tool:
        browser = tool.chromium.launch(**how_to_launch())

        def new_tab(height: int = 1000) -> Page:
            page = browser.new_context(viewport={"width": 1440, "height": height}).new_page()
            page.set_default_timeout(PATIENCE)
            return page

        yield server, new_tab
        browser.close()
