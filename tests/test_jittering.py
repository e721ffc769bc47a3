"""Laws of svmcore.methods.jittering: the jittering kernel against its definition, and the paper's Table 10."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from svmcore.gram.products import Operand
from svmcore.jitter import JitterSet
from svmcore.kernels import RBF, Linear, Poly, kernel_from_dict
from svmcore.methods.jittering import Jittered, query_jittered
from svmcore.methods.virtual import VirtualSVC
from svmcore.preprocess import Preprocessor
from svmcore.saved import load, save
from svmcore.svc import SVC

SHAPE = (8, 8)


@pytest.fixture(scope="module")
def rows():
    """60 digits as rows (60, 64) of unit length, with labels."""
    X, y = load_digits(return_X_y=True)
    return Preprocessor("unit-norm").transform(X[:60]), y[:60]


def naive(base, js, u, v, prepare):
    """The paper's procedure, one pair at a time: jitter u, take the form nearest to v."""

    def value(a, b):
        return float(base.block(a[None], b[None])[0, 0])

    forms = [prepare(form[None])[0] for form in js.apply(u[None])[:, 0]]
    distances = [value(q, q) - 2 * value(q, v) + value(v, v) for q in forms]
    return value(forms[int(np.argmin(distances))], v)


@pytest.mark.parametrize("base", [Linear(), Poly(3, 1, 1), RBF(2.0)])
@pytest.mark.parametrize("prepare", [(), ("unit-norm",)])
def test_blocks_agree_with_the_papers_procedure(rows, base, prepare):
    X = rows[0]
    text = "shift:1,0*thick:0.5+rot:10"
    js, pipe = JitterSet.parse(text, SHAPE), Preprocessor(*prepare)
    block = Jittered(base, text, SHAPE, prepare=prepare).block(X[:6], X[6:13])
    for i, u in enumerate(X[:6]):
        for j, v in enumerate(X[6:13]):
            both = [naive(base, js, u, v, pipe.transform), naive(base, js, v, u, pipe.transform)]
            assert block[i, j] == pytest.approx(np.mean(both), abs=1e-5)


@pytest.mark.parametrize("text", ["box:1", "plus:1@background", "plus:1@edge", "box:1@zero"])
@pytest.mark.parametrize("prepare", [(), ("unit-norm",)])
def test_white_paper_stays_white_when_a_form_is_shifted(rows, text, prepare):
    pipe = Preprocessor(*prepare)
    X = pipe.transform(1 - load_digits().data[:9].astype(np.float32) / 16)
    js, base = JitterSet.parse(text, SHAPE), RBF(0.1)
    block = Jittered(base, text, SHAPE, prepare=prepare).block(X[:4], X[4:])
    lengths = (lambda rows: rows) if js.border == "zero" else pipe.transform  # of zeros the kernel counts shifts alone
    for i, u in enumerate(X[:4]):
        for j, v in enumerate(X[4:]):
            both = [naive(base, js, u, v, lengths), naive(base, js, v, u, lengths)]
            assert block[i, j] == pytest.approx(np.mean(both), abs=1e-5)


@pytest.mark.parametrize("base", [Poly(9, 1, 1), RBF(2.0)])
def test_shifts_take_the_largest_value_on_a_padded_canvas(rows, base):
    X = rows[0]
    kernel = Jittered(base, "vsv2@zero", SHAPE, prepare=("unit-norm",))
    js = JitterSet.parse("vsv2", SHAPE)
    plain = np.pad(X.reshape(-1, *SHAPE), ((0, 0), (2, 2), (2, 2))).reshape(len(X), -1)
    largest = np.max([base.block(form, plain) for form in js.apply(X, pad=2)], axis=0)
    np.testing.assert_allclose(kernel.block(X, X), largest, atol=1e-5)
    np.testing.assert_allclose(largest, largest.T, atol=1e-5)


def test_both_sides_find_the_nearest_pair_of_forms(rows):
    X = rows[0][:12]
    js = JitterSet.parse("rot:-10,10", SHAPE)
    forms = js.apply(X)
    kernel, base = Jittered(RBF(1.0), "rot:-10,10", SHAPE, sides="both"), RBF(1.0)
    nearest = np.max([base.block(a, b) for a in forms for b in forms], axis=0)
    np.testing.assert_allclose(kernel.block(X, X), nearest, atol=1e-6)


