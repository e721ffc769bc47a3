"""Millions of rows that stay in their file: `python -m tests.bench.million FOLDER [--of digits] [--sizes N ...]`.

table       a made-up noisy table of 54 columns and two classes, a tenth of the labels swapped: a million rows
digits      deformed MNIST digits, 8,100,000 as in Loosli, Canu and Bottou (2007): each of the 60,000 in 135 forms of
            `random`; tested on the test digits as they are

They are written to FOLDER once as X.npy and y.npy, of which the first rows are the smaller sizes and the last those
tested. One line of JSON for each candidate and size, each in a process of its own: seconds of the clock and of the
processor, the most memory beyond that of the empty process, support vectors, the gap as the machines say it and by
plain NumPy in double precision (`true_gap`, over all rows or over --judge of them drawn at random), and the error.

ours        SVC on the rows in their file, within --cache-mb; --pairs: its budget, with which it ends where it stands
intelex     scikit-learn-intelex, on the array in memory, where it is installed
nystroem    scikit-learn's Nystroem map and LinearSVC, --components of them; several: the error by time
sgd         the same map and SGDClassifier with the hinge loss, piece after piece
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

NOISE, FORMS = 0.1, 135
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
PIECE = 50_000  # rows made or mapped at a time
WHO = ("ours", "intelex", "nystroem", "sgd")


class Problem(NamedTuple):
    """Rows, and the machine that is trained on them."""

    pieces: Callable[[], Iterator]  # (X, y) after (X, y): the rows, then those tested
    n: int
    tested: int
    gamma: float
    C: float


def tables() -> Iterator:
    """X (m, 54) float32: 5 measures that decide, 15 that do not, 34 seldom on; y (m,), a tenth of it swapped."""
    rng, total = np.random.default_rng(0), PROBLEMS["table"].n + PROBLEMS["table"].tested
    for start in range(0, total, PIECE):
        n = min(PIECE, total - start)
        X = rng.normal(size=(n, 54)).astype(np.float32)
        X[:, 20:] = X[:, 20:] > 1.5
        X[:, 8:] *= 0.5
        clean = np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.5 * (X[:, 4] ** 2 - 1) > 0
        yield X, clean ^ (rng.random(n) < NOISE)


def digits() -> Iterator:
    """X (60000, 784) uint8, every training digit once in one of its forms; y (60000,)."""
    from data import load
    from svmcore.jitter import JitterSet

    mnist, rng, forms = load("mnist"), np.random.default_rng(0), JitterSet.parse("random:1000", (28, 28))
    X, y = np.reshape(mnist.X_train, (-1, 784)), mnist.y_train
    for _ in range(FORMS):
        order, form = rng.permutation(len(X)), rng.integers(1000, size=len(X))
        yield np.rint(forms.pick(X[order], form)).astype(np.uint8), y[order]
    yield np.reshape(mnist.X_test, (-1, 784)), mnist.y_test


PROBLEMS = {
    "table": Problem(tables, 1_000_000, 20_000, 0.03, 1.0),
    "digits": Problem(digits, FORMS * 60_000, 10_000, 0.02 / 255**2, 2.0),
}


def write(folder: Path, problem: Problem) -> None:
    """X.npy and y.npy, piece by piece."""
    X, y, start = None, [], 0
    for rows, labels in problem.pieces():
        if X is None:
            shape = problem.n + problem.tested, rows.shape[1]
            X = np.lib.format.open_memmap(folder / "X.npy", "w+", rows.dtype, shape)
        X[start : start + len(rows)] = rows
        start += len(rows)
        y.append(labels)
    X.flush()
    np.save(folder / "y.npy", np.concatenate(y))


def _peak(forget: bool = False) -> float:
    if forget:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def ours(X, y, T, options) -> dict:
    from svmcore import RBF, SVC

    said = []

    def tell(progress):
        if progress.seconds > 60 * len(said):
            said.append(f"{progress.seconds:.0f} s, {progress.n_sv} SVs, gap {progress.gap:.3g}, {progress.iterations}")
            print(said[-1], file=sys.stderr, flush=True)
        return True

    svc = SVC(RBF(options.gamma), C=options.C, cache_mb=options.cache_mb, max_iter=options.pairs)
    machine = svc.fit(X, y, monitor=tell)
    found = {"n_sv": len(machine.support_), "bound": int(np.sum(machine.n_bound_)), "gap": machine.gap_}
    found |= {"kernel_values": machine.kernel_evals_, "pairs": int(machine.n_iter_.sum()), "ending": machine.ending_}
    return found | {"machine": machine, "decide": machine.predict}


def intelex(X, y, T, options) -> dict:
    from sklearnex.svm import SVC

    machine = SVC(kernel="rbf", gamma=options.gamma, C=options.C, cache_size=options.cache_mb, tol=1e-3)
    machine.fit(np.array(X), y)
    judged = {"machine": machine} if len(machine.classes_) == 2 else {}  # else it has one for each pair of classes
    return {"n_sv": len(machine.support_), "decide": machine.predict} | judged


def nystroem(X, y, T, options) -> dict:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.svm import LinearSVC

    feature = Nystroem(gamma=options.gamma, n_components=options.components, random_state=0).fit(np.array(X[:PIECE]))
    mapped = np.concatenate([feature.transform(X[i : i + PIECE]).astype(np.float32) for i in range(0, len(X), PIECE)])
    linear = LinearSVC(loss="hinge", C=options.C, max_iter=200).fit(mapped, y)
    return {"components": options.components, "decide": lambda T: linear.predict(feature.transform(T))}


def sgd(X, y, T, options) -> dict:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDClassifier

    feature = Nystroem(gamma=options.gamma, n_components=options.components, random_state=0).fit(np.array(X[:PIECE]))
    linear, rng = SGDClassifier(alpha=1 / (options.C * len(X)), random_state=0, average=True), np.random.default_rng(0)
    classes = np.unique(y)
    for _ in range(5):
        for i in rng.permutation(range(0, len(X), PIECE)):
            linear.partial_fit(feature.transform(X[i : i + PIECE]), y[i : i + PIECE], classes)
    return {"components": options.components, "decide": lambda T: linear.predict(feature.transform(T))}


def true_gap(X, y, rows, machine, options) -> float:
    """The largest of all machines over these rows of X, every kernel value in double precision, by plain NumPy."""
    V, f = np.asarray(X[machine.support_], np.float64), []
    squares = (V**2).sum(1)
    for part in np.array_split(rows, np.ceil(len(rows) / 1000)):
        A = np.asarray(X[part], np.float64)
        distance = (A**2).sum(1)[:, None] + squares - 2 * A @ V.T
        f.append(np.exp(-options.gamma * distance) @ machine.dual_coef_.T)
    positive, gaps = machine.classes_[1:] if len(machine.classes_) == 2 else machine.classes_, []
    for label, coef, own in zip(positive, machine.dual_coef_, np.concatenate(f).T, strict=True):
        Y, alpha = np.where(y[rows] == label, 1.0, -1.0), np.zeros(len(y))
        alpha[machine.support_] = np.abs(coef)
        alpha = alpha[rows]
        up = np.where(Y > 0, alpha < options.C, alpha > 0)
        low = np.where(Y > 0, alpha > 0, alpha < options.C)
        gaps.append((own - Y)[low].max() - (own - Y)[up].min())
    return float(max(gaps))


def one(folder: Path, who: str, n: int, options) -> dict:
    """The figures of a candidate on n rows."""
    from svmcore import FileRows

    warnings.simplefilter("ignore")
    problem = PROBLEMS[options.of]
    options = argparse.Namespace(**vars(options), gamma=problem.gamma, C=problem.C)
    labels, mapped = np.load(folder / "y.npy"), np.load(folder / "X.npy", mmap_mode="r")
    T, wanted, y = np.array(mapped[-problem.tested :]), labels[-problem.tested :], labels[:n]
    fit, warm = globals()[who], argparse.Namespace(**vars(options) | {"pairs": 200, "components": 20})
    fit(FileRows.of(mapped[:6000]) if who == "ours" else mapped[:6000], labels[:6000], T, warm)
    X = FileRows.of(mapped[:n]) if who == "ours" else mapped[:n]
    empty, began, used = _peak(forget=True), time.perf_counter(), time.process_time()
    found = fit(X, y, T, options)
    told = {"who": who, "n": n, "seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - used}
    told |= {"growth_mb": _peak() - empty}
    machine, decide = found.pop("machine", None), found.pop("decide")
    told |= found | {"error": float((decide(T) != wanted).mean())}
    if machine is not None:
        rows = np.random.default_rng(0).choice(n, min(n, options.judge), replace=False)
        told |= {"judged": len(rows), "true_gap": true_gap(mapped, y, np.sort(rows), machine, options)}
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in told.items()}


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--of", choices=PROBLEMS, default="table")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--who", nargs="+", choices=WHO, default=WHO)
    parser.add_argument("--cache-mb", type=float, default=3000)
    parser.add_argument("--pairs", type=int, default=-1)
    parser.add_argument("--components", type=int, default=1000)
    parser.add_argument("--judge", type=int, default=100_000)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = sys.argv[1:] if argv is None else argv
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(one(options.folder, options.one[0], int(options.one[1]), options)), flush=True)
        return 0
    options.folder.mkdir(parents=True, exist_ok=True)
    if not (options.folder / "y.npy").exists():
        write(options.folder, PROBLEMS[options.of])
    for n in options.sizes:
        for who in options.who:
            command = [sys.executable, "-m", "tests.bench.million", *arguments, "--one", who, str(n)]
            ended = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            print(ended.stdout.strip() or json.dumps({"who": who, "n": n, "failed": ended.returncode}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
