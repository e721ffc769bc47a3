"""A machine's decisions, and that a file brings back the same machine or is refused."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from svmcore import SVC
from svmcore.kernels import RBF, Linear, Poly, Sigmoid
from svmcore.methods.definite import PositivePart
from svmcore.methods.jittering import Jittered
from svmcore.methods.local import LocalPoly
from svmcore.methods.tangent import TangentWhitened
from svmcore.model import Demanded, Machine
from svmcore.preprocess import Preprocessor
from svmcore.saved import load, save


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def machine(rng, k=3, m=7, d=5, kernel=None, classes=None, **more):
    coef = rng.normal(size=(k, m)) * (rng.random((k, m)) < 0.7)
    return Machine(
        kernel=kernel or RBF(0.5),
        classes=np.arange(2 if k == 1 else k) if classes is None else classes,
        support=rng.permutation(max(m, 1000))[:m],
        support_vectors=rng.normal(size=(m, d)).astype(np.float32),
        coef=coef,
        bias=rng.normal(size=k),
        C=2.0,
        bound=np.abs(coef) > 1,
        **more,
    )


@pytest.mark.parametrize("kernel", [Linear(), Poly(3, 0.5, 1.0), RBF(0.3), Sigmoid(0.1)])
@pytest.mark.parametrize("k", [1, 4])
def test_decisions_are_the_plain_sum(rng, kernel, k):
    m = machine(rng, k=k, kernel=kernel)
    X = rng.normal(size=(11, 5)).astype(np.float32)
    plain = np.array([[sum(m.coef[c, i] * kernel.block(x[None], m.support_vectors[i : i + 1])[0, 0] for i in range(7))
                       + m.bias[c] for c in range(k)] for x in X])  # fmt: skip
    np.testing.assert_allclose(m.decision_values(X), plain, rtol=1e-5, atol=1e-5)
    chosen = (plain[:, 0] > 0).astype(int) if k == 1 else plain.argmax(axis=1)
    assert (m.predict(X) == m.classes[chosen]).all()


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("kernel", "size"), [(Poly(9), 1), (RBF(0.3), 1), (RBF(1e-3), 30), (Linear(), 100)], ids=str)
def test_large_machines_decide_as_in_double_precision(rng, monkeypatch, kernel, size, whole):
    monkeypatch.setattr("svmcore.model.EXACT_UP_TO", 0)
    monkeypatch.setattr("svmcore.model.ROUNDING", np.inf)
    A = rng.integers(0, 256, (733, 60)) * (rng.random((733, 60)) < 0.3) if whole else rng.normal(size=(733, 60))
    X, Z = np.split((size * A / np.linalg.norm(A, axis=1, keepdims=True)).astype(np.float32), [33])
    m = machine(rng, k=3, m=700, d=60, kernel=kernel)
    m.coef[:], m.support_vectors[:] = m.coef * 1e4, Z
    m.coef[1, :300] = 0
    terms = kernel.exact(X, Z)[:, None] * m.coef  # (n, k, m)
    apart = np.abs(m.decision_values(X) - terms.sum(axis=2) - m.bias)
    assert (apart <= 2e-7 * np.abs(terms).sum(axis=2)).all()


@pytest.mark.parametrize(("n", "m"), [(1000, 40), (3, 40), (700, 1500)])
def test_constructed_vectors_decide_in_single_precision_unless_it_shows(rng, n, m):
    X, Z = (rng.normal(size=(rows, 30)).astype(np.float32) for rows in (n, m))
    made = replace(machine(rng, m=m, d=30, kernel=RBF(0.02)), support=np.full(m, -1), support_vectors=Z)
    exact = made.kernel.exact(X, Z) @ made.coef.T + made.bias
    assert made.products == "dense"
    assert 0 < np.abs(made.decision_values(X) - exact).max() < 1e-4
    cancelling = replace(made, coef=made.coef * 1e5)
    assert cancelling.products == "double"
    np.testing.assert_allclose(cancelling.decision_values(X) - made.bias, (exact - made.bias) * 1e5, rtol=1e-9)
    assert replace(made, support=np.arange(m)).products == "double"


@pytest.mark.parametrize("kernel", [RBF(0.02), Poly(3, 1 / 30, 1.0), Linear()], ids=str)
@pytest.mark.parametrize(("vectors", "n", "m"), [(1, 5, 40), (16, 700, 333), (300, 40, 333)])
def test_a_large_machine_decides_in_double_precision_where_rounding_would_show(rng, monkeypatch, kernel, vectors, n, m):
    monkeypatch.setattr("svmcore.model.EXACT_UP_TO", vectors * 30)
    X, Z = (rng.normal(size=(rows, 30)).astype(np.float32) for rows in (n, m))
    large = replace(machine(rng, m=m, d=30, kernel=kernel), support_vectors=Z)
    assert (large.products == "double") == (kernel == Linear())  # which decides by its normal vector
    dear = replace(large, coef=large.coef * 1e7)
    assert dear.products == "double"
    np.testing.assert_allclose(
        dear.decision_values(X), kernel.exact(X, Z) @ dear.coef.T + dear.bias, rtol=1e-9, atol=1e-4
    )


def test_deciding_stops_when_it_is_asked_to(rng):
    class Stopped(Exception):
        pass

    def check():
        raise Stopped

    with pytest.raises(Stopped):
        machine(rng).decision_values(np.zeros((2, 5)), check)


def test_counts_and_alphas(rng):
    m = machine(rng)
    assert (m.alpha == np.abs(m.coef)).all()
    assert m.n_sv.tolist() == [(row != 0).sum() for row in m.coef]


def test_a_machine_without_support_vectors_says_its_bias(rng):
    m = machine(rng, k=1, m=0)
    assert (m.decision_values(np.zeros((3, 5))) == m.bias).all()


def test_wrong_number_of_features_is_refused(rng):
    with pytest.raises(ValueError, match=r"allowed: \(n, 5\)"):
        machine(rng).decision_values(np.zeros((2, 4)))


@pytest.mark.parametrize("constructed", [False, True])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("kernel", [Linear(), Poly(3, 0.5, 1.0), Poly(64, 1.0, 1.0), RBF(0.3), Sigmoid(0.1)])
def test_decisions_on_examples_of_any_size_are_right_or_refused(rng, kernel, k, constructed):
    m = machine(rng, k=k, kernel=kernel)
    m = replace(m, support=np.full(7, -1)) if constructed else m
    V, refused = m.support_vectors.astype(np.longdouble), 0
    for size in (1.0, 1e3, 1e5, 1e10, 1e15, 1e19, 1e38, -3e38):
        X = np.array([[size, 0, 0, 0, 0], [size] * 5])
        with np.errstate(over="ignore"):
            wanted = kernel.value(X @ V.T, np.square(X).sum(1)[:, None], np.square(V).sum(1)) @ m.coef.T + m.bias
        try:
            f = m.decision_function(X)
        except ValueError:
            with pytest.raises(ValueError, match="overflow; scale the features first"):
                m.decision_function(X)
            refused += 1
            continue
        scale = np.abs(wanted).max(axis=0) + np.abs(m.coef).sum(axis=1)
        assert (np.abs(f - wanted) <= 1e-4 * scale).all(), size
    assert refused < 8
    assert refused or not constructed or not isinstance(kernel, Poly)


def test_numbers_that_are_not_real_are_refused(rng):
    for m in (machine(rng), replace(machine(rng), support=np.full(7, -1))):
        with pytest.raises(ValueError, match="complex128; allowed: real numbers"):
            m.predict(np.ones((2, 5)) + 1j)


def test_shapes_must_agree(rng):
    m = machine(rng)
    with pytest.raises(ValueError, match="bound has shape"):
        Machine(m.kernel, m.classes, m.support, m.support_vectors, m.coef, m.bias, 1.0, m.bound[:, :2])


@pytest.mark.parametrize("classes", [[3, 5, 8], ["a", "b", "ü"], [0.5, 1.0, 2.5]])
def test_load_after_save_decides_alike(rng, tmp_path, classes):
    virtual = {"parent": np.arange(7), "jitter": np.arange(7, dtype=np.int32), "meta": {"jitters": "box:1"}}
    m = machine(rng, kernel=Poly(9), classes=np.array(classes), **virtual)
    save(m, tmp_path / "m.npz")
    again = load(tmp_path / "m.npz")
    X = rng.normal(size=(20, 5))
    assert (again.decision_values(X) == m.decision_values(X)).all()
    assert (again.predict(X) == m.predict(X)).all()
    assert (again.kernel, again.C, again.meta) == (m.kernel, m.C, m.meta)
    for name in ("support", "coef", "bound", "parent", "jitter"):
        assert (getattr(again, name) == getattr(m, name)).all()


def test_an_estimator_is_saved_by_its_machine(rng, tmp_path):
    X = rng.normal(size=(60, 4))
    svc = SVC().fit(X, np.array(["no", "yes"], dtype=object)[(X[:, 0] > 0).astype(int)])
    save(svc, tmp_path / "m.npz")
    again = load(tmp_path / "m.npz")
    assert again.classes.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(again.decision_values(X)[:, 0], svc.decision_function(X))


def rewrite(path, change):
    """The archive with some members replaced (bytes) or removed (None)."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()} | change
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            if content is not None:
                archive.writestr(name, content)


