"""Problems in the plane, and jitters of points: the geometry that the Playground's pictures rest on."""

import numpy as np
import pytest
from sklearn.base import clone

from data import plane
from svmcore import RBF, SVC, JitterSet, Linear, PointJitters, Poly, Preprocessor, VirtualSVC, load, save

SEEDS = range(30)


def svc(problem, C=10.0):
    return SVC(Linear() if problem.kernel == "linear" else RBF(problem.gamma), C=C)


def answer(machine, problem, seed):
    return float(clone(machine).fit(*problem.sample(seed)).decision_function(np.array([problem.question], "f"))[0])


@pytest.mark.parametrize("name", [name for name, problem in plane.PROBLEMS.items() if problem.make])
def test_samples_repeat_and_stay_in_the_plane(name):
    problem = plane.PROBLEMS[name]
    X, y = problem.sample(3)
    again, _ = problem.sample(3)
    other, _ = problem.sample(4)
    np.testing.assert_array_equal(X, again)
    assert not np.array_equal(X, other)
    assert X.shape == (plane.N, 2)
    assert X.dtype == np.float32
    assert abs(X).max() <= 1
    assert [np.count_nonzero(y == label) for label in problem.colours] == [plane.N // problem.classes] * problem.classes


@pytest.mark.parametrize("kernel", [RBF(1.0), Poly(2, 1, 1), Poly(3, 1, 1)])
def test_the_points_alone_leave_the_question_open_and_copies_decide_it(kernel):
    problem = plane.PROBLEMS["question"]
    base = SVC(kernel, C=10)
    alone = [answer(base, problem, seed) for seed in SEEDS]
    by = {
        kind: [answer(VirtualSVC(base, jitters=PointJitters(kind, plane.MOVES[kind])), problem, s) for s in SEEDS]
        for kind in ("shift", "turn")
    }
    assert 0.2 < np.mean(np.array(alone) > 0) < 0.8
    assert max(map(abs, alone)) < 0.6  # within the margins
    assert min(by["shift"]) > 0
    assert max(by["turn"]) < 0


def test_the_question_is_as_far_from_one_cloud_as_from_the_other_and_copies_come_near():
    q, blue, orange = (np.array(v) for v in (plane.PROBLEMS["question"].question, plane.BLUE_AT, plane.ORANGE_AT))
    apart = np.linalg.norm(q - blue)
    assert apart == pytest.approx(np.linalg.norm(q - orange))
    moved = PointJitters("shift", plane.MOVES["shift"]).apply(blue[None])[:, 0]
    turned = PointJitters("turn", plane.MOVES["turn"]).apply(orange[None])[:, 0]
    assert np.linalg.norm(moved - q, axis=1).min() < apart / 4
    assert np.linalg.norm(turned - q, axis=1).min() < apart / 4


@pytest.mark.parametrize(("name", "most"), [("shift", 20), ("turn", 20), ("xor", 30), ("banana", 25), ("rings", 20)])
def test_copies_by_the_known_invariance_mend_what_the_narrow_sample_could_not_say(name, most):
    problem = plane.PROBLEMS[name]
    wrong = []
    for seed in range(8):
        (X, y), (T, t) = problem.sample(seed), problem.fresh(400, seed)
        machine = svc(problem)
        virtual = VirtualSVC(machine, jitters=PointJitters(problem.jitter, problem.amounts)).fit(X, y)
        wrong.append([np.sum(m.predict(T) != t) for m in (clone(machine).fit(X, y), virtual)])
    plain, copies = np.mean(wrong, axis=0)
    assert copies < most
    assert plain > 1.4 * copies


def test_the_law_lies_between_the_classes():
    X, y = plane.PROBLEMS["shift"].fresh(500, 0)
    assert (np.sign(X[:, 1]) == y).all()
    X, y = plane.PROBLEMS["turn"].fresh(500, 0)
    assert ((np.linalg.norm(X, axis=1) < plane.RADIUS) == (y > 0)).all()
    X, y = plane.PROBLEMS["rings"].fresh(500, 0)
    assert (np.array(list(plane.COLOURS))[np.searchsorted(plane.BETWEEN, np.linalg.norm(X, axis=1))] == y).all()
    X, y = plane.PROBLEMS["xor"].fresh(500, 0)
    assert (np.sign(X[:, 0] * X[:, 1]) == y).all()


def test_point_jitters_move_points_as_they_say():
    x = np.array([[0.3, 0.4]], np.float32)
    shifted = PointJitters("shift", (-0.5, 0.2)).apply(x)[:, 0]
    np.testing.assert_allclose(shifted, [[0.3, 0.4], [-0.2, 0.4], [0.5, 0.4]], atol=1e-6)
    np.testing.assert_allclose(PointJitters("turn", (90,)).apply(x)[1, 0], [-0.4, 0.3], atol=1e-6)
    np.testing.assert_allclose(PointJitters("mirror").apply(x)[1, 0], [-0.3, 0.4], atol=1e-6)
    assert PointJitters("turn", (90,)).names == ("identity", "turned by +90°")


@pytest.mark.parametrize("jitters", [PointJitters("shift", (-0.5, 0.5)), PointJitters("turn", (120, 240))])
def test_products_of_point_jitters_are_found_again(jitters):
    x = np.random.default_rng(0).normal(size=(7, 2)).astype(np.float32)
    twice = jitters.power(2)
    table = twice.after(jitters, jitters)
    one, two = jitters.apply(x), twice.apply(x)
    for a in range(len(jitters)):
        for b in range(len(jitters)):
            np.testing.assert_allclose(two[table[a, b]], jitters.apply(one[a])[b], atol=1e-6)
    assert len(jitters.power(0)) == 1
    assert len(PointJitters("turn", (120, 240)).power(2)) == 3  # a group: three turns, whoever multiplies them
    which = np.arange(7) % len(jitters)
    np.testing.assert_array_equal(jitters.pick(x, which), one[which, np.arange(7)])


def test_two_rounds_of_shifts_reach_twice_as_far():
    X, y = plane.PROBLEMS["shift"].sample(0)
    machine = VirtualSVC(SVC(Linear(), C=10), jitters=PointJitters("shift", (-0.5, 0.5)), rounds=2).fit(X, y).machine_
    moved = machine.support_vectors - X[machine.parent]
    assert set(np.round(moved[:, 0], 3)) <= {-1.0, -0.5, 0.0, 0.5, 1.0}
    assert abs(moved[:, 1]).max() == 0


def test_what_cannot_be_is_said():
    with pytest.raises(ValueError, match="shift, turn, mirror"):
        PointJitters("box")
    with pytest.raises(ValueError, match="finite"):
        PointJitters("shift", (np.nan,))
    with pytest.raises(ValueError, match="3 features"):
        VirtualSVC(SVC(), jitters=PointJitters("mirror")).fit(np.eye(3), [0, 1, 0])
    with pytest.raises(ValueError, match="image_shape"):
        VirtualSVC(SVC(), jitters=JitterSet("box:1")).fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("prepare", [None, Preprocessor("zscore")])
def test_points_far_from_the_origin_keep_their_digits_until_they_are_centred(prepare, tmp_path):
    """Against the same problem moved to the origin."""
    rng, far = np.random.default_rng(0), np.array([20_000.0, 20_000.0])
    X, T = far + 1e-3 * rng.random((2, 300, 2))
    y, t = X[:, 1] > 20_000.0005, T[:, 1] > 20_000.0005
    jitters, gamma = PointJitters("shift", (-1e-4, 1e-4)), (1 / X.var(axis=0)[1] if prepare is None else 1.0)
    fitted = VirtualSVC(SVC(RBF(gamma), C=10), jitters=jitters, prepare=prepare).fit(X, y)
    if prepare is None:
        wanted = VirtualSVC(SVC(RBF(gamma), C=10), jitters=jitters).fit((X - far).astype(np.float32), y)
        assert np.abs(fitted.decision_function(T) - wanted.decision_function(T - far)).max() < 0.01
    assert fitted.score(T, t) > 0.97
    save(fitted, tmp_path / "machine.npz")
    np.testing.assert_array_equal(load(tmp_path / "machine.npz").predict(T), fitted.predict(T))
