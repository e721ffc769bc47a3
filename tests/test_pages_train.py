"""The Train and Runs pages and the frame around them, driven in process from app.py; charts need a browser."""

import time
from datetime import timedelta

import numpy as np
import pytest
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

import pages.ui.views  # noqa: F401  (makes them known)
from pages.ui import switch_off_page_discovery
from pages.ui.kit import view, words
from pages.ui.recipe import config
from pages.ui.run import watch
from svmcore.kernels import RBF, Linear, Poly, Sigmoid
from svmcore.lab import jobs
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs, titles
from tests.cases import all_cases
from tests.driven import SECONDS, whole_app  # noqa: F401  (a fixture for every test here)
from tests.trained import finished

TOY = Recipe(dataset="toy-moons", preprocess=(), kernel=RBF(2.0), C=1.0, title="Moons")


@pytest.fixture
def run(home):
    return finished(TOY)


def open_app(page="pages/train.py", **query):
    """The app after its first run, at a page and an address."""
    app = AppTest.from_file("../app.py", default_timeout=SECONDS)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    if page:
        for name, value in query.items():  # again: the first page takes what is its own out of the address
            app.query_params[name] = value
        app.switch_page(page).run()
    assert not app.exception
    return app


def wait_for(run_id, state):
    """Until the job says so; a job of these tests is in that state within seconds."""
    deadline = time.monotonic() + 60
    while jobs.status(run_id).state != state:
        assert time.monotonic() < deadline, jobs.status(run_id)
        time.sleep(0.02)


def texts(elements):
    return " ".join(e.value for e in elements).replace("\\", "")


def test_first_start_trains_the_preset(home):
    app = open_app()
    (run_id,) = jobs.active()
    assert runs.get(run_id).recipe == RECIPES[PRESET]
    assert app.query_params["run"] == run_id
    jobs.cancel(run_id)
    assert jobs.wait(run_id, 30).state == "cancelled"
    app.run()
    assert app.button(key="again")


@all_cases("name", [name for name, recipe in RECIPES.items() if view.form_of(recipe) == view.TRAIN])
def test_the_form_takes_every_recipe_whole_from_its_link(name):
    recipe = RECIPES[name]
    given = {key: [text] for key, text in config.link(recipe).items()}
    taken, wrong = config.read(given)
    assert not wrong
    assert taken.digest() == recipe.digest() or given.keys() == {"dataset"}  # that alone asks for what suits the data


def test_a_form_that_cannot_be_says_so_by_its_own_names_where_start_would_be(run):
    app = open_app("pages/train.py", method="vsv", jitters="random:24")
    app.number_input(key="recipe_vsv_draws").set_value(4000).run()
    (error,) = app.error
    said = "*Virtual examples from* is Each machine's own support vectors; allowed: The union of all machines' support"
    assert error.value.startswith(f"{said} vectors if draws")
    assert not [button for button in app.button if button.key == "start"]


def test_done_run_shows_its_errors_and_where_to_go_on(run):
    app = open_app()
    assert words.error_rate(run.result) in texts(app.markdown)
    assert app.session_state["run"] == run.id


def test_what_a_run_with_folds_holds_is_told_by_its_result(home):
    run = finished(TOY.replace(folds=3))
    shown = {metric.label: metric.value for metric in open_app(run=run.id).metric}
    assert float(shown["KKT gap"]) == pytest.approx(run.result["gap"], rel=0.1)
    assert run.progress()[-1]["n_sv"] != run.result["n_sv"][0]  # those of the folds
    assert (shown["Support vectors"], shown["Bounded (α = C)"]) == (
        str(run.result["n_sv"][0]),
        str(run.result["n_bound"][0]),
    )


def test_a_run_of_several_trainings_is_drawn(home):
    virtual = RECIPES["digits-8x8-sv"].replace(n_train=200, n_test=50, method="vsv", jitters="plus:1", title="Stages")
    run = finished(virtual)
    app = open_app()
    assert "10 of 10 machines have reached tol" in texts(app.caption)
    assert {line["stage"].split()[0] for line in run.progress()} == {"base", "virtual"}
    assert (np.diff([line["seconds"] for line in run.progress()]) >= 0).all()


