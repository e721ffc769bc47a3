"""What editing cost: the plain machine beside the edited one, in the plane or as runs."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.kit import words
from svmcore import metrics
from svmcore.lab.meter import search_apart
from svmcore.lab.store.runs import Run


class Cost(NamedTuple):
    """What one machine costs and what it gets wrong."""

    n_sv: int
    n_train: int  # examples that it was trained on
    wrong: np.ndarray  # (tests,) bool
    wrong_noisy: np.ndarray  # (tests,) bool, by labels as noisy as those that trained; (0,) where they are not
    seconds: float  # of training, compiling and search apart
    search: float = 0.0  # of a search for C
    index: np.ndarray | None = None  # (tests,) which examples these are
    groups: np.ndarray | None = None  # (tests,) which of them belong together, or (0,) where none do


def of_run(run: Run, n_train: int) -> Cost:
    test, result = run.test(), run.result
    noisy = test.y_noisy != test.y_pred if len(test.y_noisy) else np.zeros(0, bool)
    return Cost(result["n_union"], n_train, test.wrong, noisy, *search_apart(result), test.index, test.groups)


def table(plain: Cost | None, edited: Cost) -> None:
    """The two side by side, and whether they differ by more than chance."""
    machines = {"plain": plain, "edited": edited} if plain else {"edited": edited}
    told = {
        "Support vectors": lambda one: f"{one.n_sv:,}",
        "Trained on": lambda one: f"{one.n_train:,}",
        "Test errors": lambda one: rate(one.wrong),
        "Errors, noisy labels": lambda one: rate(one.wrong_noisy),
        "Training": lambda one: words.duration(one.seconds),
        "Search for C": lambda one: words.duration(one.search) if one.search else "–",
    }
    if not len(edited.wrong_noisy):
        del told["Errors, noisy labels"]
    if not any(one.search for one in machines.values()):
        del told["Search for C"]
    rows = [{"": name} | {who: tell(one) for who, one in machines.items()} for name, tell in told.items()]
    st.table(rows, alt="Support vectors, test errors and training time of the plain and of the edited machine")
    if plain:
        st.caption(_difference(plain, edited))


def rate(wrong: np.ndarray) -> str:
    """The share that is wrong, with its interval."""
    return metrics.rate_text(wrong.mean(), metrics.wilson(int(wrong.sum()), len(wrong)))


def _difference(plain: Cost, edited: Cost) -> str:
    few, many = sorted((plain.n_sv, edited.n_sv))
    times, way = many / max(few, 1), "fewer" if edited.n_sv < plain.n_sv else "more"
    compared = "about the same number of" if times < 1.05 else f"{times:.1f} times {way}"
    said = f"The edited machine has {compared} support vectors. Each costs one kernel evaluation per prediction."
    alike = len(plain.wrong) == len(edited.wrong)
    if not alike or (plain.index is not None and (plain.index != edited.index).any()):
        return said
    test = metrics.paired_test(plain.wrong, edited.wrong, edited.groups)
    return (
        f"{said} Errors added: {test.only_b:,} test examples; errors fixed: {test.only_a:,} "
        f"(exact McNemar test: p = {words.small(test.p_value)})."
    )
