"""The Playground in a browser: points by click and by key, copies that turn the line, the tape, and the address."""

import re
import time
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import expect

from pages.ui.play import setting, solve
from tests.browser.steps import go_to, metric, settle, visit

LINE = ".plane path.line"


def plane(tab):
    """The plane's own state, as it stands."""
    return tab.locator(".plane").evaluate(
        """(root) => ({
          version: root.dataset.version,
          frame: root.dataset.frame,
          line: root.querySelector("path.line")?.getAttribute("d"),
          sentence: root.querySelector(".sentence").textContent,
          points: root.querySelectorAll(".point:not(.pending)").length,
          virtual: root.querySelectorAll(".ring.virtual").length,
          readout: root.querySelector(".readout").textContent,
        })"""
    )


def changed(tab, before):
    """Wait until another machine is drawn; the plane's state then."""
    tab.wait_for_function(
        """(old) => { for (const host of document.querySelectorAll(".st-key-play_plane *")) {
          const root = host.shadowRoot?.querySelector(".plane")
          if (root && root.dataset.version !== old) return true } return false }""",
        arg=before["version"],
    )
    return plane(tab)


def click_at(tab, x, y):
    """Click a place of the plane in its own coordinates."""
    box = tab.locator(".plane .field svg").bounding_box()
    half = 1.02
    place = {"x": (x + half) / (2 * half) * box["width"], "y": (half - y) / (2 * half) * box["height"]}
    tab.locator(".plane .field svg").click(position=place)


def steepness(state):
    """How far the line f = 0 rises over the width of the plane, in nodes of its grid."""
    places = np.array([[float(v) for v in pair] for pair in re.findall(r"[ML]([\d.]+) ([\d.]+)", state["line"])])
    return float(np.ptp(places[:, 1]))


def shown_setting(tab):
    query = dict(pair.split("=", 1) for pair in tab.url.partition("?")[2].split("&") if "=" in pair)
    return setting.read({name: text for name, text in query.items() if name in setting.NAMES})[0]


def test_points_copies_and_the_address(server, tab):
    visit(tab, f"{server.url}/")
    expect(tab.locator(LINE)).to_be_attached()
    before = plane(tab)
    assert before["points"] == 60
    assert steepness(before) > 40

    click_at(tab, -0.5, -0.5)  # blue, deep in orange's part
    after = changed(tab, before)
    assert after["points"] == 61
    expect(tab).to_have_url(re.compile("points=b-5[01]_-5[01]|points=b-50_-50"))
    settle(tab)
    assert metric(tab, "Errors on 61 points") is not None
    assert after["line"] != before["line"]
    for title in ("Lessons", "Playground"):
        go_to(tab, title)
    tab.locator(".plane .hand").get_by_role("button", name="Undo").click()
    undone = changed(tab, after)
    assert undone["points"] == 60
    assert undone["line"] == before["line"]

    tab.locator(".st-key-play_virtual label").first.click()
    turned = changed(tab, undone)
    assert turned["virtual"] > 0
    assert steepness(turned) < 8
    settle(tab)
    assert int(metric(tab, "Errors on 400 new points")) < 20

    tab.locator(".plane .field svg").focus()  # by keyboard: a point at the cursor
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Shift+ArrowUp")
    readout = plane(tab)["readout"]
    tab.keyboard.press("Enter")
    keyed = changed(tab, turned)
    assert keyed["points"] == 61
    expect(tab).to_have_url(re.compile("points=b5_25"))
    shown = float(re.search(r"f = ([+−][\d.]+)", readout)[1].replace("−", "-"))
    solved = solve.solve(replace(shown_setting(tab), points=""))
    kernel = solve.estimator(shown_setting(tab)).estimator.kernel
    f = kernel.exact(np.array([[0.05, 0.25]], np.float32), solved.X) @ (solved.alpha * solved.sign) + solved.bias
    assert abs(shown - f[0]) < 0.006  # two digits are shown

    settle(tab)
    for k in range(4):  # quicker than they are answered
        click_at(tab, -0.9 + 0.2 * k, 0.9)
    expect(tab).to_have_url(re.compile("points=b5_25(~b-?\\d+_9\\d){4}"))
    settle(tab)
    keyed = plane(tab)
    assert keyed["points"] == 65
    tab.reload()
    settle(tab)
    expect(tab.locator(LINE)).to_be_attached()
    again = plane(tab)
    assert {name: again[name] for name in ("version", "line", "points", "virtual")} == {
        name: keyed[name] for name in ("version", "line", "points", "virtual")
    }

    tab.locator(".st-key-play_problem").get_by_text("Rings").click()  # three colours, three machines
    three = changed(tab, again)
    expect(tab.locator(LINE)).to_have_count(3)
    expect(tab.locator(".plane polygon.point")).to_have_count(20)
    settle(tab)
    tab.locator(".st-key-play_of").get_by_text("Orange").click()
    alone = changed(tab, three)
    expect(tab.locator(LINE)).to_have_count(1)
    settle(tab)
    tab.locator(".plane .hand").get_by_text("Green").click()
    click_at(tab, -0.9, 0.9)
    assert changed(tab, alone)["points"] == 61
    expect(tab).to_have_url(re.compile("of=orange.*points=g-\\d+_\\d+|points=g-\\d+_\\d+.*of=orange"))
    expect(tab.locator(".plane polygon.point")).to_have_count(21)


