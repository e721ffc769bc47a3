"""Present mode on a projector of 1280 x 720: the title beside the menu's arrow, the figure within 300 pixels."""

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


def the_figure_is_near_the_upper_edge(server, tab, page):
    run = preset(server)
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.goto(f"{server.url}/{page}?present=true&run={run}")
    title = tab.get_by_test_id("stMain").get_by_role("heading", level=1)
    expect(title).to_be_visible()
    tab.wait_for_function(FIGURE_WITHIN, arg=NEAR)
    settle(tab)  # a page that is still drawn has its title lower, until the sheet of Present mode is there
    tab.wait_for_function(TITLE_UP)
    arrow, heading = tab.get_by_test_id("stExpandSidebarButton").bounding_box(), title.bounding_box()
    assert arrow["x"] + arrow["width"] <= heading["x"]
    assert abs(heading["y"] - arrow["y"]) < 30
    tab.get_by_role("button", name="Leave Present").click()
    expect(tab.get_by_role("button", name="Leave Present")).to_have_count(0)


def test_the_figure_is_near_the_upper_edge(server, tab):
    the_figure_is_near_the_upper_edge(server, tab, "errors")


@pytest.mark.ci
def test_so_it_is_on_other_pages_and_on_those_of_studies(server, tab):
    """Each of the studies opens with its sample, whose words and forms stand aside."""
    for page in ("", "train", "support_vectors", "datasets"):
        the_figure_is_near_the_upper_edge(server, tab, page)
    tab.set_viewport_size({"width": 1280, "height": 720})
    studies = ("sweep", "scramble", "reduced", "cross_training", "scaling", "digestion", "methods")
    for page in (*studies, "jitters", "detect"):
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
        tab.wait_for_function(FIGURE_SEEN)
        assert "present=true" in tab.url, title
        assert tab.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0
        if title == "Errors":
            tab.keyboard.press("ArrowRight")
            expect(tab.get_by_role("tab", name="Which ones")).to_have_attribute("aria-selected", "true")
            tab.keyboard.press("PageUp")
            expect(tab.get_by_role("tab", name="Confusion")).to_have_attribute("aria-selected", "true")
            for lit in (1, 0):
                tab.keyboard.press("s")
                expect(tab.locator(".spotlight")).to_have_count(lit)
        if whole := {"Playground": ".field", "Errors": ".matrix svg"}.get(title):
            box = tab.locator(whole).first.bounding_box()
            assert box["y"] + box["height"] <= 720, title


@pytest.mark.ci
@pytest.mark.parametrize(
    ("page", "part", "seen"),
    [
        ("detect", "Curve", "[data-testid=stPlotlyChart]"),
        ("detect", "Picture", ".st-key-detect_picture"),
        ("runs", "", "[data-testid=stDataFrame]"),
    ],
)
def test_the_curve_and_the_tables_are_seen_whole(server, tab, page, part, seen):
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.goto(f"{server.url}/{page}?present=true")
    if part:
        tab.get_by_role("tab", name=part, exact=True).click()
    one = tab.locator(seen).locator("visible=true").first
    expect(one).to_be_visible()
    settle(tab)
    expect(one).to_be_in_viewport(ratio=1)  # asked anew each time, as charts are drawn one after the other
    wide = one.locator(".dvn-scroller")
    assert not wide.count() or wide.first.evaluate("table => table.scrollWidth <= table.clientWidth")


def test_the_first_bars_of_why_stand_in_the_upper_two_thirds(server, tab):
    run = preset(server)
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.goto(f"{server.url}/errors?present=true&run={run}&digit=mnist-5k/train/65")
    first = tab.locator(".st-key-why_waterfall button.toggle").first
    expect(first).to_be_visible()
    settle(tab)
    assert first.bounding_box()["y"] < 500
    assert tab.locator(".st-key-why_waterfall").bounding_box()["y"] < 350
