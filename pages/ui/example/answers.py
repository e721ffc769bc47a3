"""What a machine said of its test examples: class by class, and by how much each answer won."""

from typing import NamedTuple

import numpy as np

from svmcore import metrics
from svmcore.model import Machine


def by_class(machine: Machine, test: NamedTuple) -> list[dict[str, int]]:
    """A row a class, in the order of the machine's: its test examples (tested), errors of the whole classifier, misses
    and false alarms of the class's own machine (fn, fp), that machine's support vectors and those at C (svs, bound).

    test: what the run said of its test examples. Of two classes both rows tell of the one machine.
    """
    decision = test.decision[:, 0] if len(machine.bias) == 1 else test.decision
    table = metrics.per_class_table(decision, test.y_true, test.y_pred, machine.classes)
    tested = np.bincount(metrics.class_positions(test.y_true, machine.classes), minlength=len(table))
    n_sv, n_bound = (np.broadcast_to(n, len(table)) for n in (machine.n_sv, machine.bound.sum(axis=1)))
    return [
        row | {"tested": int(tested[c]), "svs": int(n_sv[c]), "bound": int(n_bound[c])} for c, row in enumerate(table)
    ]


def lead(decision: np.ndarray, true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """By how much the predicted class beats the true one: (n,), from decision values (n, k) and class positions."""
    if decision.shape[1] == 1:
        return np.abs(decision[:, 0])
    rows = np.arange(len(decision))
    return decision[rows, predicted] - decision[rows, true]
