"""Labels in a browser: judged by key, one taken back, trained on the revision, and both runs on Compare."""

import re

from playwright.sync_api import expect

from tests.browser.steps import press, settle, start, visit

DONE = 120_000
QUERY = "dataset=digits-8x8&n_train=300&n_test=300&kernel=poly:degree=3&folds=3&noise=0.1"


def ready(page):
    """Wait for the buttons: their keys are listened to as soon as they are there."""
    settle(page)
    expect(page.locator(".st-key-label_classes button:visible").first).to_be_visible()


def test_judge_undo_train_compare(server, tab):
    visit(tab, f"{server.url}/train?{QUERY}")
    run = start(tab)
    expect(tab.get_by_text(re.compile(r"of 300 wrong")).first).to_be_visible(timeout=DONE)
    visit(tab, f"{server.url}/errors?run={run}")
    tab.get_by_role("link", name="Is it the label that is wrong?").click()
    expect(tab.get_by_role("heading", name="Labels", level=1)).to_be_visible()
    visit(tab, f"{server.url}/labels?run={run}&revision=tried&doubted=train")
    ready(tab)
    first = tab.get_by_text(re.compile(r"^Training example \d+ of")).inner_text()
    for judged, key in enumerate("kax", 1):
        tab.keyboard.press(key)
        expect(tab.get_by_text(re.compile(rf"^{judged} of \d+ judged"))).to_be_visible()
        settle(tab)
    expect(tab.get_by_text("3 judged: 1 with another label, 1 taken out, 1 kept.")).to_be_visible()
    tab.keyboard.press("z")
    expect(tab.get_by_text("2 judged: 1 with another label, 1 kept.")).to_be_visible()
    for number in (2, 1):
        tab.keyboard.press("ArrowLeft")
        expect(tab.get_by_test_id("stProgress")).to_contain_text(f"this is number {number}")
        settle(tab)
    expect(tab.get_by_text(first)).to_be_visible()
    settle(tab)
    tab.keyboard.press("7")  # another mind, on the first one
    expect(tab.get_by_test_id("stProgress")).to_contain_text("2 of 100 judged · this is number 3")
    press(tab, "label_train")
    expect(tab.get_by_text(re.compile(r"On the revision: \d+ of 300 wrong"))).to_be_visible(timeout=DONE)
    tab.get_by_role("link", name="Compare the two").click()
    expect(tab.get_by_role("heading", name="Compare", level=1)).to_be_visible()
    settle(tab)
    expect(tab.get_by_text(re.compile(r"B fixes \d+ and breaks \d+"))).to_be_visible()
    visit(tab, f"{server.url}/datasets?set=digits-8x8@tried&view=About")
    expect(tab.get_by_text("A revision of digits-8x8.")).to_be_visible()


def test_a_view_over_the_page_takes_no_verdict(server, tab):
    visit(tab, f"{server.url}/train?{QUERY}&seed=1")
    run = start(tab)
    expect(tab.get_by_text(re.compile(r"of 300 wrong")).first).to_be_visible(timeout=DONE)
    visit(tab, f"{server.url}/labels?run={run}&revision=looked")
    ready(tab)
    tab.get_by_role("button", name="Why").first.click()
    dialog = tab.get_by_role("dialog")
    expect(dialog).to_be_visible()
    settle(tab)
    for key in ("x", "u", "ArrowRight"):
        tab.keyboard.press(key)
    expect(dialog.get_by_text(re.compile("2 of [0-9]+"))).to_be_visible()
    tab.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    ready(tab)
    expect(tab.get_by_text(re.compile(r"^0 of \d+ judged"))).to_be_visible()
    tab.keyboard.press("x")
    expect(tab.get_by_text(re.compile(r"^1 of \d+ judged"))).to_be_visible()
