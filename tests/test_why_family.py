"""The family tree of a support vector against the machine's own: what was kept is what the machine has."""

import numpy as np
import pytest

from data import load
from pages.ui.example import evidence
from pages.ui.why import family
from svmcore.explain import contributions
from svmcore.jitter import JitterSet
from svmcore.kernels import Poly
from svmcore.lab.recipe import Recipe
from tests.driven import captions, open_page, whole_app  # noqa: F401  (a fixture for every test here)
from tests.trained import finished

VIRTUAL = Recipe(
    dataset="digits-8x8",
    preprocess=("deslant", "unit-norm"),
    kernel=Poly(3, 1.0, 1.0),
    n_train=100,
    method="vsv",
    jitters="plus:1",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(tmp_path_factory.mktemp("family")))
        yield finished(VIRTUAL)


def families(run, c):
    """The families of machine c by their pull on the first test example, and that example's f."""
    test, dataset, machine = run.test(), load("digits-8x8"), run.machine()
    x = evidence.prepared(run, evidence.examples(dataset, test.split)[0][test.index[:1]])
    of = contributions.of_machine(machine, c, machine.kernel_values(x)[0])
    grouped = of.grouped(evidence.dataset_rows(run, machine)[of.name])
    return grouped, machine.decision_values(x)[0]


def test_families_pull_what_is_missing_between_bias_and_f(run):
    for c in range(10):
        grouped, f = families(run, c)
        assert grouped.f == pytest.approx(f[c], abs=1e-9)


def test_forms_that_were_kept_are_the_support_vectors(run):
    machine, jitters = run.machine(), JitterSet.parse("plus:1", (8, 8))
    grouped, _ = families(run, 3)
    for row in grouped.name[grouped.strongest(5)]:
        born = family.children(run, machine, 3, int(row), len(jitters))
        forms = evidence.form_pictures(run, np.full(len(jitters), row), jitters, np.arange(len(jitters)))
        mine = np.flatnonzero((evidence.dataset_rows(run, machine) == row) & (machine.coef[3] != 0))
        assert sorted(child.position for child in born if child.position >= 0) == sorted(mine)
        assert len(mine) > 0
        for i in mine:
            child = born[machine.jitter[i]]
            assert child.alpha == abs(machine.coef[3, i])
            trained_on = evidence.seen_pictures(run, machine.support_vectors[i : i + 1])[0]
            np.testing.assert_allclose(forms[machine.jitter[i]], trained_on, atol=1)


def test_the_address_keeps_which_family(run):
    test = run.test()
    ref = f"digits-8x8/{test.split}/{test.index[0]}"
    _, f = families(run, 0)
    grouped, _ = families(run, int(np.argmax(f)))
    rows = grouped.name[grouped.strongest(4)]
    app = open_page("errors", run=run.id, digit=ref, why="family", family=str(rows[3]))
    assert f"Training example {rows[3]:,}, class" in captions(app)
    app = open_page("errors", run=run.id, digit=ref, why="family", family="![x](http://evil.example)", of="77")
    assert f"Training example {rows[0]:,}, class" in captions(app)
    assert any("of=77" in warning.value for warning in app.warning)
