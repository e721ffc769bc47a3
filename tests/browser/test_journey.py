"""A reader's whole way: from picking data over a run that converges before their eyes to the reasons of one error."""

import re

from playwright.sync_api import expect

from tests.browser.steps import expect_state, go_to, metric, preset, press, settle, start, tiles, visit


def watch_the_run(tab):
    """What the live part of the Train page shows until the run is done: mean gaps, galleries, each as they change."""
    gaps, galleries = [], []
    done = tab.get_by_test_id("stMain").locator(".stMarkdownBadge", has_text="done")
    while not done.is_visible():
        seen = tab.evaluate(
            """() => ({
              gap: [...document.querySelectorAll("[data-testid=stMetric]")].map((box) => box.innerText)
                .find((text) => text.startsWith("Mean gap"))?.split("\\n").at(-1),
              refs: [...document.querySelectorAll(".st-key-live_sv *, .st-key-live_errors *")]
                .flatMap((node) => [...(node.shadowRoot?.querySelectorAll("button.tile") ?? [])])
                .map((tile) => tile.dataset.ref)
            })"""
        )
        if seen["gap"] and seen["gap"] not in gaps:
            gaps.append(seen["gap"])
        if seen["refs"] and seen["refs"] not in galleries:
            galleries.append(seen["refs"])
        tab.wait_for_timeout(100)
    return [float(gap) for gap in gaps], galleries


def test_from_picking_data_to_the_reasons_of_an_error(server, tab):
    visit(tab, f"{server.url}/train?run={preset(server)}")
    go_to(tab, "Datasets")
    find = tab.get_by_placeholder("Find a dataset")
    find.fill("8 x 8")  # others' own sets may stand before it
    find.press("Enter")
    press(tab, "show_digits-8x8")
    expect(tab.get_by_role("heading", name="8 x 8")).to_be_visible()
    tab.get_by_role("link", name="Train on this dataset").click()
    expect(tab.get_by_role("heading", name="Train", level=1)).to_be_visible()
    settle(tab)
    tab.locator(".st-key-recipe_slow_motion label").click()
    start(tab)

    expect_state(tab, "running", 90)
    gaps, galleries = watch_the_run(tab)
    assert len(gaps) > 3
    assert gaps[-1] < gaps[0] / 10
    assert len(galleries) > 2  # of at least five looks (tests/test_jobs.py), a busy browser draws fewer
    settle(tab)
    headline = tab.get_by_test_id("stMain").get_by_text(re.compile(r"\d+ of 500 wrong")).first
    wrong = int(headline.inner_text().partition(" ")[0])
    assert float(metric(tab, "Mean gap")) <= 1e-3

    tab.get_by_role("link", name="errors").last.click()
    expect(tab.get_by_role("heading", name="Errors", level=1)).to_be_visible()
    expect(tiles(tab, "errors_gallery")).to_have_count(wrong)
    settle(tab)
    cell = tab.locator(".st-key-confusion [role=gridcell][data-shaded]").first
    count = int(cell.get_attribute("aria-label").rpartition(" ")[2])
    cell.click()
    expect(tiles(tab, "errors_gallery")).to_have_count(count)
    expect(tab).to_have_url(re.compile("cells="))

    label = tiles(tab, "errors_gallery").first.get_attribute("aria-label")
    tiles(tab, "errors_gallery").first.click()
    dialog = tab.get_by_role("dialog")
    expect(dialog).to_contain_text(f"predicted {re.search('predicted (.)', label)[1]}", ignore_case=True)
    expect(tab.locator(".st-key-why_waterfall button.toggle").nth(7)).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)

    tab.locator(".st-key-cells").get_by_role("button", name=re.compile("^Remove")).click()
    expect(tiles(tab, "errors_gallery")).to_have_count(wrong)
