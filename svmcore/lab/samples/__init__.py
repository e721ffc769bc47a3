"""Finished runs that come with the code, so that a page has something to show before its reader has trained anything.

    STUDIES     what is shown -> the recipes of its runs, in order
    of(name)    -> these runs, read-only, as they lie beside this file

They stand in no list of runs; `runs.get` opens one by its id. All are of data that every machine has: the 8x8 digits
that come with scikit-learn, and pictures made here. `python -m tests.bench.samples` makes them anew.
"""

from __future__ import annotations

from svmcore.kernels import RBF
from svmcore.lab.experiment.sweep import Sweep
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.recipes import RECIPES
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.methods.reduced import reduction_of
from svmcore.lab.store import folders
from svmcore.lab.store.runs import Run

_DIGITS = RECIPES["digits-8x8-sv"].replace(
    name="custom", n_train=200, n_test=250, title="8x8 digits, 200: support vectors"
)
_PAIR = _DIGITS.replace(n_train=100, classes=(3, 8))

SWEEP = Sweep(_DIGITS.replace(folds=5, title=""), "C", ("0.02", "0.1", "0.5", "2", "10"))
METHODS_OF_A_PAIR = {
    caption: _PAIR.replace(method=name, jitters="plus:1", title=f"3 against 8: {caption}")
    for name, method in METHODS.items()
    if "classify" in method.tasks
    for caption, options in method.variants.items()
    if not options
}
SCRAMBLED = (
    _DIGITS,
    _DIGITS.replace(kernel=RBF(2.0), title="8x8 digits, 200: Gaussian machines"),
    _DIGITS.replace(method="vsv", jitters="plus:1", title="8x8 digits, 200: virtual support vectors"),
)


def scrambled(recipe: Recipe, title: str, seed: int) -> Recipe:
    """The same experiment on pictures whose pixels are all in one random order."""
    steps = (f"scramble:{seed}", *recipe.preprocess)
    return recipe.replace(preprocess=steps, name="custom", title=f"{title[:100]}, scrambled")


STUDIES: dict[str, tuple[Recipe, ...]] = {
    "sweep": tuple(SWEEP.recipes().values()),
    "methods": tuple(METHODS_OF_A_PAIR.values()),
    "scramble": (*SCRAMBLED, *(scrambled(recipe, recipe.title, 0) for recipe in SCRAMBLED)),
    "reduction": (_DIGITS, reduction_of(_DIGITS).replace(title="8x8 digits, 200: a tenth of the vectors")),
    "detect": (
        RECIPES["volcano-synthetic"].with_texts(
            {"miss_rate": "0.2", "strongest": "true", "chip": "11", "preprocess": "crop:1,standardise,unit-norm"}
        ),
    ),
}


def of(name: str) -> list[Run]:
    """The runs of a study, in the order of its recipes; none where one of them is missing or damaged."""
    paths = sorted(folders.SAMPLES.iterdir()) if folders.SAMPLES.is_dir() else []
    lying = {run.recipe.digest(): run for path in paths if not (run := Run(path.name, path)).damage}
    found = [lying.get(recipe.digest()) for recipe in STUDIES[name]]
    return found if all(found) else []
