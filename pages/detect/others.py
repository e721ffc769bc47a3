"""Other detection runs, to lay their curves beside the one looked at."""

from collections.abc import Sequence

import streamlit as st

from data import DataError
from pages.detect import judged as judging
from pages.detect import view as viewing
from pages.detect.view import View, opens_here
from pages.ui.kit import parameters, words
from pages.ui.kit.text import with_sign
from svmcore.detection.curve import OperatingPoint
from svmcore.lab.store import runs, titles
from svmcore.lab.store.runs import Run


def detection_runs() -> list[Run]:
    """All intact detection runs, newest first."""
    return [run for run in runs.newest_first() if opens_here(run)]


def compared(view: View) -> list[View]:
    """Let the reader choose among the other runs of this experiment; those chosen."""
    recipe = view.run.recipe
    alike = {
        run.id: run
        for run in detection_runs()
        if run.id != view.run.id
        and (run.recipe.dataset, run.recipe.option("experiment")) == (recipe.dataset, recipe.option("experiment"))
        and run.parts()
    }
    chosen = parameters.several("detect.beside", alike, format_func=titles.of_runs(list(alike.values())).get)
    return [found for run_id in chosen if (found := _view(alike[run_id])) is not None]


def name(view: View, among: Sequence[View]) -> str:
    """What to call another run's curve: its machine, or its title where several have the same."""
    own = view.judged.names[0]
    return own if sum(other.judged.names[0] == own for other in among) == 1 else words.short(view.run.title, 18)


def of_each_point(view: View, among: Sequence[View]) -> list[OperatingPoint]:
    """Offset 0 of machines that differ in C of their classes alone, each trained for that operating point, by
    false alarms; none where other runs are beside this one, or fewer than three in all.

    Source: DeCoste and Schölkopf (2002), section 5.2.
    """
    every = (view, *among)
    alike = {one.run.recipe.replace(C=1.0, class_weight=None).digest() for one in every}
    if len(every) < 3 or len(alike) > 1:
        return []
    return sorted((judging.trained(viewing.trial(one, 0)) for one in every), key=lambda point: point.alarms)


def differences(view: View, among: Sequence[View]) -> None:
    """By how much the others' mean rates differ from this run's, pictures drawn in pairs."""
    for other in among:
        found = viewing.difference(view, other)
        if found is None:
            st.caption(
                f"{words.plain(other.run.title)} and this run have searched different pictures so far, so there is "
                "no paired difference of their rates."
            )
        elif found.low == found.low:
            st.caption(
                f"Mean rate of {words.plain(other.run.title)} minus that of this run: {with_sign(found.value, 3)} "
                f"(95 % interval {with_sign(found.low, 3)} to {with_sign(found.high, 3)}; bootstrap over pictures, the "
                "same pictures for both runs)."
            )


def _view(run: Run) -> View | None:
    try:
        return viewing.view_of(run)
    except DataError:
        return None
