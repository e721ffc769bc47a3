"""Editing beside reducing: which runs the figure is of, and its lines."""

import pytest

from pages.paper import figures
from svmcore.lab.analyses.splits import machine_of
from tests.driven import open_page, whole_app  # noqa: F401  (a fixture for every test here)


@pytest.mark.parametrize("noise", figures.LEVELS)
def test_each_figure_has_the_plain_machine_and_what_makes_it_smaller(noise):
    recipes = figures.recipes_of_level(noise)
    reduced = [recipe for recipe in recipes if recipe.method == "reduced"]
    (plain,) = [recipe for recipe in recipes if machine_of(recipe) == "plain" and recipe not in reduced]
    assert len(reduced) == len(figures.xtrain.REDUCED_TO)
    assert {recipe.origin.digest() for recipe in reduced} == {plain.digest()}
    assert {recipe.option("noise") for recipe in recipes} == {noise}


def test_a_line_goes_by_the_vectors_and_the_reduced_one_ends_at_the_plain_machine():
    lines = figures.lines_by_vectors(
        {"plain": [(900, 1.0)], "reduced": [(200, 2.0), (50, 5.0)], "cross-trained": [(90, 1.5)]}
    )
    assert list(lines["reduced"].xs) == [50, 200, 900]
    assert list(lines["reduced"].ys) == [5.0, 2.0, 1.0]
    assert list(lines["cross-trained"].xs) == [90]


def test_the_figures_open_without_runs(home):
    app = open_page("paper", paper="bakir", show="kept")
    assert not app.exception
    assert app.button(key="queue_kept")
    assert not open_page("paper", paper="bakir", show="nearest").exception
