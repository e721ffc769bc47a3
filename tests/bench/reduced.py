"""Reduced sets of the ten MNIST machines with virtual SVs (degree 9, 3x3 shifts): `python -m tests.bench.reduced`.

    python -m tests.bench.reduced           train on 50,000 digits, judge on the 10,000 that were held out
    python -m tests.bench.reduced test      train on 60,000 digits, judge on the test set

The same settings in both, chosen by the first: a fiftieth of the vectors, then a twentieth and a tenth, each going on
from the one before. For each: errors, answers that changed, seconds since the reduction began, and seconds that
`predict` takes for 10,000 digits before and after, in one process. Needs MNIST, 2 GB, and some minutes of two cores.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np

from data import load
from svmcore import SVC, Poly, VirtualSVC
from svmcore.gram.threads import one_blas_thread
from svmcore.methods.reduced.answers import Answers, fit_answers, gathered, grown
from svmcore.methods.reduced.expansion import Expansion
from svmcore.methods.reduced.start import first_vectors

PLAN = (  # share of the vectors, steps
    (50, Answers(epochs=320, batch=128, rate=5e-4, weight_rate=5e-3, deform=1.2)),
    (20, Answers(epochs=50, batch=256, rate=4e-4, weight_rate=4e-3, deform=1.2)),
    (10, Answers(epochs=25, batch=256, rate=3e-4, weight_rate=3e-3, deform=1.2)),
)


def unit(images):
    X = images.reshape(len(images), -1).astype(np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def judged(machine, X, y):
    """Answers about X, errors, and the shortest of three times that they took."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        said = machine.predict(X)
        times.append(time.perf_counter() - start)
    return said, np.count_nonzero(said != y), min(times)


def reductions(machine, X, y):
    """(machine, seconds since the beginning) of each step of PLAN."""
    begun, target, found = time.perf_counter(), Expansion.of(machine), None
    for share, settings in PLAN:
        m = round(len(machine.support) / share)
        if found is None:
            start, bias = gathered(target, first_vectors(target, m, "k-means", 0)), machine.bias
        else:
            added = first_vectors(target, m - len(found.Z), "k-means", m)
            start, bias = grown(Expansion(machine.kernel, found.Z, found.gamma), added), found.bias
        with one_blas_thread:
            found = fit_answers(start, bias, X, y, settings=settings, image_shape=(28, 28), seed=m)
        few = {"support": np.full(m, -1), "support_vectors": found.Z, "coef": found.gamma, "bias": found.bias}
        bare = {"bound": np.zeros(found.gamma.shape, bool), "parent": None, "jitter": None, "meta": {}}
        yield replace(machine, **few, **bare), time.perf_counter() - begun


def main() -> None:
    given = load("mnist")
    X, y = unit(given.X_train), given.y_train
    if sys.argv[1:] == ["test"]:
        held, true = unit(given.X_test), given.y_test
    else:
        X, y, held, true = X[:50000], y[:50000], X[50000:], y[50000:]
    machine = VirtualSVC(SVC(Poly(9, 1.0, 1.0), C=2.0), jitters="box:1", image_shape=(28, 28)).fit(X, y).machine_
    before, wrong, seconds = judged(machine, held, true)
    print(f"{len(machine.support)} vectors: {wrong} errors, {seconds:.2f} s for {len(held)} digits", flush=True)
    for reduced, spent in reductions(machine, X, y):
        said, wrong, seconds = judged(reduced, held, true)
        changed = np.count_nonzero(said != before)
        took = f"{seconds:.3f} s for {len(held)} digits, reduced in {spent:.0f} s"
        print(f"{len(reduced.support)} vectors: {wrong} errors, {changed} answers changed, {took}", flush=True)


if __name__ == "__main__":
    main()
