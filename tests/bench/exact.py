"""What it costs to know the gap in double precision: `python -m tests.bench.exact`.

For each problem: seconds of the fit, share of them spent in solvers/exact.py, the gap reached, and whether it is at
most tol. The same problems with C up to 1e5 show where rounds go on because single precision had lost the gap.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

from data import NotAtHand
from svmcore import RBF, SVC
from svmcore.solvers.exact import Exact
from tests.bench.sets import NINE, digits, gaussians

COLUMNS = "problem", "n", "C", "seconds", "exact, %", "kernel values", "gap", "converged"


def problems():
    """(name, make, kernel, C) in the order of their length."""
    for C in (1.0, 1e2, 1e3, 1e4, 1e5):
        yield "ten Gaussian features", lambda: gaussians(6000, 10), RBF(0.1), C
    yield "Gaussians", lambda: gaussians(20000, 100), RBF(0.005), 1.0
    yield "digit 8", lambda: digits(10000, 8), NINE, 2.0
    yield "ten digits", digits, NINE, 2.0


def timed(method, spent):
    def call(*arguments):
        start = time.perf_counter()
        try:
            return method(*arguments)
        finally:
            spent.append(time.perf_counter() - start)

    return call


def measure(task, kernel, C) -> tuple:
    spent, plain = [], (Exact.gap, Exact.afresh)
    Exact.gap, Exact.afresh = (timed(method, spent) for method in plain)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            machine = SVC(kernel, C=C, cache_mb=4000).fit(task.X, task.y)
    finally:
        Exact.gap, Exact.afresh = plain
    seconds = time.perf_counter() - start
    share = f"{100 * sum(spent) / seconds:.1f}"
    return f"{seconds:.2f}", share, f"{machine.kernel_evals_:.3g}", f"{machine.gap_:.2g}", machine.converged_


def main() -> int:
    warm = gaussians(300, 10)
    measure(warm, RBF(0.1), 10.0)
    print(" | ".join(COLUMNS))
    for name, make, kernel, C in problems():
        try:
            task = make()
        except NotAtHand as reason:
            print(f"{name} is left out: {reason}")
            continue
        print(" | ".join(map(str, (name, len(np.asarray(task.y)), f"{C:g}", *measure(task, kernel, C)))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
