"""The script by which scikit-learn alone trains a run's machine: the same kernel values, errors and decisions."""

import io
import runpy
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels

from data import own
from data.dataset import Arrays
from svmcore.kernels import RBF, Linear, Poly, Sigmoid
from svmcore.lab import train
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import pipeline
from svmcore.methods.local import LocalPoly

DIGITS = Recipe(dataset="digits-8x8", n_train=300, n_test=500, kernel=Poly(9, 1.0, 1.0), C=2.0, tol=1e-6, seed=4)
MOONS = Recipe(dataset="toy-moons", preprocess=(), kernel=RBF(2.0), C=5.0, tol=1e-6, n_train=150)
ALIKE = {
    "ten classes, degree 9": DIGITS,
    "two classes": DIGITS.replace(classes=(3, 8), n_train=150, n_test=100),
    "one class against the rest, weighed": DIGITS.replace(classes=(8,), class_weight={"1": 4.0, "-1": 0.5}),
    "balanced": DIGITS.replace(classes=(8,), class_weight="balanced", kernel=Poly(3, 0.5, 2.0, normalised=False)),
    "scaled, linear": DIGITS.replace(preprocess=("scale01",), kernel=Linear(), C=0.05),
    "smoothed, cropped": DIGITS.replace(preprocess=("smooth:0.75", "crop:1", "unit-norm")),
    "scrambled, standardised": DIGITS.replace(preprocess=("scramble:7", "standardise"), kernel=RBF(0.01)),
    "features standardised": DIGITS.replace(preprocess=("zscore",), kernel=RBF(0.01)),
    "sigmoid": DIGITS.replace(kernel=Sigmoid(0.5, -1.0), C=1.0, tol=1e-4),
    "noise": MOONS.replace(noise=0.1),
    "chosen C": MOONS.replace(grid="0.5,50"),
    "by nu": DIGITS.replace(method="nu-sv", nu=0.1, kernel=RBF(1.0)),
}


def unpacked(content, folder):
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert file.namelist() == ["train.py", "examples.npz"]
        file.extractall(folder)
    return folder / "train.py"


@pytest.mark.parametrize("name", ALIKE)
def test_it_answers_as_the_lab_does(home, tmp_path, name, capsys):
    recipe = ALIKE[name]
    outcome = train.execute(recipe)
    script = unpacked(pipeline.archive(recipe, outcome.result), tmp_path / "away")
    made = runpy.run_path(str(script))
    wrong, n = made["wrong"], outcome.result["n_test"]
    assert capsys.readouterr().out.strip() == f"{wrong:,} of {n:,} wrong"
    assert wrong == outcome.result["errors"]
    decision = made["pipeline"].decision_function(made["X_test"]).reshape(n, -1)
    assert np.abs(decision - outcome.test.decision).max() < max(2e-4, 20 * recipe.tol)


@pytest.mark.parametrize("kernel", [Linear(), Poly(9, 1, 1), Poly(4, 0.3, 2.0), Poly(3, 0.3, -1.0, normalised=False),
                                    Poly(0), RBF(0.3), Sigmoid(0.3, -0.2)], ids=str)  # fmt: skip
def test_kernel_values_are_the_same(kernel):
    A, B = np.random.default_rng(0).standard_normal((2, 30, 5))
    numbers = pipeline.KERNELS[type(kernel)](kernel)
    theirs = pairwise_kernels(A, B, metric=numbers.pop("kernel"), **numbers)
    np.testing.assert_allclose(theirs, kernel.exact(A, B), rtol=1e-12, atol=1e-12)


@pytest.mark.ci
def test_it_runs_where_nothing_of_the_lab_is(home, tmp_path):
    X = np.random.default_rng(0).standard_normal((90, 3)).astype(np.float32)
    entry = own.keep('Of "mine" \\ =1+1', Arrays.unsplit(X, np.where(X[:, 0] > 0, "över", 'un"der')))
    recipe = MOONS.replace(dataset=entry.name, n_train=60, title='"""quoted""" \\ {name} \\')
    outcome = train.execute(recipe)
    script = unpacked(pipeline.archive(recipe, outcome.result), tmp_path)
    alone = "import sys; sys.modules.update(dict.fromkeys(['svmcore', 'data', 'numba'])); import runpy; "
    command = [sys.executable, "-I", "-c", f"{alone}runpy.run_path({str(script)!r})"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{outcome.result['errors']} of {outcome.result['n_test']} wrong"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": "vsv", "jitters": "box:1"}, "allowed: the methods sv, nu-sv, for the task classify"),
        ({"method": "reduced", "n_vectors": 9}, "allowed: the methods sv, nu-sv, for the task classify"),
        ({"kernel": LocalPoly((8, 8))}, "no kernel local-poly; allowed: linear, poly, rbf, sigmoid"),
        ({"preprocess": ("deslant", "unit-norm")}, "step 'deslant'; allowed: scale01"),
        ({"class_weight": "balanced"}, "two classes, or no class weights"),
        ({"dataset": "own-gone"}, "no dataset 'own-gone'"),
    ],
)
def test_what_it_cannot_do_is_named(home, changes, words):
    recipe = DIGITS.replace(**changes)
    assert words in pipeline.obstacle(recipe)
    with pytest.raises(ValueError, match=r"scikit-learn|dataset"):
        pipeline.archive(recipe, {})
