"""A digit drawn with the mouse, nudged by the arrow keys until the answer flips, and opened again from its link."""

import re

from playwright.sync_api import expect

from tests.browser.steps import preset, press, settle, visit

STROKES = (((168, 40), (84, 152), (196, 152)), ((160, 92), (154, 224)))  # a 4, on 256 x 256
MOST = 9  # nudges before a digit has left its picture


def draw(tab, strokes):
    """Draw strokes with the mouse, as a reader would: one after the other, without waiting for answers."""
    box = tab.locator(".st-key-draw_canvas canvas").bounding_box()
    for stroke in strokes:
        points = [(box["x"] + x / 255 * box["width"], box["y"] + y / 255 * box["height"]) for x, y in stroke]
        tab.mouse.move(*points[0])
        tab.mouse.down()
        for point in points[1:]:
            tab.mouse.move(*point, steps=8)
        tab.mouse.up()


def answer(tab):
    return tab.get_by_test_id("stMetricValue").first.inner_text()


def inked(tab):
    """What share of the canvas, which is clear, is dark."""
    return tab.locator(".st-key-draw_canvas canvas").evaluate(
        """board => {
          const data = board.getContext("2d").getImageData(0, 0, board.width, board.height).data
          let dark = 0
          for (let i = 0; i < data.length; i += 4) dark += data[i + 3] > 100 && data[i] < 100
          return dark / (data.length / 4)
        }"""
    )


def test_a_drawn_four_is_nudged_until_the_answer_flips_and_shared(server, tab):
    visit(tab, f"{server.url}/draw?run={preset(server)}&runs={preset(server)}")
    expect(tab.get_by_test_id("stMetricValue")).to_have_text("–")
    draw(tab, STROKES)
    expect(tab.get_by_test_id("stMetricValue")).to_have_text("4")
    expect(tab).to_have_url(re.compile("strokes="))

    tab.locator(".st-key-draw_pad .frame").click()
    flipped = tab.get_by_text(re.compile(r"The prediction flipped: 4 → \d at nudge"))
    nudges = 0
    while not flipped.is_visible():
        assert nudges < MOST
        tab.keyboard.press("ArrowUp")
        nudges += 1
        expect(tab).to_have_url(re.compile(f"dy=-{nudges}(&|$)"))
        settle(tab)
    assert answer(tab) != "4"
    mark = tab.locator("[class*=st-key-draw_trail] .js-plotly-plot")
    expect(mark.locator("path[data-index]").first).to_be_attached()
    expect(mark.get_by_text(re.compile("4 → "))).to_be_visible()

    shared, said, dark = tab.url, answer(tab), inked(tab)
    other = tab.context.browser.new_context(viewport={"width": 1440, "height": 1000})
    try:
        fresh = other.new_page()
        visit(fresh, shared)
        expect(fresh.get_by_test_id("stMetricValue")).to_have_text(said)
        assert abs(inked(fresh) - dark) < 0.01
        assert dark > 0.03
        press(fresh, "draw_example")
        expect(fresh.get_by_test_id("stMetricValue")).to_have_text("4")
        expect(fresh).not_to_have_url(re.compile("dy="))
    finally:
        other.close()

    tab.keyboard.press("0")
    expect(tab.get_by_test_id("stMetricValue")).to_have_text("4")
    tab.locator(".st-key-draw_canvas").get_by_role("button", name="Undo").click()
    expect(tab.get_by_test_id("stMetricValue")).not_to_have_text("4")
    tab.locator(".st-key-draw_canvas").get_by_role("button", name="Clear").click()
    expect(tab.get_by_test_id("stMetricValue")).to_have_text("–")
    assert inked(tab) == 0


def test_a_digit_can_be_drawn_by_keys_alone(server, tab):
    visit(tab, f"{server.url}/draw?run={preset(server)}&runs={preset(server)}")
    tab.locator(".st-key-draw_canvas canvas").focus()
    tab.keyboard.press("Space")
    for _ in range(16):
        tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Space")
    expect(tab.get_by_test_id("stMetricValue")).to_have_text("1")
    expect(tab).to_have_url(re.compile("strokes=AoBAgMA(&|$)"))
