"""Tapes. Of a training: its last frame is the trained machine, its steps are the solver's, and it stays bounded. Of a
path: its machines are scikit-learn's, and piecewise linear in C. Of a decomposition: its rounds end at that machine,
whichever solver does the inner problems."""

import numpy as np
import pytest
from sklearn import svm

from data import plane
from svmcore import RBF, SVC, General, Linear, PointJitters, Poly, VirtualSVC
from svmcore.explain import tape
from tests import naive

KERNELS = {"shift": Linear(), "turn": RBF(1.0), "xor": RBF(2.0), "banana": Poly(3, 1, 1), "question": RBF(1.0)}


def machines(name, C, virtual, max_iter=20_000, tol=1e-3):
    problem = plane.PROBLEMS[name]
    svc = SVC(KERNELS[name], C=C, max_iter=max_iter, tol=tol)
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
@pytest.mark.parametrize("name", KERNELS)
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


# The path


COSTS = np.geomspace(0.01, 1000, 101)


@pytest.fixture(scope="module")
def path_of():
    def of(name, virtual=False, costs=COSTS):
        X, y = flipped(name)
        return tape.path(machines(name, 5.0, virtual).fit(X, y), X, y, costs)

    return of


def alphas_of(shown):
    """alpha (frames, n) and the biases of a path."""
    machines = [machine_at(shown, t) for t in range(len(shown.frames))]
    return np.array([alpha for alpha, _ in machines]), np.array([bias for _, bias in machines])


@pytest.mark.parametrize("name", KERNELS)
def test_the_machines_of_a_path_are_those_of_scikit_learn(name, path_of):
    shown = path_of(name)
    K, (alphas, biases) = KERNELS[name].exact(shown.X, shown.X), alphas_of(shown)
    for t in (0, 25, 50, 70):
        C = shown.frames[t].C
        assert pytest.approx(COSTS[t]) == C
        other = svm.SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, shown.y)
        alpha = np.zeros(len(K))
        alpha[other.support_] = np.abs(other.dual_coef_[0])
        f = K @ (alphas[t] * shown.y) + biases[t]
        np.testing.assert_allclose(f, other.decision_function(K), atol=2e-4)
        np.testing.assert_allclose(alphas[t], alpha, atol=2e-3 * C)
        assert set(np.flatnonzero(alphas[t] >= C)) == set(np.flatnonzero(alpha >= C))


@pytest.mark.parametrize("virtual", [False, True])
@pytest.mark.parametrize("name", ["turn", "banana", "xor"])
def test_between_two_events_alpha_is_the_solution_of_linear_equations_in_c(name, virtual, path_of):
    """Hastie et al. (2004), section 3: with the same free and bounded SVs, alpha and b follow from C."""
    shown = path_of(name, virtual)
    y, K, (alphas, biases) = shown.y, KERNELS[name].exact(shown.X, shown.X), alphas_of(shown)
    kinds = np.where(alphas >= np.array([[frame.C] for frame in shown.frames]), 2, np.sign(alphas))
    checked = 0
    for t in range(1, len(alphas)):
        if (kinds[t] != kinds[t - 1]).any():
            continue
        C, F, B = shown.frames[t].C, np.flatnonzero(kinds[t] == 1), np.flatnonzero(kinds[t] == 2)
        if not len(F):
            continue
        left = np.block([[K[np.ix_(F, F)] * y[F], np.ones((len(F), 1))], [y[F], 0.0]])
        right = np.append(y[F] - C * K[np.ix_(F, B)] @ y[B], -C * y[B].sum())
        if np.linalg.cond(left) > 1e5:
            continue
        *alpha, b = np.linalg.solve(left, right)
        np.testing.assert_allclose(alphas[t, F], alpha, atol=1e-3 * C)
        assert biases[t] == pytest.approx(b, abs=1e-4)
        checked += 1
    assert checked > 5


@pytest.mark.parametrize("virtual", [False, True])
def test_a_path_passes_through_the_trained_machine(virtual, path_of):
    X, y = flipped("banana")
    trained = machines("banana", 5.0, virtual, 10**6, tol=1e-6).fit(X, y)
    shown = path_of("banana", virtual, [0.1, 1.0, 5.0, 50.0])
    alpha, bias = machine_at(shown, 2)
    grid = np.random.default_rng(0).uniform(-1, 1, (200, 2)).astype(np.float32)
    f = trained.kernel_.exact(grid, shown.X) @ (alpha * shown.y) + bias
    np.testing.assert_allclose(f, trained.decision_function(grid), atol=2e-4)
    assert max(frame.gap for frame in shown.frames) <= tape.PATH_TOL


def test_a_path_names_what_it_cannot_show():
    X, y = flipped("shift")
    fitted = SVC(Linear()).fit(X, y)
    with pytest.raises(ValueError, match="increasing values"):
        tape.path(fitted, X, y, [1.0, 1.0])
    with pytest.raises(ValueError, match="hinge"):
        tape.path(SVC(Linear(), loss="squared_hinge").fit(X, y), X, y, [1.0])
    with pytest.raises(ValueError, match="class weights"):
        tape.path(SVC(Linear(), class_weight="balanced").fit(X, y), X, y, [1.0])


@pytest.mark.parametrize("inner", [None, General("conjugate-gradients"), General("L-BFGS-B"), General("SLSQP")])
@pytest.mark.parametrize("virtual", [False, True])
@pytest.mark.parametrize("name", ["shift", "banana"])
def test_the_rounds_of_a_decomposition_end_at_the_trained_machine(name, virtual, inner):
    """Osuna (1997), section 3.2: each round improves the objective; in the end no example outside the set violates."""
    X, y = flipped(name)
    machine = machines(name, 1.0, virtual, tol=1e-5).fit(X, y)
    shown = tape.rounds(machine, X, y, inner=inner)
    K, used, _ = tape._last_problem(machine, X, y)
    alphas = [machine_at(shown, t)[0] for t in range(len(shown.frames))]
    objective = [alpha.sum() - alpha[used] * shown.y[used] @ K @ (alpha[used] * shown.y[used]) / 2 for alpha in alphas]
    assert (np.diff(objective) > 0).all()
    for alpha, frame in zip(alphas, shown.frames, strict=True):
        assert set(np.flatnonzero(alpha)) <= set(frame.inside.tolist())
        assert ((alpha >= 0) & (alpha <= 1)).all()
        assert abs(alpha @ shown.y) < 1e-9
    sizes = [len(frame.inside) for frame in shown.frames]
    assert sizes[0] == 2
    assert max(sizes) < used.sum()
    assert shown.frames[-1].gap <= tape.ROUND_TOL < min(frame.gap for frame in shown.frames[:-1])
    assert shown.steps == (len(shown.frames) - 1,)
    alpha, bias = machine_at(shown, -1)
    f = machine.kernel_.exact(shown.X, shown.X) @ (alpha * shown.y) + bias
    assert np.abs(f[: len(X)] - machine.decision_function(X)).max() < 0.05


def test_a_decomposition_adds_at_least_one_example():
    X, y = flipped("shift")
    with pytest.raises(ValueError, match="new = 0"):
        tape.rounds(SVC("linear").fit(X, y), X, y, new=0)
