"""What a run's machines say of one example, and the kernel values behind it, computed once for all panels; and what the
panels that move an example share: whether it can be moved, its forms as pictures.

f_c(x) = b_c + sum_i coef[c, i] K(x_i, x)      c a machine, i a support vector

k       (m,) float64, K(x_i, x) for all support vectors: one row serves every machine of the run
sides   the one or two machines looked at: the called class's, and the true one's or the runner-up's beside it
"""

import hashlib
import weakref
from typing import NamedTuple

import numpy as np
import streamlit as st

from data import Dataset
from data.memo import Bounded
from pages.ui.example import evidence
from pages.ui.kit.gallery import pictures
from pages.ui.kit.words import plain
from svmcore.lab.store.runs import Run
from svmcore.model import Machine, answers

KEPT_BYTES = 32 << 20  # of kernel values, for each machine: 45 examples of a machine with 88,000 support vectors

DRAWN = "drawn"  # the `ref` of an example that the reader drew
NOTHING_TO_MOVE = (
    "These examples are not images, so they cannot be shifted, turned or thickened. For a table, express "
    "an invariance by a kernel, or add rows of the same group (a group column)."
)


class Shown(NamedTuple):
    """One example that is looked at, of a dataset or drawn by the reader.

    X (1, ...) as the dataset has its examples, before preprocessing; label None for one that the reader drew.
    """

    dataset: Dataset
    X: np.ndarray
    label: object | None
    ref: str  # `gallery.reference`, or DRAWN

    @property
    def row(self) -> int:
        """The row of X_train that it is; -1 where it is none."""
        _, split, index = [*self.ref.rsplit("/", 2), "", ""][:3]
        return int(index) if split == "train" else -1


class Answer(NamedTuple):
    """An example as the machines take it, and what they answer. Classes by their place in `names`."""

    x: np.ndarray  # (d,) float32, prepared
    k: np.ndarray  # (m,) float64
    f: np.ndarray  # (k,) float64, one for each machine
    names: list[str]  # of the classes
    called: int
    true: int | None  # None for an example without a class, or of one that the run does not tell apart
    called_true: str = "true"  # what the true class is called, where that is what one asks

    @property
    def own(self) -> int:
        """The class that is taken for the example's own: the true one, else the called one."""
        return self.called if self.true is None else self.true

    @property
    def rival(self) -> int:
        """The strongest of the other classes."""
        return max((c for c in range(len(self.names)) if c != self.own), key=lambda c: value(self.f, c))

    @property
    def runner_up(self) -> int:
        """The machine, of several, with the second largest f."""
        return int(np.argsort(-self.f, kind="stable")[1])

    @property
    def right(self) -> bool:
        return self.called == self.own

    def sides(self, wanted: str | None = None) -> tuple[int, ...]:
        """The predicted class's machine and a second one: of class `wanted`, or the true class, or the runner-up."""
        if len(self.f) == 1:
            return (0,)
        if wanted in self.names and self.names.index(wanted) != self.called:
            return self.called, self.names.index(wanted)
        if self.true is not None and self.true != self.called:
            return self.called, self.true
        return self.called, self.runner_up

    def role(self, c: int) -> str:
        """What machine c is to the example: `predicted`, `true`, `true, predicted`, `runner-up`, or nothing."""
        if len(self.f) == 1:
            return ""
        said = [word for word, place in ((self.called_true, self.true), ("predicted", self.called)) if place == c]
        return ", ".join(said) or ("runner-up" if c == self.runner_up else "")


def answer(run: Run, machine: Machine, shown: Shown) -> Answer:
    """The run's answer on an example; the latest kernel values are kept as long as the machine is."""
    x = np.ascontiguousarray(evidence.prepared(run, shown.X)[0])
    shelf = _rows.setdefault(machine, Bounded(lambda: KEPT_BYTES))
    k = shelf.get(hashlib.sha256(x.data).digest(), lambda: machine.kernel_values(x[None])[0])
    f = machine.coef @ k + machine.bias
    names = evidence.class_names(run, machine)
    called = int(answers(f))
    label = None if shown.label is None else evidence.class_of(run, machine, shown.label)
    return Answer(x, k, f, names, called, None if label is None else names.index(label))


def value(f: np.ndarray, c: int) -> np.ndarray:
    """(...) how strongly f (..., k) speaks for the class at position c."""
    return f[..., c] if f.shape[-1] > 1 else f[..., 0] * (1 if c else -1)


_rows: "weakref.WeakKeyDictionary[Machine, Bounded]" = weakref.WeakKeyDictionary()


def is_image(shown: Shown) -> bool:
    """Whether the example can be moved; says on screen why it cannot."""
    if shown.dataset.image_shape is None:
        st.info(NOTHING_TO_MOVE, title="Not an image", icon=":material/table_rows:")
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