def npy(array, allow_pickle=False):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asanyarray(array), allow_pickle=allow_pickle)
    return out.getvalue()


def header(**changes):
    plain = {"format": "svmcore-machine-1", "kernel": {"name": "linear"}, "C": 1.0, "meta": {}}
    return {"header.npy": npy(np.array(json.dumps(plain | changes)))}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"header.npy": None}, "header"),
        (header(format="other"), "format"),
        (header(kernel={"name": "os.system"}), "os.system"),
        (header(meta=[1]), "meta"),
        (header(C=None), "float"),
        ({"header.npy": npy(np.array("[" * 5000))}, "recursion|Expecting"),
        ({"coef.npy": npy(np.zeros((2, 2)))}, "coef has shape"),
        ({"coef.npy": npy(np.full((3, 7), np.nan))}, "coef"),
        ({"coef.npy": None}, "coef"),
        ({"bias.npy": npy(np.zeros((3, 1)))}, "bias has shape"),
        ({"support_vectors.npy": npy(np.full((7, 5), 3.4e38, np.float32))}, "not finite"),
        ({"coef.npy": b"torn"}, "."),
        ({"support.npy": npy(np.array([object()] * 7, dtype=object), allow_pickle=True)}, "allow_pickle"),
        ({"classes.npy": npy(np.zeros(3, complex))}, "classes"),
        ({"extra.npy": npy(np.zeros(1))}, "extra"),
    ],
)
def test_foreign_content_is_refused(rng, tmp_path, change, reason):
    path = tmp_path / "m.npz"
    save(machine(rng), path)
    rewrite(path, change)
    with pytest.raises(ValueError, match=rf"m.npz is not a machine.*({reason})"):
        load(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x04K\x01.", npy(np.zeros(3))])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "m.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a machine"):
        load(path)


def test_a_failed_save_leaves_the_older_file(rng, tmp_path, monkeypatch):
    path = tmp_path / "m.npz"
    save(machine(rng), path)
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="No space"):
        save(machine(rng), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.npz"]


SHAPE = (3, 4)
KERNELS = {
    "poly": Poly(3),
    "rbf": RBF(0.5),
    "sigmoid": Sigmoid(0.1),
    "local": LocalPoly(SHAPE, width=3),
    "jittered": Jittered(Poly(3), "plus:1", SHAPE, prepare=("unit-norm",)),
    "whitened": TangentWhitened(LocalPoly(SHAPE, width=3), np.eye(12)),
    "positive": PositivePart(Jittered(RBF(0.5), "plus:1", SHAPE), np.ones((2, 12)), np.ones((2, 1))),
}
WRONG = [None, True, [], [1], {}, {"name": "rbf"}, "", "3", "x", -1, 1.5, float("nan"), 1e39, 1e400, 10**400, 1 << 40]
WRONG += [[1 << 40, 1 << 40], [-3, -4], [3, 4, 5, 6], ["3", "4"], [4, 4], [[3], [4]], "box:99999", [[[]]]]


def places(described):
    """Each field of a description, nested ones too, as the object that holds it and its name."""
    for name, value in described.items():
        yield described, name
        if isinstance(value, dict):
            yield from places(value)


@pytest.mark.parametrize("kind", KERNELS)
def test_a_description_with_another_value_is_refused_or_decides(rng, tmp_path, kind):
    path = tmp_path / "m.npz"
    prepare = Preprocessor("zscore", image_shape=SHAPE).fit(rng.random((9, 12)))
    save(machine(rng, d=12, kernel=KERNELS[kind], prepare=prepare), path)
    said = str(np.load(path)["header"])
    X, refused = rng.random((3, 12)), 0
    for at in range(len(list(places(json.loads(said))))):
        for wrong in WRONG:
            changed = json.loads(said)
            holder, name = list(places(changed))[at]
            if kind != "rbf" and holder not in (kernel := changed["kernel"], kernel.get("base")):
                break  # the same in all kinds
            holder[name] = wrong
            rewrite(path, {"header.npy": npy(np.array(json.dumps(changed)))})
            try:
                loaded = load(path)
            except ValueError:
                refused += 1
                continue
            if isinstance(loaded.prepare, Demanded):
                continue
            takes = X if loaded.prepare is None or loaded.prepare.image_shape else X.reshape(3, *SHAPE)
            assert loaded.decision_function(takes).shape == (3, 3), (name, wrong)
    assert refused > 40
