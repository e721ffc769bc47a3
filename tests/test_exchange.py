"""A machine in ONNX answers as the machine does, to the last digits of double precision, or is refused by name."""

import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import onnx
import onnxruntime
import pytest
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from svmcore import SVC, Preprocessor, ReducedSet, VirtualSVC, to_onnx
from svmcore.exchange import file, lacking, obstacle
from svmcore.exchange.file import CARRIED
from svmcore.kernels import RBF, Kernel, Linear, Poly, Precomputed, Sigmoid
from svmcore.methods.jittering import Jittered
from svmcore.methods.local import LocalPoly
from svmcore.methods.tangent import TangentWhitened
from svmcore.model import Demanded
from svmcore.preprocess import STEPS
from tests.cases import all_cases

KERNELS = [Linear(), Poly(9, 1.0, 1.0), Poly(3, 0.5, 1.0, normalised=False), Poly(0), RBF(0.5), Sigmoid(0.05, -0.5)]
BEFORE = {"zscore": ("smooth:0.5", "zscore"), "crop": ("crop:1", "unit-norm"), "scramble": ("scramble:7", "unit-norm"),
          "pca": ("pca:12,whiten=1", "unit-norm")}  # fmt: skip
TRAINED, CHECKED = 300, 20


def images(classes, seed):
    """Digits of 8 x 8 pixels (n, 8, 8), each in its own place, with the names of their classes."""
    digits = load_digits()
    own = np.random.default_rng(seed).permutation(np.flatnonzero(np.isin(digits.target, classes)))
    return digits.images[own], np.array([f"digit {label}" for label in digits.target[own]])


def table(n_classes, seed):
    """Rows (n, 12) of which one feature is constant, another as large as years, a third as small as shares."""
    X, y = make_classification(1400, 12, n_informative=8, n_classes=n_classes, class_sep=2.0, random_state=seed)
    X[:, 0], X[:, 1], X[:, 2] = 3.0, 2000 + 10 * X[:, 1], 1e-4 * X[:, 2]
    return X, y


def answers(content, X):
    """label (n,) and decision (n, k) of a file, from a session of its own."""
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    dtype = np.float64 if session.get_inputs()[0].type == "tensor(double)" else np.float32
    return session.run(["label", "decision"], {"X": np.asarray(X, dtype).reshape(len(X), -1)})


def assert_alike(machine, X, within=1e-8):
    """The file, checked on a few of X, answers about all of them as the machine does."""
    label, decision = answers(to_onnx(machine, X[:CHECKED]), X)
    np.testing.assert_allclose(decision, machine.decision_function(X), rtol=within, atol=within)
    assert label.tolist() == machine.predict(X).tolist()


@all_cases("kernel", KERNELS, ids=str)
@all_cases("classes", [(3, 8), range(10)], ids=["2", "10"])
def test_every_kernel_answers_about_images_alike(kernel, classes):
    X, y = images(classes, seed=len(classes))
    prepare = Preprocessor("scale01", "unit-norm")
    fitted = SVC(kernel, C=5.0).fit(prepare.fit_transform(X[:TRAINED]), y[:TRAINED])
    assert_alike(replace(fitted.machine_, prepare=prepare), X[-1000:])


@all_cases("kernel", KERNELS, ids=str)
@all_cases("n_classes", [2, 10])
def test_every_kernel_answers_about_tables_alike(kernel, n_classes):
    X, y = table(n_classes, seed=n_classes)
    prepare = Preprocessor("zscore", "unit-norm")
    fitted = SVC(kernel, C=5.0).fit(
        prepare.fit_transform(X[:TRAINED]), y[:TRAINED] > 0 if n_classes == 2 else y[:TRAINED]
    )
    assert_alike(replace(fitted.machine_, prepare=prepare), X[-1000:])


@pytest.mark.parametrize("offset", [2_460_400, 101_325, 0])
def test_features_far_from_the_origin_are_standardised_alike(offset):
    rng = np.random.default_rng(offset)
    X = (offset + 30 * rng.random((60, 3))).astype(np.float32)
    prepare = Preprocessor("zscore")
    fitted = SVC(Poly(3, 1, 1), C=5.0).fit(prepare.fit_transform(X), X[:, 0] > offset + 15)
    assert_alike(replace(fitted.machine_, prepare=prepare), X)


def test_a_machine_whose_fit_centred_its_features_takes_double_precision():
    rng = np.random.default_rng(0)
    X = np.column_stack([1.7e9 + 600 * rng.random(90), 20000 + 1e-3 * rng.random(90)])
    fitted = SVC(RBF(1e-5), C=50.0).fit(X, X[:, 0] > X[:, 0].mean())
    assert fitted.score(X, X[:, 0] > X[:, 0].mean()) > 0.9
    assert_alike(fitted.machine_, X)


