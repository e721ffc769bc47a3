"""The machine of a fold, trained again: it says what the run kept, and its bill adds up to that."""

import numpy as np
import pytest

from svmcore.kernels import RBF, Poly
from svmcore.lab import Recipe, RecipeError
from svmcore.lab.analyses import suspects, unseen
from svmcore.lab.jobs.analyses import UNSEEN
from tests.trained import finished

DIGITS = Recipe(dataset="digits-8x8", n_train=300, n_test=50, kernel=Poly(3, 1.0, 1.0), options={"noise": 0.1})
RECIPES = {
    "folds twice": suspects.searched(DIGITS),
    "folds once": DIGITS.replace(folds=4, seed=3, preprocess=("zscore",), kernel=RBF(0.01)),
    "two classes": suspects.searched(DIGITS.replace(classes=("3", "8"), n_train=80, seed=1)),
    "virtual": DIGITS.replace(method="vsv", jitters="plus:1", n_train=100, folds=3, refold=True),
}


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_the_machine_of_a_fold_says_what_was_kept_of_it(home, recipe):
    run = finished(recipe)
    folded, index = run.folded(), run.train_index()
    assert bool(len(folded.doubted)) == bool(recipe.options.get("refold"))
    for at in np.random.default_rng(0).permutation(len(index))[:6].tolist():
        number = unseen.fold_of(run, int(index[at]))
        fold = unseen.trained(run, number)
        found = unseen.of_example(fold, int(index[at]))
        assert found.f == pytest.approx(folded.decision[at], abs=2e-5)  # of machines that were trained together
        assert [one.f for one in found.contributions] == pytest.approx(found.f.tolist())
        origin = fold.machine.support if fold.machine.parent is None else fold.machine.parent
        assert not np.isin(index[origin], [*fold.rows, *folded.doubted]).any(), "it has not seen these"
        for c, places in enumerate(found.strongest):
            parts = found.machine.coef[c, places] * found.k[places]
            assert parts == pytest.approx(sorted(found.contributions[c].part, key=abs, reverse=True)[: len(places)])


def test_an_example_that_no_fold_held_out_is_refused(home):
    run = finished(RECIPES["folds once"])
    left = np.setdiff1d(np.arange(1797), run.train_index())[0]
    with pytest.raises(ValueError, match=f"row = {left}; allowed: a training example"):
        unseen.fold_of(run, int(left))
    (run.path / "folded.npz").unlink()
    with pytest.raises(RecipeError, match="folds whose predictions the run has stored"):
        unseen.trained(run, 0)


def test_beside_the_runs_the_machine_of_a_fold_is_trained_once(home, monkeypatch):
    run, asked, train = finished(RECIPES["folds twice"]), [], unseen.trained

    def counted(run, number, *how):
        asked.append(number)
        return train(run, number, *how)

    monkeypatch.setattr(unseen, "trained", counted)
    fold = unseen.fold_of(run, row := int(run.train_index()[0]))
    rows = [r for r in run.train_index().tolist() if unseen.fold_of(run, r) == fold][:3]
    for one in rows:
        UNSEEN.start(run.id, one)
        now = UNSEEN.wait(run.id, one, timeout=120)
        assert now.state == "done", now.message
        assert now.result.number == fold
    assert row in rows
    assert asked == [fold]
