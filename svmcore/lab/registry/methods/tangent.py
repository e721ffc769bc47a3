"""tangent: train with a kernel that whitens the directions in which jitters move the examples."""

from __future__ import annotations

import numpy as np

from svmcore.jitter import JitterSet
from svmcore.kernels import Kernel
from svmcore.lab.registry.costs import Work
from svmcore.lab.registry.fields import Field, choice, numeric
from svmcore.lab.registry.method import Method, some
from svmcore.methods.tangent import TangentFeature, TangentWhitened

LAMBDA = 0.03  # found on a validation part, see methods/tangent.py
SPACES = {"input": "Pixels", "feature": "The kernel's feature space"}
FAMILIES = {"input": TangentWhitened, "feature": TangentFeature}
TANGENTS = {"input": 20_000, "feature": 1_000}  # that a covariance is found from


class Tangent(Method):
    """Kernels made invariant by whitening tangents, in pixels or in the kernel's feature space."""

    name = "tangent"
    title = "Kernel that whitens tangents"
    short = "Tangents"
    help = "The kernel counts moves along the jitters' tangents for less."
    source = "DeCoste and Schoelkopf, Machine Learning 46 (2002), section 3.1"
    uses_jitters = needs_images = repeats = True
    fields = (
        Field(
            "lam",
            numeric(0, 1),
            LAMBDA,
            "lambda",
            "1 is the plain kernel; towards 0 a move along a tangent counts ever less "
            "(DeCoste and Schoelkopf 2002, section 3.1).",
            step=0.01,
        ),
        Field(
            "space",
            choice(SPACES, str),
            "input",
            "Whitened in",
            "Where the tangents are looked at (DeCoste and Schoelkopf 2002, section 3.1).",
        ),
    )

    @property
    def variants(self) -> dict[str, dict]:
        return {"Tangents, in pixels": {}, "Tangents, in feature space": {"space": "feature"}}

    def kernel(self, recipe, X: np.ndarray, image_shape) -> Kernel:
        space = recipe.option("space")
        seen = some(recipe, X, TANGENTS[space] // len(JitterSet.parse(recipe.jitters)))
        return FAMILIES[space].fit(recipe.kernel, seen, recipe.jitters, recipe.option("lam"), image_shape)

    def work(self, recipe) -> Work:
        value = (1 if recipe.option("space") == "input" else 2) * recipe.kernel.work
        return Work(value, value)

    def filled(self, recipe) -> bool:
        return hasattr(FAMILIES[recipe.option("space")], "fill")
