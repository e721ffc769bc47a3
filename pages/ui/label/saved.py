"""What choosing saves: known labels are hidden and answer by themselves, chosen and at random, several times over."""

from functools import partial

import streamlit as st

from data import revisions
from pages.ui.figures import asking as figures
from pages.ui.figures.frame import show
from pages.ui.kit import parameters, present, words
from pages.ui.kit.words import plain
from pages.ui.label.target import Target
from pages.ui.why.working import Work, watched
from svmcore.explain.asking import WAYS
from svmcore.lab.experiment import asking as study
from svmcore.lab.experiment.asking import Study, times_told, told
from svmcore.lab.jobs import asking
from svmcore.lab.jobs.beside import Latest
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.store.runs import Run

FEW = 4000  # training examples of a study


def draw(run: Run, to: Target) -> None:
    """The settings, the study at work, and its figure."""
    st.subheader("What choosing saves")
    if reason := study.impossible(run.recipe):
        st.caption(f"{plain(reason)} A run of the method *Support vectors* shows it.")
        return
    n = int((run.train_index() < len(to.base.y_train)).sum())  # those that had a label before any verdict
    recipe = studied(run.recipe, n)
    with present.form("The study"):
        settings = _settings(n)
    st.caption(
        f"Of {recipe.n_train:,} training examples with a label all but {settings['known']:,} hide it, and answer when "
        f"they are asked, {settings['batch']} at a time; errors are counted on test examples that are never asked. "
        f"{settings['seeds']} times over, each with another start, and another split where the recipe draws one."
    )
    work = Work(
        asking.STUDIED, asking.study_key(recipe, **settings), partial(asking.start_study, recipe, **settings), "asked",
        _bar, "The study broke off", begin="Hide labels and ask", icon=":material/play_arrow:",
        help="Trains on few labels, asks for more in each way, and counts its errors.",
    )  # fmt: skip
    watched(work, _so_far)


def studied(recipe: Recipe, n: int) -> Recipe:
    """The recipe of a run that was trained on n examples, as a study has it: without folds or verdicts, and on no more
    than FEW."""
    return recipe.replace(dataset=revisions.base_of(recipe.dataset), folds=None, bounds=False, n_train=min(n, FEW))


def _settings(n: int) -> dict:
    most, batch = min(n, FEW), study.BATCH
    with st.container(horizontal=True, vertical_alignment="bottom"):
        target = parameters.number(
            "goal", "Down to, % wrong", 0.1, 50.0, 100 * study.TARGET, 0.5,
            help="Labels are counted until the error on the test examples is first down to this.",
        )  # fmt: skip
        known = parameters.number(
            "begin", "Labels at the start", 2, max(most // 2, 3), min(study.KNOWN, max(most // 4, 2)), 1,
            help="One of each class at least, the others at random.",
        )  # fmt: skip
        last = parameters.number(
            "upto", "Labels in the end", known + 1, most, max(min(study.MOST, most), known + 1), 10,
            help="Nothing is asked for beyond that.",
        )  # fmt: skip
        seeds = parameters.number("times", "Times over", 1, 20, study.SEEDS, 1, help="Seeds, the run's own the first.")
    return {"known": known, "batch": batch, "most": last, "seeds": seeds, "target": target / 100}


def _bar(now: Latest) -> tuple[str, float]:
    return now.message, 0.0 if now.result is None else now.result.share


def _so_far(now: Latest) -> None:
    if now.state == "stopped":
        st.caption(":material/stop: Stopped; what was found until then is below.")
    if now.result is not None:
        _found(now.result)


def _found(found: Study) -> None:
    """The figure, and what it comes to in words."""
    show(figures.ways(found), "asked_ways")
    last, goal = int(found.given[-1]), f"{100 * found.target:g} %"
    lines = [f"Labels until {goal} are wrong, median and range:"]
    for way, title in WAYS.items():
        reached, times = found.reached(way), found.done and times_told(found, way)
        if not len(reached):
            continue
        saves = f" · at random {times} times as many; fewer for {found.sooner(way)} of {found.done} seeds"
        lines.append(f"- {title}: **{told(reached, last)}**{saves if times and way != 'random' else ''}")
    st.markdown("\n".join(lines))
    st.caption(
        f"With all {found.n:,} labels {100 * found.whole:.1f} % are wrong. {words.many(found.done, 'seed')} done; a "
        f"way that does not get there within {last:,} labels counts as more than that."
    )
