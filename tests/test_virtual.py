"""Laws of svmcore.methods.virtual: what the virtual set is, when it changes nothing, and what stopping leaves."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from svmcore.gram.orbit import Orbit
from svmcore.gram.threads import CORES
from svmcore.jitter import JitterSet
from svmcore.kernels import RBF, Poly
from svmcore.methods.virtual import VirtualSVC, stages
from svmcore.methods.virtual import retraining as module
from svmcore.preprocess import Preprocessor
from svmcore.saved import load, save
from svmcore.solvers import decomposition
from svmcore.solvers.session import Session
from svmcore.svc import SVC
from tests import naive

UNIT = Preprocessor("unit-norm")
KERNEL = Poly(5, 1, 1)


@pytest.fixture(scope="module")
def digits():
    """400 training and 400 test images (n, 8, 8) with labels 0-9."""
    X, y = load_digits(return_X_y=True)
    images = X.reshape(-1, 8, 8)
    return images[:400], y[:400], images[400:800], y[400:800]


def svc(**kwargs):
    return SVC(KERNEL, **{"C": 2.0, "tol": 1e-3} | kwargs)


@pytest.mark.parametrize("scope", ["machine", "union"])
@pytest.mark.parametrize("classes", [2, 10])
def test_one_identity_jitter_gives_the_plain_machine(digits, scope, classes):
    X, y, T, _ = digits
    X, y = X[y < classes], y[y < classes]
    plain = svc(tol=1e-7).fit(UNIT.transform(X), y)
    virtual = VirtualSVC(svc(tol=1e-7), jitters="none", prepare=UNIT, scope=scope).fit(X, y)
    expected = plain.decision_function(UNIT.transform(T))
    np.testing.assert_allclose(virtual.decision_function(T), expected, atol=1e-5)


def test_no_rounds_give_the_base_machine(digits):
    X, y, T, _ = digits
    virtual = VirtualSVC(svc(), prepare=UNIT, rounds=0).fit(X, y)
    plain = svc().fit(UNIT.transform(X), y)
    np.testing.assert_allclose(virtual.decision_function(T), plain.decision_function(UNIT.transform(T)), atol=1e-5)
    assert (virtual.machine_.jitter == 0).all()
    assert (virtual.n_virtual_ == 0).all()


@pytest.mark.parametrize("scope", ["machine", "union", "all"])
def test_every_virtual_example_knows_its_parent_and_jitter(digits, scope):
    X, y, _, _ = digits
    virtual = VirtualSVC(svc(), jitters="plus:1", prepare=UNIT, scope=scope).fit(X, y)
    machine = virtual.machine_
    forms = JitterSet.parse("plus:1").apply(X)
    expected = UNIT.transform(forms[machine.jitter, machine.parent])
    np.testing.assert_allclose(machine.support_vectors, expected, atol=1e-6)
    pairs = np.stack([machine.parent, machine.jitter])
    assert pairs.shape == np.unique(pairs, axis=1).shape
    # a coefficient has its parent's sign: the labels of parents and children agree
    sign = np.where(y[machine.parent][None, :] == virtual.classes_[:, None], 1, -1)
    assert (machine.coef * sign >= 0).all()
    np.testing.assert_array_equal(virtual.support_, machine.parent)


@pytest.mark.parametrize(("scope", "classes"), [("machine", 10), ("union", 10), ("machine", 2)])
def test_of_the_copies_those_are_kept_that_the_first_machine_is_least_sure_of(digits, scope, classes, monkeypatch):
    X, y, _, _ = digits
    X, y = X[y < classes], y[y < classes]
    seen, virtual = [], stages.Stages._virtual
    monkeypatch.setattr(stages.Stages, "_virtual", lambda *args: seen.append(virtual(*args)) or seen[-1])
    VirtualSVC(svc(), jitters="plus:1", prepare=UNIT, scope=scope).fit(X, y)
    whole, seen[:] = list(seen), []
    some = VirtualSVC(svc(), jitters="plus:1", prepare=UNIT, scope=scope, keep=0.3).fit(X, y)
    forms, sign = JitterSet.parse("plus:1").apply(X), np.where(y == some.classes_[:, None], 1, -1)
    sign = sign[1:] if classes == 2 else sign
    for before, after in zip(whole, seen, strict=True):
        pairs = [set(zip(share.parent.tolist(), share.jitter.tolist(), strict=True)) for share in (before, after)]
        copies, kept = ({pair for pair in those if pair[1]} for those in pairs)
        assert kept < copies
        assert pairs[0] - copies == pairs[1] - kept  # the support vectors themselves
        assert len(kept) == round(0.3 * len(copies))

        def sure(those, machines=after.machines):
            parent, jitter = np.array(sorted(those)).T
            f = some.base_.decision_function(UNIT.transform(forms[jitter, parent])).reshape(len(parent), -1)
            return (f[:, machines] * sign[np.ix_(machines, parent)].T).min(axis=1)

        assert sure(kept).max() <= sure(copies - kept).min() + 1e-5
    drawn = VirtualSVC(svc(), jitters="plus:1", prepare=UNIT, scope=scope, keep=0.3, rank="random").fit(X, y)
    np.testing.assert_array_equal(drawn.n_virtual_, some.n_virtual_)
    assert (drawn.machine_.coef.shape != some.machine_.coef.shape) or (drawn.machine_.coef != some.machine_.coef).any()


@pytest.mark.parametrize("scope", ["machine", "union"])
def test_copies_kept_at_random_are_drawn_by_the_seed_and_the_machine(digits, scope, monkeypatch):
    X, y, _, _ = digits
    X, y = X[y < 3], y[y < 3]
    seen, virtual = [], stages.Stages._virtual
    monkeypatch.setattr(stages.Stages, "_virtual", lambda *args: seen.append(virtual(*args)) or seen[-1])
    copies = {}
    for seed in (0, 1, 2, 1):
        seen[:] = []
        single = svc(random_state=seed)
        VirtualSVC(single, jitters="plus:1", prepare=UNIT, scope=scope, keep=0.3, rank="random").fit(X, y)
        drawn = [frozenset(zip(share.parent.tolist(), share.jitter.tolist(), strict=True)) for share in seen]
        assert copies.setdefault(seed, drawn) == drawn  # the same seed, the same copies
    for ours in zip(*copies.values(), strict=True):
        assert len(set(ours)) == 3


def test_sizes_of_the_virtual_sets_follow_the_scope(digits):
    X, y, _, _ = digits
    own = VirtualSVC(svc(), jitters="plus:1", prepare=UNIT).fit(X, y)
    np.testing.assert_array_equal(own.n_virtual_, 5 * own.base_.machine_.n_sv)
    union = VirtualSVC(svc(), jitters="plus:1", prepare=UNIT, scope="union").fit(X, y)
    assert set(union.n_virtual_) == {5 * len(union.base_.support_)}
    everything = VirtualSVC(svc(), jitters="plus:1", prepare=UNIT, scope="all").fit(X, y)
    assert set(everything.n_virtual_) == {5 * 400}
    assert everything.base_ is None


@pytest.mark.parametrize("scope", ["machine", "union"])
def test_the_second_stage_is_an_svc_on_the_virtual_set(digits, scope):
    X, y, T, _ = digits
    X, y = X[y < 2], y[y < 2]
    virtual = VirtualSVC(svc(tol=1e-6), jitters="box:1", prepare=UNIT, scope=scope, second=SVC(RBF(2.0), C=3, tol=1e-6))
    virtual.fit(X, y)
    seeds = virtual.base_.support_
    examples = UNIT.transform(np.concatenate(JitterSet.parse("box:1").apply(X[seeds]).reshape(9, -1, 8, 8)))
    direct = SVC(RBF(2.0), C=3, tol=1e-6).fit(examples, np.tile(y[seeds], 9))
    np.testing.assert_allclose(virtual.decision_function(T), direct.decision_function(UNIT.transform(T)), atol=1e-4)
    assert virtual.machine_.C == 3


def test_two_rounds_compose_jitters_of_the_original(digits):
    X, y, _, _ = digits
    virtual = VirtualSVC(svc(), jitters="plus:1@edge", prepare=UNIT, rounds=2).fit(X, y)
    machine = virtual.machine_
    assert str(virtual.jitters_) == "(plus:1)*(plus:1)@edge"
    assert len(virtual.jitters_) == 13
    forms = virtual.jitters_.pick(X[machine.parent], machine.jitter).reshape(-1, 8, 8)
    np.testing.assert_allclose(machine.support_vectors, UNIT.transform(forms), atol=1e-6)
    assert (np.abs(virtual.jitters_.offsets[machine.jitter]).sum(axis=1) == 2).any()


def test_virtual_examples_share_their_parents_weight(digits):
    X, y, T, _ = digits
    X, y = X[y < 2], y[y < 2]
    weight = np.where(np.arange(len(y)) % 7, 1.0, 0.0)
    weighted = VirtualSVC(svc(tol=1e-6), prepare=UNIT).fit(X, y, weight)
    without = VirtualSVC(svc(tol=1e-6), prepare=UNIT).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(weighted.decision_function(T), without.decision_function(T), atol=1e-4)
    assert not np.isin(weighted.support_, np.flatnonzero(weight == 0)).any()


def at_work(progress):
    """The classes whose machines the stage's name says are at work."""
    return [int(name) for name in progress.stage.removeprefix("virtual").replace(",", " ").split()]


