"""Errors: the test examples that a run gets wrong, which classes it confuses, and how each machine fares."""

import numpy as np
import streamlit as st

from pages.errors import abstain
from pages.ui.example import decision_plane, evidence
from pages.ui.figures import confusion
from pages.ui.kit import numbers, parameters, present, walk, words
from pages.ui.kit.gallery import reference
from pages.ui.kit.walk import paged
from pages.ui.recipe import data_set
from pages.ui.run.hint import hint
from pages.ui.run.trained import another_run, to_labels, trained_run
from pages.ui.why import remedy
from svmcore import metrics

PER_PAGE = 96
ORDERS = ("Index", "Most certain", "Closest call")
BY_CLASS = {
    "digit": "class",
    "tested": numbers.count(label="test examples"),
    "errors": st.column_config.NumberColumn("errors", help="Misclassified by the whole classifier"),
    "fn": st.column_config.NumberColumn("missed (FN)", help="Examples of the class with f ≤ 0"),
    "fp": st.column_config.NumberColumn("false alarms (FP)", help="Examples of other classes with f > 0"),
    "svs": numbers.count(label="support vectors"),
    "bound": numbers.count("Support vectors with alpha = C", "bounded"),
}


def toggle_cell(clicked: str):
    """Callback: add a cell of the confusion matrix to the filter, or take it out again."""
    cells = st.session_state["cells"]
    st.session_state["cells"] = [c for c in cells if c != clicked] if clicked in cells else [*cells, clicked]


parameters.own(
    cells=data_set.check_cell, errors_by=ORDERS, page=slice(1, None), dearer=abstain.check_costs, **abstain.PARAMS
)
run = trained_run()
if run:
    machine, test = run.machine(), run.test()
    classes = evidence.class_names(run, machine)
    true, predicted = (metrics.class_positions(y, machine.classes) for y in (test.y_true, test.y_pred))
    matrix = metrics.confusion(test.y_true, test.y_pred, machine.classes)
    names = [f"{t} → {p}" for t in classes for p in classes]  # cells of the matrix, row by row
    cell = true * len(classes) + predicted
    filled = [names[i] for i in np.flatnonzero(matrix)]
    another_run(run, "errors", cells=[])

    with st.container(key="errors_line"):
        st.subheader(words.error_rate(run.result))
    if (true != predicted).any() and not present.presenting():
        st.markdown("Click an error to see **why**: which training examples contribute to the wrong prediction.")
        to_labels(run, "test")
    present.about("Errors on the test examples. In brackets: the 95 % interval of the error rate (Wilson).")
    hint(run)
    sides = st.grid(2, min_column_width=400)
    tabs = ("Confusion", "Misclassified", "Helpful invariances", "By class", "Abstain")
    beside = sides.cell()
    places = (beside.container(), sides.cell(), beside.container(), st.container(), st.container())
    left, right, fixes, below, without = present.parts(tabs, places)
    with right:
        with present.form("Which errors"), st.container(horizontal=True):
            wanted = parameters.several("errors.cells", filled, format_func=words.isolated)
            order = parameters.choice("errors.errors_by", ORDERS)
        shown = np.flatnonzero(np.isin(cell, [names.index(w) for w in wanted]) if wanted else true != predicted)
        if order != "Index":
            lead = evidence.lead(test.decision, true, predicted)[shown]
            shown = shown[np.argsort(-lead if order == "Most certain" else lead, kind="stable")]
        walk.over((reference(run.recipe.dataset, test.split, test.index[i]) for i in shown), "errors")
        rows = shown[paged(len(shown), PER_PAGE, key="errors_page", of=(run.id, wanted, order))]
        if len(rows):
            held = " The test examples were held out of the training set." if test.split == "train" else ""
            evidence.answer_gallery(
                run, machine, rows, {"true": true, "predicted": predicted}, key="errors_gallery",
                alt=f"{words.many(len(rows), 'test example')} with their true and predicted classes",
                legend=f"{words.many(len(shown), 'example')}. Upper right: true → predicted class; lower left: the "
                f"number of the example in the dataset.{held} Click an example to see why.",
            )  # fmt: skip
        else:
            st.success("No test example is misclassified.", icon=":material/check:")
    with left:
        confusion.show(
            confusion.counts(matrix),
            classes,
            [names.index(w) for w in wanted],
            key="confusion",
            file="confusion-matrix",
            on_pick=lambda cell: toggle_cell(names[cell]),
        )
        if decision_plane.is_plane(run):
            decision_plane.plane(run, machine, "plane", test)

    with fixes:
        remedy.section(run)
    with below:
        st.subheader("By class")
        rows = [row | {"digit": name} for name, row in zip(classes, evidence.by_class(machine, test), strict=True)]
        alt = "Errors, misses, false alarms and support vectors of each class"
        numbers.table(rows, alt, columns=BY_CLASS, column_order=BY_CLASS, height="auto")
        st.caption(
            "As in Tables 4 to 6 of DeCoste and Schölkopf (2002). Errors are those of the whole classifier, by true "
            "class. Misses, false alarms and support vectors are those of the machine of each class alone. Bounded: "
            "alpha = C."
        )
    with without:
        abstain.section(run, classes)
