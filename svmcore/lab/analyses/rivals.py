"""The rivals of the invariant machines in Tables 2 and 3 that a library provides, measured on the same examples.

No SVM and so no run of the store: a rival has figures only. Tangent distance is methods/tangent_neighbours.py.
References: DeCoste and Schölkopf, Machine Learning 46 (2002), Tables 2 and 3; LeCun, Bottou, Bengio and Haffner, Proc.
IEEE 86 (1998), whose neighbours and perceptron of Table 3 are of deslanted digits.
"""

import hashlib
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sklearn.decomposition import KernelPCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from svmcore.allowed import amount, check_object, count, size
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import folders, reading
from svmcore.lab.train import prepare
from svmcore.methods.tangent_neighbours import TangentNeighbours

FIGURES = {"errors": count, "n_test": size, "fit_seconds": amount, "predict_seconds": amount}


class Rival(NamedTuple):
    """Examples, as a recipe names them, and what makes an unfitted estimator."""

    title: str
    examples: Recipe
    make: Callable


def _kernel_pca():
    features = KernelPCA(512, kernel="poly", degree=3, gamma=1.0, coef0=0.0, eigen_solver="randomized", random_state=0)
    return make_pipeline(features, LinearSVC(C=10.0, random_state=0))


_USPS = Recipe(dataset="usps", split="given", preprocess=("smooth:0.75", "unit-norm"))
_MNIST = Recipe(dataset="mnist", split="given", preprocess=("unit-norm",))
_SCALED = {"preprocess": ("scale01",)}
_UPRIGHT = _MNIST.replace(preprocess=("deslant", "scale01"))

RIVALS: dict[str, Rival] = {
    "usps-nearest": Rival("USPS: nearest neighbour", _USPS, lambda: KNeighborsClassifier(1)),
    "usps-kernel-pca": Rival("USPS: kernel PCA of degree 3, linear machines", _USPS, _kernel_pca),
    "usps-tangent": Rival(
        "USPS: tangent distance", _USPS.replace(**_SCALED), lambda: TangentNeighbours(image_shape=(16, 16))
    ),
    "mnist-nearest": Rival("MNIST, deslanted: three nearest neighbours", _UPRIGHT, lambda: KNeighborsClassifier(3)),
    "mnist-mlp": Rival(
        "MNIST, deslanted: perceptron with 300 hidden units",
        _UPRIGHT,
        lambda: MLPClassifier((300,), max_iter=20, random_state=0),
    ),
    "mnist-tangent": Rival(
        "MNIST: tangent distance",
        _MNIST.replace(**_SCALED),
        lambda: TangentNeighbours(image_shape=(28, 28), n_neighbors=3, ridge=0.1),
    ),
}


def measure(name: str) -> dict:
    """errors, n_test, fit_seconds and predict_seconds of a rival, measured now and kept. NotAtHand without its data."""
    rival = RIVALS[name]
    problem, estimator = prepare(rival.examples), rival.make()
    started = time.perf_counter()
    estimator.fit(problem.X_train, problem.y_train)
    fitted = time.perf_counter()
    errors = int((estimator.predict(problem.X_test) != problem.y_test).sum())
    seconds = {"fit_seconds": fitted - started, "predict_seconds": time.perf_counter() - fitted}
    figures = {"errors": errors, "n_test": len(problem.y_test)} | seconds
    folders.write_json(_path(name), figures)
    return figures


def measured(name: str) -> dict | None:
    """The figures that `measure` kept, for the same examples and settings."""
    try:
        return reading.read_json(_path(name), partial(check_object, fields=FIGURES))
    except (FileNotFoundError, reading.Damaged):  # it is measured, and the file written, anew
        return None


def _path(name: str) -> Path:
    settings = RIVALS[name].examples.digest() + repr(RIVALS[name].make())
    return folders.place("rivals") / f"{name}-{hashlib.sha256(settings.encode()).hexdigest()[:16]}.json"