class Often:
    """A monitor that sees all reports, after bursts of so few pairs; `until` says when it has seen enough."""

    burst = 5

    def __init__(self, until=lambda progress: False):
        self.seen, self.until = [], until

    def __call__(self, progress):
        self.seen.append(progress)
        return not self.until(progress)


@pytest.mark.parametrize("second", [None, SVC(RBF(2.0))])
def test_stopping_leaves_machines_that_decide(digits, second):
    X, y, T, _ = digits
    monitor = Often(lambda progress: progress.stage != "base" and np.count_nonzero(np.array(progress.gaps) <= 1e-3) > 3)
    virtual = VirtualSVC(svc(), prepare=UNIT, second=second).fit(X, y, monitor=monitor)
    assert not virtual.converged_
    assert virtual.ending_ == "stopped"
    assert ((virtual.machine_.alpha >= 0) & (virtual.machine_.alpha <= 2)).all()
    assert virtual.predict(T).shape == (400,)
    if second is None:
        assert 4 <= np.count_nonzero(virtual.n_virtual_) <= 6
    else:  # another kernel: machines of both cannot stand together
        assert virtual.kernel_ == KERNEL
        assert (virtual.n_virtual_ == 0).all()


def test_progress_is_that_of_all_machines_and_of_all_stages(digits):
    X, y, _, _ = digits
    monitor = Often()
    virtual = VirtualSVC(svc(), prepare=UNIT).fit(X, y, monitor=monitor)
    seen = monitor.seen
    assert {len(p.gaps) for p in seen} == {10}
    assert len([p for p in seen if p.stage != "base" and 3 in at_work(p)]) > 20
    for name in ("iterations", "kernel_evals", "seconds"):
        assert (np.diff([getattr(p, name) for p in seen]) >= 0).all(), name
    last = virtual.history_[-1]
    assert last.gap == max(last.gaps) <= 1e-3
    assert last.n_sv == virtual.machine_.n_sv.sum()
    assert last.kernel_evals == virtual.kernel_evals_
    assert last.iterations == virtual.base_.n_iter_.sum() + virtual.n_iter_.sum()
    assert virtual.strategy_ == f"whole matrix over virtual vectors; up to {CORES} machine{'s' * (CORES > 1)} at a time"
    for p in (p for p in seen if p.stage != "base"):
        others = np.delete(p.gaps, at_work(p))
        assert len(at_work(p)) <= CORES
        assert ((others <= 1e-3) | (others == 2)).all()  # those that are done, and those that have not begun


