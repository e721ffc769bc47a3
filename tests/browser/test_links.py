"""Addresses that a reader copied: opened first thing after a start of the app, on a page that is not the first one."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import running_app
from tests.browser.steps import OUTCOME, preset, run_id, tiles, visit


def test_a_link_to_the_errors_of_a_run_opens_cold(server, tab):
    run = preset(server)
    with running_app(server.tree, server.home) as fresh:
        visit(tab, f"{fresh.url}/errors?run={run}&errors_by=Closest+call")
        expect(tab.get_by_role("heading", name="Errors", level=1)).to_be_visible()
        expect(tab.get_by_test_id("stSidebarNavLink").filter(has_text=re.compile("Errors$"))).to_be_visible()
        expect(tiles(tab, "errors_gallery").first).to_be_visible()
        expect(tab.get_by_text(OUTCOME).first).to_be_visible()
        assert run_id(tab) == run
        tab.goto("about:blank")
