"""vsv-search: the sets tried take the place of the course of a training."""

import streamlit as st

from pages.ui.figures.frame import show
from pages.ui.figures.validation import added, path_chart
from pages.ui.kit import numbers, ways, words
from pages.ui.kit.view import View
from pages.ui.recipe import config
from pages.ui.run.report import marks
from svmcore.lab.methods.searched import ENDINGS
from svmcore.lab.store import runs
from svmcore.methods.virtual.search import Search

CAUTION = (
    "Validation errors of the chosen set are optimistic, because they chose it. The test set was not used to choose."
)


def _found(run, last: dict) -> Search:
    """The search of a run, by its result or else by its last line of progress."""
    return Search.of(run.result["search"] if run.result else last)


def _numbers(run, last: dict, status) -> None:
    found = _found(run, last)
    taken = found.path[-1] if found.path else None
    shown = {
        "Sets tried": f"{len(found.tried)} of {run.recipe.option('budget')}",
        "Set found" if run.result else "Set so far": taken.jitters if taken else "–",
        "Validation errors": f"{taken.errors:,}" if taken else "–",
        "Time": words.duration(words.training_seconds(run.result) if run.result else last["seconds"]),
    }
    if status.state in runs.ACTIVE:
        shown |= words.left_metric(status)
    numbers.metrics({label: words.plain(value) for label, value in shown.items()})


def _curves(run, progress: list[dict], key: str) -> None:
    found = _found(run, progress[-1])
    if not found.tried:
        st.caption("The first set is being tried." if run.state in runs.ACTIVE else "No set was tried on all folds.")
        return
    ending = f"{ENDINGS[found.ending]} {CAUTION}" if run.result else ""
    show(path_chart(found, ending), key=f"{key}_path")
    if run.result:
        ways.to("train", words.plain(f"Train with {run.learned.jitters}"), "play_circle", config.link(run.learned))


def _course(run) -> str:
    found = _found(run, {})
    rows = [
        [one.step, added(found.tried, r), one.forms, f"{one.errors:,}", one.folds, "taken" if one.taken else ""]
        for r, one in enumerate(found.tried)
    ]
    said = f"Errors on {found.n:,} validation examples, in the folds tried. {CAUTION}"
    return marks.section("Sets tried", marks.table(["step", "set", "forms", "wrong", "folds", ""], rows, said))


VIEW = View(numbers=_numbers, curves=_curves, course=_course)
