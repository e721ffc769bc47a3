"""The pages about the paper as a reader uses them: a digit and a set picked, two methods run and compared."""

import re

from playwright.sync_api import expect

from tests.browser.steps import press, settle, tiles, visit


def test_pick_a_digit_and_write_a_jitter_set(server, tab):
    visit(tab, server.url + "/jitters?set=digits-8x8")
    expect(tiles(tab, "square_0")).to_have_count(9)
    tiles(tab, "strip").nth(5).click()
    expect(tab).to_have_url(re.compile(r"[?&]index=[1-9]"))
    settle(tab)
    field = tab.get_by_role("textbox", name="Jitter set")
    field.fill("bax:1")
    field.press("Enter")
    expect(tab.get_by_text("'bax:1' is unknown")).to_be_visible()
    field.fill("plus:1")
    field.press("Enter")
    expect(tab.locator(".st-key-square_0 button.tile:visible")).to_have_count(5)
    press(tab, "to_train")
    expect(tab.get_by_role("heading", name="Train", level=1)).to_be_visible()
    expect(tab).to_have_url(re.compile("method=vsv"))
