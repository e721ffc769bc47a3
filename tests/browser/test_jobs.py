"""Runs go on whatever the page does: cancelled and followed by another, reloaded, edited under their feet."""

from playwright.sync_api import expect

from tests.browser.steps import OUTCOME, expect_state, metric, press, run_id, settle, start, visit

LONG = "/train?dataset=mnist-5k&kernel=linear&C=100000&tol=1e-8&preprocess=scale01"
WATCHABLE = "/train?dataset=mnist-5k&n_train=1000&n_test=500&slow_motion=true"


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


def test_pause_and_resume(server, tab):
    visit(tab, server.url + WATCHABLE)
    start(tab)
    expect_state(tab, "running", 90)
    metric(tab, "Time")  # training has begun
    press(tab, "pause")
    expect_state(tab, "paused", 10)
    before = metric(tab, "Time")
    tab.wait_for_timeout(2500)
    assert metric(tab, "Time") == before
    press(tab, "pause")
    expect_state(tab, "done", 90)


def test_a_reload_finds_the_run_still_going(server, tab):
    visit(tab, server.url + WATCHABLE)
    run = start(tab)
    expect_state(tab, "running", 90)
    expect(tab.get_by_test_id("stMetric").first).to_be_visible()
    tab.reload()
    settle(tab)
    assert run_id(tab) == run
    expect_state(tab, "running", 10)
    expect_state(tab, "done", 90)


def test_an_edit_of_a_page_leaves_the_run_alone(server, tab):
    visit(tab, server.url + WATCHABLE)
    run = start(tab)
    expect_state(tab, "running", 90)
    page = server.tree / "pages" / "train.py"
    page.write_text(page.read_text().replace('st.title("Train")', 'st.title("Train, edited")'))
    tab.reload()
    expect(tab.get_by_role("heading", name="Train, edited")).to_be_visible()
    assert run_id(tab) == run
    expect_state(tab, "running", 10)
    expect_state(tab, "done", 90)
