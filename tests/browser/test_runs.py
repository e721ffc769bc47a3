"""Runs as a reader keeps them: a report that opens without the app, and runs that are opened, ticked and deleted."""

import csv
import re

import pytest
from playwright.sync_api import expect

from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from tests.browser.steps import preset, press, settle, visit

ROW, HEAD = 33, 34  # pixels of the table's lines
DRAWN = """() => ({
  pictures: [...document.images].map((image) => image.naturalWidth),
  mute: [...document.images].filter((image) => !image.alt).length,
  charts: [...document.querySelectorAll("svg")].map((svg) => [svg.getBoundingClientRect().height, svg.ariaLabel]),
  lines: document.querySelectorAll("svg path").length,
  asked: performance.getEntriesByType("resource").filter((each) => !each.name.startsWith("data:")).length,
  wide: document.documentElement.scrollWidth - innerWidth,
})"""


def download(tab, name):
    with tab.expect_download() as caught:
        tab.get_by_role("button", name=name, exact=True).click()
    return caught.value


def test_a_report_opens_without_the_app_and_all_predictions_are_a_table(server, tab, chromium, tmp_path):
    visit(tab, f"{server.url}/runs?run={preset(server)}")
    tab.get_by_role("button", name="Export").click()
    report = tmp_path / "report.html"
    download(tab, "Report (HTML)").save_as(report)
    rows = tmp_path / "all.csv"
    download(tab, "All predictions (CSV)").save_as(rows)
    with rows.open(newline="") as file:
        predicted = list(csv.DictReader(file))
    wrong = sum(row["true"] != row["predicted"] for row in predicted)
    assert sum(name.startswith("f_") for name in predicted[0]) == 10

    context = chromium.new_context(viewport={"width": 390, "height": 800}, offline=True)
    page = context.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(report.as_uri())
    seen = page.evaluate(DRAWN)
    assert len([width for width in seen["pictures"] if width > 0]) == len(seen["pictures"]) >= wrong
    assert (seen["mute"], seen["asked"]) == (0, 0)
    assert len(seen["charts"]) == 3
    assert all(height > 50 and words for height, words in seen["charts"])
    assert seen["lines"] >= 15
    assert seen["wide"] <= 0
    assert page.get_by_text(re.compile(f"^{wrong} of {len(predicted):,} wrong")).count() == 1
    for heading in ("Recipe", "Data", "Convergence", "Classes", "Errors", "Repeat this run", "Made with"):
        assert page.get_by_role("heading", name=heading).is_visible()
    assert not said
    assert page.pdf()[:4] == b"%PDF"
    context.close()


@pytest.fixture
def swept(server, monkeypatch):
    """Three runs that were started together, put into the server's store."""
    monkeypatch.setenv("SVMLAB_HOME", str(server.home))
    group = runs.Group.of("sweep", "Choose C · for the browser", "browser")
    made = [runs.create(RECIPES["moons"].replace(C=C), None, group) for C in (0.1, 1.0, 10.0)]
    for run in made:
        run.set_state("cancelled")
        run.release()
    yield [run.id for run in made]
    runs.delete([run for run in runs.everything() if run.group == group])


def test_runs_started_together_are_opened_shown_ticked_and_deleted(server, tab, swept):
    at_first = preset(server)
    visit(tab, f"{server.url}/runs?run={at_first}")
    table = tab.get_by_test_id("stDataFrame")

    def click(row, x):
        expect(table).to_have_count(1)  # while the page is drawn anew the old one may still stand
        box = table.bounding_box()
        tab.mouse.click(box["x"] + x, box["y"] + HEAD + ROW * row + ROW / 2)
        settle(tab)

    click(0, 85)
    expect(tab).to_have_url(re.compile("open=sweep-"))
    click(2, 85)
    expect(tab).to_have_url(re.compile(f"run={swept[1]}"))
    expect(tab.locator("[class*=st-key-run_member] input")).to_have_value("C 1")
    click(1, 18)
    expect(tab.get_by_text("1 run ticked")).to_be_visible()
    click(2, 18)
    expect(tab).to_have_url(re.compile(f"compare={swept[0]}.*compare={swept[1]}"))
    press(tab, "delete_together")
    expect(tab.get_by_text("Deleted 2 runs.")).to_be_visible()
    expect(tab).not_to_have_url(re.compile("compare="))
    press(tab, "undo")
    expect(tab.get_by_text("Deleted 2 runs.")).to_have_count(0)
    expect(tab).to_have_url(re.compile(f"run={swept[1]}"))


@pytest.mark.ci
def test_words_beside_figures_are_not_cut(server, tab):
    tab.set_viewport_size({"width": 800, "height": 900})
    cut = {}
    for page in ("runs", "detect", "reduced", "digestion", "scaling", "cross_training"):
        visit(tab, f"{server.url}/{page}?run={preset(server)}")
        settle(tab)
        if page == "runs":  # where other tests have left runs, not every page begins with a figure
            tab.locator(".js-plotly-plot .main-svg").first.wait_for()
        cut[page] = tab.locator(".js-plotly-plot").evaluate_all(
            """figures => figures.flatMap(figure => {
                const right = figure.getBoundingClientRect().right
                return [...figure.querySelectorAll(".annotation text")]
                    .filter(word => word.getBoundingClientRect().right > right + 0.5).map(word => word.textContent)
            })"""
        )
    assert not any(cut.values()), cut
