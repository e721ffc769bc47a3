"""The family tree of a support vector against its own examples: what was kept is what the machine has."""

import numpy as np
import pytest

from data import load
from pages.ui.example import evidence
from pages.ui.why import family
from svmcore.kernels import Poly
from svmcore.lab import jobs
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.store import runs
from tests.driven import captions, open_page, whole_app  # noqa: F401  (a fixture for every test here)

VIRTUAL = Recipe(
    dataset="digits-8x8", preprocess=("unit-norm",), kernel=Poly(3, 1.0, 1.0), n_train=100, method="vsv",
    jitters="plus:1",
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(tmp_path_factory.mktemp("family")))
        run_id = jobs.submit(VIRTUAL)
        assert jobs.wait(run_id, 60).state == "done"
        yield runs.get(run_id)


def example(run, number=0):
    test, dataset = run.test(), load("digits-8x8")
    x = evidence.prepared(run, evidence.examples(dataset, test.split)[0][test.index[number]][None])
    return run.machine().kernel_values(x)[0], run.machine().decision_values(x)[0]


def test_families_pull_what_is_missing_between_bias_and_f(run):
    machine, (k, f) = run.machine(), example(run)
    for c in range(10):
        rows, part = family.pulls(run, machine, c, k)
        assert len(set(rows)) == len(rows)
        assert (np.diff(np.abs(part)) <= 0).all()
        np.testing.assert_allclose(machine.bias[c] + part.sum(), f[c], atol=1e-9)


def test_forms_that_were_kept_are_the_support_vectors(run):
    machine, (k, _), dataset = run.machine(), example(run), load("digits-8x8")
    rows, part = family.pulls(run, machine, 3, k)
    for row, p in zip(rows[:5], part):
        tree = family.grown(run, machine, 3, int(row), k)
        assert tree.part.sum() == pytest.approx(p, abs=1e-9)
        forms = evidence.prepared(run, tree.jitters.apply(dataset.X_train[row : row + 1])[:, 0])
        mine = (evidence.dataset_rows(run, machine) == row) & (machine.coef[3] != 0)
        assert np.sum(tree.kind != "") == mine.sum() > 0
        for i in np.flatnonzero(mine):
            j = machine.jitter[i]
            assert tree.alpha[j] == abs(machine.coef[3, i])
            assert (tree.kind[j] == "virtual") == (j > 0)
            np.testing.assert_allclose(forms[j], machine.support_vectors[i], atol=1e-6)


def test_the_panel_of_an_error_leads_through_families_and_the_address_keeps_which(run):
    machine, test = run.machine(), run.test()
    ref = f"digits-8x8/{test.split}/{test.index[0]}"
    k, f = example(run)
    rows, _ = family.pulls(run, machine, int(np.argmax(f)), k)
    app = open_page("errors", run=run.id, digit=ref, why="family", family=str(rows[3]))
    assert any(f"Training example {rows[3]:,}, class" in text.value for text in app.markdown)
    app = open_page("errors", run=run.id, digit=ref, why="family", family="![x](http://evil.example)", tree="77")
    assert any(f"Training example {rows[0]:,}, class" in text.value for text in app.markdown)
    assert "none of the families" in captions(app)
    assert any("tree=77" in warning.value for warning in app.warning)
