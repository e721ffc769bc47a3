"""Benchmark against other libraries, one command for the whole table: `python -m tests.bench.peers [--quick]`.

Same kernel, C, tolerance, cache and threads for all; binary fits of a peer one after another for our machines of
several classes. Candidates fit in turns, each in a fresh process of its own; problems of up to 3000 examples follow one
another in processes that have started, up to three fits a turn. The median of a candidate's turns counts. A turn is the
last of a candidate that has taken longer than --patience on a problem; LIBSVM and ThunderSVM get a turn more only where
they are quick. The dual objective and the gap are computed by judge.py in double precision. Rows take the place of
those of the same name in tests/bench/measured/peers.json as soon as they are there, so that a run may be broken off and
taken up with --missing; `python -m tests.bench.results --write` shows them.

sklearnex    scikit-learn-intelex (oneDAL): pip install -r tests/bench/requirements.txt
sklearn      scikit-learn (LIBSVM)
thundersvm   pip install thundersvm-cpu (0.3.3; Linux on x86-64); left out where it does not import. The package
             `thundersvm` asks for CUDA 9.
liblinear    scikit-learn's LinearSVC (dual coordinate descent, hinge loss), linear kernels only: it penalises the bias,
             so that its primal objective stays a little above the optimum of ours
sgd          scikit-learn's SGDClassifier (hinge loss), linear kernels only: stochastic gradient steps on the primal
liquidSVM    has no part in it: its machines have no bias and its fits include a choice of parameters, so no fit of it
             solves these problems. 1.0.1 builds, but under Python 3.11 does not find its own library.

Linux only (memory is read from /proc).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from fnmatch import fnmatch
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

import numpy as np

from data.dataset import NotAtHand
from tests.bench import measured, ratio
from tests.bench.machine import machine
from tests.bench.problems import LIBLINEAR, LIBSVM, PEERS, PROBLEMS, SGD, THUNDER

COLUMNS = ("problem", "n", "SVs", "who", "s", "turns", "cpu s", "predict s", "MB", "dual", "primal", "gap", "ours / it")
FITS = 3  # of a turn
PATIENCE = {LIBSVM: 0.3, THUNDER: 0.3}  # seconds on a problem after which a candidate has no other turn
IN = {LIBLINEAR: "sklearn", SGD: "sklearn"}  # the package of a peer, where it is not its name
STARTING = 120  # seconds for a process to start, read and warm up, and to judge what it has fitted


class Process:
    """A candidate that waits for problems."""

    def __init__(self, who: str):
        command, pipe = [sys.executable, "-m", "tests.bench.candidate", who], subprocess.PIPE
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (closed with the process)
        self.run = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self.errors, text=True)
        self.answers: SimpleQueue[str] = SimpleQueue()  # "" at the end
        self.reader = Thread(target=self._read, daemon=True)
        self.reader.start()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_) -> None:
        self.run.kill()
        self.reader.join()
        self.run.wait()
        for file in (self.run.stdin, self.run.stdout, self.errors):
            file.close()

    def fit(self, name: str, path: Path, judge: bool) -> dict:
        """Figures of one turn, or {"error"}. It is killed where it takes longer than the problem's limit."""
        asked = {"problem": name, "path": str(path), "fits": FITS, "judge": judge}
        try:
            print(json.dumps(asked), file=self.run.stdin, flush=True)
        except BrokenPipeError:
            return {"error": self._last_words()}
        limit, found = PROBLEMS[name].limit, {}
        for seconds in (limit + STARTING / 4, STARTING):
            try:
                line = self.answers.get(timeout=seconds)
            except Empty:
                self.run.kill()
                return {"error": f"longer than {limit:g} s"}
            if not line:
                return {"error": self._last_words()}
            found = json.loads(line)
        return found

    def _read(self) -> None:
        for line in self.run.stdout:
            self.answers.put(line)
        self.answers.put("")

    def _last_words(self) -> str:
        self.run.wait()
        self.errors.seek(0)
        return (self.errors.read().strip() or "killed").splitlines()[-1]


