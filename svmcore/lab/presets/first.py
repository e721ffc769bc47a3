"""Recipes that take seconds: the preset, small digits and points of a plane."""

from svmcore.kernels import RBF, Poly
from svmcore.lab.recipe import Recipe

PRESET = "mnist-5k-sv"

_5K = Recipe(dataset="mnist-5k", n_train=4000, n_test=1000)
_TOY = Recipe(preprocess=(), kernel=RBF(2.0), C=1.0)

RECIPES = (
    _5K.replace(name=PRESET, title="MNIST, 5000 digits: ten machines of degree 9"),
    _5K.replace(
        name="mnist-5k-vsv", title="MNIST, 5000 digits: virtual support vectors", method="vsv", jitters="box:1"
    ),
    _5K.replace(name="mnist-5k-rbf", title="MNIST, 5000 digits: ten Gaussian machines", kernel=RBF(2.0)),
    _5K.replace(
        name="mnist-5k-gradients",
        title="MNIST, 5000 digits: histograms of gradient directions",
        kernel=RBF(2.0),
        C=10.0,
        preprocess=("gradients:7", "unit-norm"),
    ),
    _5K.replace(name="mnist-5k-8-vs-rest", title="MNIST, 5000 digits: 8 against the rest", classes=(8,)),
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
