"""Abstain: what a run's machine would answer if it need not answer always, what that spares and what it costs."""

import re

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.figures import ranking as figures
from pages.ui.figures.frame import side_by_side
from pages.ui.kit import parameters, present, words
from pages.ui.kit.walk import paged
from svmcore import metrics
from svmcore.lab.analyses import unsure
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

PER_PAGE = 48
PRICES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
USUAL = 0.1
LEFT, ASKED = "Wrong all the same", "Not sure"  # in the address
PARAMS = {"unsure": list(map(str, PRICES)), "calibrated": unsure.WAYS, "left": (LEFT, ASKED)}  # of the address
TITLES = {LEFT: "Remaining errors", ASKED: "Abstained"}


def section(run: Run, classes: list[str]) -> None:
    """What *not sure* costs, the answers that are left, and those that are not given."""
    if not present.presenting():  # its tab says so
        st.subheader("Abstain (reject option)")
    test, machine = run.test(), run.machine()
    true = metrics.class_positions(test.y_true, machine.classes)
    price, way, cost = _asked(classes)
    try:
        calibrated = _calibrated(run.id, way)
    except ValueError as error:
        st.info(f"{words.plain(error)}.", icon=":material/help:")
        return
    P = calibrated.P
    answer = unsure.answers(P, price, cost)
    given = answer != unsure.UNSURE
    wrong = given & (answer != true)
    _verdict(run, given, wrong)
    above = st.container()
    R = unsure.risks(P, cost)
    share, rate = unsure.coverage(-R.min(axis=1), R.argmin(axis=1) != true)
    at = (given.mean(), wrong.sum() / given.sum()) if given.any() else None
    said = figures.said_and_right(unsure.reliability(P.max(axis=1), P.argmax(axis=1) == true))
    side_by_side({"unsure_errors": figures.errors_against_answers(share, rate, at), "unsure_said": said}, 2, 380)
    with present.below(above):
        st.caption(calibrated.how)
    _examples(run, machine, true, answer, P)


def _asked(classes: list[str]) -> tuple[float, str, np.ndarray | None]:
    """What *not sure* costs, how probabilities are fitted, and what single confusions cost, None for all alike."""
    with present.form("Costs"), st.container(horizontal=True, vertical_alignment="bottom"):
        price = parameters.choice("errors.unsure", PRICES, USUAL)
        way = parameters.choice("errors.calibrated", unsure.WAYS)
        dearer = parameters.text("errors.dearer", placeholder=_example(classes))
    try:
        return price, way, costs(dearer, classes)
    except ValueError as error:
        st.error(words.plain(error), icon=":material/block:")
        return price, way, None


def _example(classes: list[str]) -> str:
    first, last = (classes[0], classes[-1]) if len(classes) else ("1", "2")  # as of a dataset that is gone
    return f"{words.short(first, 12)} > {words.short(last, 12)}: 5"


def check_costs(text: str) -> None:
    """Of an address: ValueError for what `costs` takes for no classes at all."""
    pairs = [pair for part in _parts(text) for pair in _pairs(part)[:1]]
    costs(text, list(dict.fromkeys(name for pair in pairs for name in pair)) or [""])


def _parts(text: str) -> list[str]:
    """The costs of a text, each by itself; a comma in the name of a class is none between two of them."""
    return re.split(r"(?<=[\d.])\s*,", text)


def _pairs(part: str) -> list[tuple[str, str]]:
    """The pairs of classes that a cost may be of, of names with a `>` several."""
    pair = part.rpartition(":")[0]
    return [(pair[: mark.start()].strip(), pair[mark.end() :].strip()) for mark in re.finditer(">", pair)]


def costs(text: str, classes: list[str]) -> np.ndarray | None:
    """(k, k) of `3 > 8: 5, 1 > 7: 2`, other wrong answers 1; None for an empty text. ValueError for another text."""
    if not text.strip():
        return None
    cost = 1.0 - np.eye(len(classes))
    for part in _parts(text):
        try:
            at = next(tuple(map(classes.index, pair)) for pair in _pairs(part) if {*pair} <= {*classes})
            cost[at] = float(part.rpartition(":")[2])
            if at[0] == at[1] or not 0 <= cost[at] <= 1e6:
                raise ValueError
        except (ValueError, StopIteration):
            allowed = f"two of the classes {', '.join(classes[:12])} and a number from 0, such as `{_example(classes)}`"
            raise ValueError(f"Costlier confusions: {part.strip()[:60]!r} is not a cost. Allowed: {allowed}") from None
    return cost


@st.cache_data(max_entries=16, show_spinner="Fitting probabilities")
def _calibrated(run_id: str, way: str) -> unsure.Calibrated:
    return unsure.of_run(runs.get(run_id), way)


def _verdict(run: Run, given: np.ndarray, wrong: np.ndarray) -> None:
    n, answered, left, before = len(given), int(given.sum()), int(wrong.sum()), run.result["errors"]
    rate = f" ({_percent(left / answered, 2)})" if answered else ""
    st.markdown(
        f"**The run classifies {answered:,} of {n:,} examples (coverage {_percent(answered / n, 1)}) with "
        f"{words.many(left, 'error')}{rate}.** Without abstaining it would make {words.many(before, 'error')}."
    )


def _percent(share: float, digits: int) -> str:
    return f"{100 * share:.{digits}f}\u00a0%"


def _examples(run: Run, machine: Machine, true, answer, P) -> None:
    """The errors that are left, or the examples without an answer, the least sure first."""
    which = parameters.choice("errors.left", (LEFT, ASKED), format_func=TITLES.get)
    chosen = answer == unsure.UNSURE if which == ASKED else (answer != unsure.UNSURE) & (answer != true)
    shown = np.flatnonzero(chosen)
    shown = shown[np.argsort(P[shown].max(axis=1) * (1 if which == ASKED else -1), kind="stable")]
    rows = shown[paged(len(shown), PER_PAGE, key="unsure_page", of=(run.id, which, len(shown)))]
    if not len(rows):
        st.caption("No example is in this list.")
        return
    first = "the least certain first" if which == ASKED else "the most certain first"
    evidence.answer_gallery(
        run, machine, rows, {"true": true, "likeliest": P.argmax(axis=1)}, key="unsure_gallery", sure=True,
        lower=[f"{p:.2f}" for p in P[rows].max(axis=1)],
        alt=f"{words.many(len(rows), 'test example')} with their true and likeliest classes",
        legend=f"{words.many(len(shown), 'example')}, {first}. Upper right: true → likeliest class; lower left: its "
        "probability.",
    )  # fmt: skip
