"""Active learning: the unlabelled examples whose labels would change the machine most are shown first. The machine is
retrained with each label, and its errors on the run's test examples are drawn beside it.

What choosing saves: known labels are hidden and answer by themselves, chosen and at random, several times over.
"""

from contextlib import suppress

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from data import revisions
from pages.labels import gives, judge
from pages.labels.doubtful import Doubt
from pages.labels.judge import Judging
from pages.labels.target import Target
from pages.ui.example import evidence
from pages.ui.figures.frame import bare, log_ticks, show, worded
from pages.ui.figures.traces import line, names
from pages.ui.kit import parameters, present, state, words
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from pages.ui.kit.words import plain
from pages.ui.why.working import Work, watched
from svmcore import metrics
from svmcore.explain.asking import WAYS
from svmcore.lab.analyses import asking as study
from svmcore.lab.analyses.asking import Study, label_range, times_told
from svmcore.lab.analyses.without import why_not
from svmcore.lab.jobs import analyses
from svmcore.lab.jobs.analyses import Labels, Next
from svmcore.lab.jobs.background import Busy, TaskStatus
from svmcore.lab.recipe import Recipe
from svmcore.lab.store.runs import Run

COLOURS = {"nearest": BLUE, "spread": GREY, "random": ORANGE}
DASHES = {"nearest": "solid", "spread": "dash", "random": "solid"}
SHADES = {BLUE: "rgba(0, 114, 178, 0.15)", ORANGE: "rgba(213, 94, 0, 0.15)"}
APART = 1.15  # times, on a log axis: names at the ends of lines


def error_curve(now: Next) -> go.Figure:
    """Test errors against the labels that were given, with their 95 % intervals."""
    figure = bare("labels given", "wrong, %", height=200, margin_r=30, hovermode="x")
    xs, wrong = list(now.curve), list(now.curve.values())
    bounds = np.array([metrics.wilson(errors, now.t) for errors in wrong])
    _band(figure, xs, 100 * bounds[:, 0], 100 * bounds[:, 1], BLUE)
    told = f"%{{x:,}} labels given: %{{customdata:,}} of {now.t:,} test examples wrong, %{{y:.2f}} %"
    rates = [100 * errors / now.t for errors in wrong]
    line(figure, xs, rates, BLUE, told, points=True, marker_size=6, customdata=wrong)
    figure.update_yaxes(rangemode="tozero")
    figure.update_xaxes(range=[-0.5, max(xs[-1], 10) + 0.5])
    first, last = (f"{100 * errors / now.t:.1f} %" for errors in (wrong[0], wrong[-1]))
    told = f"{first} of {now.t:,} test examples are wrong with the {now.known:,} initial labels"
    now_said = f", and {last} with {words.many(xs[-1], 'further label')}" if xs[-1] else ""
    told += now_said
    return worded(figure, f"Errors against labels given: {told}.", f"{told}. Shaded: 95 % interval.")


def ways(found: Study) -> go.Figure:
    """Mean errors of each way over the seeds, between the lowest and the highest of them; the target as a line."""
    figure = bare("labels", "wrong, %", hovermode="x", yaxis_type="log")
    ends, least = [], 50 / found.t  # half an error, where there is none
    for way, title in WAYS.items():
        rates = np.maximum(100 * found.wrong[way] / found.t, least)
        rates = rates[~np.isnan(rates).any(axis=1)]
        if not len(rates):
            continue
        colour = COLOURS[way]
        if colour in SHADES:
            _band(figure, found.given, rates.min(axis=0), rates.max(axis=0), colour)
        mean = rates.mean(axis=0)
        line(figure, found.given, mean, colour, "%{y:.2f} %", of=title, dash=DASHES[way])
        ends.append((np.log10(mean[-1]), title, colour))
    names(figure, ends, np.log10(APART))
    figure.add_hline(y=100 * found.target, line={"dash": "dot", "color": GREY})
    drawn = [y for one in figure.data for y in one.y] or [100 * found.target]
    figure.update_yaxes(**log_ticks(min(drawn), max(drawn)))
    return worded(
        figure,
        f"Errors against the number of labels, for chosen and random labels, over {found.done} seeds.",
        f"Lines: mean error over {found.done} seeds. Shaded: range from the lowest to the highest error. "
        f"Dotted line: target error, {100 * found.target:g} %.",
    )


