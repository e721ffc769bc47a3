"""What the panels that move an example share: whether it can be moved, its forms as pictures, machines in words.

Positions of classes are those of `evidence.class_names`: of one machine 0 and 1, which f < 0 and f > 0 stand for.
"""

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.kit.gallery import pictures
from pages.ui.kit.words import plain
from pages.ui.why.answer import Shown
from svmcore.lab.store.runs import Run

NOTHING_TO_MOVE = (
    "These examples are not images, so they cannot be shifted, turned or thickened. Express an invariance of table "
    "columns by a kernel, or by rows made by hand."
)


def is_image(shown: Shown) -> bool:
    """Whether the example can be moved; says on screen why it cannot."""
    if shown.dataset.image_shape is None:
        st.info(NOTHING_TO_MOVE, title="Nothing to move", icon=":material/table_rows:")
    return shown.dataset.image_shape is not None


def deciding(run: Run):
    """What prepares pictures of the run's dataset for its machine."""
    return lambda X: evidence.prepared(run, X)


def form_pictures(shown: Shown, forms: np.ndarray) -> np.ndarray:
    """uint8 pictures (n, h, w[, 3]) of forms (n, d) of the example."""
    dataset = shown.dataset
    return pictures(forms, dataset.X_train, dataset.image_shape, dataset.entry.ink)


def machine_of(names: list[str], c: int) -> str:
    """How the machine of class c is called in a sentence."""
    return f"{plain(names[c])} against {plain(names[1 - c]) if len(names) == 2 else 'the rest'}"
