"""Cross-training in a browser: noise by the slider, a point clicked in the margins, a pair of runs and its examples."""

import re

from playwright.sync_api import expect

from tests.browser.steps import press, settle, tiles, visit

PLACE = """(key) => {
    const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`), box = plot.getBoundingClientRect()
    const {xaxis, yaxis} = plot._fullLayout, trace = plot._fullData.find((one) => one.customdata)
    const inside = (value, [low, high]) => low < value && value < high
    const at = Array.from(trace.x).findIndex((x, i) => inside(x, xaxis.range) && inside(trace.y[i], yaxis.range))
    return [box.x + xaxis._offset + xaxis.l2p(trace.x[at]), box.y + yaxis._offset + yaxis.l2p(trace.y[at])]
}"""
DONE = 90_000


def click_point(page, key):
    """Click the first point of a figure."""
    figure = page.locator(f".st-key-{key} .js-plotly-plot")
    figure.scroll_into_view_if_needed()
    page.wait_for_function(f"document.querySelector('.st-key-{key} .js-plotly-plot')?._fullData?.length")
    page.mouse.click(*page.evaluate(PLACE, key))


def test_noise_a_point_and_a_pair_of_runs(server, tab):
    visit(tab, f"{server.url}/cross_training?set=toy-banana&examples=100&each=40")
    verdict = tab.get_by_text(re.compile("^Plain machine: "))
    before = verdict.inner_text()
    tab.get_by_role("slider", name="Labels flipped").focus()
    tab.keyboard.press("ArrowRight")
    expect(verdict).not_to_have_text(before)
    tab.wait_for_url(re.compile("flipped=11"))
    settle(tab)
    click_point(tab, "edit_thrown")
    expect(
        tab.get_by_text(re.compile(r"^Point \d+, labelled .* (Discarded|discarded|kept|reinserted)"))
    ).to_be_visible()
    tab.get_by_role("tab", name="Margins").click()
    tab.wait_for_url(re.compile("part=Margins"))
    settle(tab)
    click_point(tab, "edit_margins")
    tab.wait_for_url(re.compile(r"point=\d+"))
    expect(tab.get_by_text(re.compile(r"of 5 machines classify this point correctly"))).to_be_visible()

    visit(tab, f"{server.url}/cross_training?cross_view=A+run&set=digits-8x8&flipped=10")
    expect(tab.get_by_text("discards no examples")).to_be_visible()
    press(tab, "edit_start")
    expect(tab.get_by_text("What did the editing cost?")).to_be_visible(timeout=DONE)
    settle(tab)
    expect(tab.get_by_text(re.compile("McNemar"))).to_be_visible()
    click_point(tab, "left_margins")
    dialog = tab.get_by_role("dialog")
    expect(dialog).to_be_visible()
    tab.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    tiles(tab, "left_gallery").first.click()
    expect(dialog).to_be_visible()
    tab.wait_for_url(re.compile("digit=digits-8x8/train/|digit=digits-8x8%2Ftrain"))
