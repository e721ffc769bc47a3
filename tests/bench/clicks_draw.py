"""How soon machines answer about a drawing: strokes and nudges in a browser, on machines of any size.

    python -m tests.bench.clicks_draw RUN [RUN ...]

serves the app with the home of SVMLAB_HOME, draws 20 strokes (each a digit of its own: the one before is cleared by an
undo that is not counted) and presses 20 arrow keys, and prints the median and the 95th percentile of the time from the
end of each to the page with the new answers of all the runs.
"""

import sys
import time

import numpy as np

from svmcore.lab.store import runs
from tests.bench.browser import app_and_tabs
from tests.browser.steps import QUIET

N = 20
# The texts of all answers, which a stroke or a nudge changes (their margins at least).
SAID = "() => [...document.querySelectorAll('[data-testid=stMetric]')].map((m) => m.innerText).join('|')"


def strokes(rng):
    """Corners of a stroke somewhere on the canvas, as shares of its side."""
    return 0.15 + 0.7 * rng.random((4, 2))


def timed(tab, act, n_runs):
    """Seconds from `act` until another answer or margin stands there, and until all of the page is drawn."""
    before = tab.evaluate(SAID)
    started = time.perf_counter()
    act()
    changed = f"([before, n]) => {{ const now = ({SAID})(); return now !== before && now.split('|').length === n }}"
    tab.wait_for_function(changed, arg=[before, n_runs], polling=10, timeout=60_000)
    answered = time.perf_counter() - started
    tab.wait_for_function(f"() => document.querySelector('{QUIET}')", polling=10, timeout=60_000)
    return answered, time.perf_counter() - started


def settle(tab):
    tab.locator(QUIET).wait_for()
    tab.wait_for_timeout(100)


def measure(tab, n_runs):
    rng, times = np.random.default_rng(0), {"stroke": [], "nudge": []}
    board = tab.locator(".st-key-draw_canvas canvas")
    for _ in range(N):
        box = board.bounding_box()
        points = strokes(rng) * [box["width"], box["height"]] + [box["x"], box["y"]]
        tab.mouse.move(*points[0])
        tab.mouse.down()
        for point in points[1:]:
            tab.mouse.move(*point, steps=5)
        times["stroke"].append(timed(tab, tab.mouse.up, n_runs))
        settle(tab)
        tab.locator(".st-key-draw_pad .frame").focus()
        key = ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown")[rng.integers(4)]
        times["nudge"].append(timed(tab, lambda key=key: tab.keyboard.press(key), n_runs))
        settle(tab)
        tab.locator(".st-key-draw_canvas").get_by_role("button", name="Undo").click()
        settle(tab)
    return times


def main(names):
    ids = names or [runs.newest_first()[0].id]
    with app_and_tabs(runs.home()) as (server, new_tab):
        tab = new_tab()
        started = time.perf_counter()
        tab.goto(f"{server.url}/draw?run={ids[0]}&" + "&".join(f"runs={i}" for i in ids))
        tab.get_by_test_id("stMetric").nth(len(ids) - 1).wait_for(timeout=120_000)
        print(f"all machines ready after {time.perf_counter() - started:.1f} s")
        settle(tab)
        for what, seconds in measure(tab, len(ids)).items():
            for name, column in zip(("answered", "all drawn"), 1000 * np.array(seconds).T):
                low, high = np.percentile(column, (50, 95))
                print(f"{what}, {name}: median {low:.0f} ms, 95 % {high:.0f} ms of {N}; {len(ids)} machines")


if __name__ == "__main__":
    main(sys.argv[1:])
