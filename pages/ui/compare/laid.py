"""The runs that are compared: chosen, named by letters, and laid on one another where that can be.

The address says which (`?compare=ID&compare=ID`), which of them the others are measured against (`reference=ID`), and
what is looked at.
"""

from typing import NamedTuple

from pages.ui.kit import parameters, words
from svmcore.lab.analyses import comparison
from svmcore.lab.analyses.comparison import Answers, Reason
from svmcore.lab.store import runs, titles
from svmcore.lab.store.runs import Run

MAX_RUNS = 6
LETTERS = "ABCDEF"
RUNS = "compared"  # session state: ids of the runs chosen


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


def pick() -> list[Run]:
    """Let the reader choose the runs; those chosen, in their order."""
    store = {run.id: run for run in runs.everything()}
    chosen = parameters.several(
        "compare.compare",
        store,
        key=RUNS,
        format_func=titles.of_runs(list(store.values())).get,
        max_selections=MAX_RUNS,
    )
    return [store[run_id] for run_id in chosen]


def lay(chosen: list[Run]) -> tuple[Laid | None, dict[str, tuple[Run, Reason]]]:
    """The runs that can be compared, and by letter those that cannot, with the reason. None when no run has answers."""
    named = dict(zip(LETTERS, chosen))
    reasons = {letter: (run, reason) for letter, run in named.items() if (reason := comparison.unfit(run))}
    fit = {run.id: letter for letter, run in named.items() if letter not in reasons}
    if not fit:
        return None, reasons
    labels = {run_id: f"{letter} · {words.short(named[letter].title, 60)}" for run_id, letter in fit.items()}
    reference = parameters.choice("compare.reference", fit, key=key("reference"), alone=False, format_func=labels.get)
    at = fit[reference]
    for letter in fit.values():
        if letter != at and (reason := comparison.why_not(named[at], named[letter])):
            reasons[letter] = named[letter], reason
    letters = tuple(letter for letter in named if letter not in reasons)
    kept = tuple(named[letter] for letter in letters)
    return Laid(letters, kept, comparison.together(list(kept)), letters.index(at)), dict(sorted(reasons.items()))
