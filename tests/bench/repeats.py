"""How often the interval of repeats covers the expected error: `python -m tests.bench.repeats [--datasets 300]`.

For each learner and setting (examples / train / test), 300 datasets with 10 repeats each: how often the interval covers
the expected test error of a machine trained on so many examples, and its mean width in per cent points. The expected
error is that of many fits on fresh draws. `paired` is the difference of two recipes that have the same expected error,
as their features are exchangeable: 1 - coverage is how often it is called a difference. Each row is told for

    naive     t_{k-1} sqrt(var / k)
    Nadeau    t_{k-1} sqrt((1 / k + m / n) var), of Nadeau and Bengio (2003)
    ours      svmcore.lab.analyses.repeats
    needed    3.92 standard deviations of the mean over the datasets: the width that would be enough, were it known

and `power` is how often a difference is seen where one recipe has a feature less.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from svmcore import RBF, SVC
from svmcore.lab.analyses.repeats import Repeat, interval, paired

REPEATS, ENOUGH = 10, 200_000  # test examples that tell the expected error, at least 10,000 a fit
COLUMNS = "learner", "setting", "", "naive", "Nadeau", "ours", "needed", "power"


class Setting(NamedTuple):
    """n of so many examples train and m others test; given: the m are the same for all repeats, beside the examples."""

    examples: int
    n: int
    m: int
    given: bool = False

    def __str__(self) -> str:
        return f"{self.examples}/{self.n}/{self.m}" + " given" * self.given


SETTINGS = (
    Setting(5000, 200, 4800), Setting(5000, 4000, 1000), Setting(5000, 1000, 4000), Setting(1000, 800, 200),
    Setting(10000, 200, 5000, given=True),
)  # fmt: skip


class Learner(NamedTuple):
    """fit(X, y) -> predict; two Gaussians, apart in d exchangeable features by 2 delta, with a share of swapped labels.
    used: how many features each of two recipes sees, the first or the last of the d. most: trains on so many at most.
    """

    fit: Callable
    d: int
    delta: float
    swapped: float = 0.0
    used: int = 0
    most: int = 10_000

    def draw(self, rng, n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.integers(0, 2, n)
        X = rng.normal(size=(n, self.d)) + self.delta * (2 * y - 1)[:, None]
        return X, np.where(rng.random(n) < self.swapped, 1 - y, y)

    def loss(self, columns: slice, train, test) -> np.ndarray:
        """(m,) 1 where an example of `test` comes out wrong."""
        (X, y), (Z, t) = train, test
        return (self.fit(X[:, columns], y)(Z[:, columns]) != t).astype(float)


def discriminant(X, y) -> Callable:
    a, b = X[y == 0], X[y == 1]
    spread = np.cov(a.T) * (len(a) - 1) + np.cov(b.T) * (len(b) - 1)
    w = np.linalg.solve(spread, b.mean(0) - a.mean(0))
    return lambda Z: (Z @ w > w @ (a.mean(0) + b.mean(0)) / 2).astype(int)


def neighbours(k: int) -> Callable:
    return lambda X, y: KNeighborsClassifier(k).fit(X, y).predict


def machine(X, y) -> Callable:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SVC(RBF(0.1), C=1.0).fit(X, y).predict


LEARNERS = {
    "discriminant": Learner(discriminant, 10, 0.4, used=9),
    "discriminant, 2 % errors": Learner(discriminant, 6, 0.92, used=5),
    "discriminant, 10 % swapped": Learner(discriminant, 10, 0.5, 0.1, used=9),
    "SVC, 5 % swapped": Learner(machine, 5, 0.6, 0.05, used=4, most=800),
    "15 neighbours": Learner(neighbours(15), 4, 0.6, used=3, most=1000),
    "1 neighbour, 10 % swapped": Learner(neighbours(1), 3, 1.0, 0.1, used=2, most=1000),
}


def drawn(learner: Learner, setting: Setting, seed: int) -> tuple[dict, dict, dict]:
    """Repeats of two recipes of equal expected error, and of one with a feature less, on one dataset."""
    examples, n, m, given = setting
    rng = np.random.default_rng([seed, examples, n])
    X, y = learner.draw(rng, examples + m * given)
    columns = slice(learner.used), slice(learner.d - learner.used, None), slice(learner.used - 1)
    found = tuple({} for _ in columns)
    for s in range(REPEATS):
        order = rng.permutation(examples)
        train, test = order[:n], np.arange(examples, examples + m) if given else order[n : n + m]
        for recipe, own in zip(found, columns, strict=True):
            loss = learner.loss(own, (X[train], y[train]), (X[test], y[test]))
            recipe[s] = Repeat.of(loss.mean(), test, loss)
    return found


def expected(learner: Learner, n: int, seed: int = 0) -> float:
    """The expected error of the first recipe after n examples."""
    rng, rates = np.random.default_rng([seed, n, 7]), []
    for _ in range(max(100, ENOUGH // n)):
        train, test = learner.draw(rng, n), learner.draw(rng, 10_000)
        rates.append(learner.loss(slice(learner.used), train, test).mean())
    return float(np.mean(rates))


def halves(rates: np.ndarray, setting: Setting) -> tuple[float, float]:
    """Half of the width of the naive interval and of Nadeau and Bengio's."""
    k = len(rates)
    parts = np.array([1 / k, 1 / k + setting.m / setting.n])
    return tuple(stats.t.ppf(0.975, k - 1) * np.sqrt(parts * np.var(rates, ddof=1)))


def judged(learner: Learner, setting: Setting, seed: int) -> tuple:
    """Of one dataset: (mean, half widths naive, Nadeau, ours) of the first recipe and of a difference that is none, and
    whether a difference that is one is seen."""
    with threadpool_limits(1):
        a, b, less = drawn(learner, setting, seed)
    rows = []
    for rates, own in (([one.rate for one in a.values()], interval(a.values())),
                       ([a[s].rate - b[s].rate for s in a], paired(a, b))):  # fmt: skip
        rows.append((own.mean, *halves(np.array(rates), setting), (own.high - own.low) / 2))
    return *rows, paired(a, less).p < 0.05


def lines(name: str, setting: Setting, datasets: int, jobs: int):
    """The two rows of a learner in a setting: coverage, and in brackets the mean width."""
    learner = LEARNERS[name]
    found = Parallel(jobs)(delayed(judged)(learner, setting, seed) for seed in range(datasets))
    one, difference, seen = (np.array(part, float) for part in zip(*found, strict=True))
    truths = (expected(learner, setting.n), 0.0)
    for what, rows, truth in zip(("single", "paired"), (one, difference), truths, strict=True):
        off = abs(rows[:, 0] - truth)
        cells = [f"{(off <= half).mean():.3f} ({200 * half.mean():.2f})" for half in rows[:, 1:].T]
        power = f"{seen.mean():.2f}" if what == "paired" else ""
        yield name, setting, what, *cells, f"{392 * rows[:, 0].std():.2f}", power


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", type=int, default=300, help="of each learner in each setting (300)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--only", default="", help="learners whose name has this")
    asked = parser.parse_args()
    print(" | ".join(COLUMNS))
    for name, learner in LEARNERS.items():
        for setting in SETTINGS:
            if asked.only in name and setting.n <= learner.most:
                for line in lines(name, setting, asked.datasets, asked.jobs):
                    print(" | ".join(map(str, line)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
