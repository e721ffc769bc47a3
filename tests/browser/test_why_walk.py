"""An error, its bill without one support vector, the next error by key, and the same view in a fresh browser."""

import re

from playwright.sync_api import expect

from tests.browser.steps import settle, tiles, visit


def number(text):
    """The first signed number in a text."""
    return float(re.search(r"[+−-]\d+\.\d+", text)[0].replace("−", "-"))


def test_from_error_to_bill_to_the_next_error_and_shared(server, tab, chromium):
    visit(tab, f"{server.url}/errors")
    expect(tiles(tab, "errors_gallery").first).to_be_visible()
    settle(tab)
    count = tiles(tab, "errors_gallery").count()
    tiles(tab, "errors_gallery").first.click()
    dialog = tab.get_by_role("dialog")
    place = dialog.get_by_text(re.compile(rf"^\d+ of {count}$"))
    expect(place).to_have_text(f"1 of {count}")
    expect(dialog).to_contain_text("held out from training")

    side = dialog.get_by_role("region").first
    line = side.locator(".row.line").first
    expect(line).to_be_visible()
    settle(tab)
    f, part = number(side.locator("header .f").inner_text()), number(line.locator(".value").inner_text())
    line.locator("button.toggle").click()
    expect(line).to_have_attribute("data-off", "true")
    expect(side.locator("header .now")).to_contain_text(re.compile(r"\d"))
    assert abs(number(side.locator("header .now").inner_text()) - (f - part)) < 0.02
    expect(dialog).to_contain_text("not retrained")

    tab.locator(".st-key-why_bill").get_by_text("class", exact=True).click()
    expect(tab).to_have_url(re.compile("bill=class"))
    settle(tab)
    first = tab.url
    dialog.get_by_role("heading", level=4).click()  # in a choice, arrow keys go through its options
    tab.keyboard.press("ArrowRight")
    expect(place).to_have_text(f"2 of {count}")
    expect(tab).to_have_url(re.compile("bill=class"))
    settle(tab)
    assert tab.url != first

    context = chromium.new_context(viewport={"width": 1440, "height": 1000})
    other = context.new_page()
    other.goto(tab.url)
    expect(other.get_by_role("dialog").get_by_text(f"2 of {count}")).to_be_visible()
    expect(other.get_by_role("dialog").get_by_role("heading", level=4)).to_have_text(
        dialog.get_by_role("heading", level=4).inner_text()
    )
    context.close()

    tab.go_back()
    expect(place).to_have_text(f"1 of {count}")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    expect(tab).not_to_have_url(re.compile("digit=|bill="))
