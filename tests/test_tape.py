"""The tape of a training: its last frame is the trained machine, its steps are the solver's, and it stays bounded."""

import numpy as np
import pytest

from data import plane
from svmcore import RBF, SVC, Linear, PointJitters, Poly, VirtualSVC
from svmcore.explain import tape
from tests import naive

KERNELS = {"shift": Linear(), "turn": RBF(1.0), "xor": RBF(2.0), "banana": Poly(3, 1, 1), "question": RBF(1.0)}


def machines(name, C, virtual, max_iter=20_000):
    problem = plane.PROBLEMS[name]
    svc = SVC(KERNELS[name], C=C, max_iter=max_iter)
    return VirtualSVC(svc, jitters=PointJitters(problem.jitter, problem.amounts)) if virtual else svc


def flipped(name, seed=0):
    X, y = plane.PROBLEMS[name].sample(seed)
    return X, np.where(np.arange(len(y)) % 10 == 0, -y, y)


def machine_at(shown, t):
    """alpha (n,) and the bias after frame t of a tape, as a player puts them together."""
    t = range(len(shown.frames))[t]
    begin = max(s for s in range(t + 1) if s == 0 or shown.frames[s].stage != shown.frames[s - 1].stage)
    alpha = np.zeros(len(shown.y))
    for frame in shown.frames[begin : t + 1]:
        alpha[frame.changed] = frame.alpha
    return alpha, shown.frames[t].bias


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("virtual", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("name", list(plane.PROBLEMS))
def test_the_last_frame_is_the_machine_that_a_fit_without_a_tape_gives(name, C, virtual):
    X, y = flipped(name)
    recorded = machines(name, C, virtual)
    shown = tape.record(recorded, X, y)
    alpha, bias = machine_at(shown, -1)
    plain = machines(name, C, virtual).fit(X, y)
    machine = plain.machine_
    jitter = np.zeros(len(machine.support), int) if machine.jitter is None else machine.jitter
    at = {key: number for number, key in enumerate(zip(shown.jitter.tolist(), shown.parent.tolist(), strict=True))}
    expected = np.zeros(len(shown.y))
    expected[[at[key] for key in zip(jitter.tolist(), machine.support.tolist(), strict=True)]] = machine.alpha[0]
    np.testing.assert_allclose(alpha, expected, rtol=0, atol=1e-12)
    assert bias == machine.bias[0]
    grid = np.random.default_rng(0).uniform(-1, 1, (200, 2)).astype(np.float32)
    f = plain.kernel_.exact(grid, shown.X) @ (alpha * shown.y) + bias
    np.testing.assert_allclose(f, plain.decision_function(grid), rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("virtual", [False, True])
def test_every_step_moves_one_violating_pair_and_keeps_the_constraints(virtual):
    X, y = flipped("banana")
    shown = tape.record(machines("banana", 5.0, virtual), X, y)
    K = KERNELS["banana"].exact(shown.X, shown.X)
    assert shown.steps[-1] > 10
    assert len(shown.steps) == 1 + virtual
    for t, frame in enumerate(shown.frames):
        alpha, _ = machine_at(shown, t)
        assert alpha.min() >= 0
        assert alpha.max() <= 5.0
        assert abs(alpha @ shown.y) < 1e-9
        if frame.step == 0:
            assert not alpha.any()
            continue
        before, _ = machine_at(shown, t - 1)
        i, j = frame.pair
        assert set(np.flatnonzero(alpha != before)) == {i, j}
        f = K @ (before * shown.y) - shown.y
        assert frame.violation == pytest.approx(f[j] - f[i])
        assert frame.violation > 0
        assert naive.dual(K, shown.y, alpha) > naive.dual(K, shown.y, before)


def test_a_long_stage_is_thinned_and_keeps_its_ends(monkeypatch):
    X, y = flipped("xor")
    whole = tape.record(SVC(RBF(2.0), C=1e3), X, y)
    monkeypatch.setattr(tape, "FULL", 50)
    monkeypatch.setattr(tape, "THIN", 20)
    thinned = tape.record(SVC(RBF(2.0), C=1e3), X, y)
    steps = [frame.step for frame in thinned.frames]
    assert thinned.steps == whole.steps
    assert whole.steps[0] > 200
    assert len(steps) <= 71
    assert steps[:51] == list(range(51))
    assert steps == sorted(set(steps))
    assert steps[-1] == whole.steps[0]
    at = {frame.step: t for t, frame in enumerate(whole.frames)}  # a second-order step counts as several pairs
    for t, step in enumerate(steps):  # the same machine as the whole tape has at that step
        np.testing.assert_array_equal(machine_at(thinned, t)[0], machine_at(whole, at[step])[0])
        assert bool(thinned.frames[t].pair) == (t > 0 and step == steps[t - 1] + 1)


def test_virtual_examples_know_their_parents():
    X, y = plane.PROBLEMS["shift"].sample(1)
    shown = tape.record(machines("shift", 10.0, True), X, y)
    copies = shown.jitter > 0
    assert copies.any()
    np.testing.assert_array_equal(shown.X[~copies], X)
    forms = PointJitters("shift", plane.PROBLEMS["shift"].amounts).apply(X)
    np.testing.assert_array_equal(shown.X[copies], forms[shown.jitter[copies], shown.parent[copies]])
    np.testing.assert_array_equal(shown.y, y[shown.parent])


def test_a_tape_shows_one_machine():
    with pytest.raises(ValueError, match="3 classes"):
        tape.record(SVC(), np.eye(3), [0, 1, 2])
