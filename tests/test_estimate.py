"""What a run will need: told before it starts, learnt from stored runs, and refused with what would fit."""

import pytest

from svmcore.lab import jobs
from svmcore.lab.experiment import train
from svmcore.lab.forecast import estimate
from svmcore.lab.recipes import PRESET, RECIPES, BudgetError
from svmcore.lab.store import runs

MOONS = RECIPES["moons"]


def test_a_run_that_cannot_fit_says_what_would(home, monkeypatch):
    monkeypatch.setattr(estimate, "free_mb", lambda: 90.0)
    predicted = estimate.estimate(RECIPES[PRESET])
    assert not predicted.fits
    assert "n_train up to" in predicted.advice
    with pytest.raises(BudgetError, match="90 MB are free"):
        jobs.submit(RECIPES[PRESET])
    assert runs.newest_first() == []
    n = int(predicted.advice.split("n_train up to ")[1].split()[0])
    assert estimate.estimate(RECIPES[PRESET].replace(n_train=n, n_test=500)).fits


def test_a_small_ceiling_is_refused_with_the_range_that_fits(home):
    predicted = estimate.estimate(RECIPES[PRESET].replace(cache_mb=5))
    assert not predicted.fits
    assert "cache_mb from" in predicted.advice


def test_predictions_learn_from_stored_runs(home, monkeypatch):
    before = estimate.estimate(MOONS).seconds
    outcome = train.execute(MOONS)
    run = runs.create(MOONS)
    run.finish(outcome.machine, outcome.test, outcome.result | {"fit_seconds": 50.0, "compile_seconds": 10.0})
    run.release()
    assert estimate.estimate(MOONS).seconds == pytest.approx(40, rel=0.1)
    assert estimate.estimate(RECIPES["mnist-sv"]).seconds > before
