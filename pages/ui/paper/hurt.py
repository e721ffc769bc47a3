"""When does invariance hurt? A map of all pairs of digits and jitters: how much the errors change by virtual SVs.

DeCoste and Schölkopf, Machine Learning 46 (2002), section 6: obviously excessive distortions should be seen by
cross-validation; how far others can be applied safely is left open.
"""

import numpy as np
import streamlit as st

from pages.ui.figures import validation
from pages.ui.figures.frame import show
from pages.ui.kit import parameters, words
from pages.ui.run import polling, stored
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipes.pairs import HURT, HURT_GROUP, HURTS

JUDGES = {"test": "800 test digits", "validation": "Five folds of the 200"}


def draw() -> None:
    """How many of its runs there are, the buttons, and the map of those."""
    recipes = [recipe for of_pair in HURT.values() for recipe in of_pair.values()]
    found = stored.stored(recipes)
    working = [run.id for run in found if run is not None and run.state in stored.runs.ACTIVE]
    with st.container(horizontal=True, vertical_alignment="center"):
        stored.buttons(recipes, found, "Run all pairs", "One short run for each pair of digits and jitter set.",
                       key="hurt", group=HURT_GROUP)  # fmt: skip
        if left := sum(run is None for run in found):
            st.caption(
                f"{len(found) - left} of {len(found)} runs are stored or at work; the others take about "
                f"{words.duration(left * estimate(recipes[-1]).seconds)}.",
                width="content",
            )
    by = parameters.choice(
        "judged", "Judged on", JUDGES, key="hurt_judged", format_func=JUDGES.get,
        help="What cross-validation sees beforehand, or what is so.",
    )  # fmt: skip
    polling.poll_all(working, lambda statuses: _map(found, by))


def changes(found: list, by: str) -> np.ndarray:
    """Error rates less those without jitters, in per cent points: (45, J - 1), NaN where a run is missing."""
    rates = [run.result if run is not None else None for run in found]
    rates = [(one if by == "test" else one["validation"])["error_rate"] if one else np.nan for one in rates]
    rates = 100 * np.reshape(rates, (len(HURT), len(HURTS)))
    return rates[:, 1:] - rates[:, :1]


def _map(found: list, by: str) -> None:
    test, seen = (changes(found, judge) for judge in JUDGES)
    if np.isfinite(test).any():
        names = [f"{a} {b}" for a, b in HURT]
        show(validation.invariance_map(names, HURTS[1:], seen if by == "validation" else test, test, seen), "hurt_map")