@pytest.mark.parametrize("base", [Poly(9, 1, 1), RBF(2.0)])
@pytest.mark.parametrize(("text", "forms"), [("plus:1", 13), ("shift:1,0;0,2", 7), ("box:1", 25)])
def test_for_shifts_both_sides_are_a_matter_of_the_relative_shift(rows, base, text, forms):
    X = rows[0]
    kernel = Jittered(base, f"{text}@zero", SHAPE, "both", prepare=("unit-norm",))
    shifted = JitterSet.parse(text, SHAPE).apply(X, pad=4)
    nearest = np.max([base.block(a, b) for a in shifted for b in shifted], axis=0)
    np.testing.assert_allclose(kernel.block(X, X), nearest, atol=1e-5)
    assert kernel.products == forms


@pytest.mark.parametrize("text", ["none", "none*none", "none@zero"])
@pytest.mark.parametrize("sides", ["one", "both"])
def test_one_identity_jitter_is_the_plain_kernel(rows, text, sides):
    X, y = rows
    base = Poly(5, 1, 1)
    kernel = Jittered(base, text, SHAPE, sides)
    np.testing.assert_allclose(kernel.block(X, X), Operand(X).block(X, base), atol=1e-6)
    jittered, plain = SVC(kernel, tol=1e-7).fit(X, y), SVC(base, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(jittered.decision_function(X), plain.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("text", ["box:1", "box:1@zero", "rot:-10,10", "shift:1,0@zero"])
@pytest.mark.parametrize("sides", ["one", "both"])
def test_kernels_are_symmetric_and_serve_every_part_of_an_operand(rows, text, sides):
    X = rows[0]
    kernel = Jittered(Poly(4, 1, 1), text, SHAPE, sides, prepare=("unit-norm",))
    whole = kernel.block(X, X)
    np.testing.assert_allclose(whole, whole.T, atol=1e-5)
    np.testing.assert_allclose(np.diagonal(whole), kernel.diag(X), atol=1e-5)
    part = Operand(X).take(np.array([3, 1, 40]), kernel, cols=slice(10, 33))
    np.testing.assert_allclose(part, whole[[3, 1, 40], 10:33], atol=1e-5)


def test_descriptions_and_files_bring_the_kernel_back(rows, tmp_path):
    X, y = rows
    kernel = Jittered(Poly(4, 1, 1), "box:1", SHAPE, prepare=("unit-norm",))
    assert kernel_from_dict(kernel.to_dict()) == kernel
    assert hash(kernel_from_dict(kernel.to_dict())) == hash(kernel)
    machine = SVC(kernel).fit(X, y).machine_
    save(machine, tmp_path / "m.npz")
    np.testing.assert_array_equal(load(tmp_path / "m.npz").decision_values(X), machine.decision_values(X))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"image_shape": None}, "image_shape = None"),
        ({"sides": "left"}, "sides = 'left'; allowed: one, both"),
        ({"jitters": "bix:1"}, "'bix:1' is unknown"),
        ({"prepare": ("zscore",)}, "steps that learn nothing"),
    ],
)
def test_what_is_not_allowed_is_named(fields, says):
    with pytest.raises(ValueError, match=says):
        Jittered(**{"base": Linear(), "jitters": "box:1", "image_shape": SHAPE} | fields)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "jitters", "at_most"),
    [(("unit-norm",), "box:1", (64, 53, 38, 34)), (("deslant", "unit-norm"), "box:2", (38, 50, 10, 28))],
)
def test_table_10(dataset, steps, jitters, at_most):
    data = dataset("mnist")
    train = np.concatenate([np.flatnonzero(data.y_train == c)[:200] for c in (3, 8)])
    test = np.isin(data.y_test, (3, 8))
    y, truth = data.y_train[train], data.y_test[test]
    head, tail = Preprocessor(*steps, image_shape=(28, 28)).split()
    images, tests = head.transform(data.X_train[train]), head.transform(data.X_test[test])
    X, T = tail.transform(images), tail.transform(tests)
    kernel = Poly(9, 1, 1)
    jittered = Jittered(kernel, f"{jitters}@zero", (28, 28), prepare=("unit-norm",))
    base = SVC(kernel, C=2).fit(X, y)
    machines = [base.machine_, query_jittered(base.machine_, f"{jitters}@zero", (28, 28), ("unit-norm",))]
    predictions = [machine.predict(T) for machine in machines]
    virtual = VirtualSVC(SVC(kernel, C=2), jitters=jitters, image_shape=(28, 28), prepare=tail).fit(images, y)
    predictions += [virtual.predict(tests), SVC(jittered, C=2).fit(X, y).predict(T)]
    errors = [int(np.sum(p != truth)) for p in predictions]
    assert len(truth) == 1984
    assert all(e <= most for e, most in zip(errors, at_most)), errors
