"""One candidate in a process of its own: `python -m tests.bench.candidate CANDIDATE`, spoken to by peers.py.

Asked by a line {"problem", "path", "fits", "judge"}, it answers {"seconds"} as soon as it has fitted, then all figures.
Every candidate fits a few examples first, so that no time or memory of starting up counts.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import warnings
from functools import partial
from typing import ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from svmcore import SVC, VirtualSVC
from svmcore.gram.products import Operand
from svmcore.kernels import Linear
from svmcore.model import EXACT_UP_TO
from svmcore.preprocess import Preprocessor
from tests.bench.judge import judged, primal
from tests.bench.problems import LIBLINEAR, ONEDAL, PROBLEMS, SGD, THUNDER, Problem
from tests.bench.sets import SHAPE, Task

WARM = 150  # examples of each class in the first fit
BRIEF = 2.0  # seconds up to which the first fit of a problem is another warm-up
ENOUGH = 0.3  # seconds of fits after which no more are repeated in a turn
ANSWERS = os.fdopen(os.dup(1), "w")  # some peers write to standard output
STRETCH = 256  # rows that the floor is measured on


class Ours:
    """All machines of a problem by one SVC, or by one virtual stage, which keeps what is shifted over an image's edge:
    its gap is the one that it gives itself, as no examples of a task are quite those that it has learned from."""

    def __init__(self, problem: Problem):
        weight = None if problem.weight == 1 else {1: problem.weight}
        self.estimator = SVC(kernel=problem.kernel, C=problem.C, cache_mb=problem.cache_mb, class_weight=weight)

    def fit(self, task: Task):
        self.parents = task.parents
        if task.parents is None:
            self.model = self.estimator.fit(task.X, task.y)
        else:
            stage = VirtualSVC(
                self.estimator, jitters="box:1", image_shape=SHAPE, prepare=Preprocessor("unit-norm"), scope="all"
            )
            self.model = stage.fit(task.parents, task.y_parents)

    def warm(self, task: Task) -> None:
        """A fit of a few examples, and one by rounds, whose code a few examples do not need."""
        clone(self.estimator).set_params(solver="decomposition").fit(task.X, task.y)
        self.fit(task)

    def predict(self, X):
        return self.model.predict(X)

    def machines(self) -> list:
        """(support, coef) of each."""
        machine, support = self.model.machine_, self.model.machine_.support
        if self.parents is not None:  # examples of a task are its parents' shifts, one shift after another
            support = machine.jitter * len(self.parents) + support
        return [(support[row != 0], row[row != 0]) for row in machine.coef]

    def planes(self) -> list:
        """(w, b) of each; linear kernels only."""
        return list(zip(self.model.coef_, self.model.intercept_, strict=True))

    def facts(self) -> dict:
        model = self.model
        return {"kernel_evals": int(model.kernel_evals_), "pairs": int(model.n_iter_.sum())}

    @property
    def own(self) -> dict:
        """What is not left to the judge."""
        return {} if self.parents is None else {"gap": self.model.gap_}


class Peer:
    """A library with scikit-learn's SVC: one binary fit for each machine."""

    own: ClassVar[dict] = {}

    def __init__(self, problem: Problem, name: str):
        library = importlib.import_module(name if name == THUNDER else f"{name}.svm")
        kernel = problem.kernel.to_dict()
        same = {"kernel": kernel["name"], "gamma": kernel.get("gamma", 1.0)}
        if kernel["name"] == "poly":  # normalised it is scikit-learn's with gamma and coef0 divided by their sum
            unit = kernel["gamma"] + kernel["coef0"]
            same |= {"degree": kernel["degree"], "gamma": kernel["gamma"] / unit, "coef0": kernel["coef0"] / unit}
        if name == THUNDER:
            same |= {"kernel": {"poly": "polynomial"}.get(kernel["name"], kernel["name"])}
        if problem.weight != 1:
            same |= {"class_weight": {1: problem.weight}}
        self.new = lambda: library.SVC(C=problem.C, tol=1e-3, cache_size=problem.cache_mb, **same)

    def fit(self, task: Task):
        classes = np.unique(task.y)
        targets = [task.y == c for c in classes] if len(classes) > 2 else [task.y == classes[1]]
        self.classes, self.models = classes, [self.new().fit(task.X, y.astype(int)) for y in targets]

    def warm(self, task: Task) -> None:
        self.fit(task)

    def predict(self, X):
        values = [np.ravel(m.decision_function(X)) for m in self.models]
        return self.classes[np.argmax(values, axis=0) if len(values) > 1 else (values[0] > 0).astype(int)]

    def machines(self) -> list:
        return [(np.asarray(m.support_), np.ravel(m.dual_coef_)) for m in self.models]

    def planes(self) -> list:
        return [(np.ravel(m.coef_), float(m.intercept_[0])) for m in self.models]

    def facts(self) -> dict:
        return {}


class Planes(Peer):
    """A library for linear kernels alone. It keeps w and b, no support vectors, so that its primal objective is judged.

    LIBLINEAR (dual coordinate descent) counts b as one more weight and penalises it: it solves a problem with a little
    less freedom than the others'. SGD, of one seed, stops where an epoch gains less than tol.
    """

    def __init__(self, problem: Problem, name: str):
        self.new = partial(NEW[name], problem)

    def fit(self, task: Task):
        self.new = partial(self.new, len(task.X))
        super().fit(task)

    def machines(self) -> list:
        return []


def _liblinear(problem: Problem, n: int) -> LinearSVC:
    return LinearSVC(loss="hinge", C=problem.C, tol=1e-3, max_iter=10000, random_state=0)