def test_snapshots_decide_like_the_machine_that_a_stop_would_leave(digits):
    X, y, T, _ = digits
    monitor = Often()
    virtual = VirtualSVC(svc(), prepare=UNIT).fit(X, y, monitor=monitor)
    end = monitor.seen[-1].snapshot()
    values = end.kernel.block(UNIT.transform(T), end.vectors).astype(float) @ end.coef.T + end.bias
    np.testing.assert_allclose(values, virtual.decision_function(T), atol=1e-4)
    first, base = next(p for p in monitor.seen if p.stage != "base").snapshot(), virtual.base_.machine_
    waiting = np.array([c for c in range(10) if virtual.n_virtual_[c] < np.sort(virtual.n_virtual_)[-CORES]])
    assert len(waiting) > 1  # machines of fewer examples than those that begin: they stand as they were
    np.testing.assert_allclose(np.abs(first.coef[waiting]).sum(1), base.alpha[waiting].sum(1))


@pytest.mark.parametrize("steps", [UNIT, StandardScaler(), None])
def test_a_machine_is_looked_at_before_it_has_a_support_vector(digits, steps):
    X, y, T, _ = digits
    looks = []
    virtual = VirtualSVC(svc(), scope="all", prepare=steps)
    virtual.fit(X, y, monitor=lambda progress: looks.append(progress.snapshot()))  # None: stop
    assert looks[0].vectors.shape == (0, 64)
    assert not looks[0].support.size
    assert virtual.predict(T).shape == (400,)