def _band(figure: go.Figure, xs, low, high, colour: str) -> None:
    for ys, fill in ((low, None), (high, "tonexty")):
        figure.add_scatter(
            x=xs, y=ys, mode="lines", line={"width": 0}, fill=fill, fillcolor=SHADES[colour], hoverinfo="skip"
        )


LEAST = 0.001  # difference of f that is told
COMING = 10  # examples that are shown to come next
PATIENCE = 2.0  # seconds that a verdict waits for the machine that follows it
FEW = 4000  # training examples of a study


def draw(run: Run, to: Target, way: str) -> None:
    """The list, and below it what choosing saves where all labels are known."""
    if not to.base.entry.unlabelled:
        st.info(
            f"Every example of {plain(to.base.entry.title)} has a label. To label new examples here, leave their "
            "label empty in your table, or put the images into a folder *unlabelled*. The study below hides known "
            "labels and measures how many labels active learning saves.",
            icon=":material/help:",
        )
    elif reason := why_not(run):
        st.warning(plain(reason), title="This run's machine cannot choose examples", icon=":material/block:")
    elif watched(_work(run, to, way), at_once=True).state == "done":
        _look(run, to, way)
    _saved(run, to)


PARAMS = {
    "ask": WAYS, "goal": slice(0.1, 50.0), "begin": slice(2, None), "upto": slice(3, None), "times": slice(1, 20),
}  # fmt: skip


def field(to: Target) -> str:
    """By what examples are asked for; nothing where there are none."""
    return "" if not to.base.entry.unlabelled else parameters.choice("labels.ask", WAYS, format_func=WAYS.get)


def given(to: Target) -> Labels:
    """What was said of the examples without a label, in the order in which they were asked for."""
    known = len(to.base.y_train)
    return tuple((row, one.label) for (part, row), one in to.standing.items() if part == "train" and row >= known)


def _work(run: Run, to: Target, way: str) -> Work:
    """The machine of the labels given until now, and what it asks for."""
    return Work(
        analyses.NEXT, (run.id, to.base.entry.name, given(to), way, COMING), "ask", lambda now: (now.message, 0.0),
        "The machine was not trained", begin="Choose the next example", stop="Stops training.",
        help="Trains on the known labels and chooses the examples to label next.",
    )  # fmt: skip


@state.fragment
def _look(run: Run, to: Target, way: str) -> None:
    """The example that is asked for, its keys, and the curve; drawn anew by itself with each verdict."""
    labels, work = given(to), _work(run, to, way)
    now = work.analysis.status(*work.of)
    if now.state == "none":
        with suppress(Busy):  # the whole page says so
            work.analysis.start(*work.of)
        now = work.analysis.wait(*work.of, timeout=PATIENCE)
    if now.state != "done":
        st.rerun()  # the whole page, which says how far it is
    _one(run, to, labels, now.result)
    st.caption(
        f"Errors are counted on the run's {now.result.t:,} test examples, which had labels from the start. Newly "
        "labelled examples are used only for training. This page cannot show how many errors a random choice of "
        "examples would give, because those examples have no labels. The study below compares active learning with a "
        "random choice, on examples whose labels are known."
    )
    if aside := now.result.aside:
        st.caption(f"{aside:,} more unlabelled examples are not considered: their kernel values do not fit in memory.")
    gives.train(run, to)


def _one(run: Run, to: Target, labels: Labels, now: Next) -> None:
    """The example that is asked for; those judged come before it in the list, so that there is a way back."""
    before = [Doubt("train", row, "", "", 0.0, f"This was query number {i}.") for i, (row, _) in enumerate(labels, 1)]
    machine = run.machine()
    called = dict(zip(machine.classes.tolist(), evidence.class_names(run, machine)))
    name = lambda label: str(called.get(label, label))  # noqa: E731
    coming = [
        Doubt("train", row, "", name(said), -lead, _sentence(name(second), lead, len(called) == 2, now.left))
        for row, said, second, lead in zip(now.rows, now.said, now.second, now.lead, strict=True)
    ]
    if not coming:
        st.success("Every example has been labelled.", icon=":material/check:")
    curve = lambda: show(error_curve(now), "ask_curve")  # noqa: E731
    judging = Judging(run, evidence.data_of(run), (*before, *coming), to, "next", len(labels) + now.left, curve)
    if judging.doubts:
        judge.one(judging, to.standing)


