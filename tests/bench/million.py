"""A million rows that stay in their file: `python -m tests.bench.million FOLDER [--sizes N ...] [--who NAME ...]`.

A made-up noisy table of 54 columns (`table`), written to FOLDER once as X.npy and y.npy, the first rows of which are
the smaller sizes; the last TESTED are decided by every machine. One line of JSON for each candidate and size, each in a
process of its own: seconds of the clock and of the processor, the most memory beyond that of the empty process, support
vectors, the gap as the machine says it and over all rows by plain NumPy in double precision (`true_gap`, as far as
`--judge` rows), and the error.

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
from pathlib import Path

import numpy as np

D, TESTED, NOISE, GAMMA, C = 54, 20_000, 0.1, 0.03, 1.0
ROWS, SIZES = 1_000_000, (10_000, 30_000, 100_000, 300_000, 1_000_000)
PIECE = 50_000  # rows made, mapped or judged at a time
WHO = ("ours", "intelex", "nystroem", "sgd")


def table(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """X (n, 54) float32: 5 measures that decide, 15 that do not, 34 seldom on; y (n,), a tenth of it swapped."""
    X = rng.normal(size=(n, D)).astype(np.float32)
    X[:, 20:] = X[:, 20:] > 1.5
    X[:, 8:] *= 0.5
    clean = np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.5 * (X[:, 4] ** 2 - 1) > 0
    return X, clean ^ (rng.random(n) < NOISE)


def write(folder: Path, n: int) -> None:
    """X.npy and y.npy of n rows and the tested ones, piece by piece."""
    rng, total = np.random.default_rng(0), n + TESTED
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (total, D))
    y = np.empty(total, bool)
    for start in range(0, total, PIECE):
        part = slice(start, min(start + PIECE, total))
        X[part], y[part] = table(rng, part.stop - part.start)
    X.flush()
    np.save(folder / "y.npy", y)


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

    svc = SVC(RBF(GAMMA), C=C, cache_mb=options.cache_mb, max_iter=options.pairs)
    machine = svc.fit(X, y, monitor=tell)
    found = {"n_sv": len(machine.support_), "bound": int(machine.n_bound_[0]), "gap": machine.gap_}
    found |= {"kernel_values": machine.kernel_evals_, "pairs": int(machine.n_iter_[0]), "ending": machine.ending_}
    return found | {"machine": machine, "decide": machine.predict}


def intelex(X, y, T, options) -> dict:
    from sklearnex.svm import SVC

    machine = SVC(kernel="rbf", gamma=GAMMA, C=C, cache_size=options.cache_mb, tol=1e-3).fit(np.array(X), y)
    return {"n_sv": len(machine.support_), "machine": machine, "decide": machine.predict}


def nystroem(X, y, T, options) -> dict:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.svm import LinearSVC

    feature = Nystroem(gamma=GAMMA, n_components=options.components, random_state=0).fit(np.array(X[:PIECE]))
    mapped = np.concatenate([feature.transform(X[i : i + PIECE]).astype(np.float32) for i in range(0, len(X), PIECE)])
    linear = LinearSVC(loss="hinge", C=C, max_iter=200).fit(mapped, y)
    return {"components": options.components, "decide": lambda T: linear.predict(feature.transform(T))}


def sgd(X, y, T, options) -> dict:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDClassifier

    feature = Nystroem(gamma=GAMMA, n_components=options.components, random_state=0).fit(np.array(X[:PIECE]))
    linear, rng = SGDClassifier(alpha=1 / (C * len(X)), random_state=0, average=True), np.random.default_rng(0)
    for _ in range(5):
        for i in rng.permutation(range(0, len(X), PIECE)):
            linear.partial_fit(feature.transform(X[i : i + PIECE]), y[i : i + PIECE], [False, True])
    return {"components": options.components, "decide": lambda T: linear.predict(feature.transform(T))}


def true_gap(X, y, support, coef) -> float:
    """Over all rows of X, every kernel value in double precision, by plain NumPy."""
    V, Y = np.asarray(X[support], np.float64), np.where(y, 1.0, -1.0)
    f, squares = np.empty(len(Y)), (V**2).sum(1)
    for start in range(0, len(Y), 1000):
        A = np.asarray(X[start : start + 1000], np.float64)
        distance = (A**2).sum(1)[:, None] + squares - 2 * A @ V.T
        f[start : start + 1000] = np.exp(-GAMMA * distance) @ coef
    f, alpha = f - Y, np.zeros(len(Y))
    alpha[support] = np.abs(coef)
    up = np.where(Y > 0, alpha < C, alpha > 0)
    low = np.where(Y > 0, alpha > 0, alpha < C)
    return float(f[low].max() - f[up].min())


def one(folder: Path, who: str, n: int, options) -> dict:
    """The figures of a candidate on n rows."""
    from svmcore import FileRows

    warnings.simplefilter("ignore")
    labels, mapped = np.load(folder / "y.npy"), np.load(folder / "X.npy", mmap_mode="r")
    T, wanted, y = np.array(mapped[-TESTED:]), labels[-TESTED:], labels[:n]
    fit, warm = globals()[who], argparse.Namespace(**vars(options) | {"pairs": 200, "components": 20})
    fit(FileRows.of(mapped[:6000]) if who == "ours" else mapped[:6000], labels[:6000], T, warm)
    X = FileRows.of(mapped[:n]) if who == "ours" else mapped[:n]
    empty, began, used = _peak(forget=True), time.perf_counter(), time.process_time()
    found = fit(X, y, T, options)
    told = {"who": who, "n": n, "seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - used}
    told |= {"growth_mb": _peak() - empty}
    machine, decide = found.pop("machine", None), found.pop("decide")
    told |= found | {"error": float((decide(T) != wanted).mean())}
    if machine is not None and n <= options.judge:
        coef = np.ravel(machine.dual_coef_)
        told["true_gap"] = true_gap(mapped[:n], y, machine.support_, coef)
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in told.items()}


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--who", nargs="+", choices=WHO, default=WHO)
    parser.add_argument("--cache-mb", type=float, default=3000)
    parser.add_argument("--pairs", type=int, default=-1)
    parser.add_argument("--components", type=int, default=1000)
    parser.add_argument("--judge", type=int, default=100_000)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.one:
        print(json.dumps(one(options.folder, options.one[0], int(options.one[1]), options)), flush=True)
        return 0
    options.folder.mkdir(parents=True, exist_ok=True)
    if not (options.folder / "y.npy").exists():
        write(options.folder, ROWS)
    told = ("--cache-mb", options.cache_mb, "--pairs", options.pairs, "--components", options.components)
    for n in options.sizes:
        for who in options.who:
            command = [sys.executable, "-m", "tests.bench.million", options.folder, "--judge", options.judge, *told]
            ended = subprocess.run([*map(str, command), "--one", who, str(n)], stdout=subprocess.PIPE, text=True)
            print(ended.stdout.strip() or json.dumps({"who": who, "n": n, "failed": ended.returncode}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