@all_cases("step", CARRIED)
@all_cases("given", ["images", "rows"])
def test_every_step_prepares_alike(step, given):
    X, y = images((3, 8), seed=0)
    X = X * 1.0 if given == "images" else X.reshape(len(X), -1)
    steps = BEFORE.get(step, (step,))
    prepare = Preprocessor(*steps, image_shape=(8, 8) if given == "rows" else None)
    rows = prepare.fit_transform(X)
    fitted = SVC(RBF(1 / np.square(rows).sum(axis=1).mean()), C=5.0).fit(rows[:TRAINED], y[:TRAINED])
    assert_alike(replace(fitted.machine_, prepare=prepare), X, within=1e-6)


def test_colours_are_smoothed_and_cropped_each_by_itself():
    rng = np.random.default_rng(0)
    X = rng.random((60, 7, 5, 3))
    prepare = Preprocessor("smooth:0.75", "crop:1", "standardise")
    rows = prepare.fit_transform(X)
    fitted = SVC(RBF(0.02), C=5.0).fit(rows, rng.integers(0, 3, 60))
    assert_alike(replace(fitted.machine_, prepare=prepare), X, within=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scale", [1e-12, 1e-5, 1.0, 1e5, 1e9])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", RBF(1.0)], ids=str)
def test_tiny_and_large_features(scale, kernel):
    X, y = table(3, seed=1)
    X = scale * X / np.abs(X).max(axis=0)
    fitted = SVC(kernel, C=1.0, max_iter=2000).fit(X[:TRAINED], y[:TRAINED])
    assert_alike(fitted, np.concatenate([X[:TRAINED], X[-700:]]))


def test_sums_that_cancel_keep_their_digits():
    X, y = images((3, 8), seed=1)
    prepare = Preprocessor("unit-norm")
    rows = prepare.transform(X)
    machine = SVC(Poly(9, 1.0, 1.0), C=1.0).fit(rows[:TRAINED], y[:TRAINED]).machine_
    coef = 1e5 * np.random.default_rng(0).standard_normal(machine.coef.shape)
    cancelling = replace(machine, coef=coef, prepare=prepare)
    K = machine.kernel.block(rows, machine.support_vectors)
    single = (K @ coef.T.astype(np.float32)).astype(np.float64) + machine.bias
    assert np.abs(single - cancelling.decision_values(rows)).max() > 1e-3
    assert_alike(cancelling, X)


def test_virtual_and_reduced_machines():
    X, y = images(range(10), seed=2)
    prepare = Preprocessor("unit-norm")
    virtual = VirtualSVC(SVC(Poly(5), C=2.0), jitters="plus:1", prepare=prepare).fit(X[:200], y[:200])
    assert len(virtual.machine_.support) > 200
    assert_alike(virtual.machine_, X[-1000:])
    rows = prepare.transform(X)
    reduced = ReducedSet(25).fit(SVC(RBF(1.0), C=2.0).fit(rows[:TRAINED], y[:TRAINED]), rows[:TRAINED], y[:TRAINED])
    assert reduced.machine_.constructed.all()
    assert_alike(replace(reduced.machine_, prepare=prepare), X[-1000:], within=1e-4)  # it decides in single precision


LABELS = [
    np.arange(3, dtype=np.uint8),
    np.array([True, False]),
    np.array([1.0, 2, 4]),
    np.array(["ä", "", "b"], object),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: str(labels.dtype))
def test_labels_of_any_kind(labels):
    X, y = table(len(labels), seed=3)
    machine = SVC(C=1.0).fit(X, labels[y]).machine_
    label, _ = answers(to_onnx(machine, X), X)
    assert label.tolist() == machine.predict(X).tolist()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_linear_machine_is_its_weights_whatever_its_support_vectors():
    X, y = table(3, seed=4)
    fitted = SVC("linear", C=1.0, max_iter=2000).fit(X, y)
    arrays = {tuple(array.dims) for array in onnx.load_from_string(to_onnx(fitted, X[:9])).graph.initializer}
    assert (12, 3) in arrays
    assert all(len(fitted.support_) not in dims for dims in arrays)


@dataclass(frozen=True)
class Cauchy(Kernel):
    """1 / (1 + gamma |u - v|^2), as svmcore/README.md adds it."""

    gamma: float = 1.0
    name: ClassVar[str] = "cauchy"

    def value(self, dots, su, sv):
        return 1 / (1 + self.gamma * (su + sv - 2 * dots))


def test_a_kernel_of_the_readers_own_is_carried_by_its_formula():
    X, y = images((3, 8), seed=3)
    X = X.reshape(len(X), -1)
    assert_alike(SVC(Cauchy(0.01), C=2.0).fit(X[:TRAINED], y[:TRAINED]).machine_, X)


@dataclass(frozen=True)
class Arc(Kernel):
    name: ClassVar[str] = "arc"

    def value(self, dots, su, sv):
        return np.arctan(dots)


@pytest.fixture(scope="module")
def plain():
    X, y = images((3, 8), seed=0)
    prepare = Preprocessor("unit-norm")
    return replace(SVC(RBF(1.0)).fit(prepare.transform(X[:60]), y[:60]).machine_, prepare=prepare), X


