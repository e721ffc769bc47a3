"""Benchmark against scikit-learn (LIBSVM) and scikit-learn-intelex (oneDAL): `python -m tests.bench.peers [--quick]`.

Same kernel, C, tolerance, cache and threads for all; ten binary fits of a peer for our ten machines. Each candidate
runs in a fresh process, one after another in turns, and the best of its turns counts. The floor is the time of the
products of every distinct support vector with every example, by the faster of sgemm and our own product in the same
run. Processor seconds (of all cores) say more than seconds where other programs are running.

Install `tests/bench/requirements.txt` first; Linux only (memory is read from /proc).
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from data.dataset import NotAtHand
from svmcore._jit import home
from tests.bench.machine import machine
from tests.bench.problems import PROBLEMS, SERIES

COLUMNS = (
    "problem",
    "n",
    "d",
    "density",
    "SVs",
    "who",
    "s",
    "cpu s",
    "growth MB",
    "dual",
    "kernel evals",
    "/ floor",
    "ours / it",
    "by cpu",
)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.peers", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="only the problems that take seconds")
    parser.add_argument("--only", nargs="+", metavar="PROBLEM", choices=list(PROBLEMS), help="only these problems")
    parser.add_argument("--turns", type=int, default=1, help="how often every candidate runs")
    parser.add_argument("--json", type=Path, help="where the results go")
    options = parser.parse_args(argv)
    names = options.only or [name for name, problem in PROBLEMS.items() if problem.quick or not options.quick]
    target = options.json or home() / "bench" / time.strftime("peers-%Y%m%d-%H%M%S.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    print(" | ".join(COLUMNS), flush=True)
    rows = []
    for name in names:
        try:
            rows.append(run(name, options.turns))
        except NotAtHand as reason:
            print(f"{name} is left out: {reason}", flush=True)
            continue
        print("\n".join(table_lines(rows[-1])), flush=True)
        target.write_text(json.dumps(results(rows), indent=1), encoding="utf-8")
    print("\ngrowth exponents of digit 8 against the rest, from two sizes up: seconds ~ n ** exponent")
    for who, exponent in growth(rows).items():
        print(f"  {who} {exponent:.2f}")
    print(f"\n{machine()}\nwritten to {target}")
    return 0


def results(rows) -> dict:
    return {"machine": machine(), "problems": rows, "growth": growth(rows)}


def run(name: str, turns: int) -> dict:
    """All candidates on one problem: the facts of the data, and each candidate's best turn."""
    problem = PROBLEMS[name]
    task = problem.make()
    facts = {"problem": name, "n": len(task.X), "d": task.X.shape[1], "density": float(np.mean(task.X != 0))}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "task.npz"
        np.savez(path, **{key: value for key, value in task._asdict().items() if value is not None})
        turn = ["ours", *problem.peers] * turns
        runs = [(who, _fresh(who, path, name)) for who in turn]
    finished = {who: [r for w, r in runs if w == who and "error" not in r] for who in turn}
    best = {who: min(found, key=lambda r: r["seconds"]) for who, found in finished.items() if found}
    failed = {who: r["error"] for who, r in runs if "error" in r}
    return facts | {"candidates": best, "failed": failed}


def _fresh(who: str, path: Path, name: str) -> dict:
    command = [sys.executable, "-m", "tests.bench.candidate", who, str(path), name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    return (
        json.loads(lines[-1]) if done.returncode == 0 else {"error": (done.stderr.strip() or "killed").splitlines()[-1]}
    )


def table_lines(row: dict) -> list[str]:
    """One line for each candidate of a problem."""
    ours, lines = row["candidates"].get("ours"), []
    floor = min(ours["sgemm_seconds"], ours["product_seconds"]) if ours else math.nan
    for who, r in row["candidates"].items():
        rivals = ours if ours and who != "ours" else {}
        ratios = [f"{rivals[key] / r[key]:.3f}" if rivals else "" for key in ("seconds", "cpu_seconds")]
        cells = (
            row["problem"],
            row["n"],
            row["d"],
            f"{row['density']:.3f}",
            sum(r["n_sv"]),
            who,
            f"{r['seconds']:.2f}",
        )
        evals = "" if r["kernel_evals"] is None else f"{r['kernel_evals']:.3g}"
        cells += (f"{r['cpu_seconds']:.2f}", f"{r['growth_mb']:.0f}", f"{r['dual']:.3f}", evals)
        cells += (f"{r['seconds'] / floor:.2f}", *ratios)
        lines.append(" | ".join(map(str, cells)))
        if ours and who != "ours" and r["predict_seconds"]:
            lines.append(f"    prediction: ours {ours['predict_seconds']:.2f} s, {who} {r['predict_seconds']:.2f} s")
    return lines + [f"{row['problem']} | {who} failed: {error}" for who, error in row["failed"].items()]


def growth(rows) -> dict[str, float]:
    """Slope of log seconds over log n along the problems digit-8-n, for each candidate that solved two or more."""
    series = {f"digit-8-{n}" for n in SERIES}
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        for who, r in row["candidates"].items() if row["problem"] in series else ():
            points.setdefault(who, []).append((math.log(row["n"]), math.log(r["seconds"])))
    return {who: float(np.polyfit(*zip(*found, strict=True), 1)[0]) for who, found in points.items() if len(found) > 1}


if __name__ == "__main__":
    sys.exit(main())
