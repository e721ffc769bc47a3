"""tangent: train with a kernel that whitens the directions in which jitters move the examples."""

from typing import ClassVar

import numpy as np

from svmcore.allowed import amount, several
from svmcore.jitter import JitterSet
from svmcore.kernels import Kernel
from svmcore.lab.costs import Sizes, Work
from svmcore.lab.fields import Field, choice, numeric
from svmcore.lab.method import Method, some
from svmcore.methods.tangent import TangentFeature, TangentWhitened, regulariser

LAMBDA = 0.03  # found on a validation part, see methods/tangent.py
SPACES = {"input": "Pixels", "feature": "The kernel's feature space"}
FAMILIES = {"input": TangentWhitened, "feature": TangentFeature}
TANGENTS = {"input": 20_000, "feature": 1_000}  # that a covariance is found from
SCALES = {"largest": "Scaled to a largest eigenvalue of 1", "paper": "Not scaled"}
JUDGED = 2_000  # tangents that the regulariser is found from


class Tangent(Method):
    """Kernels with whitened tangents, in input or feature space; its result says `regulariser`, equation (2)."""

    name = "tangent"
    title = "Kernel that whitens tangents"
    short = "Tangents"
    help = "The kernel gives less weight to changes along the tangents of the jitters."
    source = "DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.1"
    unlike = "its kernel was learned from all training examples, including the excluded ones"
    bounded = uses_jitters = needs_images = repeats = True
    result_fields: ClassVar = {"regulariser": several(amount)}
    fields = (
        Field("lam", numeric(0, 1), LAMBDA, step=0.01),
        Field("space", choice(SPACES, str), "input"),
        Field("lam_scale", choice(SCALES, str), "largest"),
    )

    @property
    def variants(self) -> dict[str, dict]:
        return {"Tangents, in pixels": {}, "Tangents, in feature space": {"space": "feature"}}

    def learns_kernel(self, recipe) -> bool:
        return True

    def kernel(self, recipe, X: np.ndarray, image_shape) -> Kernel:
        space = recipe.option("space")
        seen = some(recipe, X, TANGENTS[space] // len(JitterSet.parse(recipe.jitters)))
        scaled = recipe.option("lam_scale") == "largest"
        return FAMILIES[space].fit(recipe.kernel, seen, recipe.drawn_jitters, recipe.option("lam"), image_shape, scaled)

    def train(self, recipe, problem, monitor):
        estimator = super().train(recipe, problem, monitor)
        seen = some(recipe, problem.X_train, JUDGED // len(JitterSet.parse(recipe.jitters)))
        decide = estimator.machine_.decision_values
        estimator.regulariser_ = regulariser(decide, seen, recipe.drawn_jitters, problem.image_shape)
        return estimator

    def figures(self, estimator) -> dict:
        return {"regulariser": estimator.regulariser_.tolist()}

    def words(self, result: dict) -> str:
        if not (found := result.get("regulariser")):
            return ""
        return f"along a tangent, f changes by {np.sqrt(np.mean(found)):.2g} (root mean square)."

    def held_rows(self, recipe, size: Sizes) -> float:
        """The tangent covariance, its eigenvectors and the whitening matrix of pixels, in double precision."""
        return 3 * 8 / 4 * size.d if recipe.option("space") == "input" else 0.0

    def work(self, recipe) -> Work:
        value = (1 if recipe.option("space") == "input" else 2) * recipe.kernel.work
        return Work(value, value)

    def filled(self, recipe) -> bool:
        return hasattr(FAMILIES[recipe.option("space")], "fill")
