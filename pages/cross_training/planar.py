"""Editing in the plane: what a rule throws away, why, and what it costs; every rule beside the others; and one point,
what the machines of the first stage say of it, and what became of it."""

import time
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from data import DataError, load
from pages.cross_training import compared
from pages.cross_training.setting import MAX_FLIPPED, POINT, STAND_IN, TESTS, Sample, Setting, form, sample, usual
from pages.ui.figures import crossing, edited
from pages.ui.figures.crossing import Line, ends, growth, growth_of_svs
from pages.ui.figures.frame import chart, show, side_by_side, worded
from pages.ui.figures.maps import grid
from pages.ui.kit import parameters, present, state, words
from pages.ui.kit.ways import button
from svmcore import RBF, SVC
from svmcore.methods.editing import RULES, CrossTrainingSVC, EditingSVC, roles
from svmcore.methods.editing.roles import KEPT

PLAIN, CROSS = "plain", "cross-training"
MAX_PAIRS = 200_000  # that a machine may move: a second or so
SIDE = 80  # nodes of the grid along an axis


class Trained(NamedTuple):
    """A machine and what it was trained on; rows count in the Sample."""

    role: np.ndarray  # (n,) of each training example (svmcore.methods.editing.roles); all KEPT for the plain machine
    support: np.ndarray  # (m,) rows that are support vectors
    bound: np.ndarray  # rows of them at C
    right: np.ndarray  # (tests,) bool, by the labels as they are
    right_noisy: np.ndarray  # (tests,) bool, by labels as noisy as those that trained
    seconds: float  # of training, editing included
    field: tuple  # xs, ys, f
    ending: str  # why training ended above tol, if it did
    margins: np.ndarray | None = None  # (s, n) y f of each machine of the first stage, of cross-training alone
    mean: np.ndarray | None = None  # (n,) of the margins
    variance: np.ndarray | None = None  # (n,)


def trained(setting: Setting, rule: str = PLAIN) -> Trained:
    """The machine of all examples, or of what a rule leaves. DataError without the sample, ValueError if a subset is
    larger than a class."""
    return _trained(load(setting.dataset).content_hash, setting, rule)


@lru_cache(maxsize=512)
def _trained(content_hash: str, setting: Setting, rule: str) -> Trained:
    """content_hash: the reader's own sets can be replaced under their name."""
    given, estimator = sample(setting), _estimator(setting, rule)
    _warm()
    begun = time.perf_counter()
    estimator.fit(given.X, given.y)
    seconds = time.perf_counter() - begun
    role = np.full(len(given.y), KEPT, np.int8) if rule == PLAIN else estimator.role_
    found = _judged(estimator, given, role, seconds)
    if rule != CROSS:
        return found
    margins = given.y * np.stack([machine.decision_values(given.X)[:, 0] for machine in estimator.first_stage_])
    return found._replace(margins=margins, mean=estimator.margin_mean_, variance=estimator.margin_variance_)


@lru_cache(maxsize=1)
def _warm() -> None:
    """The first fit of a process compiles, or reads what was compiled: no part of what a machine takes."""
    X, y = np.random.default_rng(0).normal(size=(200, 2)), np.arange(200) % 2
    CrossTrainingSVC(SVC(RBF(1.0)), n_jobs=1, random_state=0).fit(X, y)


def _estimator(setting: Setting, rule: str):
    svc = SVC(RBF(setting.gamma), C=setting.C, max_iter=MAX_PAIRS)
    if rule == PLAIN:
        return svc
    if rule == CROSS:
        return CrossTrainingSVC(
            svc, n_subsets=setting.subsets, subset_size=setting.size, random_state=setting.seed, n_jobs=1
        )
    return EditingSVC(svc, rule=rule, random_state=setting.seed)


