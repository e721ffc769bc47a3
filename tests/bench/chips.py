"""Dense chips, ours beside scikit-learn-intelex in one process: `python -m tests.bench.chips [--only face-2000 ...]`.

volcano   225 features, chips of mean 0 and length 1 from the mirrored radar images (positives: every label and its
          eight neighbours by one pixel; the others: windows at random, half of them those most like a volcano);
          (u.v + 1)^9 / 512, C = 1, three times as much for volcanoes
face      283 features, windows of the set `face-windows` masked, less the brightness plane, equalised;
          (u.v + 1)^2 / 4, C = 200

Both candidates fit in interleaved turns, four times as many of small problems, and the best of each counts. The dual
objectives have to agree to 1e-4. The last column is our time over theirs.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from data import load, places
from data.loaders import jartool
from svmcore import SVC, Poly
from tests.bench.candidate import _dual
from tests.bench.machine import machine

SIZES = (2000, 10_000, 50_000)
SIDE, FACE = 15, 19
COLUMNS = ("chips", "n", "d", "SVs", "theirs", "dual apart by", "ours, s", "theirs, s", "ours / theirs")


def volcanoes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """X (n, 225), y (n,); FileNotFoundError without the mirrored images."""
    folder = next((m / "volcanoes" for m in places.mirrors() if (m / "volcanoes").is_dir()), None)
    if folder is None:
        raise FileNotFoundError("volcanoes/Images in a folder of SVMLAB_DATA")
    rng, positive, negative = np.random.default_rng(0), [], []
    for sdt in sorted((folder / "Images").glob("img*.sdt")):
        image = jartool.read_image(sdt, sdt.with_suffix(".spr")).astype(np.float32)
        image = image.reshape(512, 2, 512, 2).mean((1, 3))
        views = np.lib.stride_tricks.sliding_window_view(image, (SIDE, SIDE))
        truth = jartool.read_truth(folder / "GroundTruths" / f"{sdt.stem}.lxyr")
        for _, x, y, _ in np.atleast_2d(truth) if truth.size else ():
            at = np.array([y, x]) // 2 - SIDE // 2
            around = (at[:, None] + np.mgrid[-1:2, -1:2].reshape(2, -1)).astype(int)
            inside = ((around >= 0) & (around < len(views))).all(0)
            positive.append(views[around[0, inside], around[1, inside]])
        negative.append(views[tuple(rng.integers(0, len(views), (2, 6000)))])
    positive, negative = (_unit(np.concatenate(some).reshape(-1, SIDE * SIDE)) for some in (positive, negative))
    alike = np.argsort(-(negative @ positive.mean(0)), kind="stable")
    positive = positive[rng.permutation(len(positive))[: n // 5]]
    hard, wanted = alike[: (n - len(positive)) // 2], n - len(positive)
    others = rng.permutation(np.setdiff1d(alike, hard))[: wanted - len(hard)]
    X = np.concatenate([positive, negative[hard], negative[others]])
    order = rng.permutation(len(X))
    return X[order], np.where(np.arange(len(X)) < len(positive), 1, -1)[order]


def faces(n: int) -> tuple[np.ndarray, np.ndarray]:
    """X (n, 283), y (n,), drawn from `face-windows`; NotAtHand without it."""
    data = load("face-windows")
    chosen = np.sort(np.random.default_rng(0).choice(len(data.X_train), n, replace=False))
    y, x = np.mgrid[:FACE, :FACE] - FACE // 2
    oval = (y / 1.08) ** 2 + x**2
    mask = oval <= np.sort(oval, axis=None)[282]
    V = data.X_train[chosen].astype(np.float32)[:, mask][:, :283]
    plane = np.linalg.qr(np.stack([np.ones(283), y[mask][:283], x[mask][:283]], 1))[0].astype(np.float32)
    V -= (V @ plane) @ plane.T
    rank = V.argsort(1, kind="stable").argsort(1, kind="stable").astype(np.float32)
    return _unit(rank), data.y_train[chosen]


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows of mean 0 and length 1, float32."""
    rows = rows - rows.mean(1, keepdims=True)
    return np.ascontiguousarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6), np.float32)


PROBLEMS = {  # chips -> how they are made, kernel, C, weight of the positives
    "volcano": (volcanoes, Poly(9, 1.0, 1.0), 1.0, 3.0),
    "face": (faces, Poly(2, 1.0, 1.0), 200.0, 1.0),
}


def compare(chips: str, n: int, turns: int) -> dict:
    """Both candidates on one problem, interleaved: best seconds, SVs, and how far the duals are apart."""
    from sklearnex.svm import SVC as Theirs  # noqa: N811  (installed for the benchmarks alone)

    make, kernel, C, weight = PROBLEMS[chips]
    X, y = make(n)
    same = {"C": C, "class_weight": {1: weight, -1: 1.0}, "tol": 1e-3}
    candidates = {
        "ours": lambda: SVC(kernel, cache_mb=4000, **same),
        "theirs": lambda: Theirs(kernel="poly", degree=kernel.degree, gamma=0.5, coef0=0.5, cache_size=4000, **same),
    }
    few = np.concatenate([np.flatnonzero(y == label)[:300] for label in (-1, 1)])
    for new in candidates.values():
        new().fit(X[few], y[few])
    seconds, fitted = {who: [] for who in candidates}, {}
    for _ in range(turns * (4 if n <= 2000 else 1)):
        for who, new in candidates.items():
            model, start = new(), time.perf_counter()
            fitted[who] = model.fit(X, y)
            seconds[who].append(time.perf_counter() - start)
    duals = {who: _dual(kernel, model.support_vectors_, np.ravel(model.dual_coef_)) for who, model in fitted.items()}
    best = {who: min(times) for who, times in seconds.items()}
    return {
        "chips": chips,
        "n": n,
        "d": X.shape[1],
        "n_sv": {who: len(model.support_) for who, model in fitted.items()},
        "apart": abs(duals["ours"] / duals["theirs"] - 1),
        "seconds": best,
        "ratio": best["ours"] / best["theirs"],
        "pairs": int(fitted["ours"].n_iter_.sum()),
        "kernel_evals": int(fitted["ours"].kernel_evals_),
    }


def main(argv=None) -> int:
    names = [f"{chips}-{n}" for n in SIZES for chips in PROBLEMS]
    parser = argparse.ArgumentParser(prog="python -m tests.bench.chips", description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="only these problems")
    parser.add_argument("--turns", type=int, default=3, help="how often every candidate fits")
    parser.add_argument("--json", type=Path, help="where the results go")
    options = parser.parse_args(argv)
    print(" | ".join(COLUMNS), flush=True)
    rows = []
    for name in options.only:
        chips, _, n = name.partition("-")
        row = compare(chips, int(n), options.turns)
        rows.append(row)
        cells = (chips, n, row["d"], *row["n_sv"].values(), f"{row['apart']:.1e}",
                 *(f"{s:.2f}" for s in row["seconds"].values()), f"{row['ratio']:.2f}")  # fmt: skip
        print(" | ".join(map(str, cells)), f"   {row['pairs']} pairs, {row['kernel_evals']:.3g} values", flush=True)
        if options.json:
            options.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n", encoding="utf-8")
    print(machine())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
