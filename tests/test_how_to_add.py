"""The lines of svmcore/README.md run as they stand, and what they add is found where the page says."""

import numpy as np
import pytest

from svmcore import SVC, JitterSet, Preprocessor, VirtualSVC, kernel_from_dict, load, save
from svmcore.jitter import FAMILIES
from svmcore.kernels import KERNELS
from svmcore.lab import method
from svmcore.lab.forecast import estimate
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import Recipe
from svmcore.lab.train import execute
from svmcore.preprocess import STEPS
from tests.readme import lines, sections

README = "svmcore/README.md"


@pytest.fixture
def add():
    """Runs the lines of a chapter; afterwards all registries are as they were."""
    of_methods = [table for table in vars(method).values() if isinstance(table, dict) and "sv" in table]
    assert any(table is METHODS for table in of_methods)
    before = [(registry, set(registry)) for registry in (KERNELS, FAMILIES, STEPS, *of_methods)]

    def run(chapter):
        space = {"__name__": __name__}
        (code,) = lines(README, chapter)
        exec(compile(code, chapter, "exec", dont_inherit=True), space)
        return space

    yield run
    for registry, names in before:
        for name in set(registry) - names:
            del registry[name]


def test_every_chapter_is_run():
    tested = {f"How to add a {what}" for what in ("kernel", "jitter", "preprocessing step", "method")}
    assert {name for name in sections(README) if name.startswith("How to add") and lines(README, name)} == tested


def test_a_kernel(add, tmp_path):
    cauchy = add("How to add a kernel")["Cauchy"](0.5)
    X = np.random.default_rng(0).standard_normal((120, 2)).astype(np.float32)
    y = np.hypot(*X.T) > 1
    np.testing.assert_allclose(cauchy.block(X, X), 1 / (1 + 0.5 * ((X[:, None] - X) ** 2).sum(2)), rtol=1e-4)
    machine = SVC("cauchy", gamma=0.5, C=10).fit(X, y)
    assert machine.score(X, y) > 0.9
    assert kernel_from_dict({"name": "cauchy", "gamma": 0.5}) == cauchy == machine.kernel_
    save(machine, tmp_path / "machine.npz")
    assert load(tmp_path / "machine.npz").kernel == cauchy
    assert estimate(Recipe(dataset="digits-8x8", kernel=cauchy)).fits


def test_a_jitter(add):
    add("How to add a jitter")
    forms = JitterSet("dark:0.5", (2, 2)).apply(np.array([[0, 1, 0.5, 0]], np.float32))
    np.testing.assert_allclose(forms[:, 0], [[0, 1, 0.5, 0], [0.5, 1, 0.75, 0.5]])
    X = np.random.default_rng(0).random((40, 4)).astype(np.float32)
    machine = VirtualSVC(SVC(C=1), jitters="plus:1*dark:0.2", image_shape=(2, 2)).fit(X, X[:, 0] > 0.5)
    assert set(machine.machine_.jitter) <= set(range(10))
    assert machine.machine_.jitter.max() > 4


def test_a_step(add):
    add("How to add a preprocessing step")
    assert Preprocessor("gamma:2").fit_transform(np.array([[3.0, -1.0]])).tolist() == [[9.0, 0.0]]


def test_a_method(add):
    add("How to add a method")
    recipe = Recipe(dataset="digits-8x8", n_train=100, n_test=50, classes=(3, 8), method="subset")
    assert Recipe.from_dict(recipe.to_dict()) == recipe
    ended = execute(recipe.replace(options={"share": 0.3}))
    assert ended.machine.support.max() < 30
    assert estimate(recipe).fits
