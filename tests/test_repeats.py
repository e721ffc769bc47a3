"""Repeats: runs that differ in their seed alone, and the intervals of what came of them, on the page and by hand."""

import json
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from svmcore.__main__ import main
from svmcore.lab import jobs
from svmcore.lab.analyses import repeats
from svmcore.lab.analyses.repeats import Repeat
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from tests.driven import RUN_SECONDS, captions, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

SMALL = RECIPES["digits-8x8-sv"].replace(name="custom", n_train=80, n_test=120, title="Eighty digits")


def test_repeats_differ_in_their_seed_alone():
    found, group = repeats.repeated(SMALL.replace(seed=5), 3)
    assert [recipe.seed for recipe in found] == [5, 6, 7]
    assert len({recipe.replace(seed=0).digest() for recipe in found}) == 1
    assert {repeats.group(recipe) for recipe in found} == {repeats.group(SMALL)} == {group}
    assert repeats.repeated(SMALL, 1) == ([SMALL], None)


def bare(rates):
    """Repeats that share no test examples."""
    return {seed: Repeat(rate) for seed, rate in enumerate(rates)}


@pytest.mark.parametrize(("k", "seed"), [(2, 0), (5, 1), (30, 2)])
def test_without_shared_examples_it_is_the_paired_t_test(k, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0, 0.1, (2, k))
    found = repeats.paired(bare(a), bare(b) | {99: Repeat(0.5)})
    told = stats.ttest_rel(a, b)
    low, high = told.confidence_interval(0.95)
    assert found == pytest.approx((k, np.mean(a - b), low, high, told.pvalue))