def test_form_starts_a_run_and_shows_it(run):
    app = open_app()
    app.selectbox(key="recipe_dataset").select("toy-circles").run()
    app.number_input(key="recipe_C").set_value(3.0).run()
    app.button(key="start").click().run()
    new = app.session_state["run"]
    assert new != run.id
    assert jobs.wait(new, 60).state == "done"
    recipe = runs.get(new).recipe
    assert (recipe.dataset, recipe.C) == ("toy-circles", 3.0)
    assert recipe.kernel == RECIPES["circles"].kernel
    assert not app.run().exception


def test_what_was_started_has_the_page_until_another_run_is_wanted(run):
    app = open_app(dataset="toy-circles", C="3")
    app.button(key="start").click().run()
    assert not [b for b in app.button if b.key == "start"]
    assert "C" not in app.query_params
    assert jobs.wait(app.session_state["run"], 60).state == "done"
    app.button(key="new_run").click().run()
    assert app.number_input(key="recipe_C").value == 3
    assert app.query_params["C"] == "3"
    app.button(key="start").click().run()
    app.query_params["C"] = "5"  # as a link to a recipe does
    app.run()
    assert app.number_input(key="recipe_C").value == 5


def test_address_fills_the_form_and_the_form_the_address(run):
    app = open_app(dataset="digits-8x8", kernel="rbf:gamma=0.5", C="7", preprocess="unit-norm,standardise")
    assert app.number_input(key="recipe_C").value == 7
    assert app.number_input(key="recipe_rbf_gamma").value == 0.5
    assert app.multiselect(key="recipe_preprocess").value == ["unit-norm", "standardise"]
    app.number_input(key="recipe_C").set_value(9.0).run()
    assert app.query_params["C"] == "9"
    app.number_input(key="recipe_C").set_value(2.0).run()  # the default is not spelled out
    assert "C" not in app.query_params
    app.multiselect(key="recipe_preprocess").set_value([]).run()
    assert app.query_params["preprocess"] == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [("C", "-3"), ("tol", "abc"), ("kernel", "cubic"), ("dataset", "nowhere"), ("preprocess", "blurr")],
)
def test_bad_value_in_the_address_is_said(run, name, value):
    app = open_app(**{name: value})
    assert value in texts(app.warning)
    assert not app.button(key="start").disabled


def test_the_name_of_a_recipe_fills_the_form_and_fields_depart_from_it(run):
    wanted = RECIPES["mnist-5k-vsv"]
    app = open_app(recipe="mnist-5k-vsv", C="7")
    assert app.selectbox(key="recipe_method").value == wanted.method == "vsv"
    assert app.selectbox(key="recipe_jitters").value == wanted.jitters
    assert app.number_input(key="recipe_poly_degree").value == wanted.kernel.degree
    assert app.number_input(key="recipe_C").value == 7
    assert not app.warning
    assert "recipe" not in app.query_params  # the address spells what the form shows
    assert (app.query_params["method"], app.query_params["C"]) == ("vsv", "7")


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("mnist-5k-vsw", "mnist-5k-vsv, "),
        ("volcano-A", "any other; this one is on Detect"),
        ("<b>", "mnist-"),
    ],
)
def test_a_recipe_that_this_form_has_not_is_said(run, name, allowed):
    app = open_app(recipe=name)
    said = texts(app.warning).replace("\\", "")
    assert f"recipe={name} in the address; allowed: {allowed}" in said
    assert not app.button(key="start").disabled


