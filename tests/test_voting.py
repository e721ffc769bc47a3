"""Machines that vote: the one that is kept decides by the mean of those that were trained, each on its own half."""

import numpy as np
import pytest

from data import pictures
from svmcore.lab import jobs, train
from svmcore.lab.costs import cost
from svmcore.lab.forecast import plans
from svmcore.lab.methods import METHODS
from svmcore.lab.presets import RECIPES
from svmcore.lab.problem import left_out
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store import runs
from svmcore.lab.tasks import TASKS
from svmcore.lab.tasks.detect import Voting
from tests.test_detect import CROSSES, faces_set


@pytest.fixture
def crosses(home, monkeypatch):
    monkeypatch.setitem(pictures._BUILT_IN, "crosses", faces_set())
    return CROSSES.replace(bootstraps=0)


@pytest.mark.parametrize(
    ("method", "jitters"), [("vsv", "plus:1@edge"), ("sv", ""), ("tangent", "plus:1"), ("jsv", "plus:1")]
)
@pytest.mark.parametrize(("seed", "k"), [(0, 2), (1, 3), (7, 5)])
def test_the_machine_decides_by_the_mean_of_its_members(crosses, method, jitters, seed, k):
    recipe = crosses.replace(method=method, jitters=jitters, seed=seed)
    problem, one = train.prepare(recipe), METHODS[method]
    background, members, unseen, gaps = np.flatnonzero(problem.y_train < 0), [], [], []
    for number in range(k):
        out = np.random.default_rng([seed, number]).permutation(background)[: len(background) // 2]
        member = one.train(recipe, left_out(problem, out), None)
        members.append(member.machine_)
        gaps.append(member.gap_)
        unseen.append(set(out))
    found = Voting(one, k).train(recipe, problem, None)
    X = np.concatenate([problem.X_train, np.random.default_rng(seed).normal(size=(50, problem.X_train.shape[1]))])
    X = X.astype(np.float32)
    mean = np.mean([member.decision_values(X) for member in members], axis=0)
    np.testing.assert_allclose(found.machine_.decision_values(X), mean, atol=1e-5)
    assert len({frozenset(out) for out in unseen}) == k
    assert set.intersection(*unseen).isdisjoint(found.machine_.support)
    assert len(found.machine_.support) < sum(len(member.support) for member in members), "shared vectors stand once"
    assert found.kernel_evals_ > 0
    assert found.converged_
    assert found.gap_ == max(gaps)


def test_vectors_keep_their_examples_and_jitters(crosses):
    problem = train.prepare(crosses)
    machine = Voting(METHODS["vsv"], 3).train(crosses, problem, None).machine_
    plain = machine.jitter == 0
    assert 0 < plain.sum() < len(plain)
    np.testing.assert_array_equal(machine.support_vectors[plain], problem.X_train[machine.parent[plain]])
    assert len(set(zip(machine.parent, machine.jitter, strict=True))) == len(machine.parent)
    assert (problem.y_train[machine.parent[~plain]] > 0).all(), "objects alone have forms"
    assert machine.meta["jitters"] == "(plus:1)@edge"


def test_a_run_keeps_one_machine_for_all_and_a_forecast_counts_each(crosses):
    recipe = crosses.replace(machines=3, bootstraps=1)
    run_id = jobs.submit(recipe)
    assert jobs.wait(run_id, 120).state == "done", jobs.status(run_id).message
    run = runs.get(run_id)
    run.check()
    test = run.test()
    assert run.machine().meta["bagged"] == 3
    np.testing.assert_allclose(run.machine().decision_function(test.chips)[:, 0] + test.votes, test.decision, atol=1e-3)
    assert (test.train_round > 0).any(), "all of them together are asked for false alarms"
    assert run.result["machines"]["machine"]["rates"]["10"] == 1.0
    one, five = (cost(*plans(each, TASKS["detect"].size(each))) for each in (crosses, crosses.replace(machines=5)))
    assert len(five.parts) == 5 * len(one.parts)
    beside = [TASKS["detect"].beside(crosses.replace(machines=k)) * k for k in (1, 5)]
    assert beside[0] == pytest.approx(beside[1]), "pictures are searched by all at once"


def test_one_machine_is_the_recipe_and_the_run_as_they_were(crosses):
    assert crosses.replace(machines=1).digest() == crosses.digest()
    problem = train.prepare(crosses)
    plain = METHODS["vsv"].train(crosses, problem, None).machine_
    found = train.fit(crosses.replace(machines=1), problem).estimator.machine_
    for name in ("support", "coef", "bias", "support_vectors"):
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))


@pytest.mark.parametrize("machines", [0, 26, 1000, 2.5, "many"])
def test_other_numbers_of_machines_are_refused_by_name(machines):
    with pytest.raises(RecipeError, match=r"machines = .*; allowed: a whole number from 1 to 25"):
        RECIPES["faces-cmu"].replace(machines=machines)
