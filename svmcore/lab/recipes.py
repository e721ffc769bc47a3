"""The named recipes: experiments of the papers and first steps, ready to run from the app or by name.

Protocols: DeCoste and Schoelkopf, Machine Learning 46 (2002), section 5.1 (USPS) and section 5.2 (MNIST).
"""

from svmcore.kernels import RBF, Poly
from svmcore.lab.estimate import BudgetError, Estimate, estimate
from svmcore.lab.recipe import METHODS, SPLITS, Recipe, RecipeError

__all__ = ["METHODS", "PRESET", "RECIPES", "SPLITS", "BudgetError", "Estimate", "Recipe", "RecipeError", "estimate"]

PRESET = "mnist-5k-sv"

_MNIST = Recipe(dataset="mnist", split="given", preprocess=("unit-norm",), kernel=Poly(9, 1.0, 1.0), C=2.0)
_5K = _MNIST.replace(dataset="mnist-5k", split="stratified", n_train=4000, n_test=1000)
_TOY = Recipe(split="stratified", preprocess=(), kernel=RBF(2.0), C=1.0)

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        _5K.replace(name=PRESET, title="MNIST, 5000 digits: ten machines of degree 9"),
        _5K.replace(name="mnist-5k-rbf", title="MNIST, 5000 digits: ten Gaussian machines", kernel=RBF(2.0)),
        _5K.replace(name="mnist-5k-8-vs-rest", title="MNIST, 5000 digits: 8 against the rest", classes=(8,)),
        _MNIST.replace(name="mnist-sv", title="MNIST, all 60000: ten machines of degree 9 (Tables 4-6)"),
        _MNIST.replace(name="mnist-rbf", title="MNIST, all 60000: ten Gaussian machines", kernel=RBF(2.0)),
        _MNIST.replace(name="mnist-8-vs-rest", title="MNIST, all 60000: 8 against the rest", classes=(8,)),
        _MNIST.replace(name="mnist-degree5", title="MNIST, all 60000: degree 5", kernel=Poly(5, 1.0, 1.0)),
        Recipe(
            name="usps-sv",
            title="USPS: ten machines of degree 3 (Table 1)",
            dataset="usps",
            split="given",
            preprocess=("smooth:0.75", "unit-norm"),
            kernel=Poly(3, 1.0, 1.0),
            C=10.0,
        ),
        Recipe(
            name="digits-8x8-sv",
            title="8x8 digits: ten machines of degree 5",
            dataset="digits-8x8",
            n_train=1297,
            n_test=500,
            kernel=Poly(5, 1.0, 1.0),
        ),
        _TOY.replace(name="moons", title="Two moons", dataset="toy-moons"),
        _TOY.replace(name="circles", title="Two circles", dataset="toy-circles"),
        _TOY.replace(name="gaussians", title="Two overlapping Gaussians", dataset="toy-gaussians", kernel=RBF(0.5)),
        _TOY.replace(name="banana", title="Banana", dataset="toy-banana"),
    )
}
