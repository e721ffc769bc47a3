"""Labels in a browser: judged by key, one taken back, trained on the revision, and both runs on Compare; and examples
without a label, labelled by key while the curve of errors goes on."""

import re

import pytest
from playwright.sync_api import expect

from data import load
from tests.browser.steps import expect_state, preset, press, settle, start, upload, visit

DONE = 240_000
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
    tab.get_by_role("link", name="Review likely label errors").click()
    expect(tab.get_by_role("heading", name="Labels", level=1)).to_be_visible()
    visit(tab, f"{server.url}/labels?run={run}&revision=tried&doubted=train")
    ready(tab)
    first = tab.get_by_text(re.compile(r"^Training example \d+ of")).inner_text()
    for judged, key in enumerate("kax", 1):
        tab.keyboard.press(key)
        expect(tab.get_by_text(re.compile(rf"^{judged} of \d+ reviewed"))).to_be_visible()
        settle(tab)
    expect(tab.get_by_text("3 examples reviewed: 1 relabelled, 1 excluded, 1 confirmed.")).to_be_visible()
    tab.keyboard.press("z")
    expect(tab.get_by_text("2 examples reviewed: 1 relabelled, 1 confirmed.")).to_be_visible()
    for number in (2, 1):
        tab.keyboard.press("ArrowLeft")
        expect(tab.get_by_test_id("stProgress")).to_contain_text(f"this is number {number}")
        settle(tab)
    expect(tab.get_by_text(first)).to_be_visible()
    settle(tab)
    tab.keyboard.press("7")  # another mind, on the first one
    expect(tab.get_by_test_id("stProgress")).to_contain_text("2 of 100 reviewed · this is number 3")
    press(tab, "label_train")
    expect(tab.get_by_text(re.compile(r"On the revision: \d+ of 300 wrong"))).to_be_visible(timeout=DONE)
    tab.get_by_role("link", name="Compare the two").click()
    expect(tab.get_by_role("heading", name="Compare", level=1)).to_be_visible()
    settle(tab)
    expect(tab.get_by_text(re.compile(r"B fixes \d+ and breaks \d+"))).to_be_visible()
    visit(tab, f"{server.url}/datasets?set=digits-8x8@tried&view=About")
    expect(tab.get_by_text("A revision of digits-8x8.")).to_be_visible()


@pytest.mark.ci
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
    expect(dialog.get_by_text(re.compile("^2 of [0-9]+$"))).to_be_visible()
    tab.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    ready(tab)
    expect(tab.get_by_text(re.compile(r"^0 of \d+ reviewed"))).to_be_visible()
    tab.keyboard.press("x")
    expect(tab.get_by_text(re.compile(r"^1 of \d+ reviewed"))).to_be_visible()


@pytest.mark.ci
def test_the_second_click_of_a_double_click_judges_no_other_example(server, tab):
    visit(tab, f"{server.url}/labels?run={preset(server)}&revision=twice")
    ready(tab)
    box = tab.get_by_role("button", name=re.compile("^Keep ")).first.bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for click in (1, 2):
        tab.mouse.down(click_count=click)
        tab.mouse.up(click_count=click)
        expect(tab.get_by_test_id("stProgress")).to_contain_text("1 of 100 reviewed · this is number 2")
        ready(tab)
    press(tab, "label_next_any")
    expect(tab.get_by_test_id("stProgress")).to_contain_text("1 of 100 reviewed · this is number 3")


@pytest.mark.ci
def test_the_next_labels_are_given_by_key_and_the_curve_moves(server, tab):
    digits = load("digits-8x8")
    labels = [str(label) if row < 150 else "" for row, label in enumerate(digits.y_train[:400].tolist())]
    pixels = digits.X_train[:400].reshape(400, -1).astype(int)
    lines = [";".join([label, *map(str, row)]) for label, row in zip(labels, pixels.tolist(), strict=True)]
    visit(tab, f"{server.url}/datasets?set=new")
    upload(tab, {"digits.csv": "\n".join([";".join(["digit", *(f"p{k}" for k in range(64))]), *lines]).encode()})
    expect(tab.get_by_text("250 of 400 examples have no label yet")).to_be_visible()
    press(tab, "FormSubmitter-own_keep-Save")
    expect(tab.get_by_text("250 of 400 have no label yet").first).to_be_visible()
    tab.get_by_role("link", name="Train on this dataset").click()
    settle(tab)
    run = start(tab)
    expect_state(tab, "done", 90)
    visit(tab, f"{server.url}/labels?run={run}&doubted=next")
    ready(tab)
    caption = tab.get_by_text(re.compile(r"test examples are wrong with the 120 initial labels"))
    expect(caption.first).to_be_visible()
    asked = []
    for given in range(1, 4):
        row = int(re.search(r"Example (\d+)", tab.get_by_text(re.compile(r"^Example \d+ of")).first.inner_text())[1])
        assert row >= 150
        asked.append(row)
        tab.keyboard.press(str(digits.y_train[row]))
        expect(tab.get_by_text(re.compile(rf"^{given} of 250 reviewed"))).to_be_visible()
        expect(caption.first).to_contain_text(f"with {given} further label")
        settle(tab)
    assert len(set(asked)) == 3
    points = tab.locator(".st-key-ask_curve .scatterlayer .points path")
    expect(points).to_have_count(4)
    tab.keyboard.press("z")
    expect(tab.get_by_text(re.compile(r"^2 of 250 reviewed"))).to_be_visible()
    expect(points).to_have_count(3)
    settle(tab)
    tab.reload()
    ready(tab)
    expect(tab.get_by_text(re.compile(r"^2 of 250 reviewed"))).to_be_visible()
    expect(tab.get_by_text("2 examples reviewed: 2 labelled for the first time.")).to_be_visible()
