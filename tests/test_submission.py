"""What a new run may not ask for: figures that would not be what they are called."""

import pytest

from svmcore.lab import jobs
from svmcore.lab.fields import RecipeError
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs

DIGITS = Recipe(dataset="digits-8x8", n_train=60, bounds=True)
SPLITS = Recipe(task="detect", dataset="venus-like")  # synthetic, in four splits


@pytest.mark.parametrize(
    "recipe",
    [
        DIGITS.replace(method="tangent", jitters="box:1"),
        DIGITS.replace(method="tangent", jitters="box:1", space="feature"),
        DIGITS.replace(method="jsv", jitters="box:1", positive=20),
    ],
    ids=["tangents in pixels", "tangents in feature space", "positive part"],
)
def test_bounds_are_refused_where_leaving_an_example_out_would_change_the_kernel(recipe):
    before = len(runs.newest_first())
    with pytest.raises(RecipeError, match=r"^bounds = True; allowed: false, because the kernel is learned"):
        jobs.submit(recipe)
    assert len(runs.newest_first()) == before


def test_windows_of_other_pictures_train_no_detector_that_is_tested_on_several_splits():
    recipe = SPLITS.replace(finder="scan", windows="own:marked")
    with pytest.raises(RecipeError, match=r"^windows = 'own:marked'; allowed: none if an experiment has several"):
        jobs.submit(recipe)
