"""Osuna's study: its recipes, the points that stored runs give, the command line, and the page, empty and done."""

import json

import numpy as np
import pytest

from pages.ui.figures import scaling as figures
from svmcore import RBF, Poly
from svmcore import __main__ as cli
from svmcore.lab.analyses.scaling import ScalingPoint, exponent, point, points, text
from svmcore.lab.presets import RECIPES, osuna
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.solvers import SOLVERS, svc
from svmcore.lab.store import runs
from svmcore.solvers.decomposition import Decomposition
from tests.driven import captions, finish_all, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

SECONDS = 120
BASE = Recipe(dataset="digits-8x8", classes=(8,), n_test=100, kernel=RBF(1.0), C=5.0, solver="decomposition").replace(
    new_points=10
)
GROWTH = tuple(
    BASE.replace(name=f"small-n{n}-b{B}", n_train=n, working_set=B, lookahead=40)
    for B in (200, 150)
    for n in (300, 600)
)
SMALL = osuna.Study(
    growth=GROWTH,
    sets=tuple(
        BASE.replace(name=f"small-b{B}-look{look}", n_train=600, working_set=B, lookahead=look)
        for look in (20, 400)
        for B in (150, 300)
    ),
    dimensions=(
        BASE.replace(name="small-crop", n_train=600, working_set=300, lookahead=40, preprocess=("crop:1", "unit-norm")),
        GROWTH[-1],  # the whole pictures
    ),
    stand_in=True,
)


@pytest.fixture
def small_study(monkeypatch):
    """A study of a few seconds in the place of Osuna's."""
    monkeypatch.setattr(osuna, "study", lambda: SMALL)
    for recipe in SMALL.recipes:
        monkeypatch.setitem(RECIPES, recipe.name, recipe)
    return SMALL


def test_settings_travel_from_the_recipe_to_the_solver():
    assert SOLVERS["decomposition"].argument(Recipe(solver="decomposition")) == "decomposition"
    recipe = RECIPES["osuna-scaling"]
    assert SOLVERS["decomposition"].argument(recipe) == Decomposition(2000, new_points=200, lookahead=1000)
    changed = recipe.with_texts({"choice": "first-found", "keep_exited": "true", "working_set": "none"})
    assert SOLVERS["decomposition"].argument(changed) == Decomposition(
        new_points=200, lookahead=1000, choice="first-found", keep_exited=True
    )
    assert Recipe().with_texts(changed.to_query()) == changed.replace(name="osuna-scaling", title=changed.title)
    assert recipe.replace(solver="auto").options == {}


@pytest.mark.parametrize(
    ("field", "value"), [("working_set", 1), ("lookahead", 0), ("choice", "best"), ("new_points", 1.5)]
)
def test_a_recipe_names_the_setting_that_cannot_be(field, value):
    with pytest.raises(RecipeError, match=f"{field} = ") as error:
        RECIPES["osuna-scaling"].replace(**{field: value})
    assert error.value.field == field


def test_the_study_has_every_size_that_was_asked_for():
    study = osuna.Study(osuna.GROWTH, osuna.SETS, osuna.DIMENSIONS, False)
    assert {r.n_train for r in study.growth} == {2000, 5000, 10_000, 20_000, 50_000}
    assert len({(r.option("working_set"), r.option("lookahead")) for r in study.sets}) == 10
    assert all(r.solver == "decomposition" for r in study.recipes)
    assert all(r.C == 200 and r.kernel == Poly(2, 1.0, 1.0) for r in (*study.growth, *study.sets))
    assert len({(r.n_train, r.C, r.kernel) for r in study.dimensions}) == 1 < len(study.dimensions) == 4
    assert len({r.digest() for r in study.recipes}) == len(study.recipes) == 29
    assert all(RECIPES[r.name] == r for r in study.recipes)


def test_without_faces_the_study_is_a_stand_in_that_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("SVMLAB_DATA", "")
    monkeypatch.setenv("SVMLAB_HOME", str(tmp_path))
    study = osuna.study()
    assert study.stand_in
    assert all("tand-in" in r.title for r in (*study.growth, *study.sets))
    assert all(r.dataset == "mnist-5k" for r in study.recipes)


def test_exponent_is_the_slope_of_the_logarithms():
    xs = np.array([1.0, 2, 5, 10])
    assert exponent(xs, 3 * xs**1.7) == pytest.approx(1.7)
    assert exponent([2], [3]) is None
    assert exponent([1, 2], [0, 1]) is None


