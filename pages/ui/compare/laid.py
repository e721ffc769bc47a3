"""The runs that are compared: chosen, named by letters, and laid on one another where that can be.

The address says which (`?compare=ID&compare=ID`), which of them the others are measured against (`reference=ID`), and
what is looked at; `asked` reads it once a run of the page, `choose` puts one of its values into a widget, and `write`
makes it say what the page shows.
"""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from pages.ui.kit import parameters, words
from pages.ui.run import picker
from svmcore.lab.experiment import comparison
from svmcore.lab.experiment.comparison import Answers, Reason
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run

MOST = 6
LETTERS = "ABCDEF"
RUNS = "compared"  # session state: ids of the runs chosen
USUAL = "compare_usual"  # session state: what each parameter is by default, as far as the page has got
NAMES = ("compare", "reference", "against", "view", "shown", "change", "sheet", "asks", "roc")


class Laid(NamedTuple):
    """Runs on the same test examples: letters, runs and rows of `answers` in one order; reference: one of the rows."""

    letters: tuple[str, ...]
    runs: tuple[Run, ...]
    answers: Answers
    reference: int

    @property
    def others(self) -> list[int]:
        return [i for i in range(len(self.runs)) if i != self.reference]

    @property
    def names(self) -> list[str]:
        """What to call the classes, in the order of `answers.classes`."""
        own = self.runs[self.reference].recipe.classes
        return ["rest", str(own[0])] if len(own) == 1 else [str(c) for c in self.answers.classes]


def key(name: str) -> str:
    """Key of the widget whose value the address has under `name`."""
    return f"compare_{name}"


def asked() -> dict[str, list[str]]:
    """What the address asks for, {} when it only says what this page wrote."""
    st.session_state[USUAL] = {}
    return parameters.asked("comparison", NAMES)


def choose(found: dict, name: str, allowed: Sequence, default, of: str = "") -> None:
    """Put the value that the address has for `name` into its widget, or `default` where it has none or one that is not
    `allowed`, which is said. of: key of the widget, where it is not `key(name)`."""
    at = of or key(name)
    st.session_state[USUAL][name] = str(default)
    if found:
        st.session_state[at] = parameters.read(name, default, allowed)
    elif st.session_state.get(at) not in allowed:
        st.session_state[at] = default


def write(**values) -> None:
    """Make the address say what is shown. What is None or the default is left out: a link to this page stays as it was
    written, and the browser's way back does not end at an address that this page at once makes longer."""
    usual = st.session_state[USUAL]
    parameters.write("comparison", NAMES, {n: value for n, value in values.items() if value and value != usual.get(n)})


def pick(found: dict) -> list[Run]:
    """Let the reader choose the runs; those chosen, in their order."""
    store = {run.id: run for run in runs.everything()}
    if "compare" in found:
        wanted = list(dict.fromkeys(found["compare"]))
        for run_id in [run_id for run_id in wanted if run_id not in store][:3]:
            said = words.plain(words.short(run_id))
            st.warning(f"There is no run {said} here to compare.", icon=":material/link_off:")
        if len(wanted) > MOST:
            st.warning(f"The address names {len(wanted)} runs; the first {MOST} are shown.", icon=":material/link_off:")
        st.session_state[RUNS] = [run_id for run_id in wanted if run_id in store][:MOST]
    st.session_state[RUNS] = [run_id for run_id in st.session_state.get(RUNS, []) if run_id in store][:MOST]
    chosen = st.multiselect(
        "Runs, up to six",
        list(store),
        format_func=picker.labels(list(store.values())).get,
        max_selections=MOST,
        placeholder="two or more runs",
        key=RUNS,
        persist_state="session",
        wrap=True,
        help="The first is the reference, unless another one is chosen beside this. They are called A, B, C, … below.",
    )
    return [store[run_id] for run_id in chosen]


def lay(chosen: list[Run], found: dict) -> tuple[Laid | None, dict[str, tuple[Run, Reason]]]:
    """The runs that can be compared, and by letter those that cannot, with the reason. None when no run has answers."""
    named = dict(zip(LETTERS, chosen))
    reasons = {letter: (run, reason) for letter, run in named.items() if (reason := comparison.unfit(run))}
    fit = {run.id: letter for letter, run in named.items() if letter not in reasons}
    if not fit:
        return None, reasons
    choose(found, "reference", list(fit), next(iter(fit)))
    if len(fit) > 1:
        labels = {run_id: f"{letter} · {words.short(named[letter].title, 60)}" for run_id, letter in fit.items()}
        st.selectbox(
            "Reference",
            list(fit),
            width=420,
            format_func=labels.get,
            key=key("reference"),
            help="The run against which fixed and broken are counted.",
        )
    at = fit[st.session_state[key("reference")]]
    for letter in fit.values():
        if letter != at and (reason := comparison.why_not(named[at], named[letter])):
            reasons[letter] = named[letter], reason
    letters = tuple(letter for letter in named if letter not in reasons)
    kept = tuple(named[letter] for letter in letters)
    return Laid(letters, kept, comparison.together(list(kept)), letters.index(at)), dict(sorted(reasons.items()))
