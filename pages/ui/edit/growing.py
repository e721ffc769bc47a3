"""Support vectors and errors of the plain and of the edited machine as labels are flipped and examples are added, in
the plane: Figures 3 and 4 of Bakir, Bottou and Weston (2004), on points that can be seen."""

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui.edit.choice import MAX_FLIPPED
from pages.ui.edit.setting import TESTS, Setting, sample
from pages.ui.edit.solve import CROSS, PLAIN, Trained, trained
from pages.ui.figures.crossing import Line, ends, growth, held
from pages.ui.figures.frame import side_by_side, worded
from svmcore.methods.editing import RULES

NAMES = ("plain", "edited")
LEVELS = range(0, MAX_FLIPPED + 1, 5)  # per cent
SIZES = (100, 200, 400, 800, 1600)
Trials = dict[float, tuple[Trained, Trained]]  # x -> the plain and the edited machine


def charts(setting: Setting, rule: str) -> None:
    """The charts, each point trained when it is first asked for."""
    bar = st.empty()
    subsets = " Subsets are as large a part of more examples." if rule == CROSS else ""
    st.caption(f"Edited: {RULES[rule].title}.{subsets}")
    levels = {level: setting._replace(noise=level / 100) for level in sorted({*LEVELS, round(100 * setting.noise)})}
    sizes = {n: _sized(setting, n) for n in sorted({*SIZES, setting.n}) if n <= _most(setting)}
    by_noise, by_size = _trials(levels, rule, bar), _trials(sizes, rule, bar)
    bar.empty()
    if not by_noise or not by_size:
        return
    flipped, noise = "labels flipped, %", round(100 * setting.noise)
    drawn = {
        "edit_svs_by_noise": _held(by_noise, lambda _: setting.n, flipped, noise),
        "edit_errors_by_noise": _wrong(by_noise, flipped, noise),
        "edit_svs_by_n": _held(by_size, lambda n: n, "training examples n", setting.n),
    }
    side_by_side(drawn, 3, 280)


def _sized(setting: Setting, n: int) -> Setting:
    """Another number of examples; subsets are as large a part of them."""
    return setting._replace(n=n, size=max(4, 2 * round(setting.size * n / setting.n / 2)))


def _most(setting: Setting) -> int:
    given = sample(setting)
    return len(given.y) + len(given.y_test) - TESTS


def _trials(settings: dict[int, Setting], rule: str, bar) -> Trials:
    """Both machines of each setting; one that cannot be is left out."""
    found = {}
    for done, (x, setting) in enumerate(settings.items()):
        bar.progress(done / len(settings), f"Training: {done} of {len(settings)}")
        try:
            found[x] = trained(setting, PLAIN), trained(setting, rule)
        except ValueError:
            continue
    return found


def _lines(trials: Trials, value: Callable[[Trained], float]) -> dict[str, Line]:
    """A line for each machine."""
    return {name: Line(list(trials), [value(both[at]) for both in trials.values()]) for at, name in enumerate(NAMES)}


def _held(trials: Trials, size, x_title: str, now: float) -> go.Figure:
    """Support vectors against x with Steinwart's line; size(x): how many examples train there."""
    errors = [min(float(np.mean(~one.right_noisy)) for one in both) for both in trials.values()]
    law = Line(list(trials), [2 * size(x) * error for x, error in zip(trials, errors, strict=True)])
    told = "the smaller error of both here on test labels as noisy"
    return held(_lines(trials, lambda one: len(one.support)), law, x_title, told, now=now)


def _wrong(trials: Trials, x_title: str, now: float) -> go.Figure:
    lines = _lines(trials, lambda one: 100 * float(np.mean(~one.right)))
    figure = growth(lines, x_title, "wrong on the test set, %", now=now, per_cent=True)
    said, tests = ends(lines), len(next(iter(trials.values()))[0].right)
    see = f"Per cent wrong: {said} of {tests:,} test examples, whose labels are as they are."
    return worded(figure, f"Test errors against {x_title}: {said}.", see)
