"""The value of an example is what training anew without it changes among validation answers."""

import numpy as np
import pytest

from svmcore import RBF, SVC, Poly, Retraining
from svmcore.explain.value import Values, values


def problem(seed, classes):
    """Training examples with some wrong labels, and validation examples with right ones."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(110, 3)), np.arange(110) % classes
    X += 1.5 * rng.normal(size=(classes, 3))[y]
    y[:6] = (y[:6] + 1) % classes
    names = np.array(["one", "three", "two", "zero"])
    return X[:50].astype(np.float32), names[y[:50]], X[50:].astype(np.float32), names[y[50:]]


def right_and_margins(machine, X, y, c=None):
    """Whether each answer is right, and by how much, by their definition."""
    f, classes = machine.decision_values(X), machine.classes.tolist()
    if c is not None or f.shape[1] == 1:
        sign = np.where(y == classes[1 if f.shape[1] == 1 else c], 1, -1)
        margin = sign * f[:, c or 0]
    else:
        margin = np.array([row[classes.index(t)] - max(np.delete(row, classes.index(t))) for row, t in zip(f, y)])
    return margin > 0, margin


@pytest.mark.parametrize(
    ("seed", "classes", "C", "c"), [(0, 2, 1.0, None), (1, 3, 10.0, None), (2, 4, 0.3, 2), (3, 3, 100.0, 0)]
)
def test_a_value_is_that_of_training_anew(seed, classes, C, c):
    X, y, V, z = problem(seed, classes)
    kernel, finest = (RBF(0.5) if seed % 2 else Poly(3, 1, 1)), {"C": C, "tol": 1e-6}
    retraining = Retraining(SVC(kernel, C=C, tol=1e-4).fit(X, y), X, y)
    steps = list(values(retraining, kernel.block(V, X), z, c))
    share, found = steps[-1]
    assert share == 1
    right, margin = right_and_margins(SVC(kernel, **finest).fit(X, y).machine_, V, z, c)
    for i in range(len(X)):
        keep = np.arange(len(X)) != i
        new, moved = right_and_margins(SVC(kernel, **finest).fit(X[keep], y[keep]).machine_, V, z, c)
        sure = (np.abs(margin) > 2e-3) & (np.abs(moved) > 2e-3)
        unsure = int((~sure).sum())
        assert abs(found.won[i] - (new & ~right)[sure].sum()) <= unsure
        assert abs(found.lost[i] - (right & ~new)[sure].sum()) <= unsure
        assert found.margin[i] / len(z) == pytest.approx((moved - margin).mean(), abs=2e-3)
    assert (found.asked == len(z)).all()
    assert not steps[0][1].won.any()  # nothing is changed in place
    assert (np.diff([share for share, _ in steps]) > 0).all()


def test_lists_are_in_order_and_values_of_parts_add_up():
    won, lost = np.array([2, 0, 0, 1, 0]), np.array([0, 1, 0, 1, 0])
    one = Values(won, lost, np.array([-1.0, 1.0, 3.0, -2.0, 0.0]), np.full(5, 10))
    assert one.helps().tolist() == [0, 2]  # by errors, then by the margin
    assert one.harms().tolist() == [1, 3]
    both = one.plus(one, np.arange(5)).plus(Values(*(array[:2] for array in one)), [4, 2])
    assert both.won.tolist() == [4, 0, 0, 2, 2]
    assert both.asked.tolist() == [20, 20, 30, 20, 30]
    assert both.mean_margin[2] == pytest.approx(7 / 30)
    assert Values.none(3).mean_margin.tolist() == [0, 0, 0]
    assert one.won.tolist() == [2, 0, 0, 1, 0]  # nothing is changed in place


def test_labels_that_no_machine_knows_are_named():
    X, y, V, z = problem(1, 3)
    retraining = Retraining(SVC(RBF(0.5)).fit(X, y), X, y)
    with pytest.raises(ValueError, match="unknown"):
        next(values(retraining, RBF(0.5).block(V, X), np.full(len(z), "nine")))
