"""Digestion on a virtual SV problem, by the size of the cache: `python -m tests.bench.digestion [--base 2000]`.

Digit 1 against the rest on the 3 x 3 shifts of all support vectors of the ten digits; poly 9, C = 2. One row a cache
(R rows, a share of the final SVs S) and setting: the published rules, rules that digest more rarely by computed values
(rule 2) and more often by new SVs (rules 4 and 5), and the same solver, cache and visiting order without digestion.
Seconds are of the processor.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from data import load
from svmcore import SVC, Digestion, JitterSet
from svmcore.gram.products import Operand
from svmcore.preprocess import Preprocessor
from svmcore.solvers.digestion import solve
from svmcore.solvers.session import Session
from tests.bench.machine import machine
from tests.bench.sets import NINE, SHAPE, digits

SHARES = (1 / 3, 1 / 2, 1.0)  # R / S
SETTINGS = {
    "off": {"on": False},
    "published": {},
    "adapted": {"force": 3_000_000, "new_svs_when_full": 50, "new_svs": 50},
}
COLUMNS = ("n", "S", "R", "rules", "evaluations M", "off / on", "steps", "most SVs", "SVs", "dual", "CPU s")


def virtual_union(base: int, digit: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """X (n, 784), y (n,): the 3 x 3 shifts of the ten machines' SVs of `base` digits; digit +1, rest -1."""
    mnist, task = load("mnist"), digits(base, seed=seed)
    chosen = np.sort(np.random.default_rng(seed).choice(len(mnist.X_train), base, replace=False))
    support = np.sort(SVC(kernel=NINE, C=2.0).fit(task.X, task.y).support_)
    parents = mnist.X_train[chosen[support]].reshape(len(support), -1).astype(np.float32)
    shifted = JitterSet.parse("box:1", image_shape=SHAPE).apply(parents)
    X = Preprocessor("unit-norm").fit_transform(shifted.reshape(-1, parents.shape[1]))
    return X, np.tile(np.where(task.y[support] == digit, 1.0, -1.0), len(shifted))


def cells(rows):
    """The lines of a table: each solution beside the one without digestion."""
    off = {row["rows"]: row["kernel_values"] for row in rows if row["rules"] == "off"}
    for row in rows:
        values, less = f"{row['kernel_values'] / 1e6:.1f}", f"{off[row['rows']] / row['kernel_values']:.2f}"
        yield (row["n"], row["n_sv"], row["rows"], row["rules"], values, less, row["steps"], row["most_sv"],
               row["n_sv_end"], f"{row['dual']:.4f}", f"{row['cpu_seconds']:.1f}")  # fmt: skip


def measure(X, y):
    """Rows of figures, one for each size of cache and setting of the rules, as they come."""
    n, support = len(y), len(SVC(kernel=NINE, C=2.0).fit(X, y).support_)
    operand, few = Operand(X, "dense"), np.where(np.arange(300) % 2, 1.0, -1.0)[None]
    few_C = np.full((1, 300), 2.0)
    solve(Operand(X[-300:], "dense"), NINE, few, few_C, Session(), settings=Digestion())  # compiled before
    for share in SHARES:
        for name, rules in SETTINGS.items():
            rows, start = int(share * support), time.process_time()
            session, C, settings = Session(), np.full((1, n), 2.0), Digestion(**rules)
            solve(operand, NINE, y[None], C, session, cache_bytes=4 * n * rows, settings=settings)
            last, most = session.history[-1], max(progress.n_sv for progress in session.history)
            yield {
                "n": n, "n_sv": support, "rows": rows, "rules": name, "kernel_values": last.kernel_evals,
                "steps": last.iterations, "most_sv": most, "n_sv_end": last.n_sv, "dual": last.dual,
                "cpu_seconds": time.process_time() - start,
            }  # fmt: skip


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.digestion", description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=int, default=2000, help="digits that the first stage trains on")
    parser.add_argument("--digit", type=int, default=1, help="the digit that is told from the rest")
    parser.add_argument("--json", type=Path, help="where the results go")
    options = parser.parse_args(argv)
    rows = []
    print(" | ".join(COLUMNS), flush=True)
    for row in measure(*virtual_union(options.base, options.digit)):
        rows.append(row)
        print(" | ".join(map(str, list(cells(rows))[-1])), flush=True)
    if options.json:
        result = {"machine": machine(), "base": options.base, "digit": options.digit, "rows": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
