"""General optimisers on the machine's own problem: the answer of the lab's solver, where they say they have one."""

import numpy as np
import pytest

from svmcore import RBF, SVC, Linear
from svmcore.lab.experiment.general import SLOW, WAYS, GeneralSVC


@pytest.mark.parametrize(
    ("way", "kernel", "C"),
    [(way, kernel, C) for way in WAYS for kernel in (Linear(), RBF(0.7)) for C in (0.5, 20.0) if way not in SLOW]
    + [(way, RBF(0.7), 0.5) for way in SLOW],
    ids=str,
)
def test_the_answer_is_the_lab_solvers(way, kernel, C):
    for seed, n in enumerate((12,) if way in SLOW else (12, 50)):
        random = np.random.default_rng(seed)
        X = random.normal(size=(n, 2)).astype(np.float32)
        y = np.where(X[:, 0] + 0.7 * random.normal(size=n) > 0, 1, -1)
        y[:2] = 1, -1
        general, machine = GeneralSVC(kernel, C, way).fit(X, y), SVC(kernel, C=C, tol=1e-5).fit(X, y)
        dual = machine.history_[-1].dual
        assert general.dual_ <= dual * (1 + 1e-4) + 1e-6
        assert general.dual_ >= dual * (1 - (0.02 if way in SLOW else 1e-3))
        if general.gap_ <= 1e-3:
            f = machine.decision_function(X)
            sure = np.abs(f) > 0.05
            np.testing.assert_array_equal(general.predict(X)[sure], machine.predict(X)[sure])
        assert way in SLOW or general.gap_ <= 1e-2


def test_a_way_that_is_none_is_named():
    with pytest.raises(ValueError, match="way = 'MINOS'; allowed: conjugate-gradients"):
        GeneralSVC(Linear(), 1.0, "MINOS").fit(np.eye(2), [0, 1])
