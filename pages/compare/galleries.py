"""The examples themselves: those that a run fixes or breaks, or on which one of several stands alone, as pictures.

A click on one opens "Why" with the run that the reader asks, which becomes the run shown on every page.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np
import streamlit as st

from data import DataError
from pages.ui.compare.laid import LETTERS, Laid, key
from pages.ui.example import evidence
from pages.ui.figures import confusion
from pages.ui.kit import parameters, present, walk, words
from pages.ui.kit.gallery import Tile, gallery, open_digit, reference
from pages.ui.kit.walk import paged
from svmcore import metrics
from svmcore.lab.analyses.comparison import alone
from svmcore.metrics import OUTCOMES, class_positions, outcomes

PER_PAGE = 96
PAIR = ("fixed", "broken", "both wrong", "both right")  # in the order in which one asks


def pair(laid: Laid, b: int) -> None:
    """The change of the confusion matrix and the examples behind it."""
    a, answers, names = laid.reference, laid.answers, laid.names
    wrong = answers.wrong
    kind = outcomes(wrong[a], wrong[b])
    k = len(names)
    true, *said = (class_positions(y, answers.classes) for y in (answers.y_true, answers.y_pred[a], answers.y_pred[b]))
    cells = [true * k + answer for answer in said]  # (n,) of the confusion matrix, by the answer of either run
    filled = sorted(set(np.concatenate(cells)[np.tile(kind, 2) > 0].tolist()))
    labels = {f"{names[cell // k]} → {names[cell % k]}": cell for cell in filled}
    sides = st.grid(2, min_column_width=400)
    left, right = sides.cell(), sides.cell()
    with right:
        told = {label: words.isolated(label) or "all classes" for label in ["", *labels]}
        cell = labels.get(parameters.choice("compare.change", list(told), format_func=told.get, key=key("change")))
        within = np.ones(len(kind), bool) if cell is None else (cells[0] == cell) | (cells[1] == cell)
        rows = {name: np.flatnonzero(within & (kind == OUTCOMES.index(name))) for name in PAIR}
        with st.container(horizontal=True):
            shown = _category(rows, next((name for name in PAIR if len(rows[name])), PAIR[0]))
            asks = _asked_run(laid, (a, b), b)
        _pictures(laid, (a, b), rows[shown], shown, asks)
    with left:
        matrices = [metrics.confusion(answers.y_true, answers.y_pred[i], answers.classes) for i in (a, b)]
        above = st.container()
        confusion.show(
            confusion.change(*matrices),
            names,
            [] if cell is None else [cell],
            key="compare_change_figure",
            file="confusion-change",
            on_pick=lambda picked: _toggle(labels, picked),
        )
        with present.below(above):
            st.markdown(f"**Change of the confusion matrix from {laid.letters[a]} to {laid.letters[b]}**")


def sets(laid: Laid) -> None:
    """Of three runs or more: the examples that all get wrong, and those on which a single one stands alone."""
    letters, r = laid.letters, len(laid.runs)
    names = ["all right", "all wrong", *(f"only {x} right" for x in letters), *(f"only {x} wrong" for x in letters)]
    names += ["otherwise"] * (r > 3)
    group = alone(laid.answers.wrong)
    order = [*names[1:], names[0]]
    rows = {name: np.flatnonzero(group == names.index(name)) for name in order}
    shown = _category(rows, "all wrong")
    asks = _asked_run(laid, range(r), laid.reference)
    _pictures(laid, range(r), rows[shown], shown, asks)


SHOWN = [
    *OUTCOMES, "all right", "all wrong",
    *(f"only {letter} {how}" for letter in LETTERS for how in ("right", "wrong")),
]  # fmt: skip


def _toggle(labels: Mapping[str, int], picked: int) -> None:
    """Callback: look at the cell that was clicked, or at all again; where the kind shown has none there, at one that
    has."""
    clicked = next((label for label, cell in labels.items() if picked == cell), None)
    if clicked is not None:
        st.session_state[key("change")] = "" if st.session_state.get(key("change")) == clicked else clicked
        st.session_state["compare_clicked"] = True


def _category(rows: Mapping[str, np.ndarray], usual: str) -> str:
    """Which kind of examples is shown; how many there are stands at each."""
    values = st.session_state
    if values.pop("compare_clicked", False) and not len(rows.get(values.get(key("shown")), ())):
        values[key("shown")] = max(rows, key=lambda name: (name != "both right", len(rows[name])))
    return parameters.choice(
        "compare.shown", rows, usual, format_func=lambda name: f"{name} ({len(rows[name]):,})", key=key("shown")
    )


def _pictures(laid: Laid, runs, rows: np.ndarray, shown: str, asks: int) -> None:
    """The examples `rows` with the answers of `runs`, and whom a click asks."""
    if not len(rows):
        st.info("No test example is in this group.", icon=":material/check:")
        return
    name, split = laid.runs[asks].recipe.dataset, laid.answers.split
    walk.over(reference(name, split, index) for index in laid.answers.index[rows])
    rows = rows[paged(len(rows), PER_PAGE, key="compare_page", of=shown, name="sheet")]
    run, answers = laid.runs[laid.reference], laid.answers
    try:
        dataset = evidence.data_of(run)
        pictures = evidence.example_pictures(dataset, answers.split, answers.index[rows])
    except DataError as error:
        st.caption(f":material/hide_image: The pictures cannot be shown. {words.plain(error)}")
        return
    cut = dict(zip(laid.names, words.distinct(laid.names, 9)))
    letters = ", ".join(laid.letters[i] for i in runs)
    asked = words.plain(words.short(laid.runs[asks].title, 60))
    why = f"Click a picture to see the reasons for the prediction of {laid.letters[asks]}, *{asked}*."
    if laid.runs[asks].sample:
        why = "Samples store no machine, so they cannot explain their predictions. A run of your own can."
    gallery(
        pictures,
        [_tile(laid, list(runs), int(i), cut, asks) for i in rows],
        key="compare_gallery",
        alt=f"{len(rows)} test examples ({shown}) with the predictions of the runs above each and the true class below",
        on_pick=partial(_why, laid.runs[asks].id),
        legend=f"Above each picture: the predictions of {letters}, in this order. Below: the true class. {why}",
    )


def _asked_run(laid: Laid, runs, usual: int) -> int:
    """The run that a click on a picture asks, among `runs`."""
    letters = [laid.letters[i] for i in runs]
    picked = parameters.choice("compare.asks", letters, laid.letters[usual], key=key("asks"))
    return laid.letters.index(picked)


def _tile(laid: Laid, runs: list[int], i: int, cut: Mapping[str, str], asks: int) -> Tile:
    """cut: name of a class -> what there is room for; asks: the run whose dataset a click opens the example of."""
    answers, names = laid.answers, dict(zip(laid.answers.classes.tolist(), laid.names))
    said = [names[answers.y_pred[j, i].item()] for j in runs]
    true, index = names[answers.y_true[i].item()], answers.index[i]
    told = ", ".join(f"{laid.letters[j]} predicts {answer}" for j, answer in zip(runs, said))
    return Tile(
        "" if laid.runs[0].sample else reference(laid.runs[asks].recipe.dataset, answers.split, index),
        f"{words.test_example(answers.split, index)}, true class {true}: {told}",
        upper=(" → " if len(runs) == 2 else " ").join(cut[answer] for answer in said),
        lower=f"is {cut[true]}",
    )


def _why(run_id: str, ref: str) -> None:
    """Callback: open the example, seen by this run."""
    st.session_state["run"] = run_id
    open_digit(ref)