def _judged(estimator, given: Sample, role: np.ndarray, seconds: float) -> Trained:
    machine = estimator.machine_
    right = np.where(machine.decision_values(given.X_test)[:, 0] > 0, 1, -1) == given.y_test
    xs, ys, nodes = grid(given.X, SIDE, 0.06)
    f = machine.decision_values(nodes.astype(np.float32))[:, 0].reshape(SIDE, SIDE)
    used, bound = machine.coef[0] != 0, machine.bound[0]
    noisy, field = right != given.flipped_test, (xs, ys, f)
    return Trained(role, machine.support[used], machine.support[bound], right, noisy, seconds, field, estimator.ending_)


NAMES = ("plain", "edited")
LEVELS = range(0, MAX_FLIPPED + 1, 5)  # per cent
SIZES = (100, 200, 400, 800, 1600)
Trials = dict[float, tuple[Trained, Trained]]  # x -> the plain and the edited machine


def charts(setting: Setting, rule: str) -> None:
    """The charts, each point trained when it is first asked for."""
    bar = st.empty()
    subsets = " The size of the subsets grows in proportion to the number of examples." if rule == CROSS else ""
    st.caption(f"Edited machine: {RULES[rule].title}.{subsets}")
    levels = {level: setting._replace(noise=level / 100) for level in sorted({*LEVELS, round(100 * setting.noise)})}
    sizes = {  # subsets are as large a part of them
        n: setting._replace(n=n, size=max(4, 2 * round(setting.size * n / setting.n / 2)))
        for n in sorted({*SIZES, setting.n})
        if n <= _most(setting)
    }
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
    return {name: Line(list(trials), [value(both[at]) for both in trials.values()]) for at, name in enumerate(NAMES)}


def _held(trials: Trials, size, x_title: str, now: float) -> go.Figure:
    """Support vectors against x with Steinwart's line; size(x): how many examples train there."""
    errors = [min(float(np.mean(~one.right_noisy)) for one in both) for both in trials.values()]
    law = Line(list(trials), [2 * size(x) * error for x, error in zip(trials, errors, strict=True)])
    told = "the smaller test error of the two machines, with test labels flipped as often as training labels"
    return growth_of_svs(_lines(trials, lambda one: len(one.support)), law, x_title, told, now=now)


def _wrong(trials: Trials, x_title: str, now: float) -> go.Figure:
    lines = _lines(trials, lambda one: 100 * float(np.mean(~one.right)))
    figure = growth(lines, x_title, "test error, %", now=now, per_cent=True)
    said, tests = ends(lines), len(next(iter(trials.values()))[0].right)
    see = f"Errors in per cent of {tests:,} test examples, whose labels are not flipped. {said}."
    return worded(figure, f"Test errors against {x_title}: {said}.", see)


ONE_RULE = "One rule"
BELOW = ("Every rule", "Margins", "As noise and examples grow")  # the one that is open is drawn, the others take time
TITLES = {rule.title: name for name, rule in RULES.items()}
PARAMS = {"part": BELOW, "rule": TITLES, POINT: slice(0, None)}


@state.fragment
def view() -> None:
    """Widgets and figures; a change of one draws only these anew."""
    with present.form():
        setting = form()
        rule = _rule()
    try:
        given, plain = sample(setting), trained(setting)
    except DataError as error:
        st.error(words.plain(error), icon=":material/block:")
        return
    draw = {
        ONE_RULE: lambda: _closely(setting, rule, given, plain),
        BELOW[0]: lambda: _side_by_side(setting, rule, given, plain),
        BELOW[1]: lambda: _margins(setting, given),
        BELOW[2]: lambda: charts(setting, rule),
    }
    for name, place in _places().items():
        with place:
            draw[name]()
    state.tell()


def _places() -> dict[str, DeltaGenerator]:
    """What is to be drawn -> its place: one rule, and the open tab below it; while presenting, one tab alone."""
    if present.presenting():
        places, names = {}, (ONE_RULE, *BELOW)
        tabs = st.tabs(names, key="present_part", on_change="rerun")
    else:
        places, names = {ONE_RULE: st.container()}, BELOW
        tabs = parameters.tabs("part", names)
    return places | {name: tab for name, tab in zip(names, tabs, strict=True) if tab.open}


