"""What a run will need: told before it starts, learnt from stored runs, and refused with what would fit."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.svm
from llvmlite import binding
from sklearn.preprocessing import StandardScaler

from data import catalogue, load
from data.dataset import Arrays
from svmcore import RBF, SVC, Poly, Preprocessor, VirtualSVC
from svmcore.lab import costs, forecast, jobs, priority
from svmcore.lab.costs import vectors_of_one
from svmcore.lab.forecast import QUIET, plans
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import runs
from svmcore.lab.tasks import task_of
from svmcore.memory import BudgetError
from tests.bench import forecast as bench
from tests.bench import measured
from tests.trained import executed

MOONS = RECIPES["moons"]


def test_a_run_that_cannot_fit_says_what_would(home, monkeypatch):
    monkeypatch.setattr(forecast, "free_mb", lambda: 90.0)
    predicted = forecast.estimate(RECIPES[PRESET])
    assert not predicted.fits
    assert "n_train up to" in predicted.advice
    with pytest.raises(BudgetError, match="90 MB are free"):
        jobs.submit(RECIPES[PRESET])
    assert runs.newest_first() == []
    n = int(predicted.advice.split("n_train up to ")[1].split()[0])
    assert forecast.estimate(RECIPES[PRESET].replace(n_train=n, n_test=500)).fits


def test_more_test_examples_than_a_dataset_has_are_refused_before_there_is_a_run(home):
    rng, y = np.random.default_rng(0), np.arange(60) % 3
    catalogue.keep("few", Arrays.unsplit(rng.integers(0, 255, (60, 6, 6), dtype=np.uint8), y))
    recipe = Recipe(dataset="own:few", n_train=40, n_test=60)
    with pytest.raises(RecipeError, match="n_test = 60; allowed: fewer than the 60 examples"):
        jobs.submit(recipe)
    assert runs.newest_first() == []
    assert task_of(recipe).size(recipe.replace(n_test=15))[:2] == (40, 15)
    of_two = recipe.replace(classes=(0, 1), n_test=39, n_train=None)
    assert task_of(recipe).size(of_two)[:2] == (1, 39)


def test_a_small_ceiling_is_refused_with_the_range_that_fits(home):
    predicted = forecast.estimate(RECIPES[PRESET].replace(cache_mb=5))
    assert not predicted.fits
    least, most = re.search(r"cache_mb from ([\d,]+) to ([\d,]+)", predicted.advice).groups()
    for cache_mb in (float(least.replace(",", "")) + 1, float(most.replace(",", "")) / 2):
        assert forecast.estimate(RECIPES[PRESET].replace(cache_mb=cache_mb)).fits
    assert not forecast.estimate(RECIPES[PRESET].replace(cache_mb=float(least.replace(",", "")) - 2)).fits


def test_a_general_optimiser_holds_all_kernel_values_and_is_slow(home, monkeypatch):
    monkeypatch.setattr(forecast, "free_mb", lambda: 6000.0)
    moons = MOONS.replace(n_train=250, n_test=50)
    quick, slow = (moons.replace(solver="general", way=way) for way in ("TNC", "SLSQP"))
    taken = [forecast.estimate(recipe).cost.seconds for recipe in (slow, quick, moons)]
    assert taken[0] > 2 * taken[1] > 4 * taken[2]
    large = RECIPES["mnist-5k-8-vs-rest"].replace(n_train=4000, solver="general")
    assert forecast.estimate(large).fits
    monkeypatch.setattr(forecast, "free_mb", lambda: 3000.0)
    assert forecast.estimate(large).fits
    refused = forecast.estimate(large.replace(way="SLSQP"))
    assert not refused.fits
    assert "cache_mb from" in refused.advice


@pytest.fixture
def measured_here(monkeypatch):
    """As on the machines that the kept figures were measured on, whose processors multiply whole numbers at once."""
    monkeypatch.setattr(costs, "slower", lambda: costs.Slower(1.0, 1.0))


def test_a_processor_without_vnni_is_waited_for_longer(home, monkeypatch):
    took = []
    for wide, narrow in ((True, False), (False, True), (False, False)):
        costs.slower.cache_clear()
        features = {"avx2": True, "avx512vnni": wide, "avxvnni": narrow}
        monkeypatch.setattr(binding, "get_host_cpu_features", lambda features=features: features)
        took.append(forecast.estimate(RECIPES["mnist-sv"]).cost)
    costs.slower.cache_clear()
    assert took[0] == took[1]
    assert took[2].seconds == pytest.approx(costs.WITHOUT_VNNI * took[1].seconds)
    assert took[2].start + took[2].reading == pytest.approx(costs.OLDER * (took[1].start + took[1].reading))


@pytest.mark.parametrize(
    "name", ["mnist-sv", "mnist-vsv", "mnist-deslant-vsv", "mnist-best", "usps-sv", "usps-vsv", "usps-vsv-local"]
)
def test_before_any_run_predictions_are_about_what_was_measured(name, home, measured_here):
    kept = measured.read("runs")[name]
    took = max(kept["train_seconds"] + kept["test_seconds"], 1.0)  # a start alone is counted as 0.8
    assert 0.45 < forecast.estimate(RECIPES[name]).seconds / took < 2.2


def store(recipe, seconds, group=None, **more):
    """A run of `recipe` in the store that took so many seconds, ten of them compiling, on a quiet machine."""
    outcome = executed(recipe)
    run = runs.create(recipe, group=group)
    figures = {"fit_seconds": seconds + 10, "compile_seconds": 10.0, "predict_seconds": 0.0}
    figures |= {"others_share": 0.0} | more
    if recipe.folds:
        figures["validation"] = outcome.result["validation"] | {"seconds": 0.0}  # whatever these took just now
    run.save_part(outcome.machine, outcome.test)
    run.complete(outcome.result | figures)
    run.release()


def test_predictions_learn_from_stored_runs_that_are_alike(home):
    others = ("mnist-sv", "mnist-5k-vsv")  # of another size; of another size and method
    before = {name: forecast.estimate(RECIPES[name]).seconds for name in ("moons", "circles", *others)}
    assert max(before["moons"], before["circles"]) < 10
    half = forecast.estimate(MOONS).cost.start / 2  # of a start, which a stored run need not have had
    store(MOONS, 40.0)
    assert forecast.estimate(MOONS).seconds == pytest.approx(40 + half, rel=0.01)
    assert forecast.estimate(RECIPES["circles"]).seconds == pytest.approx(40, rel=0.2)  # for want of runs of its own
    assert {name: forecast.estimate(RECIPES[name]).seconds for name in others} == {
        name: before[name] for name in others
    }
    store(RECIPES["circles"], 20.0)
    assert forecast.estimate(RECIPES["circles"]).seconds == pytest.approx(20 + half, rel=0.01)
    assert forecast.estimate(MOONS).seconds == pytest.approx(40 + half, rel=0.01)


MAP = [
    Recipe(dataset="digits-8x8", n_train=600, n_test=300, folds=5, C=C, kernel=RBF(g))
    for g in (0.5, 2.0)
    for C in (1, 2, 4)
]


def test_cells_of_a_map_share_kernel_values_and_a_start(home):
    first, *later = forecast.estimates(MAP)[:3]
    alone = forecast.estimate(MAP[0])
    assert first.seconds < alone.seconds - 0.8 * (alone.cost.start - forecast.CELL_SECONDS)
    assert {need.seconds for need in later} == {later[0].seconds}
    assert later[0].seconds < first.seconds  # whose kernel values it finds
    assert later[0].parts[1] == first.parts[1]  # folds make none in either
    whole = first.seconds - forecast.CELL_SECONDS, later[0].seconds - forecast.CELL_SECONDS
    assert forecast.seconds_of(MAP) == pytest.approx(
        alone.cost.start + (6 * forecast.CELL_SECONDS + 2 * whole[0] + 4 * whole[1]) / forecast.CORES
    )
    assert (first.cost, first.memory_mb) == (alone.cost, pytest.approx(alone.memory_mb, rel=0.1))
    assert forecast.seconds_of(MAP[:1]) == pytest.approx(alone.seconds)


def test_runs_that_follow_each_other_wait_for_one_start_beside_other_work_too(home, monkeypatch):
    recipes = [MOONS.replace(C=C) for C in (1.0, 2.0, 3.0)]
    monkeypatch.setattr(forecast, "crowding", lambda threads, look=True: 10.0)
    needs = forecast.estimates(recipes)
    fits = sum(10.0 * (need.cost.reading + need.cost.seconds) for need in needs)
    assert forecast.seconds_of(recipes) == pytest.approx(10.0 * needs[0].cost.start + fits)
    assert all(need.at_rest == pytest.approx(need.seconds / 10.0) for need in needs)  # by which some go before others


def test_a_run_of_a_second_does_not_teach_that_longer_ones_take_none(home):
    longer = MOONS.replace(n_train=300, solver="general", way="SLSQP")
    shorter, before = longer.replace(n_train=150), forecast.estimate(longer)
    store(shorter, 0.5 * before.cost.start)  # in a process that has all its code at hand
    known = forecast.cost(*plans(shorter, forecast.sized(shorter))).seconds
    taught = forecast.estimate(longer).parts[0][0] / before.parts[0][0]
    assert taught == pytest.approx(0.25 * before.cost.start / known, rel=0.05)  # half of what was measured


def test_a_map_learns_from_cells_alone_and_a_single_run_as_ever(home):
    single, cells = forecast.estimate(MAP[0].replace(folds=None)), forecast.estimates(MAP)[1]
    store(MAP[0], 3.0)
    assert forecast.estimates(MAP)[1].seconds == cells.seconds  # it was a run of its own
    alone = forecast.estimate(MAP[0].replace(folds=None))
    assert alone.parts[0][0] > 2 * single.parts[0][0]
    store(MAP[1], 4.0, runs.Group.of("sweep", "C and gamma", "map"))
    assert forecast.estimates(MAP)[1].seconds == pytest.approx(4.0, rel=0.02)


def test_the_first_of_its_kind_is_said_to_be_a_guess(home):
    virtual = RECIPES["mnist-5k-vsv"]
    assert forecast.estimate(MOONS).first
    assert forecast.estimate(virtual).first
    store(MOONS, 1.0)
    assert not forecast.estimate(RECIPES["circles"]).first
    assert forecast.estimate(virtual).first


def test_predictions_do_not_learn_from_slow_motion(home):
    before = forecast.estimate(MOONS).seconds
    store(MOONS.replace(slow_motion=True), 40.0)
    assert forecast.estimate(MOONS).seconds == before


def test_predictions_do_not_learn_from_runs_that_other_work_held_up(home):
    before = forecast.estimate(MOONS)
    store(MOONS, 40.0, others_share=0.5)
    after = forecast.estimate(MOONS)
    assert after.seconds == before.seconds
    assert not after.first  # compiling is over
    store(MOONS, 20.0, others_share=0.1)
    store(MOONS, 40.0, others_share=0.9)
    assert forecast.estimate(MOONS).seconds == pytest.approx(20 + before.cost.start / 2, rel=0.01)


def test_beside_other_work_all_but_rests_takes_longer(home, monkeypatch):
    looked = []

    def busy(threads, look=True):
        looked.append(look)
        return 2.0 if threads == 1 else 4.0

    recipes = MOONS, MOONS.replace(slow_motion=True)
    digesting = RECIPES["digest-1-few-lru-32"]
    at_rest = [forecast.estimate(recipe) for recipe in (*recipes, digesting)]
    monkeypatch.setattr(forecast, "crowding", busy)
    now = [forecast.estimate(recipe) for recipe in (*recipes, digesting)]
    for before, after, times in zip(at_rest, now, (3.0, 3.0, 2.0), strict=True):  # digesting is for one processor
        fits, start = sum(map(sum, before.parts)), before.cost.start + before.cost.reading
        assert sum(map(sum, after.parts)) == pytest.approx(times * fits)
        assert after.seconds == pytest.approx(2.0 * start + times * fits + after.rests)
    assert now[1].rests == forecast.RESTS
    assert all(looked)
    monkeypatch.setattr(forecast, "crowding", lambda threads, look=True: 1.0 if threads == 1 else 4.0 * threads)
    least = 4.0 * at_rest[2].seconds  # whatever a look of one thread says
    assert forecast.estimate(digesting).seconds == pytest.approx(least)
    monkeypatch.setattr(forecast, "crowding", busy)
    with_own = runs.create(MOONS)
    with_own.set_state("running")
    with_own.save_grant(9.0)  # as of every run that begins
    looked.clear()
    forecast.estimate(MOONS)
    assert not any(looked)  # a run of ours will have ended before
    with_own.release()


def test_work_of_others_is_felt(monkeypatch):
    """Two busy processes a processor, of higher priority: a run gets a third at the very most."""
    code = "print(flush=True)\nwhile True: pass"
    command = [sys.executable, "-c", code]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2 * os.cpu_count())]
    try:
        for other in others:
            other.stdout.readline()
        monkeypatch.setattr(priority, "_looks", {})
        monkeypatch.setattr(priority, "LOOK", 1.0)
        monkeypatch.setattr(priority, "NICE", 10)
        assert priority.crowding(2, look=False) == 1.0
        felt = priority.crowding(2)
        assert felt > 2.5
        assert priority.crowding(2) == pytest.approx(felt)  # for a while
        assert priority.crowding(1) > 1.5
    finally:
        for other in others:
            other.kill()
            other.communicate()


def test_looks_at_the_work_of_others_count_less_the_older_they_are(monkeypatch):
    """By the share of a processor that was left: 1/8 of it, and HALF seconds later 1/2, are (1/16 + 1/2) / 1.5."""
    clock, found = [100.0], [8.0, 2.0, 1.0]
    monkeypatch.setattr(priority, "_looks", {})
    monkeypatch.setattr(priority, "_tried", lambda threads: found.pop(0))
    monkeypatch.setattr(priority, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    assert priority.crowding(2) == 8.0
    clock[0] += priority.HALF
    assert priority.crowding(2) == pytest.approx(1.5 / (1 / 16 + 1 / 2))
    clock[0] += 24 * 3600  # of a training of our own, in which nobody looks
    assert priority.crowding(2, look=False) == pytest.approx(1.5 / (1 / 16 + 1 / 2))
    assert priority.crowding(2) == 1.0  # it is over
    assert not found


@pytest.mark.parametrize("swapped", [0.0, 0.1, 0.3])
def test_a_table_of_the_readers_own_is_tried_for_its_support_vectors(home, swapped):
    """Those of 8000 rows, which scikit-learn counts, are foreseen from 1600."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(8200, 8)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0) ^ (rng.random(len(X)) < swapped)
    y = y.astype(int)
    name = catalogue.keep(f"swapped {swapped}", Arrays(X[:8000], y[:8000], X[8000:], y[8000:])).name
    recipe = Recipe(dataset=name, kernel=RBF(0.1), C=1.0, preprocess=("zscore",), split="given")
    size = task_of(recipe).size(recipe)
    known = sklearn.svm.SVC(C=1.0, gamma=0.1).fit(StandardScaler().fit_transform(X[:8000]), y[:8000]).n_support_.sum()
    assert vectors_of_one(8000, size.hardness) == pytest.approx(known, rel=0.3)
    assert size.overlap == (swapped > 0)
    dear = recipe.replace(C=100.0)
    times = forecast.cost(*plans(dear, size)).seconds / forecast.cost(*plans(recipe, size)).seconds
    assert (times > 4) == (swapped > 0)  # alphas that go to C and back


