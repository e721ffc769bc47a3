"""Leave-one-out influence of a training example: the exact change of validation predictions without it.

    won_i     validation errors that the machine without example i classifies correctly
    lost_i    correctly classified validation examples that the machine without it misclassifies
    margin_i  sum over v of m_v(without i) - m_v,    m_v = f of the true class - the largest of the others at x_v

Only support vectors need retraining: without any other example the machine is the same. Excluding an example with
won > lost, or margin > 0, helps. Values from several folds can be added for one example. Values of several examples
cannot be added, as each is computed with all others in the training set, with their original C.

Symbols: n training, v validation examples, k machines; K (v, n) kernel values between them.
Leave-one-out as the value of a point: Cook, Technometrics 19 (1977); Ghorbani and Zou, ICML (2019), section 2.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from svmcore.explain.moved import leads
from svmcore.explain.retraining import Removals, Retraining
from svmcore.metrics import class_positions
from svmcore.model import answers


class Values(NamedTuple):
    """Influences of n training examples, as sums over the validation examples evaluated without each."""

    won: np.ndarray  # (n,) int64, errors corrected by excluding it
    lost: np.ndarray  # (n,) int64, errors caused by excluding it
    margin: np.ndarray  # (n,) float64, change of the margins by excluding it
    asked: np.ndarray  # (n,) int64, validation examples evaluated

    @classmethod
    def none(cls, n: int) -> "Values":
        """The values of n examples before any evaluation."""
        return cls(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n), np.zeros(n, np.int64))

    def plus(self, other: "Values", rows) -> "Values":
        """These values plus those of another fold, whose examples are `rows` of these."""
        arrays = [array.copy() for array in self]
        for array, more in zip(arrays, other, strict=True):
            array[rows] += more
        return Values(*arrays)

    @property
    def mean_margin(self) -> np.ndarray:
        """(n,) change of the mean margin; 0 without validation examples."""
        return self.margin / np.maximum(self.asked, 1)

    def helps(self) -> np.ndarray:
        """Positions of examples that are better excluded, the most harmful first: by errors, then by mean margin."""
        return self._ordered(1)

    def harms(self) -> np.ndarray:
        """Positions of the examples whose exclusion harms, the most useful first."""
        return self._ordered(-1)

    def _ordered(self, sign: int) -> np.ndarray:
        net, margin = sign * (self.won - self.lost), sign * self.mean_margin
        order = np.lexsort((-margin, -net))
        return order[((net > 0) | ((net == 0) & (margin > 0)))[order]]


def values(retraining: Retraining, K, y, machine: int | None = None) -> Iterator[tuple[float, Values]]:
    """The values of a machine's training examples, after each batch of support vectors: the completed fraction of the
    retraining, and the Values so far; the last ones are complete.

    retraining: the machine and its n examples; K (v, n) float32: kernel values of validation examples with these, y
    (v,) their labels; machine: one of the machines, for the predictions of its class against the rest; None for
    the whole classifier, whose machines are all retrained.
    """
    chosen = np.arange(len(retraining.Y)) if machine is None else np.array([machine])
    classes = retraining.targets.classes
    true = class_positions(y, classes)
    if machine is not None and len(classes) > 2:
        true = (true == machine).astype(int)
    f = K @ (retraining.alpha * retraining.Y)[chosen].T + retraining.bias[chosen]  # (v, k)
    right, lead = answers(f) == true, leads(f, true)
    result = Values.none(K.shape[1])
    result.asked[:] = len(y)  # excluding the other examples changes nothing
    done, total = 0, np.count_nonzero(retraining.alpha[chosen])
    yield 0.0 if total else 1.0, result
    for left in retraining.each_without(chosen):
        moved = _moved(retraining, K, left)  # (v, t)
        result = Values(*(array.copy() for array in result))
        for i in np.unique(left.example):
            own = left.example == i
            without = f.copy()
            without[:, np.searchsorted(chosen, left.machine[own])] += moved[:, own]
            answered = answers(without) == true
            result.won[i], result.lost[i] = (answered & ~right).sum(), (right & ~answered).sum()
            result.margin[i] = (leads(without, true) - lead).sum()
        done += len(left.example)
        yield done / total, result


def _moved(retraining: Retraining, K, left: Removals) -> np.ndarray:
    """The change (v, t) of f of each machine; only the change is summed in single precision."""
    change = (left.alpha - retraining.alpha[left.machine]) * retraining.Y[left.machine]
    columns = np.flatnonzero(change.any(0))
    return K[:, columns] @ change[:, columns].T.astype(K.dtype) + (left.bias - retraining.bias[left.machine])
