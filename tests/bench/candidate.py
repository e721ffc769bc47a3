"""One candidate on one problem, in this process: `python -m tests.bench.candidate CANDIDATE TASK.npz PROBLEM`.

Prints one JSON object. Every candidate fits a few examples first, so that no time or memory of starting up counts.
"""

from __future__ import annotations

import importlib
import json
import sys
import time

import numpy as np

from svmcore import SVC, VirtualSVC
from svmcore.gram.products import Operand
from svmcore.kernels import Kernel, Linear
from svmcore.preprocess import Preprocessor
from tests.bench.problems import PROBLEMS, SHAPE, Problem, Task

WARM = 300  # examples of the first fit
STRETCH = 256  # rows that the floor is measured on


class Ours:
    """All machines of a problem by one SVC, or by one virtual stage."""

    def __init__(self, problem: Problem):
        self.estimator = SVC(kernel=problem.kernel, C=problem.C, cache_mb=problem.cache_mb)

    def fit(self, task: Task):
        if task.parents is None:
            self.model = self.estimator.fit(task.X, task.y)
        else:
            stage = VirtualSVC(
                self.estimator, jitters="box:1", image_shape=SHAPE, prepare=Preprocessor("unit-norm"), scope="all"
            )
            self.model = stage.fit(task.parents, task.y_parents)
        machine = self.model.machine_
        self.machines = [(machine.support_vectors[row != 0], row[row != 0]) for row in machine.coef]
        self.union = machine.support_vectors

    def predict(self, X):
        return self.model.machine_.predict(X)

    def facts(self) -> dict:
        return {"kernel_evals": int(self.model.kernel_evals_), "converged": bool(self.model.converged_)}


class Peer:
    """A library with scikit-learn's SVC: one binary fit for each machine."""

    def __init__(self, problem: Problem, svc):
        kernel = problem.kernel.to_dict()
        name, gamma = kernel["name"], kernel["gamma"]
        same = {"kernel": name, "gamma": gamma}
        if name == "poly":  # the normalised kernel is scikit-learn's with gamma and coef0 divided by their sum
            unit = gamma + kernel["coef0"]
            same |= {"degree": kernel["degree"], "gamma": gamma / unit, "coef0": kernel["coef0"] / unit}
        self.new = lambda: svc(C=problem.C, tol=1e-3, cache_size=problem.cache_mb, **same)

    def fit(self, task: Task):
        classes = np.unique(task.y)
        targets = [task.y == c for c in classes] if len(classes) > 2 else [task.y == classes[1]]
        self.classes, self.models = classes, [self.new().fit(task.X, y.astype(int)) for y in targets]
        self.machines = [(m.support_vectors_, np.ravel(m.dual_coef_)) for m in self.models]

    def predict(self, X):
        values = [m.decision_function(X) for m in self.models]
        return self.classes[np.argmax(values, axis=0) if len(values) > 1 else (values[0] > 0).astype(int)]

    def facts(self) -> dict:
        return {"kernel_evals": None, "converged": all(m.fit_status_ == 0 for m in self.models)}


def new_candidate(name: str, problem: Problem):
    if name == "ours":
        return Ours(problem)
    return Peer(problem, importlib.import_module(f"{name}.svm").SVC)


def measure(name: str, problem: Problem, task: Task) -> dict:
    """Fit, predict, and what it took."""
    warm = new_candidate(name, problem)
    few = np.concatenate([np.flatnonzero(task.y == c)[:WARM] for c in np.unique(task.y)])
    warm.fit(Task(task.X[few], task.y[few], task.X_test[:1]))
    warm.predict(task.X[few])
    candidate, before = new_candidate(name, problem), _memory_mb("VmRSS")
    _forget_peak()
    start, cpu = time.perf_counter(), time.process_time()
    candidate.fit(task)
    seconds, cpu, peak = time.perf_counter() - start, time.process_time() - cpu, _memory_mb("VmHWM")
    start = time.perf_counter()
    if len(task.X_test):
        candidate.predict(task.X_test)
    return {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "predict_seconds": time.perf_counter() - start if len(task.X_test) else None,
        "growth_mb": peak - before,
        "peak_mb": peak,
        "n_sv": [len(coef) for _, coef in candidate.machines],
        "dual": sum(_dual(problem.kernel, vectors, coef) for vectors, coef in candidate.machines),
        **candidate.facts(),
        **(_floor(task.X, candidate.union) if name == "ours" else {}),
    }


def _dual(kernel: Kernel, vectors, coef) -> float:
    """sum |coef| - 1/2 coef.K coef, the dual objective."""
    vectors, coef = np.ascontiguousarray(vectors, np.float32), np.asarray(coef, np.float64)
    parts = (slice(s, s + STRETCH) for s in range(0, len(coef), STRETCH))
    return float(np.abs(coef).sum() - 0.5 * sum(coef[p] @ (kernel.block(vectors[p], vectors) @ coef) for p in parts))


def _floor(X, union) -> dict:
    """Seconds for the products of every distinct support vector with every example, by sgemm and as we do them."""
    rows, operand = np.resize(union, (STRETCH, X.shape[1])), Operand(X)
    out, scale = np.empty((STRETCH, len(X)), np.float32), len(union) / STRETCH

    def best(product):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            product()
            times.append(time.perf_counter() - start)
        return scale * min(times)

    dense = best(lambda: np.matmul(rows, X.T, out=out))
    ours = best(lambda: operand.block(rows, Linear(), out=out))
    return {"union": len(union), "layout": operand.layout, "sgemm_seconds": dense, "product_seconds": ours}


def _memory_mb(field: str) -> float:
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def _forget_peak() -> None:
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


if __name__ == "__main__":
    _, candidate_name, path, problem_name = sys.argv
    with np.load(path, allow_pickle=False) as arrays:
        loaded = Task(**arrays)
    print(json.dumps(measure(candidate_name, PROBLEMS[problem_name], loaded)))
