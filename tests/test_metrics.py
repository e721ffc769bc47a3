"""Laws of svmcore.metrics: intervals, counts that add up, the paired test, free-response curves."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from svmcore import metrics
from svmcore.metrics import confusion, froc, paired_test, per_class_table, roc_area, wilson


@pytest.mark.parametrize(("errors", "n"), [(0, 20), (12, 1000), (122, 10000), (7, 7)])
def test_wilson_agrees_with_scipy(errors, n):
    expected = binomtest(errors, n).proportion_ci(0.95, method="wilson")
    assert wilson(errors, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("errors", "n", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (0, 0, 0.95), (1, 2, 95)])
def test_wilson_refuses_impossible_counts(errors, n, level):
    with pytest.raises(ValueError, match="allowed"):
        wilson(errors, n, level)


def test_confusion_counts_every_example_once():
    rng = np.random.default_rng(0)
    classes = np.array(["c", "a", "b"])
    y_true, y_pred = rng.choice(classes, 200), rng.choice(classes, 200)
    table = confusion(y_true, y_pred, classes)
    for i, t in enumerate(classes):
        for j, p in enumerate(classes):
            assert table[i, j] == np.sum((y_true == t) & (y_pred == p))
    with pytest.raises(ValueError, match="'d'"):
        confusion(np.array(["d"]), np.array(["a"]), classes)


def test_per_class_errors_add_up_to_all_errors():
    rng = np.random.default_rng(1)
    classes = np.arange(3, 8)
    y_true = rng.choice(classes, 300)
    decision = rng.normal(size=(300, 5)) + 2 * (y_true[:, None] == classes)
    y_pred = classes[decision.argmax(axis=1)]
    rows = per_class_table(decision, y_true, y_pred, classes)
    assert [r["digit"] for r in rows] == classes.tolist()
    assert sum(r["errors"] for r in rows) == np.sum(y_true != y_pred)
    assert rows[2]["fn"] == np.sum((y_true == 5) & (decision[:, 2] <= 0))
    assert rows[2]["fp"] == np.sum((y_true != 5) & (decision[:, 2] > 0))


def test_two_classes_share_one_decision_column():
    f = np.array([-1.0, 2.0, 0.5, -0.5])
    y = np.array([0, 1, 0, 1])
    rows = per_class_table(f, y, (f > 0).astype(int), np.array([0, 1]))
    assert rows == [{"digit": 0, "errors": 1, "fn": 1, "fp": 1}, {"digit": 1, "errors": 1, "fn": 1, "fp": 1}]


def test_paired_test_is_the_exact_binomial_test():
    a = np.array([True] * 12 + [False] * 30)
    b = np.array([True] * 4 + [False] * 8 + [True] * 2 + [False] * 28)
    assert paired_test(a, b) == (8, 2, pytest.approx(binomtest(2, 10).pvalue), 0)
    assert paired_test(a, a).p_value == 1.0
    for n, k in ((1, 0), (9, 9), (4000, 1900), (9000, 4500)):
        a = np.arange(n) < k
        assert paired_test(a, ~a).p_value == pytest.approx(binomtest(k, n).pvalue, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_a_paired_test_of_groups_counts_all_signs_that_they_may_have(seed):
    rng = np.random.default_rng(seed)
    groups = 100 * rng.integers(0, 9, 60) - 7
    a, b = rng.random((2, 60)) < rng.random(2)[:, None]
    sums = np.array([(a[groups == g].astype(int) - b[groups == g]).sum() for g in np.unique(groups)])
    all_signs = np.array(list(product((-1, 1), repeat=len(sums)))) @ np.abs(sums)
    test = paired_test(a, b, groups)
    assert test.p_value == pytest.approx(np.mean(np.abs(all_signs) >= abs(sums.sum())))
    assert test[:2] == (np.sum(a & ~b), np.sum(b & ~a))
    assert test.n_groups == len(set(groups[a != b]))
    each = paired_test(a, b, rng.permutation(60))
    assert each[:3] == pytest.approx(paired_test(a, b)[:3])


def test_copies_of_an_example_make_no_difference_surer():
    """Ten copies of each of 40 examples, answered alike: the p of the 40 holds, and that of 400 is far below it."""
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 40)) < np.array([0.5, 0.3])[:, None]
    copied = [np.repeat(one, 10) for one in (a, b)]
    assert paired_test(*copied, np.repeat(np.arange(40), 10)).p_value == pytest.approx(paired_test(a, b).p_value)
    assert paired_test(*copied).p_value < 0.1 * paired_test(a, b).p_value


def test_froc_counts_a_target_once_and_rises():
    scores = np.array([0.9, 0.8, 0.8, 0.7, 0.6, 0.5])
    hits = np.array([3, 3, -1, 1, -1, -1])
    curve = froc(scores, hits, n_targets=4, area=2.0)
    assert curve.threshold.tolist() == [0.9, 0.8, 0.7, 0.6, 0.5]
    assert curve.rate.tolist() == [0.25, 0.25, 0.5, 0.5, 0.5]
    assert curve.alarms.tolist() == [0.0, 0.5, 0.5, 1.0, 1.5]
    assert len(froc(np.empty(0), np.empty(0, int), 1, 1.0).rate) == 0


def test_roc_area_is_the_share_of_pairs_in_order():
    rng = np.random.default_rng(2)
    f, positive = np.round(rng.normal(size=60), 1), rng.random(60) < 0.3
    pairs = [(a > b) + (a == b) / 2 for a in f[positive] for b in f[~positive]]
    assert roc_area(f, positive) == pytest.approx(np.mean(pairs))
    assert roc_area(-f, positive) == pytest.approx(1 - np.mean(pairs))
    assert roc_area([0.1, 2.0, 3.0], [False, True, True]) == 1


@pytest.mark.parametrize(
    ("f", "positive", "says"),
    [([1.0, 2.0], [True, True], "2 of 2"), ([1.0], [False], "0 of 1"), ([1.0, 2.0], [True], "one value per example")],
)
def test_roc_area_refuses_what_has_no_curve(f, positive, says):
    with pytest.raises(ValueError, match=says):
        roc_area(f, positive)


def test_a_share_is_written_with_the_digits_that_its_interval_deserves():
    assert metrics.rate_text(0.04, (0.0296, 0.0534)) == "4.00 % (3.0–5.3)"
    assert metrics.rate_text(0.0068, (0.0054, 0.0086)) == "0.68 % (0.54–0.86)"
    assert metrics.rate_text(0.0, (0.0, 0.0038)) == "0.00 % (0.00–0.38)"