def test_the_command_line_runs_what_is_missing_and_gives_the_points(small_study, capsys):
    assert cli.main(["run", "osuna-scaling", "--json"]) == 0
    points = [ScalingPoint(**one) for one in json.loads(capsys.readouterr().out.strip().splitlines()[-1])]
    assert len(points) == len(small_study.recipes)
    before = len(runs.everything())
    assert cli.main(["run", "osuna-scaling"]) == 0
    assert len(runs.everything()) == before
    assert capsys.readouterr().out.count("small-") == len(points)
    assert all(p.converged and p.rounds > 1 and 0 < p.examples_mb < p.peak_mb for p in points)
    assert [p.recipe for p in points] == [recipe.name for recipe in small_study.recipes]
    same = {p.dual for p in points if p.n == 600 and p.recipe != "small-crop"}
    assert max(same) - min(same) < 1e-5 * max(same)
    kept = runs.get(points[0].run).result["trace"]
    lengths = {len(column) for column in kept["columns"].values()}
    assert lengths == {kept["rounds"]}
    assert kept["columns"]["number"] == list(range(1, kept["rounds"] + 1))
    assert sum(kept["columns"]["entered"]) == kept["entered"]
    assert sum(times * (i + 1) for i, times in enumerate(kept["times"])) == kept["entered"]


def test_a_run_that_keeps_no_trace_is_no_point():
    run_id = finished(BASE.replace(n_train=100, solver="auto")).id
    assert point(runs.get(run_id)) is None
    assert point(None) is None
    assert points([runs.get(run_id)]) == []
    assert len(text([]).splitlines()) == 1


def made(n=100, B=50, lookahead=10, d=4, **changes):
    values = {"seconds": n / 100, "n_sv": 30, "rounds": 5, "priced": 10, "entered": 5, "again": 1}
    values |= {"peak_mb": 9.0, "examples_mb": 1.0, "gap": 1e-4, "dual": 3.0, "converged": True}
    return ScalingPoint("run", "recipe", n, d, B, lookahead, **values | changes)


def test_figures_draw_a_line_for_each_setting_with_words():
    lines = {"|B| = 50": [made(100), made(400)], "|B| = 90": [made(100, 90), made(400, 90)]}
    figure = figures.time_against_n(lines)
    assert list(figure.data[0].x) == [100, 400]
    assert "1.00 for |B| = 50" in figure.layout.meta["see"]
    memory = figures.memory_against_n(lines)
    assert list(memory.data[0].y) == [8.0, 8.0]
    assert memory.data[-1].y[-1] == pytest.approx(4 * 400**2 / 2**20)
    sets = figures.time_against_set({"lookahead 10": [made(B=20), made(B=60, seconds=0.2)]}, 100)
    assert "Fastest: |B| = 60" in sets.layout.meta["see"]
    wide = figures.time_against_d([made(d=10, seconds=1.0), made(d=1000, seconds=10.0)])
    assert "d to the power 0.50" in wide.layout.meta["see"]
    columns = {"number": [1, 2, 3], "entered": [50, 4, 6], "left": [0, 4, 6], "again": [0, 0, 2]}
    moves = figures.comings_and_goings(columns)
    assert [list(line.y) for line in moves.data] == [[0, 4, 10], [0, 0, 2], [0, -4, -10]]
    assert all(f.layout.meta["alt"] for f in (figure, memory, sets, wide, moves))


def test_the_page_is_empty_then_starts_the_runs_and_shows_them(small_study):
    for run in runs.everything():
        if run.recipe.name.startswith("small-"):
            run.delete()
    app = open_page("scaling")
    assert "0 of 9 runs are stored; 9 runs to train, about" in captions(app)
    assert "one digit against the rest instead" in captions(app)
    app.button(key="queue_scaling").click().run()
    finish_all()
    app.run()
    assert not app.exception
    assert "9 of 9 runs are stored." in captions(app)
    assert [heading.value for heading in app.subheader] == [
        "Examples that enter and leave the working set", "Osuna's observations and ours",
    ]  # fmt: skip
    assert len(app.get("plotly_chart")) == 8
    assert "missing in our copy" in captions(app)
    assert len(app.dataframe[0].value) == 9


def test_the_settings_are_widgets_and_reach_the_estimator():
    app = open_page("train", dataset="digits-8x8", solver="decomposition", working_set="120", choice="first-found")
    assert app.number_input(key="recipe_decomposition_working_set").value == 120
    assert app.selectbox(key="recipe_decomposition_choice").value == "first-found"
    assert not app.checkbox(key="recipe_decomposition_keep_exited").value
    recipe = Recipe(dataset="digits-8x8", solver="decomposition").replace(working_set=120)

    class Problem:
        y_train, kernel = np.array([0, 1]), RBF(1.0)

    assert svc(recipe, Problem).solver == Decomposition(120)
