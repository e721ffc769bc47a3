"""Looks at a machine in training: which one is at work, and that a look decides like the machine of that moment."""

from itertools import pairwise

import numpy as np

from svmcore.lab import Recipe, prepare
from svmcore.lab.experiment import train
from svmcore.lab.jobs.live import Viewer

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

    outcome = train.judge(DIGITS, problem, train.fit(DIGITS, problem, Monitor()))
    followed = [live.machine for live, _ in looks]
    assert followed[0] < 2  # two are solved at a time, in their order
    assert len(set(followed)) > 5
    for (_, before), (live, now) in pairwise(looks):
        changed = ~np.isclose(np.abs(before.coef).sum(axis=1), np.abs(now.coef).sum(axis=1), rtol=1e-9)
        assert changed[live.machine] or not changed.any()
    last = looks[-1][0]
    assert last.n_sample == 200
    assert last.n_errors == outcome.result["errors"]
    np.testing.assert_array_equal(last.support, last.top[last.machine][0])


def test_looks_follow_the_virtual_stage_from_machine_to_machine():
    recipe = DIGITS.replace(method="vsv", jitters="box:1", n_train=600)
    problem = prepare(recipe)
    viewer, followed = Viewer(problem, seed=0), {}

    class Monitor:
        burst = 100

        def __call__(self, progress):
            if progress.iterations:
                followed.setdefault(progress.stage, []).append(viewer.look(progress, lambda: None).machine)
            return True

    train.fit(recipe, problem, Monitor())
    for c in range(1, 10):
        assert set(followed[f"virtual {c}"]) <= {c - 1, c}
        assert followed[f"virtual {c}"][-1] == c