def test_weights_of_classes_are_a_field(run):
    app = open_app(dataset="toy-circles", class_weight="-1:0.5,1:3")
    box = app.text_input(key="recipe_class_weight")
    assert box.value == "-1:0.5,1:3"
    box.set_value("10:2").run()
    assert "Class weights* is 10; allowed: the labels -1, 1" in texts(app.error)
    app.text_input(key="recipe_class_weight").set_value("heavy").run()
    assert "8:5,9:2" in texts(app.error)
    app.text_input(key="recipe_class_weight").set_value("balanced").run()
    assert (app.query_params["class_weight"], len(app.error)) == ("balanced", 0)
    app.text_input(key="recipe_class_weight").set_value("").run()
    assert "class_weight" not in app.query_params


def test_runs_of_one_name_and_minute_can_be_told_apart(run):
    finished(TOY)
    names = titles.of_runs(runs.newest_first())
    assert len(set(names.values())) == len(names) == 2
    assert list(names) == [r.id for r in runs.newest_first()]


def test_data_set_alone_in_the_address_brings_its_recipe(run):
    app = open_app(dataset="toy-banana")
    assert app.multiselect(key="recipe_preprocess").value == []
    assert not app.warning


def test_impossible_form_names_field_and_value(run):
    app = open_app()
    app.multiselect(key="recipe_preprocess").set_value(["smooth:99"]).run()
    assert "smooth:99" in texts(app.error)
    assert not [b for b in app.button if b.key == "start"]


def test_run_that_cannot_fit_is_refused_before_it_starts(run, monkeypatch):
    monkeypatch.setattr("svmcore.lab.forecast.free_mb", lambda: 10.0)
    app = open_app()
    assert app.button(key="start").disabled
    assert "MB" in texts(app.warning)


def test_data_set_that_is_not_at_hand_leads_to_its_fetch(run, monkeypatch):
    monkeypatch.setattr("data.entry.Entry.at_hand", property(lambda entry: entry.name != "mnist"))
    app = open_app(dataset="mnist")
    assert "not on this computer" in texts(app.warning)
    assert not [b for b in app.button if b.key == "start"]


def test_unknown_run_in_the_address_is_said(run):
    app = open_app(page=None, run="20200101-000000-000-abcdef")
    assert "20200101-000000-000-abcdef" in texts(app.warning)
    assert app.session_state["run"] == run.id


def test_paused_run_is_resumed_and_cancelled(run, monkeypatch):
    monkeypatch.setattr(watch, "YOUNG", timedelta(0))
    run_id = jobs.submit(RECIPES[PRESET].replace(slow_motion=True))
    jobs.pause(run_id)
    wait_for(run_id, "paused")
    app = open_app(run=run_id)
    app.button(key="pause").click().run()
    wait_for(run_id, "running")
    app.button(key="cancel").click().run()
    assert jobs.wait(run_id, 60).state == "cancelled"
    app.run()
    assert app.button(key="again")
    assert not app.exception


def test_runs_are_renamed_deleted_and_brought_back(run):
    app = open_app("pages/runs.py")
    app.text_input(key=f"title_{run.id}").set_value("My moons").run()
    assert runs.get(run.id).title == "My moons"
    app.button(key=f"delete_{run.id}").click().run()
    assert not runs.newest_first()
    assert any("No run yet" in one.value for one in app.markdown)
    app.button(key="undo").click().run()
    assert [r.id for r in runs.newest_first()] == [run.id]
    assert not app.exception


def test_two_runs_lead_to_the_page_that_compares_them(run):
    other = finished(TOY.replace(C=0.01))
    app = open_app("pages/runs.py", compare=[run.id, other.id])
    assert not app.exception
    assert set(app.query_params["compare"]) == {run.id, other.id}
    app.button(key="to_compare").click().run()
    assert not app.exception
    assert "McNemar" in texts(app.markdown)


def test_many_repeats_of_a_run_are_compared_as_one(run):
    again, other = [finished(TOY.replace(seed=seed)) for seed in range(1, 7)], finished(TOY.replace(C=0.01))
    app = open_app("pages/runs.py", compare=[run.id, *(one.id for one in again), other.id])
    assert app.button(key="to_compare").label == "Compare 2 runs, including their repeats"
    app.button(key="to_compare").click().run()
    assert set(app.query_params["compare"]) == {run.id, other.id}


