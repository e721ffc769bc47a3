"""A recipe several times over, with another seed each time: other examples are drawn, or other starts of its method.

    e_s               Task.rate with the seed s; of two recipes d_s = e_A(s) - e_B(s), on the same examples
    r_s(i)            (loss of test example i - e_s) / m_s, 0 where i is not tested; of two recipes the difference
    c                 mean over pairs s != t of sum_i r_s(i) r_t(i), at least 0
    interval          mean e +- sqrt(t_{k-1}^2 var(e) / k + z^2 c)

var(e) / k is what the repeats show. It misses what they share: the same examples are tested again and again, so that k
repeats are fewer than k sets of data. c is the covariance that comes of it, counted on the examples that two repeats
both test. Each part has its own quantile (t of k - 1 degrees of freedom, normal), since c is known from many examples
and var(e) from k values. Where all repeats train on the same examples nothing is drawn, and c is left out.

What the training sets share is not in c: k values cannot tell it from chance. It matters for a machine that one
training example can sway, such as a nearest neighbour under label noise, and where repeats train on a small part of few
examples: with 40 to 100 of 400 to 1,000 examples the interval covers 0.77 to 0.87 instead of 0.95 (`FEW`).
`python -m tests.bench.repeats` measures the coverage.

Reference: Howe, "Approximate confidence limits on the mean of X + Y", J. Am. Stat. Assoc. 69 (1974), for the sum of
two variances; Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52 (2003), for the problem.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from scipy import optimize, stats

from svmcore.lab.recipe import Recipe
from svmcore.lab.store.runs import Group, Run
from svmcore.lab.tasks import task_of

MAX_REPEATS = 50
FEW = 1000, 0.25  # examples in all, and the share of them that trains, up to which the interval is too narrow
LEAST_P = 1e-300


class Repeat(NamedTuple):
    """What one seed came to. tested: positions (m,) of test examples, none where examples do not decide the rate or
    all repeats were trained on the same; residual: (m,) share of each in the rate, less the mean share."""

    rate: float
    tested: np.ndarray = np.zeros(0, np.int64)
    residual: np.ndarray = np.zeros(0)

    @classmethod
    def of(cls, rate: float, tested: np.ndarray, loss: np.ndarray) -> "Repeat":
        """From the loss (m,) of each test example."""
        return cls(rate, tested, (loss - np.mean(loss)) / len(loss))

    def minus(self, other: "Repeat") -> "Repeat":
        """The difference of two recipes with one seed."""
        tested, at = np.unique(np.concatenate([self.tested, other.tested]), return_inverse=True)
        weights = np.concatenate([self.residual, -other.residual])
        return Repeat(self.rate - other.rate, tested, np.bincount(at, weights, len(tested)))


class Interval(NamedTuple):
    """Of k values: their mean, its 95 % interval, and the p value of a mean of 0; NaN where there is one value or
    all are equal, as of a method that draws nothing."""

    k: int
    mean: float
    low: float
    high: float
    p: float


def group(recipe: Recipe) -> Group:
    """What repeats are started together for."""
    return Group.of("repeats", f"{recipe.title or recipe.name}, repeated", recipe.but_for_seed)


def repeated(recipe: Recipe, times: int) -> tuple[list[Recipe], Group | None]:
    """The recipe, and again with the seeds that follow its own; what several are started together for."""
    together = group(recipe) if times > 1 else None
    return [recipe.replace(seed=recipe.seed + back) for back in range(times)], together


def of(run: Run, known: Iterable[Run]) -> dict[int, Run]:
    """Seed -> run, of the finished runs among those known that were asked the same as this one but for the seed, of
    data of the same content; of several with one seed the first."""
    alike, found = _but_for_seed(run), {run.recipe.seed: run}
    for other in known:
        if other.state == "done" and other.recipe.seed not in found and _but_for_seed(other) == alike:
            found[other.recipe.seed] = other
    return dict(sorted(found.items()))


def _but_for_seed(run: Run) -> tuple[str, str | None]:
    return run.recipe.but_for_seed, (run.result or {}).get("data_hash")


def rates(found: Mapping[int, Run]) -> dict[int, float]:
    """Seed -> the rate that the task tells of a result, of those that have one."""
    told = {seed: task_of(run.recipe).rate(run.result) for seed, run in found.items() if run.result}
    return {seed: rate for seed, rate in told.items() if rate is not None}


def repeats(found: Mapping[int, Run]) -> dict[int, Repeat]:
    """Seed -> what it came to, of the runs that have a rate. Raises what `Run.test` raises."""
    of_runs = rates(found)
    if not draws(found):
        return {seed: Repeat(rate) for seed, rate in of_runs.items()}
    tests = {seed: found[seed].test() for seed in of_runs}
    return {seed: Repeat.of(of_runs[seed], test.index, test.wrong) for seed, test in tests.items()}


def draws(found: Mapping[int, Run]) -> bool:
    """Whether each seed draws other training examples; not where what is tested is no examples that could train."""
    one, *others = found.values()
    if not task_of(one.recipe).answers:
        return False
    train = one.train_index()
    return not all(np.array_equal(train, other.train_index()) for other in others)


def interval(found: Iterable[Repeat]) -> Interval:
    """The mean rate of repeats with different seeds, and how sure it is."""
    found = list(found)
    values = np.array([one.rate for one in found], float)
    k, mean = len(values), float(np.mean(values))
    if k < 2 or (values == values[0]).all():
        return Interval(k, mean, np.nan, np.nan, np.nan)
    seen, shared = np.sqrt(np.var(values, ddof=1) / k), np.sqrt(covariance(found))

    def reach(p: float) -> float:
        return float(np.hypot(stats.t.isf(p / 2, k - 1) * seen, stats.norm.isf(p / 2) * shared))

    return Interval(k, mean, mean - reach(0.05), mean + reach(0.05), _solved(reach, abs(mean)))


def _solved(reach, distance: float) -> float:
    """The p whose interval reaches just so far."""
    if distance == 0:
        return 1.0
    if reach(LEAST_P) <= distance:
        return LEAST_P
    return float(np.exp(optimize.brentq(lambda log: reach(np.exp(log)) - distance, np.log(LEAST_P), 0.0)))


def covariance(found: Iterable[Repeat]) -> float:
    """Of the rates of two repeats, by the examples that both test: c above, of k >= 2 repeats."""
    found = list(found)
    tested, residual = (np.concatenate([one[i] for one in found]) for i in (1, 2))
    total, k = np.bincount(tested, residual), len(found)
    return max(0.0, float(total @ total - residual @ residual)) / (k * (k - 1))


def paired(a: Mapping[int, Repeat], b: Mapping[int, Repeat]) -> Interval | None:
    """`interval` of a - b over the seeds that both have; None where they share fewer than two."""
    shared = sorted(a.keys() & b.keys())
    return interval(a[seed].minus(b[seed]) for seed in shared) if len(shared) > 1 else None