@pytest.mark.parametrize("padding", [0, 2], ids=["vectors", "orbit"])
def test_machines_side_by_side_are_those_of_one_after_the_other(digits, padding, monkeypatch):
    """Which of them begins or ends first, and on whose threads kernel values are computed, changes no number."""
    X, y, _, _ = digits
    X = np.pad(X, ((0, 0), (padding, padding), (padding, padding)))
    machines = []
    for at_a_time in (CORES, 1):
        monkeypatch.setattr(stages, "CORES", at_a_time)
        machines.append(VirtualSVC(svc(), jitters="box:1", prepare=UNIT).fit(X, y).machine_)
    np.testing.assert_array_equal(machines[0].coef, machines[1].coef)
    np.testing.assert_array_equal(machines[0].bias, machines[1].bias)


@pytest.mark.parametrize(("room", "together"), [(1.5, 1), (2.1, 2)])
def test_two_machines_run_together_where_both_fit_the_ceiling(digits, room, together, monkeypatch):
    """room: the ceiling, in what the largest machine takes."""
    X, y, _, _ = digits
    X = np.pad(X, ((0, 0), (2, 2), (2, 2)))
    found = VirtualSVC(svc(), jitters="box:1", prepare=UNIT).fit(X, y)
    largest = max(
        module.BESIDE * n + 25 * 4 * (n // 9) ** 2 + 4 * 144 * (n + n // 9) for n in found.n_virtual_.tolist()
    )
    calls = []
    side_by_side = Session.side_by_side
    monkeypatch.setattr(stages, "CORES", 2)
    monkeypatch.setattr(stages, "ceiling_bytes", lambda _: int(room * largest))
    monkeypatch.setattr(
        Session, "side_by_side", lambda self, solve, tasks, threads: calls.append((solve, len(tasks), threads))
        or side_by_side(self, solve, tasks, threads)
    )  # fmt: skip
    again = VirtualSVC(svc(), jitters="box:1", prepare=UNIT).fit(X, y)
    assert again.converged_
    assert again.strategy_.startswith("orbit of 25 blocks; up to ")
    first = next(threads for solve, _, threads in calls if solve is module.Retraining.run)
    assert first == together


def test_an_error_of_one_machine_is_raised_and_ends_the_others(digits, monkeypatch):
    X, y, _, _ = digits
    begun = []

    def broken(self, *arguments):
        begun.append(self)
        if len(begun) == 3:
            raise MemoryError("no room")
        return run(self, *arguments)

    run = module.Retraining._solve
    monkeypatch.setattr(module.Retraining, "_solve", broken)
    with pytest.raises(MemoryError, match="no room"):
        VirtualSVC(svc(), prepare=UNIT).fit(X, y)
    assert len(begun) < 3 + CORES


def test_is_an_estimator_and_its_machine_is_saved(digits, tmp_path):
    X, y, T, _ = digits
    virtual = VirtualSVC(svc(), jitters="plus:1", image_shape=(8, 8), prepare=UNIT)
    assert clone(virtual).get_params()["jitters"] == "plus:1"
    rows = X.reshape(len(X), -1)
    fitted = clone(virtual).fit(rows, y)
    np.testing.assert_array_equal(fitted.predict(T.reshape(len(T), -1)), fitted.predict(T))
    save(fitted, tmp_path / "machine.npz")
    machine = load(tmp_path / "machine.npz")
    np.testing.assert_array_equal(machine.predict(UNIT.transform(T)), fitted.predict(T))
    assert machine.meta["jitters"] == "(plus:1)"
    np.testing.assert_array_equal(machine.jitter, fitted.machine_.jitter)


def test_colour_images_of_any_shape():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = rng.uniform(size=(60, 7, 9, 3)) + 2 * (np.arange(7)[:, None, None] == 2 * y[:, None, None, None])
    virtual = VirtualSVC(SVC(RBF(0.05)), jitters="shift:0,1;0,-1*flip:h").fit(X, y)
    assert np.mean(virtual.predict(X) == y) > 0.95


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"scope": "each"}, "scope = 'each'; allowed: machine, union, all"),
        ({"rounds": -1}, "rounds = -1; allowed: a whole number from 0"),
        ({"rounds": 0, "scope": "all"}, "a whole number from 1"),
        ({"keep": 0}, "keep = 0; allowed: a number above 0, up to 1"),
        ({"keep": 0.5, "scope": "all"}, "keep = 0.5 with scope = 'all'; allowed: keep = 1"),
        ({"rank": "alpha"}, "rank = 'alpha'; allowed: margin, random"),
        ({"jitters": "turn:3"}, "'turn:3' is unknown"),
        ({"image_shape": None}, r"image_shape = None; allowed: \(height, width\)"),
        ({"second": SVC(kernel="spline")}, "second: kernel = 'spline'; allowed: linear"),
        ({"second": SVC(C=-1)}, "second: C = -1; allowed: a number above 0"),
        ({"second": SVC(C=-1), "scope": "all"}, "second: C = -1"),
        ({"estimator": SVC(tol=0)}, "estimator: tol = 0"),
        ({"estimator": SVC(kernel="precomputed")}, "kernel of images"),
        ({"second": "rbf"}, "second = 'rbf'; allowed: an SVC of svmcore"),
    ],
)
def test_what_is_not_allowed_is_named(digits, parameters, says):
    X, y, _, _ = digits
    with pytest.raises(ValueError, match=says):
        VirtualSVC(**{"image_shape": (8, 8)} | parameters).fit(X.reshape(len(X), -1), y)


