"""Present mode on a projector of 1280 x 720: the title beside the menu's arrow, the figure within 330 pixels."""

import pytest
from playwright.sync_api import expect

from tests.browser.steps import preset, settle

NEAR = 330  # pixels from the upper edge, of 720
FIGURE_WITHIN = """near => [...document.querySelectorAll("[data-testid=stMain] :is(svg, [data-testid^=stBidi])")]
    .map(one => one.getBoundingClientRect()).some(box => box.height > 100 && 0 < box.top && box.top < near)"""

TITLE_UP = "() => document.querySelector('[data-testid=stMain] h1')?.getBoundingClientRect().top < 60"
FIGURE_SEEN = """() => [...document.querySelectorAll("[data-testid=stMain] :is(svg, [data-testid^=stBidi])")]
    .map(one => one.getBoundingClientRect()).some(box => box.height > 100 && box.top > 0
        && Math.min(box.bottom, innerHeight) - box.top > Math.min(0.6 * box.height, 300))"""
TALK = (
    ("p", "Playground"), ("d", "Datasets"), ("t", "Train"), ("e", "Errors"),
    ("s", "Support vectors"), ("w", "Choose"), ("f", "Detect"), ("z", "Reduced sets"), ("g", "Digestion"),
    ("m", "Compare methods"),
)  # fmt: skip


def test_the_title_stands_beside_the_arrow(server, tab):
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.goto(f"{server.url}/errors?present=true&run={preset(server)}")
    title = tab.get_by_test_id("stMain").get_by_role("heading", level=1)
    expect(title).to_be_visible()
    settle(tab)  # a page that is still drawn has its title lower, until the sheet of Present mode is there
    tab.wait_for_function(TITLE_UP)
    arrow, heading = tab.get_by_test_id("stExpandSidebarButton").bounding_box(), title.bounding_box()
    assert arrow["x"] + arrow["width"] <= heading["x"]
    assert abs(heading["y"] - arrow["y"]) < 30
    tab.get_by_role("button", name="Leave Present mode").click()
    expect(tab.get_by_role("button", name="Leave Present mode")).to_have_count(0)


@pytest.mark.ci
@pytest.mark.parametrize("page", ["scramble", "cross_training", "scaling", "jitters"])
def test_pages_that_are_not_of_the_talk_have_a_figure_near_the_upper_edge(server, tab, page):
    """The studies open with their samples, whose words and forms stand aside."""
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.goto(f"{server.url}/{page}?present=true")
    tab.wait_for_function(FIGURE_WITHIN, arg=NEAR)


def test_a_talk_of_ten_figures_needs_no_scrolling(server, tab):
    """By the keys that lead from page to page; most of a figure is seen at once, the plane and the matrix whole."""
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.goto(f"{server.url}/?present=true&run={preset(server)}")
    expect(tab.get_by_text("Keyboard shortcuts").first).to_be_attached()  # keys are listened to
    for letter, title in TALK:
        settle(tab)
        tab.keyboard.press("g")
        tab.keyboard.press(letter)
        expect(tab.get_by_test_id("stMain").get_by_role("heading", name=title, level=1)).to_be_visible()
        tab.wait_for_function(FIGURE_WITHIN, arg=NEAR)
        tab.wait_for_function(FIGURE_SEEN)
        assert "present=true" in tab.url, title
        assert tab.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0
        if title == "Errors":
            tab.keyboard.press("ArrowRight")
            expect(tab.get_by_role("tab", name="Misclassified")).to_have_attribute("aria-selected", "true")
            tab.keyboard.press("PageUp")
            expect(tab.get_by_role("tab", name="Confusion")).to_have_attribute("aria-selected", "true")
            for lit in (1, 0):
                tab.keyboard.press("s")
                expect(tab.locator(".spotlight")).to_have_count(lit)
        if whole := {"Playground": ".field", "Errors": ".matrix svg"}.get(title):
            box = tab.locator(whole).first.bounding_box()
            assert box["y"] + box["height"] <= 720, title


@pytest.mark.ci
def test_the_curve_and_the_tables_are_seen_whole(server, tab):
    tab.set_viewport_size({"width": 1280, "height": 720})

    def whole(seen):
        one = tab.locator(seen).locator("visible=true").first
        expect(one).to_be_visible()
        settle(tab)
        expect(one).to_be_in_viewport(ratio=1)  # asked anew each time, as charts are drawn one after the other
        return one

    tab.goto(f"{server.url}/detect?present=true")
    for part, seen in (("Curve", "[data-testid=stPlotlyChart]"), ("Picture", ".st-key-detect_picture")):
        tab.get_by_role("tab", name=part, exact=True).click()
        whole(seen)
    tab.goto(f"{server.url}/runs?present=true")
    table = whole("[data-testid=stDataFrame]").locator(".dvn-scroller")
    assert table.evaluate("table => table.scrollWidth <= table.clientWidth")


def test_the_first_bars_of_why_stand_in_the_upper_two_thirds(server, tab):
    run = preset(server)
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.goto(f"{server.url}/errors?present=true&run={run}&digit=mnist-5k/train/65")
    first = tab.locator(".st-key-why_waterfall button.toggle").first
    expect(first).to_be_visible()
    settle(tab)
    assert first.bounding_box()["y"] < 500
    assert tab.locator(".st-key-why_waterfall").bounding_box()["y"] < 350
