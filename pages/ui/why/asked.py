"""What a machine is asked about one example: which class is its own, which is called, and whose f is shown.

Positions of classes are those of `evidence.class_names`: of one machine 0 and 1, which f < 0 and f > 0 stand for.
"""

from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.example.shown import Shown
from pages.ui.kit.gallery import pictures
from pages.ui.kit.words import plain
from svmcore.explain import moved
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

NOTHING_TO_MOVE = (
    "These examples are no images: there is nothing to shift, turn or thicken. What is known of an invariance of "
    "columns of a table has to enter by a kernel, or by rows made by hand."
)


class Asked(NamedTuple):
    """names: the classes; true: position of the example's own, None for a drawn one or a class not told apart; f (k,)
    and called: the decision as it is; own: the class that leads are taken for; rival: the strongest other one."""

    names: list[str]
    true: int | None
    f: np.ndarray
    called: int
    own: int
    rival: int

    @property
    def right(self) -> bool:
        return self.called == self.own


def is_image(shown: Shown) -> bool:
    """Whether the example can be moved; says on screen why it cannot."""
    if shown.dataset.image_shape is None:
        st.info(NOTHING_TO_MOVE, title="Nothing to move", icon=":material/table_rows:")
    return shown.dataset.image_shape is not None


def asked(run: Run, machine: Machine, shown: Shown) -> Asked:
    """The decision of a run's machine on the example as it is."""
    names = evidence.class_names(run, machine)
    own = None if shown.label is None else evidence.class_of(run, machine, shown.label)
    true = names.index(own) if own in names else None
    f = machine.decision_values(evidence.prepared(run, shown.X))[0]
    called = int(moved.answers(f))
    own = called if true is None else true
    others = [c for c in range(len(names)) if c != own]
    return Asked(names, true, f, called, own, max(others, key=lambda c: value(f, c)))


def value(f: np.ndarray, c: int) -> np.ndarray:
    """(...) how strongly f (..., k) speaks for the class at position c."""
    return f[..., c] if f.shape[-1] > 1 else f[..., 0] * (1 if c else -1)


def deciding(run: Run):
    """What prepares pictures of the run's data set for its machine."""
    return lambda X: evidence.prepared(run, X)


def form_pictures(shown: Shown, forms: np.ndarray) -> np.ndarray:
    """uint8 pictures (n, h, w[, 3]) of forms (n, d) of the example."""
    dataset = shown.dataset
    return pictures(forms, dataset.X_train, dataset.image_shape, dataset.entry.ink)


def machine_of(names: list[str], c: int) -> str:
    """How the machine of class c is called in a sentence."""
    return f"{plain(names[c])} against {plain(names[1 - c]) if len(names) == 2 else 'the rest'}"
