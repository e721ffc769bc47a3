"""The usual recipes of Compare methods and of Scramble the pixels, which cards, lessons and samples use, too.

With 3 against 8 of MNIST and 400 examples those of a pair are the recipes of Table 10 of DeCoste and Schölkopf (2002).
"""

from data import catalogue
from pages.ui.recipe import data_set
from svmcore.lab.methods import METHODS
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.methods.local import LocalPoly

_FEWER = RECIPES["mnist-5k-sv"].replace(n_train=1500, name="custom")
TO_SCRAMBLE = (
    RECIPES["mnist-5k-sv"],
    RECIPES["mnist-5k-rbf"],
    RECIPES["mnist-5k-vsv"],
    _FEWER.replace(kernel=LocalPoly((28, 28), 2, 2, 9), C=10.0, title="MNIST, 1500 digits: local kernel"),
    _FEWER.replace(method="jsv", jitters="box:1", title="MNIST, 1500 digits: jittering kernel"),
)


def scrambled(recipe: Recipe, title: str, seed: int) -> Recipe:
    """The same experiment on pictures whose pixels are all in one random order."""
    steps = (f"scramble:{seed}", *recipe.preprocess)
    return recipe.replace(preprocess=steps, name="custom", title=f"{title[:100]}, scrambled")


def contenders() -> dict[str, dict]:
    """What to call each machine that is compared -> what its recipe asks for beside the examples."""
    return {
        caption: {"method": name, **options}
        for name, method in METHODS.items()
        if "classify" in method.tasks
        for caption, options in method.variants.items()
    }


def of_pair(dataset: str, pair, n_train: int = 400, jitters: str = "box:1", deslant: bool = False) -> dict[str, Recipe]:
    """A recipe for each method. pair: the texts of two classes."""
    entry = catalogue.entry(dataset)
    classes = tuple(label for label in entry.classes if str(label) in pair)
    steps = ("deslant", "unit-norm") if deslant else ("unit-norm",)
    split = "first-of-each" if entry.n_test else "stratified"
    base = data_set.suggestion(dataset).replace(
        n_train=n_train, n_test=None, split=split, classes=classes, preprocess=steps, name="custom"
    )
    against = " against ".join(map(str, classes))
    return {
        title: base.replace(**asked, jitters=jitters, options={}, title=f"{against}, {n_train} examples: {title}")
        for title, asked in contenders().items()
    }
