"""The page that scrambles pixels: what it trains, reuses and concludes; driven from app.py."""

import numpy as np
import pytest

from pages.scramble import twins
from pages.ui.studies import usual
from svmcore.kernels import RBF
from svmcore.lab.jobs import welcome
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from svmcore.preprocess import Preprocessor
from tests.driven import captions, finish_all, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

DIGITS = RECIPES["digits-8x8-sv"].replace(n_train=300, n_test=150, title="Small digits")
LOCAL = DIGITS.replace(method="vsv", jitters="box:1", title="Small digits, virtual")
SECONDS = 120


@pytest.fixture(scope="module")
def two():
    """A plain machine and one with virtual support vectors, on 8 x 8 digits."""
    return [finished(DIGITS), finished(LOCAL)]


def test_it_trains_each_run_again_once_and_says_who_noticed(two):
    ids = [run.id for run in two]
    app = open_page("scramble", runs=ids, seed="5")
    assert "2 runs to train" in captions(app)
    before = {run.id for run in runs.everything()}
    app.button(key="queue_scramble").click().run()
    finish_all()
    app.run()
    assert not app.exception
    new = [run for run in runs.everything() if run.id not in before]
    assert {run.parent for run in new} == set(ids)
    assert all(run.recipe.preprocess[0] == "scramble:5" for run in new)
    assert all(button.key != "queue_scramble" for button in app.button)
    table = app.dataframe[0].value
    assert table["Same predictions"].tolist() == ["all", "no"]
    assert table["Original"][0] == table["Scrambled"][0] == f"{two[0].result['errors']} of 150"
    said = " ".join(text.value for text in app.markdown).replace("\\", "")
    assert "Same predictions after scrambling:** Small digits (" in said
    assert "agree to numerical accuracy" in said
    assert "Small digits, virtual (" not in said

    again = open_page("scramble", runs=ids, seed="5")
    assert all(button.key != "queue_scramble" for button in again.button)  # the same runs, found by their recipes
    other = open_page("scramble", runs=ids, seed="6")
    assert "2 runs to train" in captions(other)


def test_what_is_said_of_the_numbers_is_computed_from_them(two):
    plain, virtual = two
    assert twins.outcome(twins.Pair("", plain, None)) is None
    twice = twins.outcome(twins.Pair("", plain, plain))
    assert twice[:5] == (plain.result["errors"],) * 2 + (150, True, 0.0)
    apart = twins.outcome(twins.Pair("", plain, virtual))
    a, b = plain.test(), virtual.test()
    wrong = a.y_true != a.y_pred, b.y_true != b.y_pred
    assert apart.test.only_a == int((wrong[0] & ~wrong[1]).sum())
    assert apart.apart == pytest.approx(abs(a.decision - b.decision).max())
    assert not apart.same


def test_runs_that_cannot_be_scrambled_are_not_offered(two):
    moons = finished(RECIPES["moons"])
    moved = finished(usual.scrambled(DIGITS, "Small digits", 1).replace(kernel=RBF(2.0)))
    assert twins.refusal(moons) == "its examples are not images"
    assert twins.refusal(moved) == "its pixels are already scrambled"
    assert twins.refusal(two[0]) == ""
    app = open_page("scramble", runs=[two[0].id, moons.id, "nobody"])
    assert app.multiselect(key="scramble_runs").value == [two[0].id]
    assert f"The run {moons.id} is unknown" in app.warning[0].value.replace("\\", "")


def test_an_empty_home_offers_the_paper_s_five(home):
    welcome.WELCOME.homes.add(runs.home())  # without the preset's run behind the page
    app = open_page("scramble")
    assert app.dataframe[0].value["Machine"].tolist() == [recipe.title for recipe in usual.TO_SCRAMBLE]
    assert "not run yet" not in set(app.dataframe[0].value["Scrambled"])
    assert any("**A sample**" in info.value for info in app.info)  # samples, until there are own ones
    assert "10 runs to train" in captions(app)
    assert [text for text in app.markdown if "Same predictions after scrambling" in text.value]


def test_pictures_and_twins_take_the_same_order(two):
    """What is shown scrambled is what the twin was trained on."""
    recipe = usual.scrambled(DIGITS, "Small digits", 9)
    assert recipe.preprocess == ("scramble:9", "unit-norm")
    assert recipe.digest() == usual.scrambled(DIGITS, "another title", 9).digest()
    X = np.random.default_rng(0).random((2, 8, 8), np.float32)
    shown = Preprocessor("scramble:9").transform(X)
    trained = Preprocessor(*recipe.preprocess).transform(X)
    np.testing.assert_allclose(trained, shown / np.linalg.norm(shown, axis=1, keepdims=True), rtol=1e-6)
