"""Support vectors and errors of the plain and of the edited machine as labels are flipped and examples are added, in
the plane: Figures 3 and 4 of Bakir, Bottou and Weston (2004), on points that can be seen."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui.edit.choice import MAX_FLIPPED
from pages.ui.edit.setting import TESTS, Setting, sample
from pages.ui.edit.solve import CROSS, PLAIN, Trained, trained
from pages.ui.figures.crossing import Line, growth
from pages.ui.figures.frame import show, worded
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
    grid = st.grid(3, min_column_width=280)
    flipped, noise = "labels flipped, %", round(100 * setting.noise)
    with grid.cell():
        show(_held(by_noise, lambda _: setting.n, flipped, noise), "edit_svs_by_noise")
    with grid.cell():
        show(_wrong(by_noise, flipped, noise), "edit_errors_by_noise")
    with grid.cell():
        show(_held(by_size, lambda n: n, "training examples n", setting.n), "edit_svs_by_n")


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


def _held(trials: Trials, size, x_title: str, now: float) -> go.Figure:
    """Support vectors against x with Steinwart's line; size(x): how many examples train there."""
    xs = list(trials)
    lines = {name: Line(xs, [len(trials[x][at].support) for x in xs]) for at, name in enumerate(NAMES)}
    law = Line(xs, [2 * size(x) * min(float(np.mean(~one.right_noisy)) for one in trials[x]) for x in xs])
    figure = growth(lines, x_title, "support vectors", law=("2 B n", law), now=now)
    said = "; ".join(f"{name}: {line.ys[0]:,} to {line.ys[-1]:,}" for name, line in lines.items())
    return worded(
        figure,
        f"Support vectors against {x_title}, {said}.",
        f"{said[0].upper()}{said[1:]}. Dotted: Steinwart's 2 B n, which the plain machine comes to with many examples; "
        "B here is the smaller error of both on test labels as noisy.",
    )


def _wrong(trials: Trials, x_title: str, now: float) -> go.Figure:
    xs = list(trials)
    lines = {name: Line(xs, [100 * float(np.mean(~trials[x][at].right)) for x in xs]) for at, name in enumerate(NAMES)}
    figure = growth(lines, x_title, "wrong on the test set, %", now=now, per_cent=True)
    tests = len(trials[xs[0]][0].right)
    said = "; ".join(f"{name}: {line.ys[0]:.1f} to {line.ys[-1]:.1f} %" for name, line in lines.items())
    return worded(
        figure,
        f"Test errors against {x_title}, {said}.",
        f"{said[0].upper()}{said[1:]} of {tests:,} test examples, whose labels are as they are.",
    )