def test_the_tape_is_scrubbed_without_a_server(server, tab):
    visit(tab, f"{server.url}/?problem=turn&noise=0.1&C=5")
    expect(tab.locator(LINE)).to_be_attached()
    trained = plane(tab)
    tab.get_by_role("button", name="To the first step").click()
    expect(tab.locator(".plane .sentence")).to_contain_text(re.compile("^Step 0 of"))
    slider = tab.get_by_role("slider", name="Step of the tape")
    last = int(slider.get_attribute("max"))
    assert last > 30
    lines = set()
    for step in (last // 10, last // 3, last // 2):
        slider.fill(str(step))
        state = plane(tab)
        assert state["frame"] == str(step)
        assert re.match(
            rf"Step {step} of {last}: pair \d+, \d+ violates optimality by [\d.]+; the alpha.*; \d+ support",
            state["sentence"],
        )
        lines.add(state["line"])
    assert len(lines) == 3
    expect(tab).to_have_url(re.compile(f"tape={last // 2}"))  # once the hand rests
    settle(tab)
    assert plane(tab)["frame"] == str(last // 2)

    tab.reload()
    expect(tab.locator(".plane .sentence")).to_contain_text(f"Step {last // 2} of {last}")
    assert plane(tab)["line"] == state["line"]
    tab.get_by_role("button", name="To the last step").click()
    state = plane(tab)
    assert "This is the trained machine." in state["sentence"]
    assert state["line"] == trained["line"]
    tab.get_by_role("button", name="One step back").click()
    assert plane(tab)["frame"] == str(last - 1)
    tab.get_by_role("button", name="Play the tape").click()
    expect(tab.locator(".plane .sentence")).to_contain_text("This is the trained machine.")


def test_a_decomposition_is_redrawn_round_by_round_by_an_exchangeable_solver(server, tab):
    visit(tab, f"{server.url}/?problem=banana&C=1")
    expect(tab.locator(LINE)).to_be_attached()
    tab.get_by_role("button", name="Rounds", exact=True).click()
    expect(tab.locator(".plane .sentence")).to_contain_text("Play the rounds of a decomposition")
    for inner in ("", "Conjugate gradients"):
        if inner:
            tab.get_by_role("combobox", name=re.compile("Inner solver")).click()
            tab.get_by_role("option", name=inner).click()
            expect(tab.locator(".plane .sentence")).to_contain_text("Play the rounds of a decomposition")
        tab.get_by_role("button", name="To the first step").click()
        expect(tab.locator(".plane .sentence")).to_contain_text("Round 0 of")
        expect(tab.locator(".plane .point.outside")).to_have_count(58)
        expect(tab.locator(".plane circle.pair")).to_have_count(2)  # they have entered
        tab.get_by_role("button", name=re.compile("To the last step")).click()
        expect(tab.locator(".plane .sentence")).to_contain_text(
            "No pair of points violates optimality: this is the trained machine."
        )
        assert tab.locator(".plane circle.ring:not(.virtual)").count() >= 10
    expect(tab).to_have_url(re.compile("inner=conjugate-gradients"))


def test_a_path_along_c_names_its_events_and_is_followed_by_slider_chart_and_keys(server, tab):
    visit(tab, f"{server.url}/?problem=turn&noise=0.1&C=5")
    expect(tab.locator(LINE)).to_be_attached()
    tab.get_by_role("button", name="Growing C").click()
    expect(tab.locator(".plane .sentence")).to_contain_text("This is the C of the trained machine.")
    expect(tab).to_have_url(re.compile("along=C"))
    slider, chart = tab.get_by_role("slider", name="Step of the tape"), tab.locator(".plane svg.path")
    assert slider.get_attribute("max") == "120"
    frames = solve.frames(shown_setting(tab))
    alpha, kinds = np.zeros(60), []
    for changed, now, C in zip(frames["changed"], frames["alpha"], frames["C"], strict=True):
        alpha[changed] = now
        kinds.append(np.where(alpha >= C, 2, np.sign(alpha)))
    one = next(t for t in range(1, 121) if len(np.flatnonzero(kinds[t] != kinds[t - 1])) == 1)
    point = np.flatnonzero(kinds[one] != kinds[one - 1])[0]
    says = {0: "is no longer a support vector", 1: "becomes a free support vector", 2: "becomes bounded"}
    slider.fill(str(one))
    state = plane(tab)
    assert f"Point {point} {says[int(kinds[one][point])]}." in state["sentence"]
    free, bounded = (np.count_nonzero(kinds[one] == kind) for kind in (1, 2))
    assert f"({free} free, {bounded} bounded)" in state["sentence"]
    assert tab.locator(".plane circle.pair").count() == 1
    for size, present in (((1280, 720), "&present=true"), ((390, 844), "")):
        tab.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        visit(tab, f"{server.url}/?problem=turn&noise=0.1&C=5&along=C&tape={one}{present}")
        expect(tab.locator(".plane .sentence")).to_contain_text(f"Point {point} ")
        box = chart.bounding_box()
        assert box["x"] + box["width"] <= size[0]
        assert not present or box["y"] + box["height"] <= 720  # beside the plane
    tab.set_viewport_size({"width": 1440, "height": 900})

    slider.focus()
    tab.keyboard.press("ArrowRight")
    assert plane(tab)["frame"] == str(one + 1)
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] - 4, "y": 40})
    assert plane(tab)["frame"] == "120"
    assert plane(tab)["line"] != state["line"]
    expect(tab).to_have_url(re.compile("tape=120"))
    tab.reload()
    expect(tab.locator(".plane .sentence")).to_contain_text("C = 10,000")
    tab.get_by_role("button", name="Solver steps").click()
    expect(tab.locator(".plane .sentence")).to_contain_text("Play the solver's own steps")
    expect(chart).to_be_hidden()


