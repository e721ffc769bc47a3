"""Runs go on whatever the page does: cancelled and followed by another, reloaded, edited under their feet."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import running_app
from tests.browser.steps import OUTCOME, expect_state, press, run_id, settle, start, visit

LONG = "/train?dataset=mnist-5k&method=vsv&jitters=box:1&slow_motion=true"
WATCHABLE = "/train?dataset=mnist-5k&n_train=1000&n_test=500&slow_motion=true"


LAG = 300  # ms that two parts of one update may be apart in a busy browser
RECORD = """() => { window.seen = []; const look = () => {
  const state = document.querySelector("[data-testid=stMain] .stMarkdownBadge")?.innerText.split(/\\s+/).pop()
  const cancel = document.querySelector(".st-key-cancel button")
  const now = [state, cancel && !cancel.disabled], last = seen.at(-1)
  if (!last || last[1] !== now[0] || last[2] !== now[1]) seen.push([performance.now(), ...now])
  requestAnimationFrame(look) }; look() }"""


def all_runs(server):
    return {path.name for path in (server.home / "runs").iterdir()}


def test_hurried_clicks_make_one_run_the_next_one_queues_and_cancel_says_so(server, tab):
    visit(tab, server.url + LONG + "&C=1.5")  # at work until it is cancelled, however slow the browser is
    before, box = all_runs(server), tab.locator(".st-key-start button").first.bounding_box()
    for _ in range(6):  # on where Start was, whatever lies there by then
        tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        tab.wait_for_timeout(120)
    expect_state(tab, "running", 90)
    first = run_id(tab)
    assert all_runs(server) - before == {first}
    cancel = tab.locator(".st-key-cancel button").first.bounding_box()
    assert cancel["x"] > box["x"] + box["width"]

    visit(tab, server.url + LONG + "&C=7")  # a run of seconds would go first
    start(tab)
    expect_state(tab, "queued", 10)
    expect(tab.get_by_text("Next in the queue")).to_be_visible()
    expect(tab.get_by_test_id("stSkeleton")).to_have_count(0)
    tab.locator(".st-key-queue_panel").get_by_role("button", name="Remove").click()
    expect_state(tab, "cancelled", 10)

    visit(tab, f"{server.url}/train?run={first}")
    tab.evaluate(RECORD)
    press(tab, "cancel")
    expect_state(tab, "cancelled", 10)
    clicked, *then = tab.evaluate("seen")
    assert clicked[1] == "running"
    assert "running" not in [state for _, state, _ in then[1:]]
    late = [when for when, state, enabled in then if state == "cancelled" and enabled]
    assert not late or late[-1] - late[0] < LAG  # the badge is drawn first, the button a moment later

    press(tab, "change")
    expect(tab.locator(".st-key-recipe_C input").first).to_have_value("1.5")
    expect(tab).to_have_url(re.compile("method=vsv"))
    tab.reload()
    settle(tab)
    expect(tab.locator(".st-key-recipe_C input").first).to_have_value("1.5")
    tab.locator(".st-key-recipe_C input").first.fill("4")
    tab.locator(".st-key-recipe_C input").first.press("Enter")
    expect(tab.get_by_text("C 1.5 → 4")).to_be_visible()
    press(tab, "recipe_undo")
    expect(tab.locator(".st-key-recipe_C input").first).to_have_value("1.5")


@pytest.mark.ci
def test_cancel_a_long_run_and_start_another(server, tab):
    visit(tab, server.url + LONG)
    long = start(tab)
    expect_state(tab, "running", 90)
    expect(tab.get_by_test_id("stMetric").first).to_be_visible()
    press(tab, "cancel")
    expect_state(tab, "cancelled", 10)

    visit(tab, f"{server.url}/train?dataset=digits-8x8&run={long}")
    assert start(tab) != long
    expect_state(tab, "done")
    expect(tab.get_by_text(OUTCOME).first).to_be_visible()


@pytest.fixture
def edited(server, tmp_path):
    """A server that looks for edits of its pages."""
    with running_app(server.tree, tmp_path / "home", "--server.fileWatcherType=auto") as running:
        yield running


GOES_ON = re.compile("running|done")  # a slow page may be back after the end of the run


@pytest.mark.ci
def test_a_reload_and_an_edit_of_a_page_leave_the_run_alone(edited, tab):
    visit(tab, edited.url + WATCHABLE)
    run = start(tab)
    expect_state(tab, "running", 90)
    expect(tab.get_by_test_id("stMetric").first).to_be_visible()
    tab.reload()
    settle(tab)
    assert run_id(tab) == run
    expect_state(tab, GOES_ON)
    page = edited.tree / "pages" / "train.py"
    text = page.read_text()
    page.write_text(f'{text}\nst.subheader("Train, edited")\n')
    try:
        tab.reload()
        expect(tab.get_by_role("heading", name="Train, edited")).to_be_visible()
        assert run_id(tab) == run
        expect_state(tab, GOES_ON)
        expect_state(tab, "done", 90)
    finally:
        page.write_text(text)  # the shared server's page too