def _sgd(problem: Problem, n: int) -> SGDClassifier:
    return SGDClassifier(loss="hinge", alpha=1 / (problem.C * n), tol=1e-3, random_state=0)


NEW = {LIBLINEAR: _liblinear, SGD: _sgd}


def new_candidate(name: str, problem: Problem):
    return Ours(problem) if name == "ours" else (Planes if name in NEW else Peer)(problem, name)


def measure(name: str, problem: Problem, task: Task, fits: int, judge: bool) -> dict:
    """Median seconds of some fits and of as many predictions, and what they took and gave."""
    warm = new_candidate(name, problem)
    few = np.concatenate([np.flatnonzero(task.y == c)[:WARM] for c in np.unique(task.y)])
    warm.warm(Task(task.X[few], task.y[few], task.X_test[:1]))
    warm.predict(task.X[few])
    before = _memory_mb("VmRSS")
    _forget_peak()
    candidate, *times = _fitted(name, problem, task)
    peak, times = _memory_mb("VmHWM"), [times]
    if times[0][0] < BRIEF:
        times = []  # it has read compiled code from disk, or made it
        while len(times) < fits and sum(seconds for seconds, _ in times) < ENOUGH:
            candidate, *took = _fitted(name, problem, task)
            times.append(took)
    seconds, cpu = np.median(times, axis=0).tolist()
    _tell({"seconds": seconds})
    machines = candidate.machines()
    figures = {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "growth_mb": peak - before,
        "n_sv": [len(coef) for _, coef in machines],
        **candidate.facts(),
    }
    if judge:
        figures["predict_seconds"] = _deciding(*_alike(name, problem, task, candidate, machines), len(times))
        figures |= _worth(problem, task, candidate) | candidate.own
        figures |= _floor(task.X, np.unique(np.concatenate([s for s, _ in machines]))) if name == "ours" else {}
    return figures


def _fitted(name: str, problem: Problem, task: Task) -> tuple:
    """(candidate, seconds, processor seconds)."""
    candidate, start, used = new_candidate(name, problem), time.perf_counter(), time.process_time()
    candidate.fit(task)
    return candidate, time.perf_counter() - start, time.process_time() - used


def _alike(name: str, problem: Problem, task: Task, candidate, machines: list) -> tuple:
    """(candidate, test examples) as their predictions are timed: intelex, which takes over the precision of what it was
    fitted to, in double for up to EXACT_UP_TO numbers in the support vectors, as ours."""
    if name != ONEDAL or len(np.unique(np.concatenate([s for s, _ in machines]))) * task.X.shape[1] > EXACT_UP_TO:
        return candidate, task.X_test
    double, *_ = _fitted(name, problem, task._replace(X=task.X.astype(np.float64)))
    return double, task.X_test.astype(np.float64)


def _deciding(candidate, X, times: int) -> float:
    """Median seconds of some predictions, after one that does not count where it is brief."""
    seconds = []
    while len(seconds) < times + 1 and (len(seconds) < 2 or sum(seconds[1:]) < ENOUGH):
        start = time.perf_counter()
        candidate.predict(X)
        seconds.append(time.perf_counter() - start)
        if seconds[0] > BRIEF:
            break
    return float(np.median(seconds[1:] or seconds))


def _worth(problem: Problem, task: Task, candidate) -> dict:
    """Sum of the dual objectives and the largest gap of machines; sum of the primal objectives of planes."""
    classes = np.unique(task.y)
    targets = [np.where(task.y == c, 1.0, -1.0) for c in (classes if len(classes) > 2 else classes[1:])]
    costs = [np.where(y > 0, problem.C * problem.weight, problem.C) for y in targets]
    worth = {}
    if machines := candidate.machines():
        found = []
        for y, C, (support, coef) in zip(targets, costs, machines, strict=True):
            coef = coef if coef @ y[support] > 0 else -coef  # some peers count the other class as +1
            found.append(judged(problem.kernel.to_dict(), task.X, y, C, support, coef))
        duals, gaps = zip(*found, strict=True)
        worth = {"dual": sum(duals), "gap": max(gaps)}
    if isinstance(problem.kernel, Linear):
        planes = zip(targets, costs, candidate.planes(), strict=True)
        worth["primal"] = sum(primal(task.X, y, C, *plane) for y, C, plane in planes)
    return worth


def _floor(X, support) -> dict:
    """Seconds for the products of every distinct support vector with every example, by sgemm and as we do them."""
    rows, operand = np.resize(X[support], (STRETCH, X.shape[1])), Operand(X)
    out, scale = np.empty((STRETCH, len(X)), np.float32), len(support) / STRETCH

    def best(product):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            product()
            times.append(time.perf_counter() - start)
        return scale * min(times)

    dense = best(lambda: np.matmul(rows, X.T, out=out))
    ours = best(lambda: operand.block(rows, Linear(), out=out))
    return {"union": len(support), "layout": operand.layout, "floor_seconds": min(dense, ours)}


def _memory_mb(field: str) -> float:
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def _forget_peak() -> None:
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def _tell(figures: dict) -> None:
    print(json.dumps(figures), file=ANSWERS, flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    os.dup2(2, 1)
    for line in sys.stdin:
        asked = json.loads(line)
        with np.load(asked["path"], allow_pickle=False) as arrays:
            task = Task(**arrays)
        _tell(measure(sys.argv[1], PROBLEMS[asked["problem"]], task, asked["fits"], asked["judge"]))


if __name__ == "__main__":
    main()
