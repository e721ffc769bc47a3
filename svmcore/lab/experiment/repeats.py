"""A recipe several times over, with another seed each time: other examples are drawn, or other starts of its method.

    d_s = e_A(s) - e_B(s)                          Task.rate of two recipes with the seed s, on the same examples
    mean d +- t_{k-1} sqrt((1/k + m/n) var d)      m tested, n trained on

The second term under the root stands for the overlap of what is drawn: without it, k draws of one set of data pass for
k sets. Where all are tested on one given set and trained on another, nothing is drawn and it is left out.

Reference: Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52 (2003), section 3.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from scipy import stats

from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.tasks import task_of
from svmcore.lab.store.runs import Group, Run

MAX_REPEATS = 50


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


def overlap(found: Mapping[int, Run]) -> float:
    """m / n where the runs were trained on other examples with each seed; 0 where all were trained on the same, and
    where what is tested is no examples that could have trained."""
    one, *others = found.values()
    if not task_of(one.recipe).answers:
        return 0.0
    train = one.train_index()
    if all(np.array_equal(train, other.train_index()) for other in others[:1]):
        return 0.0
    return one.result["n_test"] / one.result["n_train"]


def interval(values: Iterable[float], overlap: float = 0.0) -> Interval:
    """The mean of values of different seeds, and how sure it is."""
    values = np.array(list(values), float)
    k, mean = len(values), float(np.mean(values))
    if k < 2 or (values == values[0]).all():
        return Interval(k, mean, np.nan, np.nan, np.nan)
    error = float(np.sqrt((1 / k + overlap) * np.var(values, ddof=1)))
    reach = stats.t.ppf(0.975, k - 1) * error
    return Interval(k, mean, mean - reach, mean + reach, float(2 * stats.t.sf(abs(mean) / error, k - 1)))


def paired(a: Mapping[int, float], b: Mapping[int, float], overlap: float = 0.0) -> Interval | None:
    """`interval` of a - b over the seeds that both have; None where they share fewer than two."""
    shared = sorted(a.keys() & b.keys())
    return interval((a[seed] - b[seed] for seed in shared), overlap) if len(shared) > 1 else None
