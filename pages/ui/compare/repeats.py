"""Runs that were repeated with other seeds: how far each result scatters, and whether a difference stands out of it."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from data import DataError, catalogue
from pages.ui.figures import comparison
from pages.ui.figures.frame import show
from pages.ui.kit import numbers
from pages.ui.kit.text import small, with_sign
from svmcore.lab.analyses import repeats
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run
from svmcore.lab.tasks import task_of


def section(names: Sequence[str], those: Sequence[Run], reference: int = 0) -> None:
    """Bands and paired intervals of runs of one task, against one of them; nothing where no run was repeated."""
    known, what = runs.newest_first(), task_of(those[reference].recipe).rated
    found = [repeats.of(run, known) for run in those]
    rates = [repeats.rates(of_run) for of_run in found]
    if not all(rates) or max(map(len, rates)) < 2:
        return
    st.subheader("Repeated with other seeds")
    repeated = [repeats.repeats(of_run) for of_run in found]
    bands = [_of_rates(of_run) for of_run in repeated]
    show(comparison.repeated(what, names, rates, bands), "compare_repeats")
    rows = []
    for at, (name, band) in enumerate(zip(names, bands, strict=True)):
        row = {"": name, "Repeats": band.k, f"{what}, %": 100 * band.mean, "95 %": _span(band, "{:.2f}".format)}
        apart = None if at == reference else repeats.paired(repeated[at], repeated[reference])
        if apart:
            row |= {"Seeds shared": apart.k, "Difference": with_sign(100 * apart.mean)}
            row |= {"95 % interval": _span(apart, with_sign), "p": small(apart.p) if not np.isnan(apart.p) else "–"}
        rows.append(row)
    columns = {
        f"{what}, %": numbers.number(2, "Mean over the repeats."),
        "Difference": numbers.text("Difference from the reference in percentage points, paired by seed."),
        "p": numbers.text(
            "Probability of a difference this large by chance alone, over the seeds that both runs share."
        ),
    }
    alt = f"{what} of each run, mean over its repeats, and the difference from the reference"
    numbers.table(rows, alt, "compare_repeats_table", columns)
    drawn = "machines trained on other examples of the same kind. They allow for test examples that repeats share"
    draws = any(one.tested.size for of_run in repeated for one in of_run.values())
    what = drawn if draws else "other random draws of the method, on the same examples"
    st.caption(
        f"Runs with the same seed use the same examples and are compared as a pair. The intervals are valid for {what}."
    )
    if draws and any(map(_few, those)):
        st.caption(
            "The intervals are too narrow where repeats train on a small part of a small dataset. In simulations that "
            "trained on 40 to 100 of 400 to 1,000 examples, they covered the true value in 77 to 87 % of the cases, "
            "not in 95 %."
        )


def _few(run: Run) -> bool:
    """Whether a run trains on a small part of few examples."""
    try:
        pool = catalogue.entry(run.recipe.dataset).n_train
    except DataError:
        return False  # no dataset of examples, or deleted
    return pool <= repeats.FEW[0] and run.result["n_train"] <= repeats.FEW[1] * pool


def _of_rates(found: dict[int, repeats.Repeat]) -> repeats.Interval:
    """No rate is below 0 or above 1, whatever t says."""
    band = repeats.interval(found.values())
    return band._replace(low=max(band.low, 0.0), high=min(band.high, 1.0)) if not np.isnan(band.low) else band


def _span(found: repeats.Interval, told) -> str:
    return "–" if np.isnan(found.low) else f"{told(100 * found.low)} to {told(100 * found.high)}"