def _sentence(second: str, lead: float, two: bool, left: int) -> str:
    apart = f"{lead:.2g}" if lead >= LEAST else f"less than {LEAST:g}"
    if two:
        side = f"On the other side is class {words.minus(second)}."
        where = f"The example lies {apart} margins from the separating plane. {side}"
    else:
        where = f"The second largest f is {apart} below the largest. It belongs to class {words.minus(second)}."
    return f"{where} {words.many(left, 'example')} {'has' if left == 1 else 'have'} no label yet."


def _saved(run: Run, to: Target) -> None:
    """The settings, the study at work, and its figure."""
    st.subheader("Labels saved by active learning")
    if reason := study.impossible(run.recipe):
        st.caption(f"{plain(reason)} Use a run of the method *Support vectors*.")
        return
    n = int((run.train_index() < len(to.base.y_train)).sum())  # those that had a label before any verdict
    recipe = studied(run.recipe, n)
    with present.form("The study"):
        settings = _settings(n)
    st.caption(
        f"The study uses {recipe.n_train:,} labelled training examples. It starts with {settings['known']:,} labels, "
        f"or with one per class if there are more classes; each step reveals {settings['batch']} more. Errors are "
        f"counted on separate test examples. The study runs with {words.many(settings['seeds'], 'seed')}. Each seed "
        "draws other initial labels, and another split if the recipe draws one."
    )
    work = Work(
        analyses.STUDIED, analyses.study_key(recipe, **settings), "asked",
        lambda now: (now.message, 0.0 if now.result is None else now.result.share), "The study failed",
        begin="Start the study", icon="play_arrow",
        help="Trains on few labels, adds labels by each strategy, and counts the errors.",
    )  # fmt: skip
    watched(work, _draw_study)


def studied(recipe: Recipe, n: int) -> Recipe:
    """The recipe of a run on n examples as a study trains it: without folds or verdicts, on at most FEW examples."""
    return recipe.replace(dataset=revisions.base_of(recipe.dataset), folds=None, bounds=False, n_train=min(n, FEW))


def _settings(n: int) -> dict:
    most, batch = min(n, FEW), study.BATCH
    with st.container(horizontal=True, vertical_alignment="bottom"):
        target = parameters.number("labels.goal", 0.1, 50.0, 100 * study.TARGET, 0.5)
        known = parameters.number("labels.begin", 2, max(most // 2, 3), min(study.KNOWN, max(most // 4, 2)), 1)
        last = parameters.number("labels.upto", known + 1, most, max(min(study.MOST, most), known + 1), 10)
        seeds = parameters.number("labels.times", 1, 20, study.SEEDS, 1)
    return {"known": known, "batch": batch, "most": last, "seeds": seeds, "target": target / 100}


def _draw_study(now: TaskStatus) -> None:
    """The figure, and what it comes to in words, as far as it has come."""
    if now.state == "stopped":
        st.caption(":material/stop: Stopped; the results until then are below.")
    found: Study | None = now.result
    if found is None:
        return
    show(ways(found), "asked_ways")
    last, goal = int(found.given[-1]), f"{100 * found.target:g} %"
    lines = [f"Labels needed for an error of {goal}, median and range:"]
    for way, title in WAYS.items():
        reached, times = found.reached(way), found.done and times_told(found, way)
        if not len(reached):
            continue
        saves = f" · random choice needs {times} times as many labels; this strategy needs fewer for "
        saves += f"{found.sooner(way)} of {found.done} seeds"
        lines.append(f"- {title}: **{label_range(reached, last)}**{saves if times and way != 'random' else ''}")
    st.markdown("\n".join(lines))
    st.caption(
        f"With all {found.n:,} labels the error is {100 * found.whole:.1f} %. {words.many(found.done, 'seed')} "
        f"finished. A strategy that does not reach the target with {last:,} labels is shown as > {last:,}."
    )
