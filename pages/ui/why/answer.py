"""What a run's machines say of one example, and the kernel values behind it, computed once for all panels.

f_c(x) = b_c + sum_i coef[c, i] K(x_i, x)      c a machine, i a support vector

k       (m,) float64, K(x_i, x) for all support vectors: one row serves every machine of the run
sides   the one or two machines looked at: the called class's and the true one's (or the runner-up's)
"""

import hashlib
import threading
import weakref
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.example.shown import Shown
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

BESIDE = "beside"  # the URL parameter that names the class of the second machine
KEPT_BYTES = 48 << 20  # of kernel values, for each machine


class Answer(NamedTuple):
    """An example as the machines take it, and what they answer. Classes by their place in `names`."""

    x: np.ndarray  # (d,) float32, prepared
    k: np.ndarray  # (m,) float64
    f: np.ndarray  # (k,) float64, one for each machine
    names: list[str]  # of the classes
    called: int
    true: int | None  # None for an example without a class, or of one that the run does not tell apart
    sides: tuple[int, ...]  # machines looked at, the one of the called class first


def answer(run: Run, machine: Machine, shown: Shown) -> Answer:
    """The run's answer on an example."""
    x = evidence.prepared(run, shown.X)[0]
    k = kernel_row(machine, x)
    f = machine.coef @ k + machine.bias
    names = evidence.class_names(run, machine)
    called = int(f[0] > 0) if len(f) == 1 else int(np.argmax(f))
    label = None if shown.label is None else evidence.class_of(run, machine, shown.label)
    true = None if label is None else names.index(label)
    return Answer(x, k, f, names, called, true, _sides(f, names, called, true))


def kernel_row(machine: Machine, x: np.ndarray) -> np.ndarray:
    """K(x_i, x) (m,) of an example (d,) with all support vectors; the latest are kept as long as the machine is."""
    key = hashlib.sha256(np.ascontiguousarray(x).data).digest()
    with _lock:
        rows = _rows.setdefault(machine, OrderedDict())
        row = rows.get(key)
    if row is None:
        row = machine.kernel_values(x[None])[0]
    with _lock:
        rows[key] = row
        rows.move_to_end(key)
        while len(rows) > 1 and sum(kept.nbytes for kept in rows.values()) > KEPT_BYTES:
            rows.popitem(last=False)
    return row


def roles(answer: Answer, c: int) -> str:
    """What a machine is to the example: `predicted`, `true`, `predicted and true`, or nothing."""
    if len(answer.f) == 1:
        return ""
    said = [word for word, place in (("predicted", answer.called), ("true", answer.true)) if place == c]
    return " and ".join(said)


def _sides(f: np.ndarray, names: list[str], called: int, true: int | None) -> tuple[int, ...]:
    """The called class's machine; beside it the one that the address asks for, the true class's, or the runner-up."""
    if len(f) == 1:
        return (0,)
    wanted = st.query_params.get(BESIDE)
    if wanted in names and wanted != names[called]:
        return called, names.index(wanted)
    if true is not None and true != called:
        return called, true
    return called, int(np.argsort(-f, kind="stable")[1])


_lock = threading.Lock()
_rows: "weakref.WeakKeyDictionary[Machine, OrderedDict]" = weakref.WeakKeyDictionary()
