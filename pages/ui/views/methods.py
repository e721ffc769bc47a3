"""What methods add to the view of a task, one object a method or two.

vsv             where copies were drawn, how many of them still mattered stands below the course of the training
vsv-search      the sets tried take the place of the course of a training
editing         and cross-training: training examples are discarded before the last machine is trained
reduced         the machine of another run by fewer vectors; the sizes tried take the place of the course
"""

import streamlit as st

from pages.ui import reduction
from pages.ui.figures import curves
from pages.ui.figures.frame import show
from pages.ui.figures.validation import added, path_chart
from pages.ui.kit import numbers, ways, words
from pages.ui.kit.view import PageLink, View
from pages.ui.kit.words import percent
from pages.ui.recipe import config
from pages.ui.run import watch
from pages.ui.run.report import marks
from svmcore.lab.methods.searched import ENDINGS
from svmcore.lab.store import runs
from svmcore.methods.virtual.search import Search

DRAWS_HEAD = ("drawn", "in this round", "violate the margin", "training set", "support vectors")


def _curves_and_draws(run, progress: list[dict], key: str) -> None:
    watch.curves_over_time(run, progress, key)
    if run.result and "drawn" in run.result:
        show(curves.by_draws(run.result["drawn"]), key=f"{key}_drawn")


def _rounds(run) -> str:
    rounds = run.result.get("drawn")
    if not rounds:
        return ""
    rows = [[f"{number:,}" for number in one] for one in rounds]
    said = (
        "Virtual copies that violate the margin are added to the training set; examples that have stopped "
        "being support vectors are dropped."
    )
    return marks.section("Copies drawn", marks.table(list(DRAWS_HEAD), rows, said))


VIRTUAL = View(curves=_curves_and_draws, report={"Copies drawn": _rounds})

CAUTION = (
    "The validation errors of the chosen set are optimistic, because the set was chosen by them. The test set was not "
    "used for the choice."
)


def _search(run, last: dict) -> Search:
    """The search of a run, by its result or else by its last line of progress."""
    return Search.of(run.result["search"] if run.result else last)


def _search_metrics(run, last: dict, status) -> None:
    found = _search(run, last)
    taken = found.path[-1] if found.path else None
    shown = {
        "Sets tried": f"{len(found.tried)} of {run.recipe.option('budget')}",
        "Chosen set" if run.result else "Current best set": taken.jitters if taken else "–",
        "Validation errors": f"{taken.errors:,}" if taken else "–",
        "Time": words.duration(words.training_seconds(run.result) if run.result else last["seconds"]),
    }
    if status.state in runs.ACTIVE:
        shown |= words.left_metric(status)
    numbers.metrics({label: words.plain(value) for label, value in shown.items()})


def _search_path(run, progress: list[dict], key: str) -> None:
    found = _search(run, progress[-1])
    if not found.tried:
        now, ended = "The first jitter set is being tried.", "No jitter set was tried on all folds."
        st.caption(now if run.state in runs.ACTIVE else ended)
        return
    ending = f"{ENDINGS[found.ending]} {CAUTION}" if run.result else ""
    show(path_chart(found, ending), key=f"{key}_path")
    if run.result:
        ways.to("train", words.plain(f"Train with {run.learned.jitters}"), "play_circle", config.link(run.learned))


def _sets_tried(run) -> str:
    found = _search(run, {})
    rows = [
        [one.step, added(found.tried, r), one.forms, f"{one.errors:,}", one.folds, "chosen" if one.taken else ""]
        for r, one in enumerate(found.tried)
    ]
    said = f"Errors on {found.n:,} validation examples, in the folds tried. {CAUTION}"
    return marks.section("Sets tried", marks.table(["step", "set", "forms", "wrong", "folds", ""], rows, said))


SEARCHED = View(numbers=_search_metrics, curves=_search_path, course=_sets_tried)

THROWN = PageLink("cross_training", "See discarded examples", "Cross-training", query={"cross_view": "A run"})

EDITING = View(links=lambda run, others: [*others, THROWN] if "roles" in run.result else others)

FORM = PageLink("reduced", "See what the reduction changed", "Reduced sets", ":material/compress:")


def _sizes(run) -> str:
    found = run.result["reduction"]
    rows = [
        [*(f"{n:,.0f}" for n in (m, wrong, changed)), f"{apart:.3g}", "–" if rho2 is None else percent(rho2**0.5, 1)]
        for m, rho2, wrong, changed, apart, _ in found["path"]
    ]
    where = "are in neither the training nor the test set" if found["unseen"] else "are among the training examples"
    said = (
        f"Counted on {found['aside']:,} examples that {where}. The machine of {found['n_before']:,} vectors gets "
        f"{found['machine_errors']:,} of them wrong. rho is given as a share of the machines' length."
    )
    head = ["vectors", "wrong", "predictions changed", "difference of f, root mean square", "rho"]
    return marks.section("Sizes tried", marks.table(head, rows, said))


REDUCED = View(
    form=FORM,
    numbers=reduction.progress_metrics,
    curves=reduction.curves,
    links=lambda run, others: [FORM, *others],
    course=_sizes,
)