@all_cases("recipe", RECIPES.values(), ids=RECIPES)
def test_link_is_the_recipe(recipe):
    assert Recipe().with_texts(config.link(recipe)).digest() == recipe.digest()


def test_link_cannot_make_the_page_fetch_a_picture(run):
    app = open_app(kernel="![x](http://example.com/x.png)", run="![y](http://example.com/y.png)")
    said = " ".join(w.value for w in app.warning)
    assert "example" in said
    assert "](" not in said


def test_streamlit_still_has_the_private_switch_of_its_page_discovery(monkeypatch):
    """When this fails, read `switch_off_page_discovery`: see whether a page opened first still needs it."""
    assert hasattr(PagesManager, "uses_pages_directory")
    monkeypatch.setattr(PagesManager, "uses_pages_directory", True)
    assert [switch_off_page_discovery(), switch_off_page_discovery()] == [True, False]
    monkeypatch.delattr(PagesManager, "uses_pages_directory")
    assert not switch_off_page_discovery()


def test_error_rate_in_words():
    result = {"errors": 12, "n_test": 1000, "error_rate": 0.012, "interval": [0.0069, 0.0208]}
    assert words.error_rate(result) == "12 of 1,000 wrong, 1.20 % (0.7–2.1)"


@all_cases(
    ("seconds", "said"), [(0.023, "23 ms"), (0.4, "0.4 s"), (12, "12 s"), (200, "3 min 20 s"), (3900, "1 h 05 min")]
)
def test_duration_in_words(seconds, said):
    assert words.duration(seconds) == said


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"n_train": 5000, "n_test": 10}, "C 1 · 4,990"),
        ({"n_train": 5000, "n_test": 10, "method": "vsv"}, "C 1 · vsv · box:1 · 4,990"),
        ({"n_train": 100}, "C 1 · 100"),
        ({"C": 1e-6}, "C 1e−06"),
    ],
)
def test_a_title_tells_how_many_train_and_small_numbers_with_a_true_minus(asked, said):
    assert titles.of_recipe(Recipe(dataset="mnist-5k", C=1.0).replace(**asked)).endswith(said)


@all_cases(
    ("kernel", "formula"),
    [
        (Linear(), r"$u \cdot v$"),
        (Poly(9, 1.0, 1.0), r"$\left(\frac{u \cdot v +1}{2}\right)^{9}$"),
        (Poly(3, 0.5, 0.0, normalised=False), r"$\left(0.5\, u \cdot v\right)^{3}$"),
        (RBF(0.02), r"$\exp(-0.02\,\|u - v\|^2)$"),
        (RBF(2e-6), r"$\exp(-2 \cdot 10^{-6}\,\|u - v\|^2)$"),
        (Sigmoid(1.0, -1.0), r"$\tanh(u \cdot v -1)$"),
    ],
)
def test_kernel_as_a_formula(kernel, formula):
    assert f"${kernel.formula}$" == formula


def test_a_set_of_a_family_keeps_the_amount_that_the_address_names(run):
    app = open_app(dataset="squares:0.35", kernel="linear", preprocess="")
    assert app.selectbox(key="recipe_dataset").value == "squares:0.35"
    app = open_app(dataset="squares:7")
    assert "an overlap from 0 to 1" in app.warning[0].value


def test_an_address_that_changes_a_recipe_is_not_called_after_it(home):
    usual = RECIPES["digits-8x8-sv"]
    same, _ = config.read({"recipe": [usual.name]})
    assert same == usual
    other, wrong = config.read({"recipe": [usual.name], "dataset": ["mnist-5k"], "C": ["7"]})
    assert not wrong
    assert (other.name, other.dataset, other.C) == ("custom", "mnist-5k", 7.0)
    assert "8x8" not in other.title
    assert "MNIST" in other.title
    back, _ = config.read({"recipe": [usual.name], "C": [str(usual.C)]})
    assert back.title == usual.title
