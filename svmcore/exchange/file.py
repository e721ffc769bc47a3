"""A machine in ONNX: what prepares its examples, its kernel values, their sums, and the answer.

    X (n, d) float32 -> steps -> x (n, d') float32,    K[i, j] = K(x_i, z_j) (n, m) float64
    decision = K coef' + bias (n, k) float64,          label (n,): the sign of one machine, the largest of several

Kernel values and sums are in double precision: those of a high degree or a large C cancel, and single precision would
lose what is left. A kernel is told by its own `value`, which is asked about the values of a graph: whatever function of
u.v, |u|^2 and |v|^2 a kernel is, the file holds that function. A linear machine is its k weight vectors. Kernels that
fill their own blocks, and steps that are no plain arithmetic, are refused by name. What was written is run by
onnxruntime and compared with the machine before anyone has it.

Reference: Open Neural Network Exchange (onnx.ai), operator set 13.

Preprocessing in the nodes of a graph: what each step of `preprocess.STEPS` does to rows x (n, d).

    scale01, centre, zscore      (x - a) / b,  a and b from the training set
    unit-norm, standardise       x / |x|,  (x - mean) / deviation, of each example
    smooth                       A_h x A_w',  each image between two matrices
    crop, oval-mask, scramble    some of the pixels, in some order
    pca                          (x - mean) V

In single precision where the steps work in it, so that rows come out alike to the last digit or two. A step that is not
in CARRIED cannot be told so: it measures slants or angles, fits planes or counts ranks, and comes out otherwise where
rounding does. values: the step's numbers, or what it learned; shape (h, w, c): of the images that it is given.
"""

import json
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from math import prod

import numpy as np
from sklearn.utils.validation import check_is_fitted

from svmcore.estimator import as_rows, float32_rows
from svmcore.exchange.graph import Graph, Value
from svmcore.kernels import KERNELS, Kernel, Linear, far_features, squared_norms
from svmcore.model import Demanded, Machine, labels, lead
from svmcore.preprocess import STEPS, Preprocessor
from svmcore.preprocess.arithmetic import smooth

Shape = tuple[int, ...]
Values = tuple  # of a step: its numbers, or what it learned


def _scaled(x: Value, name: str, values: Values, shape: Shape) -> Value:
    low, high = values
    return (x - low) / (high - low or 1)


def _standard_features(x: Value, name: str, values: Values, shape: Shape) -> Value:
    centred, deviation = _centred(x, name, values, shape), np.reshape(values[1], -1)
    return centred / np.where(deviation > 0, deviation, 1).astype(np.float32)


def _centred(x: Value, name: str, values: Values, shape: Shape) -> Value:
    return (x.astype(np.float64) - np.reshape(values[0], -1).astype(np.float64)).astype(np.float32)


def _projected(x: Value, name: str, values: Values, shape: Shape) -> Value:
    """Along the axes, in single precision as the step has it."""
    axes = np.ascontiguousarray(values[1].T)
    return _centred(x, name, values, shape) @ x.graph.constant(axes)


def _unit_norm(x: Value, name: str, values: Values, shape: Shape) -> Value:
    x2 = x.astype(np.float64)
    return x / np.sqrt((x2 * x2).sum(1)).or_one().astype(np.float32)


def _standard_examples(x: Value, name: str, values: Values, shape: Shape) -> Value:
    d = float(np.prod(shape))
    centred = x - (x.astype(np.float64).sum(1) / d).astype(np.float32)
    apart = centred.astype(np.float64)
    apart = apart - apart.sum(1) / d
    return centred / np.sqrt((apart * apart).sum(1) / d).or_one().astype(np.float32)


def _smoothed(x: Value, name: str, values: Values, shape: Shape) -> Value:
    """Along the rows of the images, then along their columns."""
    (sigma,), (h, w, c) = values, shape
    along_rows = (_blur(w, sigma) @ x.astype(np.float64).reshape(-1, h, w, c)).astype(np.float32)
    both = _blur(h, sigma) @ along_rows.astype(np.float64).reshape(-1, h, w * c)
    return both.astype(np.float32).reshape(-1, h * w * c)


