"""What is doubted in a run's data: lists of examples, each with the reason in a sentence. Copies, linked pairs and
outliers are found beside the runs.

A list is made once for a run, and told in positions of its dataset, so that it is the same whatever was judged since.
"""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st

from data import load
from data.verdicts import UNLABELLED
from pages.ui.example import evidence
from pages.ui.kit import words
from pages.ui.kit.gallery import reference
from pages.ui.why.working import Work, by_stage, watched
from svmcore.explain.nearest import nearest
from svmcore.lab.analyses import suspects
from svmcore.lab.analyses.suspects import Related
from svmcore.lab.jobs import analyses
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run

MOST = 100  # examples of a list
NEAREST = 5  # shown of each class
FEW = 3  # copies of an example that are named
PIECE = 4096  # examples that are prepared at once
BAR = by_stage(list(analyses.RELATED.stages.values()))


class Doubt(NamedTuple):
    """One example whose label is doubted. given, said: names of classes, of the label that it was trained or tested
    with, and of the likeliest other one, which the machines say unless `agreed`; score: the larger, the more doubtful.
    """

    part: str
    row: int
    given: str
    said: str
    score: float
    sentence: str
    likely: bool = False  # whether the label is more likely wrong than right
    agreed: bool = False  # whether the machines say the label given, as well

    @property
    def key(self) -> tuple[str, int]:
        return self.part, self.row


class Near(NamedTuple):
    """Training examples near one that is doubted, of the class given and of the class said: rows of the dataset."""

    given: list[int]
    said: list[int]


def ref(run: Run, doubt: Doubt) -> str:
    """The reference of an example, as addresses and tiles have it."""
    return reference(run.recipe.dataset, doubt.part, doubt.row)


@st.cache_data(max_entries=16, show_spinner="Finding the nearest examples")
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


def labels(run: Run, doubt: Doubt) -> tuple:
    """The label that the example has in the dataset before any verdict, and in the run's; UNLABELLED for none."""
    dataset = load(run.recipe.dataset)
    both = (one.label(doubt.part, doubt.row) for one in (dataset.base or dataset, dataset))
    return tuple(UNLABELLED if label is None else label for label in both)


def of_ways(run: Run) -> dict[str, str]:
    """The ways in which a run doubts its training examples, the best first: name -> title."""
    return {way: suspects.WAYS[way] for way in suspects.ways(run) if way != "test"}


@st.cache_data(max_entries=16, show_spinner="Finding likely label errors")
def doubted(run_id: str, way: str) -> list[Doubt]:
    run = runs.get(run_id)
    found, machine = suspects.suspects(run, way).first(MOST), run.machine()
    names = dict(zip(machine.classes.tolist(), evidence.class_names(run, machine)))
    rows = zip(found.index, found.given.tolist(), found.rival.tolist(), found.score, found.said == found.given)
    return [
        Doubt(found.part, int(row), names[given], names[rival], float(score), found.sentence(i), i < found.likely, so)
        for i, (row, given, rival, score, so) in enumerate(rows)
    ]


def pairs(run: Run) -> list[Doubt] | None:
    """Duplicates and nearest pairs with different labels, and test examples in the training set; None until found."""
    found, label = _related(run), _labels_of(run)
    if found is None:
        return None
    doubts = [_copy(row, group.tolist(), label) for group in found.unlike_copies for row in group.tolist()]
    for row, other in found.across.tolist():
        own, of = label(found.split, row), label("train", other)
        sentence = f"It equals training example {other} (class {of}), so this test example was also used for training."
        doubts.append(Doubt(found.split, row, own, of if of != own else "", np.inf, sentence))
    for both, apart in zip(found.linked.tolist(), found.apart):
        for row, other in (both, both[::-1]):
            own, of = label("train", row), label("train", other)
            sentence = f"It and training example {other} (class {of}) are mutual nearest neighbours, {apart:.3g} apart."
            doubts.append(Doubt("train", row, own, of, -float(apart), sentence))
    once = {doubt.key: doubt for doubt in reversed(doubts)}
    return [doubt for doubt in doubts if once[doubt.key] is doubt][:MOST]


def _copy(row: int, group: list[int], label: Callable) -> Doubt:
    """A training example that others equal, some of them of another class."""
    own, others = label("train", row), {other: label("train", other) for other in group if other != row}
    told = ", ".join(f"{other} (class {of})" for other, of in list(others.items())[:FEW])
    told += f" and {len(others) - FEW:,} more" if len(others) > FEW else ""
    sentence = f"It equals {words.many(len(others), 'training example')} in every value: {told}."
    return Doubt("train", row, own, next((of for of in others.values() if of != own), ""), np.inf, sentence)


def outliers(run: Run) -> list[Doubt] | None:
    """Examples far from all others of their class; None until they are found."""
    found, label = _related(run), _labels_of(run)
    if found is None:
        return None
    typical = float(np.median(found.outlying))
    return [
        Doubt(
            "train", int(row), label("train", row), "", float(away),
            f"Its mean distance to its nearest neighbours of the same class is {away:.3g}. For a typical example it is "
            f"{typical:.3g}.",
        )
        for row, away in zip(found.outliers[:MOST], found.outlying)
    ]  # fmt: skip


def _labels_of(run: Run) -> Callable:
    """What the label of an example of a part is called, as training or the test had it."""
    seen, test, machine = evidence.labels(run).seen, load(run.recipe.dataset).y_test, run.machine()
    return lambda part, row: evidence.class_of(run, machine, (seen if part == "train" else test)[row]) or ""


class List(NamedTuple):
    """One list of examples that are doubted."""

    title: str
    help: str
    find: Callable[[Run], list[Doubt] | None] | None  # the most doubtful first; None for those of the ways of a run
    none: str  # said where there are none
    said: str = "predicted"  # what the other class of an example is called: by whom
    warning: str = ""


NONE = {  # way -> what was looked at, where it questions no training label
    "folds": "No machine trained without an example contradicts the label of that example.",
    "crossed": "Cross-training stored no margins, so it questions no label.",
    "bound": "No alpha is bounded (alpha = C): the machine fits all its training labels, so it questions none of them.",
}
_FIND = {"train": None, "test": lambda run: doubted(run.id, "test"), "pairs": pairs, "outliers": outliers, "next": None}
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
LISTS = {name: List(find=_FIND[name], **words) for name, words in _DATA.items()}


def _related(run: Run) -> Related | None:
    """What was found; None, and how far it is or why there is nothing on screen, until then."""
    work = Work(
        analyses.RELATED, (run.id,), "related", BAR, "The examples were not compared",
        begin="Compare the examples", stop="Stops the search.",
        help="Searches for duplicates, for neighbours with different labels, and for outliers.",
    )  # fmt: skip
    now = watched(work, at_once=True)
    return now.result if now.state == "done" else None