def test_estimates_are_about_what_quiet_runs_took(home, monkeypatch):
    """By the rule as it is now, of what tests.bench.forecast has measured, on processors of either kind: nine of ten of
    each."""
    rows = {}
    for name, row in measured.read("forecast").items():
        kind = costs.Slower(*row.get("slower", (1.0, 1.0)))
        monkeypatch.setattr(costs, "slower", lambda kind=kind: kind)
        try:
            need = forecast.estimate(RECIPES[name])
        except ValueError:
            continue  # its data are not here
        if row["others_share"] < QUIET:
            rows.setdefault(kind, {})[name] = row | {"estimated_s": need.seconds, "estimated_mb": need.memory_mb}
    for kind, of_kind in rows.items():
        outside = [name for name, row in of_kind.items() if not 0.5 <= bench.ratios(row)[0] <= 2]
        assert len(outside) <= len(of_kind) / 10, (kind, outside)


def test_a_reduction_counts_the_support_vectors_of_its_machine_where_that_is_stored(home):
    reduced = RECIPES["mnist-5k-rs"].replace(dataset="digits-8x8", n_train=300, n_test=100, n_vectors=20)
    size = forecast.sized(reduced)
    guessed = costs.distinct(size, plans(reduced.origin, size)[0].stages[-1])
    before = forecast.cost(*plans(reduced, size)).seconds
    store(reduced.origin, 1.0)
    (run,) = runs.newest_first()
    known = np.count_nonzero(run.machine().coef.any(axis=0))  # every step takes as many kernel values
    assert known != pytest.approx(guessed, rel=0.01)
    told = forecast.cost(*plans(reduced, forecast.sized(reduced))).seconds
    assert told / before == pytest.approx(known / guessed, rel=0.01)
    run.delete()
    assert forecast.cost(*plans(reduced, forecast.sized(reduced))).seconds == before