@pytest.mark.parametrize("scope", ["machine", "union", "all"])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda X, y: (np.where(X > 15, np.nan, X), y), "NaN"),
        (lambda X, y: (X, np.zeros(len(y))), "one; got 1 class"),
        (lambda X, y: (X, y[:-1]), "inconsistent"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
    ],
    ids=["nan", "one class", "lengths", "empty"],
)
def test_bad_examples_are_refused_in_every_scope(digits, scope, change, says):
    X, y, _, _ = digits
    with pytest.raises(ValueError, match=says):
        VirtualSVC(svc(), scope=scope).fit(*change(X.astype(float), y))


def test_what_scikit_learn_expects_of_a_fitted_estimator(digits):
    X, y, T, _ = digits
    state = np.random.RandomState(3)
    machine = VirtualSVC(svc(random_state=state, tol=1e-2), jitters="plus:1", prepare=UNIT).fit(X, y)
    assert machine.n_features_in_ == 64
    assert machine.n_iter_.shape == (10,)
    assert (machine.n_iter_ > 0).all()
    assert 0 < machine.gap_ <= 1e-2
    assert machine.n_support_.sum() == len(machine.support_)
    with pytest.raises(ValueError, match="63 features"):
        machine.predict(T.reshape(len(T), -1)[:, :63])


