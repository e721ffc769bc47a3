"""What is doubted in a run's data: lists of examples, each with the reason in a sentence.

A list is made once for a run, and told in positions of its data set, so that it is the same whatever was judged since.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import streamlit as st

from data import load
from pages.ui.example import evidence
from pages.ui.kit.gallery import reference
from svmcore.explain.nearest import nearest
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run

NEAREST = 5  # shown of each class
PIECE = 4096  # examples that are prepared at once


class Doubt(NamedTuple):
    """One example whose label is doubted. given, said: names of classes, of the label that it was trained or tested
    with, and of what the machines say; score: the larger, the more doubtful."""

    part: str
    row: int
    given: str
    said: str
    score: float
    sentence: str

    @property
    def key(self) -> tuple[str, int]:
        return self.part, self.row


class List(NamedTuple):
    """One kind of doubt. find(run): its examples, the most doubtful first; None where the run cannot tell."""

    title: str
    help: str
    find: Callable[[Run], list[Doubt] | None]
    none: str  # said where nothing is doubted
    warning: str = ""


class Near(NamedTuple):
    """Training examples near one that is doubted, of the class given and of the class said: rows of the data set."""

    given: list[int]
    said: list[int]


def ref(run: Run, doubt: Doubt) -> str:
    """The reference of an example, as addresses and tiles have it."""
    return reference(run.recipe.dataset, doubt.part, doubt.row)


@st.cache_data(max_entries=16, show_spinner="Looking for the nearest examples")
def near(run_id: str, doubts: tuple[Doubt, ...]) -> list[Near]:
    """The nearest training examples of every doubted one, in the machine's own distance."""
    run = runs.get(run_id)
    machine, dataset, index = run.machine(), evidence.data_of(run), run.train_index()
    names = _names(run, machine, evidence.labels(run).seen[index])
    wanted = np.array([[doubt.given, doubt.said] for doubt in doubts])
    place = {row: at for at, row in enumerate(index.tolist())}
    skip = [place.get(doubt.row, -1) if doubt.part == "train" else -1 for doubt in doubts]
    X = np.concatenate([evidence.rows_of(dataset, doubt.part, np.array([doubt.row])) for doubt in doubts])
    pieces = (evidence.prepared(run, dataset.X_train[index[at : at + PIECE]]) for at in range(0, len(index), PIECE))
    found, _ = nearest(machine.kernel, evidence.prepared(run, X), pieces, names, wanted, NEAREST, skip)
    return [Near(*([int(index[at]) for at in of_class if at >= 0] for of_class in one)) for one in found]


def _names(run: Run, machine, seen: np.ndarray) -> np.ndarray:
    """The names of the classes that examples of these labels belong to, among those that the run tells apart."""
    labels, code = np.unique(seen, return_inverse=True)
    return np.array([evidence.class_of(run, machine, label) or "" for label in labels])[code]


def swapped(run: Run) -> set[tuple[str, int]]:
    """The training examples whose label the recipe's noise swapped."""
    given = evidence.labels(run).given
    return {("train", int(row)) for row in np.flatnonzero(given != "")}


def base_label(run: Run, doubt: Doubt):
    """The label that the example has in the data set before any verdict."""
    dataset = load(run.recipe.dataset)
    base = dataset.base or dataset
    return evidence.examples(base, doubt.part)[1][doubt.row].item()


def suspects(run: Run, judged) -> list[Doubt]:
    """By margin."""
    machine = run.machine()
    names = evidence.class_names(run, machine)
    from svmcore import metrics

    true, said = (metrics.class_positions(y, machine.classes) for y in (judged.y_true, judged.y_pred))
    f = judged.decision
    f = np.column_stack([-f, f]) if f.shape[1] == 1 else f
    rows = np.arange(len(f))
    own = f[rows, true].copy()
    f = f.copy()
    f[rows, true] = -np.inf
    other = f.argmax(axis=1)
    score = f[rows, other] - own
    order = np.argsort(-score, kind="stable")[:100]
    return [
        Doubt(
            judged.split,
            int(judged.index[i]),
            names[true[i]],
            names[other[i]],
            float(score[i]),
            f"f of {names[other[i]]} is {score[i]:.2f} above that of {names[true[i]]}.",
        )
        for i in order
    ]


def _train(run):
    folded = run.folded()
    return None if folded is None else suspects(run, folded)


LISTS = {
    "train": List(
        "Training",
        "Training examples that machines which had not seen their label answer otherwise.",
        _train,
        "No training example is doubted.",
    ),
    "test": List(
        "Test",
        "Test examples that the machine answers otherwise.",
        lambda run: suspects(run, run.test()),
        "No test example is doubted.",
        "A test set makes no choice: once its labels are judged where this machine doubts them, it is no blind test of this machine any more, and Compare counts both ways.",
    ),
}
