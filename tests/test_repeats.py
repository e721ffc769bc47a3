"""Repeats: runs that differ in their seed alone, and the intervals of what came of them, on the page and by hand."""

import json

import numpy as np
import pytest
from scipy import stats

from svmcore.__main__ import main
from svmcore.lab import jobs
from svmcore.lab.experiment import repeats
from svmcore.lab.recipes import RECIPES
from svmcore.lab.store import runs
from tests.driven import RUN_SECONDS, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

SMALL = RECIPES["digits-8x8-sv"].replace(name="custom", n_train=80, n_test=120, title="Eighty digits")


def test_repeats_differ_in_their_seed_alone():
    found, group = repeats.repeated(SMALL.replace(seed=5), 3)
    assert [recipe.seed for recipe in found] == [5, 6, 7]
    assert len({recipe.replace(seed=0).digest() for recipe in found}) == 1
    assert {repeats.group(recipe) for recipe in found} == {repeats.group(SMALL)} == {group}
    assert repeats.repeated(SMALL, 1) == ([SMALL], None)


@pytest.mark.parametrize(("k", "seed"), [(2, 0), (5, 1), (30, 2)])
def test_without_overlap_it_is_the_paired_t_test(k, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0, 0.1, (2, k))
    found = repeats.paired(dict(enumerate(a)), dict(enumerate(b)) | {99: 0.5})
    told = stats.ttest_rel(a, b)
    low, high = told.confidence_interval(0.95)
    assert found == pytest.approx((k, np.mean(a - b), low, high, told.pvalue))


def test_overlap_widens_as_in_the_paper():
    values, m_over_n = [0.01, 0.03, 0.02, 0.05], 0.25
    narrow, wide = repeats.interval(values), repeats.interval(values, m_over_n)
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(np.sqrt((1 / 4 + m_over_n) / (1 / 4)))


def test_neither_one_value_nor_equal_ones_have_an_interval():
    for values in ([0.1], [0.1, 0.1, 0.1]):
        found = repeats.interval(values)
        assert (found.k, found.mean) == (len(values), pytest.approx(0.1))
        assert np.isnan([found.low, found.high, found.p]).all()
    assert repeats.paired({0: 0.1}, {0: 0.2, 1: 0.1}) is None


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
    assert repeats.overlap(repeats.of(first, mine)) == 120 / 80
    assert repeats.overlap({0: first, 1: first}) == 0


def test_the_command_line_repeats(home, capsys):
    asked = [f"--set={name}={value}" for name, value in SMALL.to_query().items() if name not in ("name", "title")]
    assert main(["run", "digits-8x8-sv", *asked, "--repeats", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [runs.get(result["run"]).recipe.seed for result in found] == [0, 1]
    assert main(["run", "digits-8x8-sv", "--repeats", "0"]) == 2
