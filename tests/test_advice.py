"""What is said of a machine that is no better than guessing, and what is proposed instead."""

import numpy as np
import pytest

from data import catalogue
from data.dataset import Arrays
from pages.ui.recipe import data_set
from svmcore.kernels import RBF, Poly
from svmcore.lab.analyses import advice as advise
from svmcore.lab.analyses.advice import advice, spread, unlike, unlike_rows, usual_gamma, usual_steps
from svmcore.lab.recipe import Recipe
from svmcore.metrics import wilson
from tests.driven import captions, finished, open_page, whole_app  # noqa: F401
from tests.trained import executed

WIDE = Recipe(dataset="own:mine", preprocess=("unit-norm",), kernel=RBF(2.0))


def result(errors, n_test=16, n_sv=30, n_bound=5, n_train=64):
    figures = {"n_sv": [n_sv], "n_bound": [n_bound], "n_train": n_train, "n_test": n_test, "errors": errors}
    return figures | {"error_rate": errors / n_test, "interval": list(wilson(errors, n_test))}


def gamma(steps):
    return {("unit-norm",): 8.0, ("standardise", "unit-norm"): 0.5, ("zscore",): 0.1}.get(steps, 1e-6)


def nothing(steps):
    raise AssertionError("no gamma is asked for where nothing is wrong")


def test_a_run_that_is_right_more_often_than_guessing_needs_no_advice():
    assert advice(WIDE, result(1), 0.5, True, nothing) is None
    assert advice(WIDE, result(12, n_test=1000), 0.9, True, nothing) is None


@pytest.mark.parametrize(
    ("errors", "majority", "title"),
    [(8, 0.5, "No better than guessing"), (6, 0.5, "Not clearly better"), (2, 0.9, "No better than guessing")],
)
def test_guessing_is_to_name_the_commonest_class(errors, majority, title):
    said = advice(WIDE, result(errors), majority, True, gamma)
    assert said.title.startswith(title)
    assert f"would give {100 * (1 - majority):.2f} % errors" in said.text


def test_nearly_all_examples_as_support_vectors_are_said_even_of_a_good_run():
    said = advice(WIDE, result(0, n_sv=62, n_bound=3), 0.5, True, gamma)
    assert said.title == "Nearly every example is a support vector"
    assert "97 % of the training examples" in said.text
    assert advice(WIDE, result(0, n_sv=62) | {"n_virtual": [558]}, 0.5, True, nothing) is None
    assert advice(WIDE, result(0, n_sv=10, n_train=10), 0.5, True, nothing) is None


def test_the_kernels_scale_then_preprocessing_then_a_larger_c_are_proposed():
    tries = advice(WIDE, result(8, n_sv=62, n_bound=60), 0.5, True, gamma).tries
    assert [one.recipe.kernel.gamma for one in tries] == [8.0, 0.5, 2.0]
    assert tries[1].recipe.preprocess == ("standardise", "unit-norm")
    assert tries[2].recipe.C == 10 * WIDE.C
    assert "gamma = 8" in tries[0].words
    near = advice(WIDE.replace(kernel=RBF(7.0)), result(8), 0.5, True, gamma).tries
    assert [one.recipe.preprocess for one in near] == [("standardise", "unit-norm")]
    table = advice(WIDE.replace(kernel=Poly(9, 1, 1), preprocess=()), result(8), 0.5, False, gamma).tries
    assert [one.recipe.kernel for one in table] == [RBF(0.1), RBF(1e-6)]


def test_errors_and_train_say_it_and_open_the_form_so_set(home):
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    catalogue.keep("noise", Arrays.unsplit(rng.integers(0, 255, (60, 6, 6), dtype=np.uint8), y))
    run = finished(Recipe(dataset="own:noise", preprocess=(), kernel=RBF(2.0)))
    for page in ("errors", "train"):
        app = open_page(page, run=run.id)
        assert "better than guessing" in app.info[0].value + str(app.info[0].proto)
        links = [link.proto for link in app.get("page_link") if "unit-norm" in str(link.proto)]
        assert any("kernel=rbf" in str(link) and "own%3Anoise" in str(link) for link in links)
    proposed = [link for link in links if "own%3Anoise" in str(link)]
    finished(data_set.suggestion("own:noise"))
    links = [str(link.proto) for link in open_page("errors", run=run.id).get("page_link")]
    assert sum("unit-norm" in link for link in links) < len(proposed)  # what was tried is not proposed again
    assert any("cross-validation" in link for link in links)
    app = open_page("train", dataset="own:noise")
    assert "is usual: 1 over the median" in captions(app)


def test_the_usual_gamma_is_one_over_the_median_squared_distance():
    X = np.random.default_rng(0).normal(size=(300, 5))
    pairs = [((a - b) ** 2).sum() for k, a in enumerate(X) for b in X[:k]]
    assert spread(X) == pytest.approx(np.median(pairs))
    assert spread(np.ones((9, 2))) == 0
    y = np.arange(60) % 2
    flat = catalogue.draft("flat", Arrays.unsplit(np.ones((60, 4), np.float32), y))
    assert usual_gamma(flat, ()) == 1.0