def _blur(n: int, sigma: float) -> np.ndarray:
    """A (n, n): A x is a line x of n pixels, smoothed."""
    return smooth(np.eye(n)[:, None, :, None], sigma)[:, 0, :, 0].T


def _chosen_pixels(x: Value, name: str, values: Values, shape: Shape) -> Value:
    """What the step does to an image whose pixels are their own numbers."""
    numbers = np.arange(np.prod(shape)).reshape(1, *shape)
    return x.take(STEPS[name].apply(numbers, *values).reshape(-1))


CARRIED: dict[str, Callable[[Value, str, Values, Shape], Value]] = {
    "scale01": _scaled,
    "smooth": _smoothed,
    "crop": _chosen_pixels,
    "oval-mask": _chosen_pixels,
    "standardise": _standard_examples,
    "unit-norm": _unit_norm,
    "zscore": _standard_features,
    "centre": _centred,
    "scramble": _chosen_pixels,
    "pca": _projected,
}


OPSET, FORMAT = 13, 8  # of 2020 and 2021: any runtime of today reads them
PACKAGES = ("onnx", "onnxruntime")
WAY_OUT = "instead, svmcore.save stores the whole machine in an npz file"
APART = 1e-4  # of a decision value above 1, or as such, that the file's may be from the machine's
TIE = 1e-9  # likewise: nearer to a tie, rounding chooses between two answers
MOST_BYTES = (1 << 31) - (1 << 20)  # of vectors: the format's limit, less room for what else a file holds
AT_ONCE = 1 << 23  # kernel values that are checked at a time
FINER = 2.0**20  # times as far as in single precision before distances need features apart (kernels/apart.py)


def to_onnx(machine, X) -> bytes:
    """A machine as an ONNX file, which answers as the machine does.

    Its input is `X` (n, d) float32, or float64 where the examples given are rows of more digits that are prepared:
    examples as `decision_function` takes them, of images all pixels in a row. Its
    outputs are `label` (n,), whole numbers or texts as the classes are, and `decision` (n, k) float64, a column a
    machine: one for two classes, positive for the second.

    Parameters
    ----------
    machine : Machine or estimator
        The Machine, or a fitted estimator that has it as `machine_`. Its kernel is a function of inner products and
        lengths, as linear, polynomial, Gaussian and sigmoid kernels are; what prepares its examples is None or a
        Preprocessor.
    X : array-like (n, d) or (n, h, w[, c])
        Examples to check the file on, test examples say, as `decision_function` takes them.

    Returns
    -------
    bytes
        The content of the file.

    Raises
    ------
    ImportError
        Where onnx or onnxruntime is missing.
    ValueError
        Naming the kernel or the step that cannot be carried; or where onnxruntime answers otherwise than the machine.

    Examples
    --------
    >>> from pathlib import Path
    >>> from svmcore import SVC, to_onnx
    >>> X = [[0.0], [1.0]]
    >>> file = to_onnx(SVC(C=1).fit(X, ["a", "b"]), X)
    >>> Path("machine.onnx").write_bytes(file)  # doctest: +SKIP
    """
    if lacks := lacking():
        raise ImportError(lacks)
    machine = _machine(machine)
    X = X if hasattr(X, "toarray") else np.asarray(X)
    if not len(X.shape) or not X.shape[0]:
        raise ValueError(f"X has shape {X.shape}; allowed: at least one example, on which the file is checked")
    decision = machine.decision_function(X)
    digits = isinstance(X, np.ndarray) and X.ndim == 2 and machine.prepare and machine.prepare.image_shape is None
    dtype = np.result_type(X.dtype, np.float32) if digits else np.dtype(np.float32)
    file = _file(machine, X.shape[1:], dtype)
    _compare(file, machine, X, decision, dtype)
    return file


