"""Detection as a reader meets it: a run that grows part by part, its operating point, a window's reasons; own pictures
and photographs."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from svmcore.lab.presets import RECIPES
from tests.browser.steps import expect_state, press, settle, tiles, visit

WATCHABLE = urlencode(RECIPES["volcano-synthetic"].replace(slow_motion=True).to_query())
COUNTED = re.compile(r"SVM: ([\d,]+) of ([\d,]+) \w+ detected \(\d+ %\) with ([\d,]+) false alarms")
JUDGED = re.compile(r"([123]) of 4 splits are evaluated")
KINDS = (
    "detected",
    "missed, score below",
    "missed, no candidate",
    "false alarm",
)  # that marks on the picture begin with
POINTS = """() => {
  const figure = document.querySelector(".st-key-froc .js-plotly-plot"), { xaxis, yaxis } = figure._fullLayout
  const line = figure._fullData.find((trace) => trace.mode === "markers" && trace.customdata)
  const box = figure.getBoundingClientRect()
  return Array.from(line.x, (x, i) => ({ label: line.customdata[i], x: box.x + xaxis._offset + xaxis.c2p(xaxis.d2c(x)),
    y: box.y + yaxis._offset + yaxis.c2p(line.y[i]) }))
}"""


def test_from_the_form_to_the_reasons_of_a_window(server, tab):
    visit(tab, f"{server.url}/detect?{WATCHABLE}")
    expect(tab.get_by_text("8 pictures, 189 volcanoes.")).to_be_visible()
    press(tab, "detect_start")
    watch_a_part_finish(tab)
    expect_state(tab, "done", 90)
    expect(tab.get_by_text(JUDGED)).to_have_count(0)
    expect(tiles(tab, "detect_strip")).to_have_count(8)
    settle(tab)
    by_the_slider_fewer_are_shown(tab)
    by_the_curve_as_many_as_clicked(tab)
    the_reasons_of(tab, tab.locator(".st-key-detect_picture svg g[data-ref]").first)
    the_reasons_of(tab, tiles(tab, "detect_windows").first)


def watch_a_part_finish(tab):
    """The curve and the picture stand before the run is done."""
    expect(tab.get_by_text(JUDGED)).to_be_visible(timeout=90_000)
    expect_state(tab, "running", 1)
    expect(tab.locator(".st-key-froc .js-plotly-plot").last).to_be_visible()
    expect(tab.locator(".st-key-detect_picture svg image").last).to_be_visible()
    assert len(tab.evaluate(POINTS)) > 10


def by_the_slider_fewer_are_shown(tab):
    (found, n, alarms), marks = slide(tab, "End")
    (fewer, same, none), left = slide(tab, "Home")
    assert (same, none) == (n, 0)
    assert 0 < fewer < found
    assert alarms > 100
    assert left["false alarm"] == 0 < marks["false alarm"]
    assert 0 < left["detected"] < marks["detected"]
    low = "missed, score below"
    assert left["detected"] + left[low] == marks["detected"] + marks[low]


def slide(tab, key):
    """Press a key on the slider of the operating point; the counts and marks then."""
    slider = tab.locator(".st-key-fa input[type=range]")
    slider.focus()
    tab.keyboard.press(key)
    aim = float(tab.locator(".st-key-fa input").get_attribute("aria-valuetext"))
    expect(tab.get_by_text(f"with {round(8 * aim):,} false alarms in 8 pictures")).to_be_visible()
    settle(tab)
    return now(tab)


def by_the_curve_as_many_as_clicked(tab):
    tab.locator(".st-key-froc").scroll_into_view_if_needed()
    point = next(point for point in tab.evaluate(POINTS) if float(point["label"]) >= 4)
    tab.mouse.click(point["x"], point["y"])
    alarms = round(8 * float(point["label"]))
    expect(tab.get_by_text(f"with {alarms} false alarms in 8 pictures")).to_be_visible()
    settle(tab)
    strip = " ".join(tile.get_attribute("aria-label") for tile in tiles(tab, "detect_strip").all())
    assert sum(map(int, re.findall(r"(\d+) false alarms?", strip))) == alarms
    shown = re.search(r"(\d+) of \d+ detected, (\d+) false alarms?, shown large", strip)
    marks = now(tab)[1]
    assert [marks["detected"], marks["false alarm"]] == [int(n) for n in shown.groups()]


def the_reasons_of(tab, window):
    """Click a mark or a tile: its dialog tells the score that it announced, from the chip to the support vectors."""
    score = re.search(r"score (-?[\d.]+)", window.get_attribute("aria-label"))[1]
    window.click()
    dialog = tab.get_by_role("dialog")
    expect(dialog).to_be_visible()
    settle(tab)  # at first it may still have the window that was shown before
    expect(dialog).to_contain_text("The window covers a volcano")
    expect(dialog).to_contain_text(re.compile(r"against\) = [+−]"))
    total = re.search(r"against\) = ([+−][\d.]+)", dialog.inner_text())[1].replace("−", "-")
    assert float(total) == pytest.approx(float(score), rel=0.01, abs=0.001)
    for stage in ("as cut", "standardise", "unit-norm"):
        expect(dialog.get_by_role("button", name=f"The window, {stage}")).to_be_visible()
    expect(tiles(tab, "window_reasons").nth(9)).to_be_visible()
    expect(tiles(tab, "window_near_1").first).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    expect(tab).not_to_have_url(re.compile("window="))


def now(tab):
    """(found, objects, false alarms) in words, and how many marks of each kind are on the picture."""
    words = [int(n.replace(",", "")) for n in COUNTED.search(tab.get_by_test_id("stMain").inner_text()).groups()]
    marks = tab.locator(".st-key-detect_picture svg g").locator("title").all_text_contents()
    return words, {kind: sum(text.startswith(kind) for text in marks) for kind in KINDS}