AT_ONCE = """(root, steps) => {
  const svg = root.querySelector(".field svg"), box = svg.getBoundingClientRect()
  svg.setPointerCapture = () => {} // of no real pointer
  const at = (x, y) => ({
    clientX: box.left + (x + 1.02) / 2.04 * box.width, clientY: box.bottom - (y + 1.02) / 2.04 * box.height,
  })
  for (const [what, ...place] of steps) {
    if (place.length) for (const name of ["pointerdown", "pointerup", "click"])
      svg.dispatchEvent(new PointerEvent(name, { ...at(...place), pointerId: 1, bubbles: true }))
    else (/^[.[]/.test(what) ? root.querySelector(what) || document.querySelector(what)
      : [...root.querySelectorAll("button")].find((node) => node.textContent.endsWith(what))).click()
  }
}"""  # all in one turn of the browser: no answer of the server comes between


def at_once(tab, *steps):
    """Press buttons, by their text or as a selector, and click places ("at", x1, x2), before anything is answered."""
    tab.locator(".plane").evaluate(AT_ONCE, [list(step) for step in steps])


def points_of(tab):
    """The edits in the address, each rounded to tenths of the plane, in their order."""
    named = re.search("points=([^&]*)", tab.url)
    found = re.findall(r"([bogq])(-?\d+)_(-?\d+)|([xf]\d+)", named[1] if named else "")
    return [other or (letter, round(int(x) / 100, 1), round(int(y) / 100, 1)) for letter, x, y, other in found]