def lacking() -> str:
    """Which packages that ONNX needs are missing, and the command that brings them; empty where none is."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    install = f"pip install -r requirements-onnx.txt, or pip install {' '.join(missing)}"
    verb = "are" if len(missing) > 1 else "is"
    return f"ONNX needs {' and '.join(missing)}, which {verb} not installed here: {install}" if missing else ""


def obstacle(kernel: Kernel, steps: Iterable[str] = ()) -> str:
    """Why a machine of this kernel, on examples that these steps prepared, is not told in ONNX; empty where it is."""
    if type(kernel).value is Kernel.value:
        carried = ", ".join(name for name, kind in KERNELS.items() if kind.value is not Kernel.value)
        why = f"kernel = {kernel.name}, which is not a function of u.v, |u|² and |v|²"
        return f"{why}; allowed in ONNX: {carried}; {WAY_OUT}"
    strange = [step for step in steps if step.partition(":")[0] not in CARRIED]
    allowed = f"allowed in ONNX: {', '.join(CARRIED)}; {WAY_OUT}"
    return f"preprocessing step '{strange[0]}' is not plain arithmetic on pixels; {allowed}" if strange else ""


def _machine(machine) -> Machine:
    """The Machine of an estimator. ValueError for one that cannot be told."""
    if not isinstance(machine, Machine):
        check_is_fitted(machine)
        if not isinstance(found := getattr(machine, "machine_", None), Machine):
            raise ValueError(f"machine = {machine!r}; allowed: a Machine, or a fitted estimator that has one")
        machine = found
    prepare, vectors = machine.prepare, machine.support_vectors
    if not isinstance(prepare, Preprocessor | None):
        what = prepare.what if isinstance(prepare, Demanded) else repr(prepare)
        raise ValueError(f"prepare = {what}; allowed in ONNX: None or a Preprocessor. For examples that are already "
        "preprocessed, export dataclasses.replace(machine, prepare=None)")  # fmt: skip
    if why := obstacle(machine.kernel, prepare.steps if prepare else ()):
        raise ValueError(why)
    if not all(np.isfinite(part).all() for part in (vectors, machine.coef, machine.bias)):
        raise ValueError("machine: its vectors, coefficients or biases are not finite; allowed: finite numbers")
    if vectors.nbytes > MOST_BYTES and not isinstance(machine.kernel, Linear):
        raise ValueError(f"machine: its vectors have {vectors.nbytes:,} bytes; allowed in ONNX: up to {MOST_BYTES:,}, "
        f"for example a reduced set of the machine; {WAY_OUT}")  # fmt: skip
    return machine


def _file(machine: Machine, shape: tuple[int, ...], dtype) -> bytes:
    """The content of the file; shape: of one example, whose numbers are dtype."""
    import onnx
    from onnx import helper

    graph, d = Graph(), prod(shape)
    x = Value(graph, "X", dtype)
    for name, values, before in machine.prepare.described_steps(shape) if machine.prepare else ():
        x = CARRIED[name](x, name, values, before)
    decision = _sums(x.astype(np.float64), machine)
    label = _label(decision, machine)
    graph.name(decision, "decision")
    graph.name(label, "label")
    nodes, arrays = graph.needed(("decision", "label"))

    def announced(name, value, *axes):
        return helper.make_tensor_value_info(name, graph.number(value.dtype), axes)

    outputs = [announced("label", label, "n"), announced("decision", decision, "n", len(machine.bias))]
    rows = [announced("X", Value(graph, "X", dtype), "n", d)]
    told = {
        "classes": json.dumps(machine.classes.tolist()),
        "example": " x ".join(map(str, shape)),
        "kernel": json.dumps(machine.kernel.to_dict(), default=float),
        "preparation": " ".join(machine.prepare.steps) if machine.prepare else "",
    }
    whole = helper.make_graph(nodes, "machine", rows, outputs, arrays)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=FORMAT)
    helper.set_model_props(model, told)
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString()


def _sums(x: Value, machine: Machine) -> Value:
    """f before the sign (n, k) of prepared rows x (n, d)."""
    Z, coef = machine.support_vectors, machine.coef
    if isinstance(machine.kernel, Linear):
        Z, coef = coef @ Z.astype(np.float64), np.eye(len(coef))
    return _kernel_values(x, machine.kernel, Z) @ coef.T + machine.bias


def _kernel_values(x: Value, kernel: Kernel, Z: np.ndarray) -> Value:
    """K(x_i, z_j) (n, m), with the features apart whose squares even double precision would round."""
    far = far_features(Z, kernel.reach * FINER)
    near = np.delete(np.arange(Z.shape[1]), far)
    u, V = (x.take(near), Z[:, near]) if len(far) else (x, Z)
    dots = u @ x.graph.constant(np.ascontiguousarray(V.T)).astype(np.float64)  # single precision in the file
    if len(far):
        apart = x.take(far).reshape(-1, 1, len(far)) - Z[None, :, far]
        dots = dots - (apart * apart).sum(2, keepdims=False) / 2
    return kernel.value(dots, (u * u).sum(1), squared_norms(V.astype(np.float64))[None, :])


def _label(decision: Value, machine: Machine) -> Value:
    """The labels (n,) that decision values (n, k) stand for, as `model.labels` has them."""
    graph, names = decision.graph, _labels(machine.classes)
    if len(machine.bias) == 1:
        at = (decision > 0).astype(np.int64).reshape(-1)
    else:
        at = graph.node("ArgMax", decision, dtype=np.int64, axis=1, keepdims=0)
    return graph.node("Gather", names, at)


def _labels(classes: np.ndarray) -> np.ndarray:
    """Labels as ONNX has them: whole numbers of 64 bits, texts, or as they are."""
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    return classes.astype(str) if classes.dtype.kind in "OU" else classes


def _compare(file: bytes, machine: Machine, X, decision: np.ndarray, dtype) -> None:
    """ValueError unless onnxruntime answers about X as the machine does, whose decision values (n, k) these are; in
    double precision, where a large machine's single precision rounds them by more than is allowed."""
    import onnxruntime

    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    pieces = [as_rows(X[rows]) for rows in _pieces(len(decision), machine)]
    pieces = [float32_rows(piece) if dtype == np.float32 else piece.astype(dtype) for piece in pieces]
    answers = [session.run(["label", "decision"], {"X": piece}) for piece in pieces]
    label, found = (np.concatenate(parts) for parts in zip(*answers))
    wrong = _otherwise(machine, label, found, decision)
    if wrong.any() and machine.products != "double":
        decision[wrong] = _in_double(machine, X[wrong])
        wrong = _otherwise(machine, label, found, decision)
    if wrong.any():
        apart = np.abs(found - decision).max()
        raise ValueError(f"onnxruntime answers {wrong.sum():,} of {len(label):,} examples differently from the "
        f"machine, and decision values differ by up to {apart:.2g}; allowed: 0 examples, and a difference of up to "
        f"{APART:g}")  # fmt: skip


def _otherwise(machine: Machine, label, found, decision) -> np.ndarray:
    """(n,) bool: where label (n,) or decision values (n, k) found are not what a machine's decision values mean."""
    scale = np.maximum(1, np.abs(decision))
    unlike = (label != _labels(labels(machine.classes, decision))) & (lead(decision) > TIE * scale.max(axis=1))
    return unlike | ~(np.abs(found - decision) <= APART * scale).all(axis=1)


def _in_double(machine: Machine, X) -> np.ndarray:
    """f before the sign (n, k), all of it in double precision."""
    x = float32_rows(X if machine.prepare is None else machine.prepare.transform(X))
    values = (machine.kernel.exact(x[rows], machine.support_vectors) for rows in _pieces(len(x), machine))
    return np.concatenate([piece @ machine.coef.T for piece in values]) + machine.bias


def _pieces(n: int, machine: Machine) -> list[slice]:
    """Examples of which few enough are looked at together."""
    step = max(1, AT_ONCE // max(1, len(machine.support)))
    return [slice(start, start + step) for start in range(0, n, step)]