def test_a_machine_that_decides_in_single_precision_is_carried_in_double(plain, monkeypatch):
    machine, X = plain
    coef = 1e6 * np.random.default_rng(0).standard_normal(machine.coef.shape)
    machine = replace(machine, kernel=RBF(1e-6), coef=coef - coef.mean())
    exact = machine.decision_function(X)
    monkeypatch.setattr("svmcore.model.EXACT_UP_TO", 0)
    monkeypatch.setattr("svmcore.model.ROUNDING", np.inf)
    large = replace(machine)
    assert large.products != "double"
    assert np.abs(large.decision_function(X) - exact).max() > 100 * file.APART
    np.testing.assert_allclose(answers(to_onnx(large, X), X)[1], exact, atol=1e-6)
    monkeypatch.setattr(file, "_in_double", lambda machine, X: machine.decision_function(X))
    with pytest.raises(ValueError, match="differently from the machine"):
        to_onnx(large, X)


JITTERED = Jittered(RBF(1.0), jitters="plus:1", image_shape=(8, 8))
WHITENED = TangentWhitened(RBF(1.0), np.eye(64, dtype=np.float32))
REFUSED = {
    "a jittered kernel": ({"kernel": JITTERED}, "kernel = jittered.*allowed in ONNX: linear"),
    "a local one": ({"kernel": LocalPoly((8, 8))}, "kernel = local-poly.*rbf.*npz"),
    "whitened tangents": ({"kernel": WHITENED}, "kernel = tangent-whitened"),
    "given values": ({"kernel": Precomputed(60)}, "kernel = precomputed"),
    "a function that it lacks": ({"kernel": Arc()}, "arctan: not among.*Tanh|tanh"),
    "another transformer": ({"prepare": StandardScaler()}, r"prepare = StandardScaler\(\).*None or a Preprocessor"),
    "one known by name": ({"prepare": Demanded("PCA(3)")}, r"prepare = PCA\(3\).*None or a Preprocessor"),
    "no number": ({"bias": np.array([np.nan])}, "not finite"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_carried_is_named(plain, what):
    changes, words = REFUSED[what]
    with pytest.raises(ValueError, match=words):
        to_onnx(replace(plain[0], **changes), plain[1])


@all_cases("step", STEPS)
def test_steps_are_carried_or_named_before_anything_is_made(step):
    said = obstacle(RBF(1.0), ("scale01", f"{step}:1" if STEPS[step].parameters else step))
    assert said == "" if step in CARRIED else f"'{step}" in said and "npz" in said
    assert CARRIED.keys() <= STEPS.keys()


def test_what_is_no_machine_is_named(plain):
    with pytest.raises(NotFittedError):
        to_onnx(SVC(), plain[1])
    with pytest.raises(ValueError, match="allowed: a Machine"):
        to_onnx(StandardScaler().fit(plain[1][:, 0]), plain[1])
    with pytest.raises(ValueError, match="at least one example"):
        to_onnx(plain[0], plain[1][:0])
    with pytest.raises(ValueError, match=r"X has shape \(357, 8\); allowed: \(n, 64\)"):
        to_onnx(replace(plain[0], prepare=None), plain[1][:, 0])


def test_a_file_that_answers_otherwise_is_not_handed_out(plain, monkeypatch):
    machine, X = plain
    true = file._file
    monkeypatch.setattr(file, "_file", lambda m, *rest: true(replace(m, bias=m.bias + 2e-4), *rest))
    refused = r"decision values differ by up to 0.0002; allowed: 0 examples, and a difference of up to 0.0001"
    with pytest.raises(ValueError, match=refused):
        to_onnx(machine, X)
    monkeypatch.setattr(file, "_file", lambda m, *rest: true(replace(m, classes=m.classes[::-1]), *rest))
    with pytest.raises(ValueError, match=f"answers {len(X)} of {len(X)} examples differently"):
        to_onnx(machine, X)


def test_an_exact_tie_may_be_broken_by_rounding():
    X = np.array([[-1.0, 0.3], [1.0, 0.3], [-1.0, -0.7], [1.0, -0.7]])
    fitted = SVC(RBF(0.7), C=1.0).fit(X, [0, 1, 0, 1])
    assert to_onnx(fitted, np.concatenate([X, np.zeros((1, 2)), [[0.0, 0.3]]]))


def test_missing_packages_are_named_with_the_command(plain, monkeypatch):
    assert lacking() == ""
    monkeypatch.setattr(file, "find_spec", lambda name: None)
    refused = r"onnx and onnxruntime, which are not installed here: .*pip install onnx onnxruntime"
    with pytest.raises(ImportError, match=refused):
        to_onnx(*plain)


def test_the_file_says_what_it_takes(plain):
    model = onnx.load_from_string(to_onnx(*plain))
    told = {prop.key: prop.value for prop in model.metadata_props}
    assert (told["example"], told["preparation"], json.loads(told["classes"])) == (
        "8 x 8",
        "unit-norm",
        ["digit 3", "digit 8"],
    )
    assert json.loads(told["kernel"]) == RBF(1.0).to_dict()
    assert [value.name for value in (*model.graph.input, *model.graph.output)] == ["X", "label", "decision"]
    assert model.opset_import[0].version == file.OPSET