class Bench:
    """Problems one after another; candidates of small ones keep their processes."""

    def __init__(self, turns: int, patience: float, against: list[str], stack: ExitStack):
        self.turns, self.patience, self.against, self.stack = turns, patience, against, stack
        self.started: dict[str, Process] = {}

    def row(self, name: str) -> dict:
        """All candidates on one problem: the facts of the data, each candidate's medians, and why others have none."""
        problem = PROBLEMS[name]
        task = problem.make()
        facts = {"problem": name, "n": len(task.X), "d": task.X.shape[1], "machine": machine()}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "task.npz"
            np.savez(path, **{key: value for key, value in task._asdict().items() if value is not None})
            del task
            found = self._turns(name, path, ["ours", *(who for who in problem.peers if who in self.against)])
        candidates = {who: medians(turns) for who, turns in found.items() if "error" not in turns[-1]}
        failed = {who: turns[-1]["error"] for who, turns in found.items() if "error" in turns[-1]}
        return facts | {"candidates": candidates, "failed": failed}

    def _turns(self, name: str, path: Path, going: list[str]) -> dict[str, list[dict]]:
        found: dict[str, list[dict]] = {who: [] for who in going}
        for turn in range(self.turns):
            for who in list(going):
                found[who].append(self._fit(who, name, path, judge=not turn))
                spent = sum(figures.get("seconds", np.inf) for figures in found[who])
                if spent > PATIENCE.get(who, self.patience):
                    going.remove(who)
        return found

    def _fit(self, who: str, name: str, path: Path, judge: bool) -> dict:
        if not PROBLEMS[name].small:
            with Process(who) as process:
                return process.fit(name, path, judge)
        if who not in self.started:
            self.started[who] = self.stack.enter_context(Process(who))
        figures = self.started[who].fit(name, path, judge)
        if "error" in figures:
            del self.started[who]
        return figures


def medians(turns: list[dict]) -> dict:
    """A candidate's figures: those of the first turn, with medians of what it took."""
    times = ("seconds", "cpu_seconds")
    return turns[0] | {name: statistics.median(turn[name] for turn in turns) for name in times} | {"turns": len(turns)}


def table_lines(row: dict) -> list[str]:
    """One line for each candidate of a problem."""
    ours, lines = row["candidates"].get("ours"), []
    for who, r in row["candidates"].items():
        times = (f"{r['seconds']:.3g}", r["turns"], f"{r['cpu_seconds']:.3g}", f"{r['predict_seconds']:.3g}")
        objectives = (f"{r[name]:.6g}" if name in r else "" for name in ("dual", "primal"))
        worth = (f"{r['growth_mb']:.0f}", *objectives, f"{r['gap']:.1e}" if "gap" in r else "")
        beside = f"{ours['seconds'] / r['seconds']:.2f}" if ours and who != "ours" else ""
        lines.append(" | ".join(map(str, (row["problem"], row["n"], sum(r["n_sv"]), who, *times, *worth, beside))))
    return lines + [f"{row['problem']} | {who} failed: {error}" for who, error in row["failed"].items()]


def merged(known: dict, row: dict) -> dict:
    """Problem -> row as measured before, but this one's, in the order of the table."""
    found = known | {row["problem"]: row}
    return {name: found[name] for name in PROBLEMS if name in found}


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.peers", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="only the small problems: under two minutes")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these problems, with * and ?")
    parser.add_argument("--missing", action="store_true", help="only problems that the file has no row of")
    parser.add_argument("--turns", type=int, default=5, help="how often a candidate runs at most (5)")
    parser.add_argument("--patience", type=float, default=20, help="seconds after which it has no other turn (20)")
    parser.add_argument("--json", type=Path, help="a file of one's own for the results")
    parser.add_argument("--against", nargs="+", choices=PEERS, default=PEERS, help="only these peers")
    options = parser.parse_args(argv)
    against = [who for who in options.against if importlib.util.find_spec(IN.get(who, who))]
    names = [name for name, problem in PROBLEMS.items() if problem.quick or not options.quick]
    if options.only:
        names = [name for name in names if any(fnmatch(name, pattern) for pattern in options.only)]
    target = str(options.json.resolve().with_suffix("")) if options.json else "peers"
    known = measured.read(target)
    if options.missing:
        names = [name for name in names if name not in known]
    print(" | ".join(COLUMNS), flush=True)
    with ExitStack() as stack:
        bench = Bench(options.turns, options.patience, against, stack)
        for name in names:
            try:
                row = bench.row(name)
            except NotAtHand as reason:
                print(f"{name} is left out: {reason}", flush=True)
                continue
            print("\n".join(table_lines(row)), flush=True)
            known = merged(known, row)
            measured.write(target, known)
    if not options.json:
        ratio.PATH.write_text(ratio.picture(known), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
