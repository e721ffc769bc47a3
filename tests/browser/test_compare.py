"""Two short runs laid side by side: chosen on Runs, a cell of the change clicked, the link opened elsewhere."""

import re

from playwright.sync_api import expect

from tests.browser.steps import expect_state, settle, start, tiles, visit

SHORT = "dataset=digits-8x8&kernel=rbf:gamma%3D1&n_train=80&n_test=300"
CELLS = ".st-key-compare_change_figure [role=gridcell][data-shaded]"


def counted(tab):
    """How many examples each kind has, as the control says."""
    radios = tab.locator(".st-key-compare_shown").get_by_role("radio")
    expect(radios).to_have_count(4)
    labels = radios.all_inner_texts()
    return [int(re.search(r"\(([\d,]+)\)", label)[1].replace(",", "")) for label in labels]


def labels(tab):
    return [tile.get_attribute("aria-label") for tile in tiles(tab, "compare_gallery").all()]


def test_two_runs_are_compared_and_the_link_shows_the_same(server, tab, chromium):
    ids = []
    for C in ("5", "0.02"):
        visit(tab, f"{server.url}/train?{SHORT}&C={C}")
        ids.append(start(tab))
        expect_state(tab, "done")
    visit(tab, f"{server.url}/runs?compare={ids[0]}&compare={ids[1]}")
    tab.get_by_role("button", name="Compare these 2 runs").click()
    expect(tab.get_by_role("heading", name="Compare", level=1)).to_be_visible()
    expect(tab.get_by_text("Exact McNemar test")).to_be_visible()
    settle(tab)
    tab.locator(".st-key-compare_shown").get_by_role("radio", name=re.compile("^broken")).click()
    settle(tab)
    broken = counted(tab)[1]
    expect(tiles(tab, "compare_gallery")).to_have_count(min(broken, 96))
    assert sum(counted(tab)) == 300

    tab.locator(CELLS).filter(has_text="+").first.click()
    expect(tab).to_have_url(re.compile("change="))
    settle(tab)
    within = counted(tab)
    assert sum(within) < 300
    expect(tiles(tab, "compare_gallery")).to_have_count(min(within[1], 96))
    shown = labels(tab)

    context = chromium.new_context(viewport={"width": 1440, "height": 1000})
    other = context.new_page()
    visit(other, tab.url)
    expect(tiles(other, "compare_gallery")).to_have_count(len(shown))
    assert labels(other) == shown
    assert counted(other) == within
    context.close()

    tab.locator(".st-key-compare_asks").get_by_role("radio", name="A", exact=True).click()
    expect(tab.get_by_text(re.compile("Click a picture to see the reasons for the prediction of A,"))).to_be_visible()
    settle(tab)
    tiles(tab, "compare_gallery").first.click()
    expect(tab.get_by_role("dialog")).to_be_visible()
    expect(tab).to_have_url(re.compile(f"run={ids[0]}"))
