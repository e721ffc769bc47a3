"""Not sure: probabilities, the answers that cost least, the curve of errors against answers, each by its definition."""

import re

import numpy as np
import pytest

from pages.errors import abstain as section
from svmcore.lab.analyses import unsure
from svmcore.lab.presets import RECIPES
from tests.driven import finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)


def drawn(n, k, seed, width=1.0):
    """Decision values (n, k) and classes (n,), and the probabilities that the classes were drawn by."""
    rng = np.random.default_rng(seed)
    f = rng.normal(0, width, (n, k))
    P = np.exp(2 * f)
    P /= P.sum(axis=1, keepdims=True)
    return f, np.array([rng.choice(k, p=p) for p in P]), P


@pytest.mark.parametrize("way", unsure.WAYS)
@pytest.mark.parametrize(("k", "seed"), [(2, 0), (3, 1), (10, 2)])
def test_what_is_said_comes_true(way, k, seed):
    f, y, P = drawn(2000, k, seed)
    if k == 2:
        f = f[:, 1:] - f[:, :1]
    found = unsure.probabilities(f, y, k, way)
    assert found.sum(axis=1) == pytest.approx(np.ones(len(y)))
    assert unsure.reliability(found.max(axis=1), found.argmax(axis=1) == y).error < (
        0.05 if k == 2 or way == "Platt" else 0.2
    )
    if k == 2:  # by increasing functions of each f alone several classes are not exact
        assert np.abs(found - P).mean() < 0.03


def test_an_example_has_no_say_in_its_own_probability():
    f, y, _ = drawn(60, 3, 0)
    before = unsure.probabilities(f, y, 3)
    changed = y.copy()
    changed[7] = (y[7] + 1) % 3
    assert unsure.probabilities(f, changed, 3)[7] == pytest.approx(before[7])


def test_the_folds_are_drawn_by_the_seed():
    f, y, _ = drawn(60, 3, 0)
    one, again, other = (unsure.probabilities(f, y, 3, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("way", unsure.WAYS)
def test_fitted_to_other_examples_it_comes_true_and_no_tested_one_has_a_say(way):
    (f, y, _), (new, true, _) = drawn(3000, 3, 5), drawn(1000, 3, 6)
    found = unsure.probabilities(new, true, 3, way, (f, y))
    assert unsure.reliability(found.max(axis=1), found.argmax(axis=1) == true).error < (0.05 if way == "Platt" else 0.2)
    assert np.array_equal(unsure.probabilities(new, true[::-1], 3, way, (f, y)), found)
    few = unsure.probabilities(new[:3], true[:3], 3, way, (f, y))
    assert few == pytest.approx(found[:3]), "three tested examples are enough"
    with pytest.raises(ValueError, match="Probabilities need"):
        unsure.probabilities(new, true, 3, way, (f[:9], y[:9]))


def test_a_class_that_is_tested_once_is_no_obstacle():
    f, y, _ = drawn(40, 3, 3)
    y[y == 2] = 0
    y[5] = 2
    assert unsure.probabilities(f, y, 3).sum(axis=1) == pytest.approx(np.ones(40))


@pytest.mark.parametrize(("n", "classes"), [(5, 2), (50, 1)])
def test_too_little_is_said(n, classes):
    with pytest.raises(ValueError, match="Probabilities need"):
        unsure.probabilities(np.zeros((n, 2)), np.arange(n) % classes, 2)


def test_answers_cost_least_by_hand():
    rng = np.random.default_rng(0)
    P, cost = rng.dirichlet(np.ones(4), 200), rng.uniform(0, 3, (4, 4))
    for u in (0.05, 0.5, 1.5):
        for p, answer in zip(P, unsure.answers(P, u, cost), strict=True):
            R = [sum(cost[c, a] * p[c] for c in range(4)) for a in range(4)]
            assert answer == (int(np.argmin(R)) if min(R) < u else unsure.UNSURE)


@pytest.mark.parametrize("u", [0.1, 0.4])
def test_with_equal_costs_it_is_a_threshold_on_the_likeliest(u):
    P = np.random.default_rng(1).dirichlet(np.ones(3), 300)
    assert ((unsure.answers(P, u) != unsure.UNSURE) == (P.max(axis=1) > 1 - u)).all()


def test_coverage_by_hand_and_ties_together():
    sure, wrong = np.array([0.9, 0.5, 0.9, 0.7]), np.array([False, True, True, False])
    share, rate = unsure.coverage(sure, wrong)
    assert share.tolist() == [0.5, 0.75, 1.0]
    assert rate == pytest.approx([1 / 2, 1 / 3, 2 / 4])


def test_reliability_by_hand():
    sure, right = np.array([0.05, 0.95, 1.0, 0.91]), np.array([False, True, True, False])
    found = unsure.reliability(sure, right)
    assert found.n.tolist() == [1, 3]
    assert found.said == pytest.approx([0.05, (0.95 + 1.0 + 0.91) / 3])
    assert found.right == pytest.approx([0.0, 2 / 3])
    assert found.error == pytest.approx((0.05 + 3 * abs((0.95 + 1.0 + 0.91) / 3 - 2 / 3)) / 4)


def test_costs_are_read_and_what_is_none_is_named():
    cost = section.costs("3 > 8: 5, 8>3:0", ["3", "8"])
    assert cost.tolist() == [[0, 5], [0, 0]]
    assert section.costs(" ", ["3", "8"]) is None
    names, text = ["a>b", "salt, pepper", "1:2"], "a>b > salt, pepper: 5, salt, pepper > 1:2: 0.5,1:2>a>b: 2"
    section.check_costs(text)
    assert section.costs(text, names).tolist() == [[0, 5, 1], [1, 0, 0.5], [2, 1, 0]]
    for text in ("3 > 9: 5", "3: 5", "3 > 8", "3 > 3: 2", "3 > 8: -1", "3 > 8: x"):
        with pytest.raises(ValueError, match="Costlier confusions"):
            section.costs(text, ["3", "8"])
    for text in ("\0", "3", "3: 5"):
        with pytest.raises(ValueError, match="Costlier confusions"):
            section.check_costs(text)


def test_the_page_answers_less_and_is_wrong_less(digits):
    app = open_page("errors", run=digits.id, unsure="0.05")
    said = next(one.value for one in app.markdown if "The run classifies" in one.value).replace(",", "")
    answered, n, left = map(int, re.search(r"classifies (\d+) of (\d+) examples .* with (\d+) error", said).groups())
    before = int(re.search(r"abstaining it would make (\d+)", said)[1])
    assert (n, before) == (digits.result["n_test"], digits.result["errors"])
    assert answered < n
    assert left < before
    app = open_page("errors", run=digits.id, dearer="3 > 99: 1")
    assert any("Costlier confusions" in error.value for error in app.error)


def test_a_run_with_folds_learns_it_from_training_examples():
    run = finished(RECIPES["digits-8x8-sv"].replace(n_train=200, n_test=12, folds=3))
    found = unsure.of_run(run)
    assert found.folded == 200
    assert found.P.shape == (12, 10)
    app = open_page("errors", run=run.id)
    assert any("Fitted to 200 training examples" in one.value for one in app.caption)


@pytest.fixture(scope="module")
def digits():
    return finished(RECIPES["digits-8x8-sv"].replace(n_train=200, n_test=400))