@pytest.mark.parametrize("digit", [1, 6, 8])
def test_a_digit_against_the_rest_has_about_as_many_support_vectors_as_are_forecast(home, digit):
    """Counted by scikit-learn: of ones less than half as many as of eights."""
    data = load("mnist-5k")
    X, y = Preprocessor("unit-norm").fit_transform(data.X_train[:2000]), data.y_train[:2000] == digit
    counted = sklearn.svm.SVC(kernel=lambda a, b: ((a @ b.T + 1) / 2) ** 9, C=2.0).fit(X, y).n_support_.sum()
    recipe = Recipe(dataset="mnist-5k", n_train=2000, classes=(digit,), kernel=Poly(9, 1.0, 1.0))
    size = task_of(recipe).size(recipe)
    assert vectors_of_one(2000, size.hardness) / counted == pytest.approx(1.0, abs=0.35)


@pytest.mark.parametrize("degree", [2, 5, 9])
@pytest.mark.parametrize("name", ["digits-8x8", "mnist-5k"])
def test_support_vectors_of_virtual_machines_are_about_as_many_as_are_forecast(home, name, degree):
    """One machine's and all machines', of the first stage and of the virtual one, counted in fits."""
    kernel, data = Poly(degree, 1.0, 1.0), load(name)
    X, y = data.X_train[:1000], data.y_train[:1000]
    recipe = Recipe(dataset=name, n_train=1000, kernel=kernel, method="vsv", jitters="plus:1")
    size = task_of(recipe).size(recipe)
    first, virtual = plans(recipe, size)[0].stages
    fitted = VirtualSVC(SVC(kernel, C=2), jitters="plus:1", prepare=Preprocessor("unit-norm")).fit(X, y)
    for stage, machine in ((first, fitted.base_.machine_), (virtual, fitted.machine_)):
        assert 0.5 < costs.vectors_of_each(size, stage) / np.mean(machine.n_sv) < 2
        assert 0.5 < costs.distinct(size, stage) / len(machine.support) < 2


def test_what_slow_motion_rests_is_told(home):
    plain = forecast.estimate(MOONS)
    assert forecast.estimate(MOONS.replace(slow_motion=True)).seconds == plain.seconds + forecast.RESTS


def test_steps_side_by_side_need_as_few_support_vectors_as_the_best_of_them_in_any_order():
    best = costs.fewer(("gradients:5",))
    assert best < costs.fewer(("colours",)) == 1
    assert (
        costs.fewer(("scale01", "gradients:5+colours")) == costs.fewer(("scale01", "0.5*colours+gradients:5")) == best
    )
    assert costs.fewer(("deslant", "gradients:5", "unit-norm")) == costs.fewer(("deslant",)) * best