def test_a_saved_machine_prepares_what_it_was_trained_to_prepare(digits, tmp_path):
    """It used to take raw pixels without a word, and to answer wrongly."""
    X, y, T, _ = digits
    prepare = Preprocessor("scale01", "crop:1", "zscore")
    fitted = VirtualSVC(SVC(RBF(0.02), C=2), jitters="plus:1", prepare=prepare).fit(X, y)
    save(fitted, tmp_path / "machine.npz")
    loaded = load(tmp_path / "machine.npz")
    np.testing.assert_array_equal(loaded.decision_function(T), fitted.decision_function(T))
    with pytest.raises(ValueError, match=r"allowed: \(n, 36\)"):
        loaded.decision_values(T.reshape(len(T), -1))
    scaled = VirtualSVC(SVC(RBF(0.02), C=2), jitters="plus:1", prepare=StandardScaler()).fit(X, y)
    save(scaled, tmp_path / "machine.npz")
    demanding = load(tmp_path / "machine.npz")
    with pytest.raises(ValueError, match=r"StandardScaler\(\) preprocessed"):
        demanding.predict(T)
    prepared = scaled.prepare_.transform(T.reshape(len(T), -1))
    np.testing.assert_allclose(demanding.decision_values(prepared), scaled.decision_function(T), atol=1e-6)


@pytest.mark.parametrize("scope", ["machine", "union"])
def test_gram_matrices_by_relative_shift_make_the_same_machine(digits, scope, monkeypatch):
    """Digits with a margin, so that no shift clips them: orbit and explicit Gram matrices mean the same."""
    X, y, T, _ = digits
    X, T = (np.pad(images, ((0, 0), (2, 2), (2, 2))) for images in (X, T))
    used = []
    monkeypatch.setattr(module, "Orbit", lambda *arguments: used.append(1) or Orbit(*arguments))
    machines = [
        VirtualSVC(svc(tol=1e-6, solver=solver), jitters="box:1", prepare=UNIT, scope=scope).fit(X, y)
        for solver in ("auto", "smo")
    ]
    assert len(used) == (10 if scope == "machine" else 1)
    np.testing.assert_allclose(machines[0].decision_function(T), machines[1].decision_function(T), atol=1e-3)
    np.testing.assert_array_equal(machines[0].n_virtual_, machines[1].n_virtual_)


@pytest.mark.parametrize("scope", ["machine", "union", "all"])
@pytest.mark.parametrize("jitters", ["box:1", "vsv2", "box:1*rot:-9,9"])
def test_the_gap_is_that_of_the_machine_that_was_saved(digits, scope, jitters, tmp_path):
    """Some digits touch the rim, so that a shift clips them: it was taken for one that does not, and the gap told was
    that of a problem in which nothing is clipped."""
    X, y, _, _ = digits
    few = y < 4
    X, y = np.pad(X, ((0, 0), (2, 2), (2, 2)))[few], y[few]
    X[::30] = np.roll(X[::30], (2, -2), axis=(1, 2))
    virtual = VirtualSVC(svc(), jitters=jitters, prepare=UNIT, scope=scope).fit(X, y)
    assert virtual.converged_
    assert "orbit of" in virtual.strategy_
    save(virtual, tmp_path / "machine.npz")
    gaps = naive.virtual_gaps(load(tmp_path / "machine.npz"), virtual, X, y)
    assert max(gaps) <= 1.01e-3
    assert max(gaps) == pytest.approx(virtual.gap_, abs=2e-5)


def test_digits_that_a_shift_would_clip_are_shifted_one_by_one(digits, monkeypatch):
    X, y, _, _ = digits
    monkeypatch.setattr(module, "Orbit", None)
    assert VirtualSVC(svc(), jitters="box:1", prepare=UNIT).fit(X, y).converged_


