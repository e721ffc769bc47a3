"""What a run's machines say of one example, and the kernel values behind it, computed once for all panels.

f_c(x) = b_c + sum_i coef[c, i] K(x_i, x)      c a machine, i a support vector

k       (m,) float64, K(x_i, x) for all support vectors: one row serves every machine of the run
sides   the one or two machines looked at: the called class's, and the true one's or the runner-up's beside it
"""

import hashlib
import weakref
from typing import NamedTuple

import numpy as np

from data import Dataset
from data.memo import Bounded
from pages.ui.example import evidence
from svmcore.lab.store.runs import Run
from svmcore.model import Machine, answers

KEPT_BYTES = 32 << 20  # of kernel values, for each machine: 45 examples of a machine with 88,000 support vectors

DRAWN = "drawn"  # the `ref` of an example that the reader drew


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
        """The machine of the called class; beside it that of the class named `wanted`, else of the true one, else of
        the runner-up."""
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
    """The run's answer on an example."""
    x = evidence.prepared(run, shown.X)[0]
    k = kernel_row(machine, x)
    f = machine.coef @ k + machine.bias
    names = evidence.class_names(run, machine)
    called = int(answers(f))
    label = None if shown.label is None else evidence.class_of(run, machine, shown.label)
    return Answer(x, k, f, names, called, None if label is None else names.index(label))


def value(f: np.ndarray, c: int) -> np.ndarray:
    """(...) how strongly f (..., k) speaks for the class at position c."""
    return f[..., c] if f.shape[-1] > 1 else f[..., 0] * (1 if c else -1)


def kernel_row(machine: Machine, x: np.ndarray) -> np.ndarray:
    """K(x_i, x) (m,) of an example (d,) with all support vectors; the latest are kept as long as the machine is."""
    shelf = _rows.setdefault(machine, Bounded(lambda: KEPT_BYTES))
    key = hashlib.sha256(np.ascontiguousarray(x).data).digest()
    return shelf.get(key, lambda: machine.kernel_values(x[None])[0])


_rows: "weakref.WeakKeyDictionary[Machine, Bounded]" = weakref.WeakKeyDictionary()
