"""Cross-validation sees nothing of the fold that it judges on, and a sweep holds no more than it works on."""

from dataclasses import replace

import numpy as np
import pytest

from svmcore.kernels import Poly
from svmcore.lab import Recipe, execute
from svmcore.lab.jobs.queue import QUEUE
from svmcore.lab.jobs.sweeping import sweep
from svmcore.lab.methods import METHODS
from svmcore.lab.train import KEPT
from svmcore.methods.definite import PositivePart
from svmcore.methods.tangent import TangentFeature, TangentWhitened
from svmcore.preprocess import STEPS
from svmcore.svc import SVC
from tests.gate import until

DIGITS = Recipe(dataset="digits-8x8", classes=(3, 8), n_train=90, n_test=50, kernel=Poly(3, 1.0, 1.0))


@pytest.fixture
def fitted(monkeypatch):
    """What every SVC was fitted to, and its ceiling of memory."""
    QUEUE.give_way(lambda: False)
    KEPT.clear()
    seen, real = [], SVC.fit

    def spy(self, X, y, *arguments, **named):
        seen.append((X, self.cache_mb))
        return real(self, X, y, *arguments, **named)

    monkeypatch.setattr(SVC, "fit", spy)
    return seen


def watch_step(monkeypatch, name, events):
    real = STEPS[name]
    monkeypatch.setitem(STEPS, name, replace(real, learn=lambda X: events.append(len(X)) or real.learn(X)))


@pytest.mark.parametrize("method", ["sv", "vsv", "query-jitter"])
def test_steps_learn_from_what_is_kept_alone(monkeypatch, method):
    learned = []
    watch_step(monkeypatch, "scale01", learned)
    execute(DIGITS.replace(method=method, folds=3, preprocess=("scale01", "unit-norm")))
    assert learned == [90, 60, 60, 60]


def test_standardised_features_have_mean_0_over_what_is_kept(fitted):
    execute(DIGITS.replace(folds=4, preprocess=("zscore",)))
    assert [len(X) for X, _ in fitted] == [90, *[90 - n for n in (23, 23, 22, 22)]]
    for X, _ in fitted:
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-5)


@pytest.mark.parametrize(
    ("kernel", "changes"),
    [
        (TangentWhitened, {"method": "tangent"}),
        (TangentFeature, {"method": "tangent", "options": {"space": "feature"}}),
        (PositivePart, {"method": "jsv", "options": {"positive": 1000}}),
    ],
)
def test_kernels_are_fitted_to_what_is_kept_alone(monkeypatch, fitted, kernel, changes):
    seen, real = [], kernel.fit.__func__

    def spy(cls, base, X, *arguments):
        seen.append(X)
        return real(cls, base, X, *arguments)

    monkeypatch.setattr(kernel, "fit", classmethod(spy))
    execute(DIGITS.replace(folds=3, jitters="shift:0,1;0,-1", **changes))
    assert len(seen) == 4
    for X, (trained, _) in zip(seen, fitted, strict=True):
        rows = {row.tobytes() for row in trained}
        assert len(X) == len(trained)
        assert all(row.tobytes() in rows for row in X)


@pytest.mark.parametrize(
    ("field", "values", "times"),
    [("C", ["1", "2", "3"], 1), ("kernel.degree", ["1", "2", "3"], 1), ("noise", ["0", "0.1", "0.2"], 3)],
)
def test_runs_that_differ_in_c_or_the_kernel_share_what_is_prepared_of_them(
    home, monkeypatch, fitted, field, values, times
):
    prepared = []
    watch_step(monkeypatch, "scale01", prepared)
    sweep(DIGITS.replace(preprocess=("scale01",)), field, values, folds=2)
    assert sorted(prepared) == sorted([45, 45, 90] * times)
    assert len(fitted) == 9


@pytest.mark.parametrize("changes", [{}, {"class_weight": "balanced"}, {"options": {"refold": True, "noise": 0.2}}])
@pytest.mark.parametrize("classes", [(3, 8), (1, 2, 3)])
def test_folds_that_share_their_examples_are_fitted_together_and_answer_as_alone(monkeypatch, fitted, changes, classes):
    recipe = DIGITS.replace(classes=classes, folds=3, kernel=Poly(5, 1.0, 1.0), **changes)
    together = execute(recipe)
    assert len(fitted) == 1  # the others by `held_out_decisions`
    monkeypatch.setattr(type(METHODS["sv"]), "folds_together", lambda *_: False)
    alone = execute(recipe)
    assert len(fitted) == 2 + 3 * (2 if "options" in changes else 1)
    assert together.result["validation"]["folds"] == alone.result["validation"]["folds"]
    for name in ("index", "y_true", "y_pred", "doubted"):
        np.testing.assert_array_equal(getattr(together.folded, name), getattr(alone.folded, name))
    np.testing.assert_allclose(together.folded.decision, alone.folded.decision, atol=5e-3)


def test_what_compared_runs_share_is_let_go_when_none_is_at_work(fitted):
    """It may be an eighth of the memory."""
    shared = []
    real = KEPT.get
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(KEPT, "get", lambda key, make: shared.append(key) or real(key, make))
        sweep(DIGITS, "C", ("1", "2"), folds=3)
    assert len(set(shared)) < len(shared)
    until(lambda: not any(map(KEPT.has, shared)))
