"""Digestion on a virtual SV problem, by the size of the cache: `python -m tests.bench.digestion [--base 2000]`.

Digit 1 against the rest on the 3 x 3 shifts of all support vectors of the ten digits; poly 9, C = 2. One row a cache
(R rows, a share of the final SVs S) and setting: the published rules, rules that digest more rarely by computed values
(rule 2) and more often by new SVs (rules 4 and 5), and the same solver, cache and visiting order without digestion.
Seconds are of the processor.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from data import load
from svmcore import SVC, Digestion, JitterSet
from svmcore.gram.products import Operand
from svmcore.preprocess import Preprocessor
from svmcore.solvers.digestion import solve
from tests.bench.problems import NINE, SHAPE, digits

SHARES = (1 / 3, 1 / 2, 1.0)  # R / S
SETTINGS = {
    "off": {"on": False},
    "published": {},
    "adapted": {"force": 3_000_000, "new_svs_when_full": 50, "new_svs": 50},
}
COLUMNS = ("n", "S", "R", "rules", "values M", "off / it", "steps", "most SVs", "SVs", "dual", "CPU s")


def virtual_union(base: int, digit: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """X (n, 784), y (n,): the 3 x 3 shifts of the ten machines' SVs of `base` digits; digit +1, rest -1."""
    mnist, task = load("mnist"), digits(base, seed=seed)
    chosen = np.sort(np.random.default_rng(seed).choice(len(mnist.X_train), base, replace=False))
    support = np.sort(SVC(kernel=NINE, C=2.0).fit(task.X, task.y).support_)
    parents = mnist.X_train[chosen[support]].reshape(len(support), -1).astype(np.float32)
    shifted = JitterSet.parse("box:1", image_shape=SHAPE).apply(parents)
    X = Preprocessor("unit-norm").fit_transform(shifted.reshape(-1, parents.shape[1]))
    return X, np.tile(np.where(task.y[support] == digit, 1.0, -1.0), len(shifted))


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.digestion", description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=int, default=2000, help="digits that the first stage trains on")
    parser.add_argument("--digit", type=int, default=1, help="the digit that is told from the rest")
    options = parser.parse_args(argv)
    X, y = virtual_union(options.base, options.digit)
    n, machine, operand = len(y), SVC(kernel=NINE, C=2.0).fit(X, y), Operand(X, "dense")
    few = Operand(X[-300:], "dense"), NINE, np.where(np.arange(300) % 2, 1.0, -1.0)[None], np.full((1, 300), 2.0)
    solve(*few, settings=Digestion())  # compiled before any time counts
    print(" | ".join(COLUMNS), flush=True)
    for share in SHARES:
        rows, values = int(share * len(machine.support_)), {}
        for name, rules in SETTINGS.items():
            start = time.process_time()
            solution = solve(
                operand, NINE, y[None], np.full((1, n), 2.0), cache_bytes=4 * n * rows, settings=Digestion(**rules)
            )
            last, most = solution.history[-1], max(progress.n_sv for progress in solution.history)
            values[name] = last.kernel_evals
            cells = (n, len(machine.support_), rows, name, f"{last.kernel_evals / 1e6:.1f}",
                     f"{values['off'] / values[name]:.2f}", solution.iterations, most, last.n_sv, f"{last.dual:.4f}",
                     f"{time.process_time() - start:.1f}")  # fmt: skip
            print(" | ".join(map(str, cells)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