def test_the_papers_solver_works_in_the_virtual_stage_too(digits, monkeypatch):
    X, y, T, _ = digits
    few = y < 3
    expected = VirtualSVC(svc(), jitters="plus:1", prepare=UNIT).fit(X[few], y[few])
    monkeypatch.setattr(decomposition, "solve", None)
    virtual = VirtualSVC(svc(solver="smo-digestion"), jitters="plus:1", prepare=UNIT).fit(X[few], y[few])
    assert virtual.converged_
    assert virtual.kernel_evals_ == virtual.history_[-1].kernel_evals
    assert virtual.history_[-1].iterations == virtual.base_.n_iter_.sum() + virtual.n_iter_.sum()
    np.testing.assert_allclose(virtual.decision_function(T), expected.decision_function(T), atol=1e-2)


@pytest.mark.parametrize("scope", ["positive", "all-positive"])
def test_forms_of_the_positive_class_alone(digits, scope):
    """Its parents come in every form, those of the other class as they are: the SVC on just these examples."""
    X, y, T, _ = digits
    X, y = X[np.isin(y, (3, 8))].reshape(-1, 64), y[np.isin(y, (3, 8))]
    virtual = VirtualSVC(svc(tol=1e-6), jitters="plus:1", image_shape=(8, 8), prepare=UNIT, scope=scope).fit(X, y)
    machine, J = virtual.machine_, len(virtual.jitters_)
    parents = np.arange(len(y)) if virtual.base_ is None else virtual.base_.support_
    positive = y[parents] == 8
    assert virtual.n_virtual_.tolist() == [J * positive.sum() + (~positive).sum()]
    assert (machine.jitter[y[machine.parent] == 3] == 0).all()
    assert (machine.jitter[y[machine.parent] == 8] > 0).any()
    forms = virtual.jitters_.apply(X[parents[positive]]).reshape(-1, 64)
    examples = virtual.prepared(np.concatenate([forms, X[parents[~positive]]]).astype(np.float32))
    plain = svc(tol=1e-6).fit(examples, np.repeat([8, 3], [J * positive.sum(), (~positive).sum()]))
    rows = virtual.prepared(T.reshape(-1, 64))
    np.testing.assert_allclose(machine.decision_values(rows), plain.machine_.decision_values(rows), atol=1e-3)


def test_a_stage_that_ended_above_tol_is_named(digits):
    """The base stage's words used to stand beside the last stage's gap, as if they were of it."""
    X, y, _, _ = digits
    few = y < 2
    rough, fine = svc(max_iter=3), svc()
    with pytest.warns(match="^base stage: the machine ended at a gap of"):
        early = VirtualSVC(rough, second=fine, jitters="plus:1", prepare=UNIT).fit(X[few], y[few])
    assert early.gap_ <= 1e-3 < early.base_.gap_
    assert early.ending_ == f"base stage: {early.base_.ending_}"
    with pytest.warns(match="^the machine ended at a gap of"):
        late = VirtualSVC(rough, jitters="plus:1", prepare=UNIT).fit(X[few], y[few])
    assert f"a gap of {late.gap_:.2g}, above tol" in late.ending_


@pytest.mark.parametrize("scope", ["machine", "union"])
def test_a_class_without_weight_is_as_if_it_were_not_there(scope):
    """Its machine has no support vectors that could have forms, and says no to everything; the others are those of the
    other classes alone."""
    X, y = load_digits(return_X_y=True)
    X, y = np.pad(X[:300].reshape(-1, 8, 8), ((0, 0), (2, 2), (2, 2))).reshape(300, -1), y[:300]
    single = VirtualSVC(SVC(Poly(3, 1, 1), C=2, tol=1e-5), jitters="box:1", image_shape=(12, 12), scope=scope)
    weightless = clone(single).fit(X, y, sample_weight=np.where(y == 3, 0.0, 1.0))
    without = clone(single).fit(X[y != 3], y[y != 3])
    f = weightless.decision_function(X)
    np.testing.assert_allclose(f[:, np.arange(10) != 3], without.decision_function(X), atol=2e-3)
    np.testing.assert_array_equal(f[:, 3], -1.0)
    assert weightless.converged_