def _rule() -> str:
    title = parameters.choice("cross_training.rule", TITLES, RULES[CROSS].title)
    return TITLES[title]


def _closely(setting: Setting, rule: str, given: Sample, plain: Trained) -> None:
    """The three planes of one rule under the three questions."""
    try:
        found = trained(setting, rule)
    except ValueError as error:
        st.error(words.plain(error), title=f"{RULES[rule].title} cannot be carried out", icon=":material/block:")
        return
    points, row = _points(given), _chosen(len(given.y)) if rule == CROSS else -1
    made = f" {_made(setting)}" if given.synthetic else ""
    above = st.container()
    said = (
        f"Plain machine: **{len(plain.support):,} support vectors**, test error {compared.rate(~plain.right)}. "
        f"{RULES[rule].title}: **{len(found.support):,} support vectors**, test error {compared.rate(~found.right)}."
        f"{made}"
    )
    for name, machine in (("Plain machine", plain), (RULES[rule].title, found)):
        if machine.ending:
            st.warning(f"{name}: {words.plain(machine.ending)}.", icon=":material/hourglass_disabled:")
    grid = st.grid(3, min_column_width=280)
    with grid.cell():
        st.markdown(f"**All {len(given.y):,} examples**")
        show(edited.all_of_them(points, plain.field, plain.support, plain.bound), "edit_all")
    with grid.cell():
        st.markdown("**What was discarded, and why?**")
        show(edited.thrown_away(points, found.role, row), "edit_thrown", on_click=_picked if rule == CROSS else None)
        if row >= 0:
            st.markdown(f"{_name(given, row)} {verdict(found, row)}")
        st.markdown(_why(rule, given, found))
    with grid.cell():
        st.markdown("**What did the editing cost?**")
        figure = edited.what_is_left(points, found.role, found.field, plain.field, found.support, found.bound)
        show(figure, "edit_left")
        compared.table(_cost(plain, given), _cost(found, given))
    present.below(above).markdown(said)


def _made(setting: Setting) -> str:
    """What is said of points that were made here."""
    instead = setting.dataset == STAND_IN and usual() == STAND_IN
    return f"Synthetic points{', because the file of the banana benchmark is not on this computer' if instead else ''}."


def _points(given: Sample) -> edited.Points:
    return edited.Points(given.X, given.y, [words.in_figure(name, 20) for name in given.names])


def _why(rule: str, given: Sample, found: Trained) -> str:
    """How many went, and the reason; of labels that were flipped, how many were found out."""
    wrong, easy, back = (int((found.role == code).sum()) for code in (roles.WRONG_SIDE, roles.EASY, roles.REINSERTED))
    thrown = f"{wrong + easy:,} of {len(found.role):,} examples"
    parts = [f"**Discarded: {thrown} ({wrong:,} on the wrong side, {easy:,} easy).**"]
    if back:
        parts.append(f"{back:,} more were easy but reinserted, so that both classes keep the same number of examples.")
    parts.append(RULES[rule].why)
    if (flipped := int(given.flipped.sum())) and wrong:
        caught = int((given.flipped & (found.role == roles.WRONG_SIDE)).sum())
        parts.append(f"Of {flipped:,} flipped labels, {caught:,} lie on the wrong side and were discarded.")
    return " ".join(parts)


def _cost(one: Trained, given: Sample) -> compared.Cost:
    noisy = ~one.right_noisy if given.flipped_test.any() else one.right[:0]
    return compared.Cost(len(one.support), len(edited.left(one.role)), ~one.right, noisy, one.seconds)