def until(tab, points):
    """Wait until the address names these edits, and the page is at rest."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and points_of(tab) != points:
        tab.wait_for_timeout(50)
    settle(tab)
    assert points_of(tab) == points


def test_a_click_does_what_the_button_pressed_last_says_before_the_server_has_answered(server, tab):
    visit(tab, f"{server.url}/?problem=rings&points=b-90_90")
    expect(tab.locator(LINE)).to_have_count(3)
    green = ("g", 0.9, 0.9)
    at_once(tab, ["Green"], ["at", 0.9, 0.9])
    until(tab, [("b", -0.9, 0.9), green])
    expect(tab.locator(".plane polygon.point")).to_have_count(21)
    at_once(tab, ["Orange"], ["at", 0.9, -0.9], ["Erase"], ["at", 0.9, -0.9], ["at", -0.9, 0.9])  # one not answered yet
    until(tab, [green])
    at_once(tab, ["Flip"], ["at", 0.9, 0.9], ["at", 0.9, 0.9], ["?"], ["at", 0.0, 0.9])  # green, blue, orange
    until(tab, [("o", 0.9, 0.9), ("q", 0.0, 0.9)])
    at_once(tab, ["Undo"], ["Undo"], ["Blue"], ["at", -0.9, 0.9])
    until(tab, [("b", 0.9, 0.9), ("b", -0.9, 0.9)])
    at_once(tab, ["at", -0.9, 0.0], ["at", -0.9, 0.0])  # a click on a point of its own colour removes it
    at_once(tab, ["Reset"], ["Orange"], ["at", 0.0, -0.9])
    until(tab, [("o", 0.0, -0.9)])
    assert plane(tab)["points"] == 61


def test_a_click_on_points_that_were_replaced_meanwhile_is_not_taken_for_one_on_the_others(server, tab):
    visit(tab, f"{server.url}/?problem=turn&points=x3")
    expect(tab.locator(LINE)).to_be_attached()
    at_once(tab, [".st-key-play_new button"], ["Orange"], ["at", 0.9, 0.9])
    expect(tab).to_have_url(re.compile("seed=1"))
    until(tab, [])
    assert plane(tab)["points"] == 60
    at_once(tab, ["at", 0.9, 0.9])
    until(tab, [("o", 0.9, 0.9)])


def test_the_tape_goes_along_what_was_chosen_last(server, tab):
    visit(tab, f"{server.url}/?problem=turn&noise=0.1&C=5")
    expect(tab.locator(LINE)).to_be_attached()
    at_once(tab, ["Growing C"], ["[aria-label^='To the first']"])
    expect(tab.locator(".plane .sentence")).to_contain_text("C = 0.01:")
    expect(tab).to_have_url(re.compile("along=C"))
    expect(tab).to_have_url(re.compile("tape=0"))


@pytest.mark.ci
def test_a_click_is_answered_soon(server, tab):
    """From the click to the machine with the new point; server and drawing take 40 ms of it where nothing else runs."""
    visit(tab, f"{server.url}/?problem=banana&virtual=true")
    expect(tab.locator(LINE)).to_be_attached()
    taken = []
    for k in range(5):
        before = plane(tab)
        began = time.perf_counter()
        click_at(tab, -0.8 + 0.3 * k, 0.9)
        changed(tab, before)
        taken.append(time.perf_counter() - began)
    assert sorted(taken)[2] < 2


def test_a_dragged_point_turns_the_line_under_way_and_undo_takes_the_whole_way_back(server, tab):
    visit(tab, f"{server.url}/?points=b-50_-50")
    expect(tab.locator(LINE)).to_be_attached()
    first = plane(tab)
    box = tab.locator(".plane .field svg").bounding_box()
    x, y = (box["x"] + box["width"] * (1.02 + side * 0.5) / 2.04 for side in (-1, 1)), box["y"]
    (left, right), below = x, y + box["height"] * 1.52 / 2.04
    tab.mouse.move(left, below)
    tab.mouse.down()
    tab.mouse.move((left + right) / 2, below, steps=4)
    under_way = changed(tab, first)
    tab.mouse.move(right, below, steps=4)
    again = changed(tab, under_way)
    tab.mouse.up()
    expect(tab).to_have_url(re.compile("points=b(49|50|51)_-5"))
    settle(tab)
    dropped = plane(tab)
    assert under_way["line"] != first["line"]
    assert again["points"] == dropped["points"] == first["points"] == 61
    tab.locator(".plane .hand").get_by_role("button", name="Undo").click()
    expect(tab).to_have_url(re.compile("points=b-50_-50"))
    settle(tab)
    assert plane(tab)["line"] == first["line"]
