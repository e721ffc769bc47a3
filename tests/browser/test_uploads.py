"""A reader's own data: sets unlike digits are kept and trained on, broken files are refused with helpful words."""

import pytest
from playwright.sync_api import expect

from tests.browser.steps import OUTCOME, expect_state, press, settle, start, upload, visit
from tests.browser.uploads import GOOD


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "non-square" else pytest.mark.ci) for name in GOOD]
)
def test_an_uploaded_set_is_shown_kept_and_trained_on(server, tab, name):
    files, classes, shape = GOOD[name]
    visit(tab, f"{server.url}/datasets?set=new")
    upload(tab, files)
    title = tab.locator(".st-key-own_title input")
    expect(title).to_be_visible()
    title.fill(f"Set of {name}")
    press(tab, "FormSubmitter-own_keep-Keep")

    expect(tab.get_by_role("heading", name=f"Set of {name}")).to_be_visible()
    expect(tab.get_by_text(f"{shape} · {classes} classes").last).to_be_visible()
    tab.get_by_role("link", name="Train on it").click()
    settle(tab)
    start(tab)
    expect_state(tab, "done", 90)
    expect(tab.get_by_text(OUTCOME).first).to_be_visible()
    for page in ("support vectors", "errors"):
        tab.get_by_role("link", name=page).last.click()
        expect(tab.get_by_role("heading", name=page.capitalize(), level=1)).to_be_visible()
        settle(tab)
        tab.go_back()
        settle(tab)
