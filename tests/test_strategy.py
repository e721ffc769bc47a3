"""Whole matrix or rounds: chosen from a sample, said in words, and the same machine either way."""

from contextlib import ExitStack
from itertools import pairwise

import numpy as np
import pytest

from svmcore import RBF, SVC, Decomposition
from svmcore.solvers.decomposition import rounds, sample
from svmcore.solvers.decomposition.state import State
from svmcore.solvers.decomposition.working_set import samples
from svmcore.solvers.session import Session
from tests import naive


@pytest.fixture
def small(monkeypatch):
    """Problems of a few hundred examples are large."""
    monkeypatch.setattr("svmcore.source.SMO_UP_TO", 50)
    monkeypatch.setattr(sample, "SMALLEST", 100)


def noisy(n, flipped, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)).astype(np.float32)
    y = np.where((X[:, 0] > 0) ^ (rng.random(n) < flipped), 1, -1)
    return X, y


@pytest.mark.parametrize(("flipped", "chosen"), [(0.4, "whole matrix"), (0.0, "rounds")])
def test_the_sample_decides_and_the_machine_is_the_same(small, flipped, chosen):
    X, y = noisy(800, flipped)
    auto = SVC(RBF(0.2), C=5.0, tol=1e-4).fit(X, y)
    rounds = SVC(RBF(0.2), C=5.0, tol=1e-4, solver="decomposition").fit(X, y)
    assert auto.strategy_.startswith(f"{chosen}: "), auto.strategy_
    assert auto.strategy_.endswith(" are support vectors")
    assert rounds.strategy_.startswith("rounds: ")
    assert auto.history_[-1].dual == pytest.approx(rounds.history_[-1].dual, rel=1e-6)
    alpha = np.zeros(800)
    alpha[auto.support_] = np.abs(auto.dual_coef_[0])
    assert naive.kkt_gap(naive.gram(RBF(0.2), X, X), y.astype(float), np.full(800, 5.0), alpha) <= 1e-4 * (1 + 1e-6)


@pytest.mark.parametrize(("flipped", "weight"), [(0.0, 1.0), (0.0, 20.0), (0.4, 1.0)])
def test_of_a_sample_with_few_support_vectors_only_those_and_violators_are_solved(small, monkeypatch, flipped, weight):
    X, y = noisy(960, flipped, seed=3)
    X[:, 0] += np.sign(X[:, 0]) * (flipped == 0)
    y[X[:, 1] > 2] = -1  # classes of unlike sizes
    K, C = naive.gram(RBF(0.2), X, X), np.where(y > 0, 5.0 * weight, 5.0)
    sets, duals, round_on = {}, {}, rounds.Rounds._round
    monkeypatch.setattr(
        rounds.Rounds, "_round", lambda *given: sets[least].append(len(given[1][0])) or round_on(*given)
    )
    for least in (60, 240):  # with a part of the sample first, and without
        monkeypatch.setattr(sample, "SMALLEST", least)
        sets[least], alpha = [], np.zeros(960)
        machine = SVC(RBF(0.2), C=5.0, class_weight={1: weight}, solver="decomposition").fit(X, y)
        alpha[machine.support_] = np.abs(machine.dual_coef_[0])
        assert naive.kkt_gap(K, y.astype(float), C, alpha) <= 1e-3 * (1 + 1e-6)
        duals[least] = machine.history_[-1].dual
    (first, second, *_), (whole, *_) = sets[60], sets[240]
    assert first < 80
    assert whole >= 240
    assert (second < 0.8 * whole) == (flipped < 0.4)
    assert duals[60] == pytest.approx(duals[240], rel=1e-4)


@pytest.mark.parametrize(("k", "least", "sizes"), [(1, 60, 2), (1, 61, 1), (3, 60, 1)])
def test_samples_lie_in_each_other_and_leave_no_class_out(small, monkeypatch, k, least, sizes):
    monkeypatch.setattr(sample, "SMALLEST", least)
    X, _ = noisy(960, 0.0)
    Y = np.where(np.arange(960) % (40 if k == 1 else 3) == np.arange(k)[:, None], 1.0, -1.0)  # one machine: 24 of 960
    C = np.full((k, 960), 2.0)
    C[:, 5:20] = 0
    solver = SVC(RBF(0.2), solver="decomposition")
    state = State(solver.shared_source(X, k).gram, Session(), Y, C, 1e-3, 2**30, 0, ExitStack())
    found = samples(state)
    assert len(found) == sizes
    assert len(np.unique(found[-1])) == len(found[-1]) < 320
    for part, whole in pairwise(found):
        assert np.isin(part, whole).all()
        assert 60 <= len(part) < 80
    for some, size in zip(found[::-1], (240, 60), strict=False):
        for m in range(k):
            for side in (1.0, -1.0):
                members = np.flatnonzero((Y[m] == side) & (C[m] > 0))
                assert np.isin(some, members).sum() >= min(size // (8 * k), len(members))


def test_a_larger_sample_that_teaches_nothing_costs_no_exact_pass(small, monkeypatch):
    monkeypatch.setattr(sample, "SMALLEST", 60)
    X, y = (np.concatenate([rows] * 64) for rows in noisy(15, 0.1))
    afresh = []
    monkeypatch.setattr(rounds, "compute_afresh", lambda *given: afresh.append(given))
    machine = SVC(RBF(0.2), C=1.0, solver="decomposition").fit(X, y)
    assert machine.converged_
    assert not afresh


def test_a_matrix_that_the_budget_does_not_hold_is_not_made(small):
    X, y = noisy(800, 0.4)
    machine = SVC(RBF(0.2), C=5.0, cache_mb=2.3).fit(X, y)  # all of K takes 2.4 MB
    assert machine.strategy_.startswith("rounds: ")
    assert machine.converged_


def test_several_machines_share_the_whole_matrix(small, monkeypatch):
    monkeypatch.setattr("svmcore.solvers.exact.MATTERS", np.inf)  # no larger samples of exact values
    X, y = noisy(800, 0.4)
    machine = SVC(RBF(0.2), C=0.5, cache_mb=50).fit(X, y + 3 * (X[:, 1] > 0.5))
    assert machine.strategy_.startswith("whole matrix: ")
    assert machine.converged_
    assert machine.kernel_evals_ < 0.6 * 800**2 + 200**2


def test_small_problems_say_what_they_are(small):
    X, y = noisy(40, 0.2)
    assert SVC(RBF(0.2)).fit(X, y).strategy_ == "whole matrix of 40 examples"


@pytest.mark.parametrize("classes", [2, 3])
def test_sets_leave_out_what_rests_at_its_bound(small, classes):
    """Most support vectors of noisy examples do."""
    X, y = noisy(2000, 0.3)
    y = y if classes == 2 else y + 3 * (X[:, 1] > 0.5)
    rounds = SVC(RBF(0.2), C=1.0, tol=1e-4, solver=Decomposition()).fit(X, y)
    whole = SVC(RBF(0.2), C=1.0, tol=1e-4, solver="smo").fit(X, y)
    last = {done.machine: done.size for done in rounds.trace_.rounds}
    for machine, bound in enumerate(rounds.n_bound_):
        assert last[machine] < bound
    assert rounds.converged_
    assert rounds.history_[-1].dual == pytest.approx(whole.history_[-1].dual, rel=1e-6)
    assert (np.abs(rounds.n_bound_ - whole.n_bound_) <= 2).all()