def _side_by_side(setting: Setting, chosen: str, given: Sample, plain: Trained) -> None:
    """Every rule on the same points, the plain machine first."""
    st.caption(
        "MULTIEDIT removes the overlap, and CONDENSE keeps examples at the boundary. Together they do both. Full "
        "colour: retained. Pale: discarded (crosses: wrong side; dots: easy). Solid line: boundary after "
        "discarding. Dashed: boundary of the plain machine."
    )
    points = _points(given)
    grid = st.grid(4, min_column_width=200)
    with grid.cell():
        st.button(
            "Plain machine", key="look_plain", type="tertiary", width="stretch", disabled=True,
            help="The machine trained on all examples. Nothing is discarded.",
        )  # fmt: skip
        _tile(points, plain, plain, "Plain machine", "plain")
    for name, rule in RULES.items():
        with grid.cell():
            how = {"help": rule.why, "type": "primary" if name == chosen else "tertiary", "width": "stretch"}
            button(rule.title, "", f"look_{name}", st.session_state.update, {"rule": rule.title}, **how)
            try:
                _tile(points, trained(setting, name), plain, rule.title, name)
            except ValueError as error:
                st.caption(f":material/block: {words.plain(error)}")


def _tile(points: edited.Points, found: Trained, plain: Trained, title: str, name: str) -> None:
    chart(edited.side_by_side(points, found.role, found.field, plain.field, title), f"tile_{name}")
    st.caption(
        f"{len(edited.left(found.role)):,} retained, **{len(found.support):,} SVs**, test error "
        f"{compared.rate(~found.right)}"
    )


def _margins(setting: Setting, given: Sample) -> None:
    """Margin mean and variance of every example, and one of them looked at."""
    try:
        found = trained(setting, CROSS)
    except ValueError as error:
        st.error(words.plain(error), icon=":material/block:")
        return
    row = _chosen(len(given.y))
    sides = st.grid(3, min_column_width=270)
    with sides.cell(column_span=2):
        figure = crossing.margins(found.mean, found.variance, found.role, given.y, given.names, row)
        show(figure, "edit_margins", on_click=_picked)
    with sides.cell():
        _told(given, found, row)


def _chosen(n: int) -> int:
    """The point that the address names, of n; -1 for none."""
    row = parameters.read(POINT, "", [str(at) for at in range(n)])
    return int(row) if row else -1


def _picked(row: int) -> None:
    """Callback of a figure: the point that was clicked."""
    parameters.say(POINT, str(row))


def _told(given: Sample, found: Trained, row: int) -> None:
    """Its margins under every machine, their mean and variance, and the verdict."""
    if row < 0:
        st.info("Click a point in this figure, or in the figure of the discarded examples, to see its margins.",
                icon=":material/ads_click:")  # fmt: skip
        return
    st.markdown(_name(given, row))
    st.markdown(verdict(found, row))
    margins = np.sort(found.margins[:, row])
    said = ", ".join(words.minus(f"{margin:.2f}") for margin in margins)
    right = int((margins > 0).sum())
    st.caption(f"{right} of {len(margins)} machines classify this point correctly. Margins y f: {said}.")


def _name(given: Sample, row: int) -> str:
    name = words.plain(words.short(given.names[int(given.y[row] > 0)], 30))
    flipped = " Its label was flipped." if given.flipped[row] else ""
    return f"**Point {row}, labelled {name}.**{flipped}"


MARGINS = "Here m is the mean and v the variance of its margins."


def verdict(found: Trained, row: int) -> str:
    """The rule's sum for an example, and what follows."""
    m, v, role = found.mean[row], found.variance[row], int(found.role[row])
    low, high = words.minus(f"{m + v:.2f}"), words.minus(f"{m - v:.2f}")
    sums = {
        roles.WRONG_SIDE: f"m + v = {low} is below 0: the machines agree that the point lies on the **wrong side**. It "
        "is discarded.",
        roles.EASY: f"m − v = {high} is above 1: the machines agree with a wide margin, so the point would not become "
        "a support vector. It is **easy** and discarded.",
        roles.REINSERTED: f"m − v = {high} is above 1, so the point is easy. It is **reinserted** so that both classes "
        "keep the same number of examples.",
        roles.VALIDATION: "The point is held out: it is used to choose C and the thresholds, not for training.",
    }
    kept = f"m + v = {low} is not below 0 and m − v = {high} is not above 1, so the point is **kept**."
    said = sums.get(role, kept)
    return said if role == roles.VALIDATION else f"{said} {MARGINS}"