@pytest.mark.parametrize(("k", "pool", "seed"), [(2, 20, 0), (5, 40, 1), (9, 300, 2)])
def test_the_covariance_counts_pairs_that_test_the_same_example(k, pool, seed):
    """By hand, pair by pair and example by example; every repeat tests so many as it likes."""
    rng = np.random.default_rng(seed)
    hard, found, by_hand = rng.random(pool) < 0.3, [], 0.0
    for _ in range(k):
        tested = rng.choice(pool, rng.integers(pool // 2, pool), replace=False)
        found.append((tested, np.where(rng.random(len(tested)) < 0.2, ~hard[tested], hard[tested]).astype(float)))
    for (i, a), (j, b) in permutations(found, 2):
        for at, example in enumerate(i):
            for there in np.flatnonzero(j == example):
                by_hand += (a[at] - a.mean()) * (b[there] - b.mean()) / len(i) / len(j)
    own = [Repeat.of(loss.mean(), tested, loss) for tested, loss in found]
    assert repeats.covariance(own) == pytest.approx(max(0, by_hand / (k * (k - 1))), abs=1e-15)
    assert by_hand > 0
    rates = [loss.mean() for _, loss in found]
    assert repeats.interval(own).high - np.mean(rates) == pytest.approx(
        np.sqrt(stats.t.ppf(0.975, k - 1) ** 2 * np.var(rates, ddof=1) / k + 1.959964**2 * by_hand / (k * (k - 1)))
    )


def test_p_is_the_level_whose_interval_just_reaches_nothing():
    rng = np.random.default_rng(0)
    loss = (rng.random((6, 400)) < 0.1).astype(float)
    own = [Repeat.of(row.mean(), np.arange(400), row) for row in loss + 0.3 * (loss[0] - loss[0].mean())]
    wide = repeats.interval(own)
    for at, wanted in ((wide.low, 0.05), (wide.high, 0.05), (wide.mean, 1.0)):
        moved = [one._replace(rate=one.rate - at) for one in own]
        assert repeats.interval(moved).p == pytest.approx(wanted, rel=1e-6)
    assert repeats.interval([one._replace(rate=one.rate + 1e9) for one in own]).p < 1e-20


def test_two_recipes_differ_example_by_example():
    """What both get wrong cancels, also where one of them was tested on examples that the other was not."""
    a = Repeat.of(0.5, np.array([4, 2, 9, 7]), np.array([1.0, 0, 1, 0]))
    b = Repeat.of(0.25, np.array([2, 4, 7, 5]), np.array([0.0, 1, 0, 0]))
    found = a.minus(b)
    assert found.rate == 0.25
    told = dict(zip(found.tested.tolist(), found.residual.tolist(), strict=True))
    by_hand = {2: -0.5 / 4 + 0.25 / 4, 4: 0.5 / 4 - 0.75 / 4, 5: 0.25 / 4, 7: -0.5 / 4 + 0.25 / 4, 9: 0.5 / 4}
    assert told == pytest.approx(by_hand)


@pytest.mark.parametrize(("examples", "n", "m"), [(5000, 200, 4800), (1000, 800, 200)])
def test_the_interval_covers_the_expected_error(examples, n, m):
    """Nearest means of two Gaussians, whose error is known exactly: 150 datasets with 10 repeats each."""
    rng, d, delta = np.random.default_rng(examples), 10, 0.3
    found, truth = [], []
    for _ in range(150):
        y = rng.integers(0, 2, examples)
        X = rng.normal(size=(examples, d)) + delta * (2 * y - 1)[:, None]
        own = []
        for _ in range(10):
            order = rng.permutation(examples)
            train, test = order[:n], order[n : n + m]
            w, middle = _nearest_means(X[train], y[train])
            loss = ((X[test] @ w > middle) != y[test]).astype(float)
            own.append(Repeat.of(loss.mean(), test, loss))
        found.append(repeats.interval(own))
    for _ in range(1500):
        y = rng.integers(0, 2, n)
        w, middle = _nearest_means(rng.normal(size=(n, d)) + delta * (2 * y - 1)[:, None], y)
        off = delta * w.sum() + np.array([-middle, middle])
        truth.append(stats.norm.sf(off / np.linalg.norm(w)).mean())
    truth = np.mean(truth)
    covered = np.mean([one.low <= truth <= one.high for one in found])
    width = np.mean([one.high - one.low for one in found])
    assert 0.91 <= covered <= 0.985
    assert 0.8 < width / (3.92 * np.std([one.mean for one in found])) < 1.25


def _nearest_means(X, y):
    a, b = X[y == 0].mean(0), X[y == 1].mean(0)
    return b - a, (b - a) @ (a + b) / 2


def test_neither_one_value_nor_equal_ones_have_an_interval():
    for values in ([0.1], [0.1, 0.1, 0.1]):
        found = repeats.interval(bare(values).values())
        assert (found.k, found.mean) == (len(values), pytest.approx(0.1))
        assert np.isnan([found.low, found.high, found.p]).all()
    assert repeats.paired(bare([0.1]), bare([0.2, 0.1])) is None


def test_train_starts_them_together_and_compare_pairs_them():
    recipe = SMALL.to_query()
    app = open_page("train", **recipe, repeats="3")
    app.button(key="start").click().run()
    assert not app.exception
    for run_id in jobs.active():
        assert jobs.wait(run_id, RUN_SECONDS).state == "done"
    mine = [run for run in runs.newest_first() if run.group and run.group.key == repeats.group(SMALL).key]
    assert sorted(run.recipe.seed for run in mine) == [0, 1, 2]
    others = [finished(SMALL.replace(C=0.01, seed=seed, title="Weak")) for seed in (0, 1)]
    first = min(mine, key=lambda run: run.recipe.seed)
    app = open_page("compare", compare=[first.id, others[0].id])
    table = next(one.value for one in app.dataframe if "Repeats" in one.value)
    assert table["Repeats"].tolist() == [3, 2]
    rates = [run.result["error_rate"] for run in sorted(mine, key=lambda run: run.recipe.seed)]
    assert table["Wrong, %"][0] == pytest.approx(100 * np.mean(rates))
    assert table["Seeds shared"][1] == 2
    ours, told = repeats.repeats(repeats.of(first, mine)), table["95 %"][0]
    assert repeats.draws(repeats.of(first, mine))
    assert not repeats.draws({0: first, 1: first})
    assert [len(one.tested) for one in ours.values()] == [120] * 3
    assert {len(one.tested) for one in repeats.repeats({0: first, 1: first}).values()} == {0}
    assert told == "{:.2f} to {:.2f}".format(*(100 * np.array(repeats.interval(ours.values())[2:4]).clip(0)))


@pytest.mark.parametrize(("n_train", "warned"), [(40, True), (300, False)])
def test_where_the_interval_is_too_narrow_it_says_so(home, n_train, warned):
    """Circles: 300 examples to train on."""
    recipe = RECIPES["circles"].replace(n_train=n_train, n_test=100, split="stratified")
    found = [finished(recipe.replace(seed=seed, C=C)) for C in (0.1, 10.0) for seed in (0, 1)]
    app = open_page("compare", compare=[found[0].id, found[2].id])
    assert ("intervals are too narrow" in captions(app)) == warned


def test_the_command_line_repeats(home, capsys):
    asked = [f"--set={name}={value}" for name, value in SMALL.to_query().items() if name not in ("name", "title")]
    assert main(["run", "digits-8x8-sv", *asked, "--repeats", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [runs.get(result["run"]).recipe.seed for result in found] == [0, 1]
    assert main(["run", "digits-8x8-sv", "--repeats", "0"]) == 2
