"""From an error over the invariance that would have helped to a run that learns it, laid beside its parent."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import expect_state, preset, press, run_id, settle, tiles, visit


def choose(dialog, label):
    dialog.get_by_text(label, exact=True).first.click()


@pytest.mark.ci
def test_from_an_error_to_the_invariance_that_helps_and_to_what_it_mends(server, tab):
    before = preset(server)
    visit(tab, f"{server.url}/errors?run={before}")
    tiles(tab, "errors_gallery").first.click()
    dialog = tab.get_by_role("dialog")
    choose(dialog, "Small changes")
    cells = dialog.locator(".st-key-orbit_strip .cell")
    expect(cells).to_have_count(9)
    expect(cells.locator("rect").first).to_be_visible()
    expect(dialog.locator(".st-key-orbit_strip .cell[data-original=true]")).to_have_count(1)

    choose(dialog, "Shift map")
    expect(dialog.get_by_text(re.compile(r"\d+ of 81 shifts")).first).to_be_visible()
    expect(dialog.locator(".st-key-map_0 .js-plotly-plot")).to_be_visible()

    choose(dialog, "Hidden parts")
    expect(dialog.locator(".st-key-hidden_0 .js-plotly-plot .heatmaplayer").first).to_be_visible()

    choose(dialog, "What would fix it")
    expect(dialog.get_by_text(re.compile("make it correct|No single change")).first).to_be_visible()
    press(tab, "remedy_begin")
    button = dialog.locator(".st-key-remedy_train").get_by_role("button")
    expect(button).to_be_visible(timeout=120_000)
    expect(dialog.locator(".st-key-remedy_stop")).to_have_count(0, timeout=120_000)  # counted to its end
    advised = re.search(r"Train with (\S+)", button.inner_text())[1]
    button.click()
    tab.wait_for_url(lambda url: "/train" in url and f"run={before}" not in url)
    settle(tab)
    expect(tab.get_by_role("dialog")).to_have_count(0)
    expect_state(tab, "done", 240)
    settle(tab)
    expect(tab.get_by_text(advised).first).to_be_visible()

    tab.get_by_role("link", name=re.compile("^Compare with")).or_(
        tab.get_by_text(re.compile("^Compare with"))
    ).first.click()
    expect(tab.get_by_role("heading", name="Compare", level=1)).to_be_visible()
    settle(tab)
    assert before in tab.url
    assert run_id(tab) in tab.url
