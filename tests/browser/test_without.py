"""Support vectors ticked with the keyboard: the machines without them, a second click, and what the address keeps."""

from playwright.sync_api import expect

from tests.browser.steps import preset, settle, tiles, visit

DONE = "fixed, "


def test_a_support_vector_is_taken_out_and_put_back(server, tab):
    visit(tab, f"{server.url}/support_vectors?run={preset(server)}")
    tab.get_by_role("radio", name="exclude").click()
    tab.wait_for_url(lambda url: "click=out" in url)
    settle(tab)
    first = tiles(tab, "support_gallery").first
    first.focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("1 example excluded")).to_be_visible()
    expect(tab.get_by_text(DONE)).to_be_visible()
    expect(tab.get_by_role("heading", name="Without these")).to_be_visible()
    expect(first).to_contain_text("out")
    tiles(tab, "support_gallery").nth(1).click()
    expect(tab.get_by_text("2 examples excluded")).to_be_visible()
    settle(tab)
    shared = tab.url
    assert "take_out=" in shared

    first.click()  # a second time
    expect(tab.get_by_text("1 example excluded")).to_be_visible()
    tab.get_by_role("button", name="Restore").click()
    expect(tab.get_by_text("Which predictions depend on these examples?")).to_be_visible()
    assert "take_out=" not in tab.url

    visit(tab, shared)
    expect(tab.get_by_text("2 examples excluded")).to_be_visible()
    expect(tab.get_by_text(DONE)).to_be_visible()
