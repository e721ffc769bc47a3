"""Why an error: its bill, f without a support vector, the next error by a key, and the same view in a fresh browser."""

import re

from playwright.sync_api import expect

from tests.browser.steps import QUIET, preset, settle, tiles, visit

BILL = ".st-key-why_waterfall"
NUMBER = r"([+−][\d.]+)"


def number(text):
    return float(re.search(NUMBER, text)[1].replace("−", "-"))


def open_first_error(tab, server):
    visit(tab, f"{server.url}/errors?run={preset(server)}")
    tiles(tab, "errors_gallery").first.click()
    expect(tab.locator(f"{BILL} button.toggle").nth(7)).to_be_visible()
    expect(tab.locator(QUIET)).to_be_visible()


def test_from_an_error_over_its_bill_to_the_next_one_and_into_another_browser(server, tab, chromium):
    open_first_error(tab, server)
    dialog, side = tab.get_by_role("dialog"), tab.locator(f"{BILL} .side").first
    expect(dialog).to_contain_text("1 of")
    f = number(side.locator(".f").inner_text())

    line = side.locator(".row.line").nth(1)
    part = number(line.locator(".value").inner_text())
    line.locator("button.toggle").click()
    expect(line.locator("button.toggle")).to_have_attribute("aria-pressed", "true")
    now = side.locator(".now")
    expect(now).to_contain_text("without")
    assert abs(number(now.inner_text()) - (f - part)) < 0.011  # each is shown to two digits
    expect(tab.locator(f"{BILL} .verdict")).to_contain_text("not retrained")
    expect(tab).to_have_url(re.compile(r"off=\d+"))

    line.locator("button.toggle").press("Enter")  # and on again, by key
    expect(now).to_have_text("")
    expect(tab).not_to_have_url(re.compile("off="))
    line.locator("button.toggle").press("Enter")
    expect(tab).to_have_url(re.compile(r"off=\d+"))

    with chromium.new_context(viewport={"width": 1440, "height": 1000}) as fresh:
        other = fresh.new_page()
        other.goto(tab.url)
        expect(other.locator(f"{BILL} .side").first.locator(".now")).to_have_text(now.inner_text())
        assert heading(other) == heading(tab)

    first = heading(tab)
    tab.keyboard.press("ArrowRight")
    expect(dialog).to_contain_text("2 of")
    expect(tab.locator(f"{BILL} .reset")).to_be_hidden()
    settle(tab)
    second = heading(tab)
    assert second != first
    assert "off=" not in tab.url

    tab.locator(".st-key-why_bill").get_by_role("radio", name="class").click()
    expect(tab).to_have_url(re.compile("bill=class"))
    expect(tab.locator(f"{BILL} .side").first).to_contain_text("support vectors")
    settle(tab)
    tab.keyboard.press("ArrowRight")  # a choice that was clicked does not keep the key
    expect(dialog).to_contain_text("3 of")
    expect(tab.locator(f"{BILL} .side").first).to_contain_text("support vectors")
    settle(tab)

    with chromium.new_context(viewport={"width": 1440, "height": 1000}) as fresh:
        other = fresh.new_page()
        other.goto(tab.url)
        expect(other.locator(f"{BILL} .side").first).to_contain_text("support vectors")
        expect(other.get_by_role("dialog")).to_contain_text("3 of")
        assert heading(other) == heading(tab)


def heading(page):
    return page.get_by_role("dialog").get_by_role("heading", level=4).inner_text()
