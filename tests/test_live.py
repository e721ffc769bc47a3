"""Looks at a machine in training: which one is at work, and that a look decides like the machine of that moment."""

from itertools import pairwise

import numpy as np
import pytest

from svmcore.lab import Recipe, prepare, train
from svmcore.lab.jobs.live import Viewer, _largest

DIGITS = Recipe(dataset="digits-8x8", n_train=300, n_test=200)


def test_looks_follow_the_machine_at_work_and_end_with_the_machine_itself():
    problem = prepare(DIGITS)
    viewer, looks = Viewer(problem, seed=0), []

    class Monitor:
        burst = 20

        def __call__(self, progress):
            if progress.iterations:
                looks.append((viewer.look(progress, lambda: None), progress.snapshot()))
            return True

    outcome = train.judge(DIGITS, train.fit(DIGITS, problem, Monitor()))
    followed = [live.machine for live, _ in looks]
    assert followed[0] < 2  # two are solved at a time, in their order
    assert len(set(followed)) > 5
    assert follows(looks)
    last = looks[-1][0]
    assert last.n_sample == 200
    assert last.n_errors == outcome.result["errors"]
    np.testing.assert_array_equal(last.support, last.top[last.machine][0])


def follows(looks):
    """Whether each look is at a machine that has changed since the last look, where any has."""
    sums = [np.abs(snapshot.coef).sum(axis=1) for _, snapshot in looks]
    changes = [~np.isclose(before, now, rtol=1e-9) for before, now in pairwise(sums)]
    return all(
        changed[live.machine] or not changed.any() for (live, _), changed in zip(looks[1:], changes, strict=True)
    )


def test_looks_follow_the_machines_at_work_in_a_virtual_stage():
    recipe = DIGITS.replace(method="vsv", jitters="box:1", n_train=600)
    problem = prepare(recipe)
    viewer, looks = Viewer(problem, seed=0), []

    class Monitor:
        burst = 100

        def __call__(self, progress):
            if progress.stage.startswith("virtual"):
                looks.append((viewer.look(progress, lambda: None), progress.snapshot()))
            return True

    train.fit(recipe, problem, Monitor())
    assert len({live.machine for live, _ in looks}) > 5
    assert follows(looks)


def test_an_end_is_looked_at_though_no_pair_has_moved_since():
    """It was not where the last iterations had been told before what they had done."""
    problem, reports = prepare(DIGITS), []
    train.fit(DIGITS, problem, lambda progress: reports.append(progress) or True)
    viewer, end = Viewer(problem, seed=0), reports[-1]
    before = end._replace(gap=2 * end.gap)
    viewer.look(before, lambda: None)
    assert not viewer.due(before, False)
    assert viewer.due(end, True)
    viewer.look(end, lambda: None)
    assert not viewer.due(end, True)


class Looks:
    """A monitor that keeps every look and the snapshot behind it."""

    burst = 20

    def __init__(self, problem):
        self.viewer, self.seen = Viewer(problem, seed=0), []

    def __call__(self, progress):
        if progress.iterations:
            self.seen.append((progress.stage, self.viewer.look(progress, lambda: None), progress.snapshot()))
        return True


@pytest.mark.parametrize("solver", ["decomposition", "smo-digestion"])
def test_bound_is_what_is_at_the_bound_of_its_own_class(solver):
    weight = {"3": 0.1, "8": 4.0}
    recipe = DIGITS.replace(classes=(3, 8), class_weight=weight, C=0.5, solver=solver, n_train=100, n_test=50)
    problem = prepare(recipe)
    looks = Looks(problem)
    machine = train.fit(recipe, problem, looks).estimator.machine_
    own = np.array([0.5 * weight[str(label)] for label in problem.y_train])
    for _, live, snapshot in looks.seen:
        alpha = np.abs(snapshot.coef[0])
        at_bound = (alpha > 0) & np.isclose(alpha, own[snapshot.support], rtol=1e-9)
        np.testing.assert_array_equal(snapshot.bound[0], at_bound)
        top = live.top[0]
        np.testing.assert_array_equal(top.bound, np.isclose(top.alpha, own[top.rows], rtol=1e-9))
    assert top.bound.sum() > 0
    assert set(top.rows[top.bound]) <= set(machine.support[machine.bound[0]])
    assert not np.isclose(top.alpha[top.bound], 0.5).any()  # the recipe's C, which is nobody's bound


def test_bound_of_the_virtual_stage_is_that_of_its_own_cost():
    recipe = DIGITS.replace(method="vsv", jitters="plus:1", n_train=100, n_test=50, C=10.0, options={"second_C": 0.01})
    problem = prepare(recipe)
    looks = Looks(problem)
    machine = train.fit(recipe, problem, looks).estimator.machine_
    stage, live, snapshot = looks.seen[-1]
    assert stage.startswith("virtual")
    np.testing.assert_array_equal(snapshot.bound, np.abs(snapshot.coef) >= 0.01 * (1 - 1e-9))
    assert snapshot.bound.sum() == machine.bound.sum() > 0
    assert any(top.bound.any() for top in live.top)


def test_an_example_is_bound_when_all_forms_of_it_that_count_are():
    support = np.array([4, 4, 7, 7, 9, 9])
    alpha = np.array([1.0, 1.0, 1.0, 0.5, 0.25, 0.0])
    bound = np.array([True, True, True, False, True, False])
    top = _largest(support, alpha, bound, np.array([False, True, True, False, False, False]))
    assert top.rows.tolist() == [4, 7, 9]
    assert top.alpha.tolist() == [2.0, 1.5, 0.25]
    assert top.bound.tolist() == [True, False, True]
    assert top.forms.tolist() == [2, 2, 1]
    assert top.virtual.tolist() == [True, True, False]
