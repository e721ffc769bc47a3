"""The keyboard alone, from Train through a cell of the confusion matrix to the next error and back; the dark theme."""

import io
import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.steps import preset, settle, tiles, visit

HELD = """() => {
  let node = document.activeElement
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
  return node?.getAttribute("aria-label") ?? ""
}"""
FILL = """(cell) => {
  const pen = document.createElement("canvas").getContext("2d")
  const light = (colour) => {
    pen.fillStyle = colour
    pen.fillRect(0, 0, 1, 1)
    const [r, g, b] = pen.getImageData(0, 0, 1, 1).data
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const page = getComputedStyle(cell).getPropertyValue("--st-background-color")
  const ink = getComputedStyle(cell.querySelector("text")).fill
  return [light(getComputedStyle(cell.querySelector("rect")).fill), light(page), light(ink)]
}"""
SHADED = ".st-key-confusion [role=gridcell][data-shaded]"


def held(page):
    """What has the focus, as it is read out."""
    return page.evaluate(HELD)


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def opened(page, key, heading):
    press(page, "g", key)
    expect(page.get_by_role("heading", name=heading, level=1, exact=True)).to_be_visible()
    settle(page)


def test_from_train_through_a_cell_to_the_next_error_and_back(server, tab):
    visit(tab, f"{server.url}/train?run={preset(server)}")
    tab.get_by_role("button", name="Keyboard shortcuts").wait_for()
    tab.evaluate("window.print = () => (window.printed = true)")
    tab.get_by_role("button", name="Print", exact=True).click()
    assert tab.evaluate("window.printed")
    tab.emulate_media(media="print")
    expect(tab.get_by_test_id("stSidebar")).to_be_hidden()
    tab.emulate_media(media="screen")
    press(tab, "?")
    sheet = tab.get_by_role("dialog", name="Keyboard shortcuts")
    expect(sheet).to_contain_text("Go to the confusion matrix")
    press(tab, "Escape")
    expect(sheet).to_be_hidden()

    opened(tab, "e", "Errors")
    everything = tiles(tab, "errors_gallery").count()
    tab.locator(SHADED).first.wait_for()
    press(tab, "m")
    assert int(held(tab).rpartition(" ")[2]) > 1  # the cell with most errors
    most = held(tab)
    press(tab, "ArrowUp", "ArrowDown", "Enter")
    count = int(most.rpartition(" ")[2])
    expect(tiles(tab, "errors_gallery")).to_have_count(count)
    expect(tab).to_have_url(re.compile("cells="))
    settle(tab)
    assert held(tab) == most

    press(tab, "f")
    first = held(tab)
    assert first == tiles(tab, "errors_gallery").first.get_attribute("aria-label")
    assert tab.locator(".st-key-errors_gallery [tabindex='0']").count() == 1
    press(tab, "End")
    assert held(tab) == tiles(tab, "errors_gallery").last.get_attribute("aria-label")
    press(tab, "Home", "Enter")
    dialog = tab.get_by_role("dialog", name="Why this prediction?")
    expect(dialog).to_contain_text(f"1 of {count}")
    settle(tab)
    press(tab, "ArrowRight")
    expect(dialog).to_contain_text(f"2 of {count}")
    settle(tab)
    tab.locator(".st-key-why_waterfall button.toggle").first.wait_for()
    for _ in range(20):  # the Tab key leads into the bill, the arrows from line to line
        press(tab, "Tab")
        if "support vector, alpha" in held(tab):
            break
    line = held(tab)
    press(tab, "ArrowDown")
    assert "support vector, alpha" in held(tab)
    assert held(tab) != line
    press(tab, "Escape")
    expect(dialog).to_have_count(0)
    tab.wait_for_function(f"(label) => ({HELD})() === label", arg=first)
    settle(tab)
    assert held(tab) == first

    press(tab, "m", "Enter")
    expect(tiles(tab, "errors_gallery")).to_have_count(everything)
    tab.locator(".st-key-cells input").focus()
    press(tab, "g", "t", "?")  # typed into a field, and taken by nobody else
    assert "/errors" in tab.url
    press(tab, "Escape", "Escape")
    settle(tab)
    press(tab, "Tab")
    expect(tab.locator(".st-key-cells input:focus")).to_have_count(0)
    opened(tab, "t", "Train")


@pytest.mark.ci
def test_shades_and_tiles_follow_the_theme_and_can_be_saved(server, tab):
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        visit(tab, f"{server.url}/errors?run={preset(server)}&page=7")
        expect(tab.get_by_text("allowed: 1 to 1")).to_be_visible()
        cells = tab.locator(SHADED)
        cells.first.wait_for()
        seen = {}  # errors in a cell -> how far its shade is from the page's
        for cell in cells.all():
            fill, page, ink = cell.evaluate(FILL)
            seen[int(cell.get_attribute("aria-label").rpartition(" ")[2])] = abs(fill - page)
            assert (fill < page) == (scheme == "light")
            assert abs(ink - fill) > 100
        assert len(seen) > 1
        assert [seen[n] for n in sorted(seen)] == sorted(seen.values())
        with tab.expect_download() as saved:
            tab.locator(".st-key-errors_gallery .save").click()
        picture = np.asarray(Image.open(io.BytesIO(saved.value.path().read_bytes())).convert("L"))
        paper = np.bincount(picture[20:200, 20:200].ravel(), minlength=256).argmax()
        assert paper > 245 if scheme == "light" else 150 < paper < 200

    with tab.expect_download() as saved:
        tab.locator(".st-key-confusion .save").first.click()
    text = saved.value.path().read_text("utf-8")
    assert text.startswith("<svg")
    assert "color-mix" not in text
    assert "var(" not in text
    with tab.expect_download() as saved:
        tab.locator(".st-key-confusion .save").last.click()
    assert Image.open(saved.value.path()).size[0] > 600