def photographs(side):
    """300 of unlike brightness, and 1 over the median of their squared distances, summed pair by pair."""
    rng, y = np.random.default_rng(1), np.arange(300) % 2
    X = np.uint8(rng.integers(0, 200, (300, 1, 1)) + rng.integers(0, 55, (300, side, side)))
    rows = X.reshape(300, -1).astype(float)
    pairs = [((a - b) ** 2).sum() for k, a in enumerate(rows) for b in rows[:k]]
    return catalogue.draft("photographs", Arrays.unsplit(X, y)), 1 / np.median(pairs)


def test_of_large_photographs_the_usual_gamma_is_found_in_a_sample(monkeypatch):
    small, exact = photographs(20)
    assert usual_gamma(small, ()) == float(f"{exact:.2g}")
    large, exact = photographs(60)
    assert usual_gamma(large, ()) == float(f"{exact:.2g}")
    taken, measure = [], advise.spread
    monkeypatch.setattr(advise, "spread", lambda X: taken.append(len(X)) or measure(X))
    monkeypatch.setattr(advise, "DIFFERENCES", 10_000_000)  # as of photographs seven times as large a side
    assert usual_gamma(large, ()) == pytest.approx(exact, rel=0.25)
    (n,) = taken
    assert 9_000_000 < n * (n - 1) / 2 * 3600 <= 10_000_000
    assert usual_gamma(large, ()) == usual_gamma(large, ())


def table_of(long):
    """Rows of whose proportions y is a function, some of them a million times as long as the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(0.5, 1, size=(400, 4))
    y = (X[:, 1] > X[:, 2]).astype(int)
    X[rng.permutation(400)[:long]] *= 1e6
    return Arrays(X[:300], y[:300], X[300:], y[300:])


def test_rows_of_unlike_scale_are_said_and_brought_to_one_length_by_a_click(home):
    catalogue.keep("mine", table_of(0))
    assert unlike_rows(catalogue.load("own:mine")) is None
    assert unlike_rows(catalogue.load("digits-8x8")) is None
    at_the_mean = np.repeat([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], (10, 60, 10), axis=0)  # most: none is far beside it
    assert unlike_rows(catalogue.draft("flat", Arrays.unsplit(at_the_mean, np.arange(80) % 2))) is None
    assert not open_page("train", dataset="own:mine").warning
    catalogue.keep("mine", table_of(16), replace=True)
    table = catalogue.load("own:mine")
    row, times = unlike_rows(table)
    X = table.X_train.astype(float)
    length = np.linalg.norm((X - X.mean(axis=0)) / X.std(axis=0), axis=1)
    assert (row, times) == (length.argmax(), pytest.approx(length.max() / np.median(length)))
    assert times > 10
    app = open_page("train", dataset="own:mine", preprocess="zscore", kernel="rbf:gamma=2", C="10")
    assert f"Training example {row:,} lies {times:,.0f} times" in app.warning[0].value
    app.button(key="recipe_length").click().run()
    assert not app.exception
    assert not app.warning
    assert app.session_state["recipe_preprocess"] == ["unit-norm", "zscore"]
    gamma = app.session_state["recipe_rbf_gamma"]
    assert gamma == usual_gamma(table, ("unit-norm", "zscore"))
    begun = Recipe(dataset="own:mine", preprocess=("unit-norm", "zscore"), kernel=RBF(gamma), C=10, split="given")
    before = begun.replace(preprocess=("zscore",), kernel=RBF(2.0))
    errors = [executed(recipe).result["errors"] for recipe in (before, begun)]
    assert errors[1] < 10 < 30 < errors[0]


def test_photographs_lose_brightness_and_contrast_first_strokes_do_not():
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    photos = catalogue.draft("photos", Arrays.unsplit(rng.integers(90, 200, (60, 8, 8), dtype=np.uint8), y))
    strokes = catalogue.draft("strokes", Arrays.unsplit(np.uint8(255 * (rng.random((60, 8, 8)) < 0.1)), y))
    rows = catalogue.draft("rows", Arrays.unsplit(rng.random((60, 3)).astype(np.float32), y))
    assert [usual_steps(one) for one in (photos, strokes, rows)] == [
        ("standardise", "unit-norm"), ("unit-norm",), ("zscore",),
    ]  # fmt: skip


def kept_table(scale):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(60, 3)) * [1, scale, 0]).astype(np.float32)
    X[0] = [1, scale, 0]
    return catalogue.keep("mine", Arrays.unsplit(X, np.arange(60) % 2), ["age", "money", "same"], replace=True)


def test_columns_of_unlike_scale_are_said_and_put_on_one_by_a_click(home):
    finished(Recipe(dataset="toy-moons", preprocess=()))
    kept_table(3)
    assert unlike(catalogue.load("own:mine")) is None
    assert not open_page("train", dataset="own:mine", preprocess="", kernel="rbf:gamma=2", C="3").warning
    kept_table(1000)
    wide, most, narrow, least = unlike(catalogue.load("own:mine"))
    assert (wide, narrow) == ("money", "age")
    assert most > 900 * least
    app = open_page("train", dataset="own:mine", preprocess="", kernel="rbf:gamma=2", C="3")
    assert "Column *money* has a range of" in app.warning[0].value
    app.button(key="recipe_scale").click().run()
    assert not app.exception
    assert not app.warning
    assert app.session_state["recipe_preprocess"] == ["zscore"]
    assert app.session_state["recipe_rbf_gamma"] == usual_gamma(catalogue.load("own:mine"), ("zscore",))
    assert unlike(catalogue.load("digits-8x8")) is None
    assert not open_page("train", dataset="own:mine").warning
