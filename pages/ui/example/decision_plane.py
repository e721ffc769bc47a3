"""A machine in the plane: its decision regions, its margins and its support vectors among the training points.

f(x) is drawn on a grid of raw coordinates; every node passes the run's preprocessing before the machine sees it.
"""

import numpy as np
import streamlit as st

from data import load
from pages.ui.example import evidence
from pages.ui.figures import maps
from pages.ui.figures.frame import show
from pages.ui.kit.gallery import open_digit, reference
from svmcore.model import Machine


def is_plane(run) -> bool:
    """Whether the run's examples are points (x1, x2)."""
    return load(run.recipe.dataset).X_train.shape[1:] == (2,)


def machine_of(run, snapshot):
    """The Machine of a live Snapshot, its examples prepared anew; None before it has support vectors."""
    if not len(snapshot.support):
        return None
    dataset, rows = evidence.data_of(run), run.train_index()
    own = [str(c) for c in run.recipe.classes]
    names = np.array([c for c in dataset.classes if str(c) in own]) if len(own) > 1 else dataset.classes
    return Machine(
        kernel=run.recipe.kernel,
        classes=names,
        support=snapshot.support,
        support_vectors=evidence.prepared(run, dataset.X_train[rows[snapshot.support]]),
        coef=snapshot.coef,
        bias=snapshot.bias,
        C=run.recipe.C,
        bound=snapshot.bound,
    )


def plane(run, machine, key: str, test=None):
    """Draw the training points of a run with the field and the support vectors of `machine` (or none yet).

    test: the run's TestSet, to draw its test points instead, those that come out wrong with a cross.
    """
    dataset = evidence.data_of(run)
    split, rows = ("train", run.train_index()) if test is None else (test.split, test.index)
    X, y = evidence.examples(dataset, split)
    X, y = X[rows], (evidence.labels(run).seen if test is None else y)[rows]
    refs = [reference(run.recipe.dataset, split, i) for i in rows]
    marks = {} if machine is None else {"field": field_of(run, machine, X)}
    if test is not None:
        marks["errors"] = np.flatnonzero(test.wrong)
    elif machine is not None:
        used, bound = np.any(machine.coef != 0, axis=0) & ~machine.constructed, np.any(machine.bound, axis=0)
        marks |= {"free": machine.support[used & ~bound], "bound": machine.support[bound]}
        if not run.recipe.preprocess:  # the kernel sees the plane that is drawn
            marks["made"] = machine.support_vectors[machine.constructed]
    classes = dataset.classes if machine is None else machine.classes
    figure = maps.toy_plane(X, y, classes, refs=refs, axes=evidence.plane_axes(dataset), **marks)
    show(figure, key, on_click=_open)


def _open(ref: str) -> None:
    open_digit(ref)
    st.rerun()  # the whole page, also from a fragment


def field_of(run, machine, X):
    """(xs, ys, f) of a machine on a grid over the points X; of several classes the number of the winner."""
    xs, ys, nodes = maps.grid(X)
    values = machine.decision_values(evidence.prepared(run, nodes))
    f = values[:, 0] if values.shape[1] == 1 else values.argmax(axis=1)
    return xs, ys, f.reshape(len(ys), len(xs))
