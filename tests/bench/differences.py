"""Intervals of the difference between two settings, over folds that share examples: how often they cover the truth.

    python -m tests.bench.differences

Data without end are drawn from two made-up worlds; each pair of settings is cross-validated many times, on new training
examples each time, by scikit-learn. Two truths: the difference of the machines of these folds on 4,000 new examples,
and its mean over all training sets. Of each way to an interval: how often it covers both, and how wide it is.

    folds     t interval of the K differences on single folds
    resampled the same with 1/K + 1/(K-1) in the place of 1/K (Nadeau and Bengio, Machine Learning 52, 2003)
    pairs     1.96 sqrt(pairs) / n, pairs: examples that one of both answers wrongly and the other does not (McNemar)
    pairs + 1 the same with one pair more: `svmcore.lab.analyses.sweep.apart`
"""

import numpy as np
from scipy.stats import t
from sklearn.datasets import make_moons
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from svmcore.lab.analyses.sweep import Z95, apart

SETTINGS = (1, 0.5), (1.3, 0.5), (1, 0.6), (10, 0.5), (1, 2.0), (1, 0.1), (100, 1)  # C, gamma; the first beside each
CASES = ("moons", 200, 5), ("moons", 100, 3), ("moons", 200, 10), ("groups", 200, 5)
REPEATS, NEW = 150, 4000


def drawn(world: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two moons in the plane, or six Gaussians in eight dimensions, three of each class."""
    if world == "moons":
        return make_moons(n, noise=0.35, random_state=seed)
    centres = 1.1 * np.random.default_rng(1).normal(size=(6, 8))
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 6, n)
    return centres[group] + rng.normal(size=(n, 8)), group % 2


def validated(world: str, n: int, K: int, seed: int, new: tuple) -> tuple[np.ndarray, np.ndarray, list]:
    """Of each setting: which examples are answered wrongly on folds (settings, n); the error rate of these machines on
    new examples (settings,); and the folds."""
    X, y = drawn(world, n, seed)
    folds = list(StratifiedKFold(K, shuffle=True, random_state=seed).split(X, y))
    wrong, true = np.zeros((len(SETTINGS), n), bool), np.zeros((len(SETTINGS), K))
    for s, (C, gamma) in enumerate(SETTINGS):
        for k, (kept, held) in enumerate(folds):
            machine = SVC(C=C, gamma=gamma).fit(X[kept], y[kept])
            wrong[s, held] = machine.predict(X[held]) != y[held]
            true[s, k] = np.mean(machine.predict(new[0]) != new[1])
    return wrong, true.mean(axis=1), [held for _, held in folds]


def halves(a: np.ndarray, b: np.ndarray, folds: list) -> dict[str, float]:
    """Way -> half the width of its 95 % interval; a, b: (n,) which examples each setting answers wrongly."""
    n, K = len(a), len(folds)
    on_folds = np.var([a[held].mean() - b[held].mean() for held in folds], ddof=1)
    quantile = t.ppf(0.975, K - 1)
    return {
        "folds": quantile * np.sqrt(on_folds / K),
        "resampled": quantile * np.sqrt(on_folds * (1 / K + 1 / (K - 1))),
        "pairs": Z95 * np.sqrt((a ^ b).sum()) / n,
        "pairs + 1": apart(a, b)[1],
    }


def main() -> None:
    print("world   n   K  C, gamma     truth %   covers these machines / any training set (half width, points)")
    for world, n, K in CASES:
        new = drawn(world, NEW, 10**6)
        cases = [validated(world, n, K, seed, new) for seed in range(REPEATS)]
        overall = np.mean([true for _, true, _ in cases], axis=0)
        for s in range(1, len(SETTINGS)):
            told = {}
            for wrong, true, folds in cases:
                found = wrong[s].mean() - wrong[0].mean()
                for way, half in halves(wrong[s], wrong[0], folds).items():
                    hits = abs(found - (true[s] - true[0])) <= half, abs(found - (overall[s] - overall[0])) <= half
                    told.setdefault(way, []).append((*hits, 100 * half))
            means = {way: np.mean(all_of, axis=0) for way, all_of in told.items()}
            ways = "   ".join(f"{way} {a:.2f} / {b:.2f} ({w:.1f})" for way, (a, b, w) in means.items())
            print(
                f"{world:6} {n:4} {K:3}  {SETTINGS[s]!s:12} {100 * (overall[s] - overall[0]):+6.2f}   {ways}",
                flush=True,
            )


if __name__ == "__main__":
    main()
