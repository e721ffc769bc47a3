"""jsv: train with a kernel that compares two examples in the nearest of their forms. query-jitter: the plain machine,
each test example compared in the nearest of its forms."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from svmcore.allowed import an_object, finite, text
from svmcore.estimator import seed_of
from svmcore.kernels import Kernel
from svmcore.lab.costs import Plan, Sizes, Stage, Work, as_digits, distinct
from svmcore.lab.fields import Field, choice, numeric
from svmcore.lab.method import Method, jitters_on, makes_features_within, some, steps_after_jitter
from svmcore.lab.solvers import train_svc
from svmcore.methods.definite import PositivePart, examine
from svmcore.methods.jittering import Jittered, query_jittered

# Of a positive part found on m examples, beside a product of whole numbers of images, zeros counted
EIGEN = 30  # operations for each m^3 of the eigenvalues
NEGATIVE, REAL = 0.13, 6  # directions for each of the m, as digits have them; times that a feature of theirs takes
EXAMINED = 1000  # support vectors on which the kernel is examined: on 150 few are seen not to be definite
SIDES = {"one": "One of the two examples", "both": "Both examples"}


class JitteringKernel(Method):
    """The jittering kernel; its result says `kernel_check`, what `examine` finds on some of the support vectors."""

    name = "jsv"
    title = "Jittering kernel"
    short = "Jittering kernel"
    help = "The kernel compares two examples in their nearest jittered forms."
    source = "DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.3"
    unlike = (
        "each value of its jittered kernel is a search over the forms of two examples, which is too slow for all pairs"
    )
    bounded = uses_jitters = needs_images = repeats = True
    result_fields: ClassVar = {"kernel_check": an_object({"violations": finite, "warning": text})}
    fields = (
        Field("sides", choice(SIDES, str), "one"),
        Field("positive", numeric(2, 5000, whole=True), None),
    )

    def learns_kernel(self, recipe) -> bool:
        return recipe.option("positive") is not None

    def kernel(self, recipe, X: np.ndarray, image_shape) -> Kernel:
        jitters = jitters_on(X, recipe.drawn_jitters, image_shape)
        kernel = Jittered(recipe.kernel, jitters, image_shape, recipe.option("sides"), steps_after_jitter(recipe))
        n = recipe.option("positive")
        return PositivePart.fit(kernel, some(recipe, X, n)) if n else kernel

    def figures(self, estimator) -> dict:
        vectors = estimator.machine_.support_vectors
        if not len(vectors):
            return {}
        some_of = np.random.default_rng(seed_of(estimator.random_state)).permutation(len(vectors))[:EXAMINED]
        report = examine(estimator.kernel_, vectors[some_of])
        return {"kernel_check": report._asdict() | {"warning": report.warning}}

    def words(self, result: dict) -> str:
        if not (check := result.get("kernel_check")):
            return ""
        return (
            f"a sample of support vectors was checked: the kernel is {check['warning'] or 'positive definite on it'}; "
            f"the triangle inequality fails for {100 * check['violations']:.2f} % of their triples."
        )

    def plan(self, recipe, size: Sizes) -> Plan:
        """With a positive part each example is compared with those that it was found on, m, also a test example."""
        plan, m = super().plan(recipe, size), _positive(recipe, size)
        return plan._replace(vectors=distinct(size, plan.stages[-1]) + m) if m else plan

    def stages(self, recipe, size: Sizes) -> list[Stage]:
        """A positive part takes m^2 + m n kernel values beside those of the training, m eigenvalues, and with each
        kernel value the product of as many features as it has directions."""
        n, m, value = size.n_train, _positive(recipe, size), size.d * self.work(recipe).training
        values = m * (m + n) + EIGEN * m**3 / (2 * value)
        longer = 1 + NEGATIVE * m * REAL / value
        return [Stage(n, size.machines, rounds=longer + values / (as_digits(n) * n))]

    def work(self, recipe) -> Work:
        value = jittered_work(recipe, recipe.option("sides"))
        return Work(value, value)

    def filled(self, recipe) -> bool:
        return True


class QueryJitter(Method):
    """Trained like `sv`; only what it decides on is jittered."""

    name = "query-jitter"
    title = "Jittered test examples"
    short = "SV, query jitter"
    help = "Trains the plain machine. It compares each support vector with the nearest jittered form of a test example."
    source = "DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.3 and Table 10"
    tasks = ("classify",)
    unlike = "its test examples are predicted by a jittered kernel, in their nearest forms"
    uses_jitters = needs_images = repeats = of_forms = True

    def train(self, recipe, problem, monitor):
        estimator = train_svc(recipe, problem, monitor)
        machine, images, shape = estimator.machine_, problem.X_train, problem.image_shape
        if makes_features_within(recipe):
            images, shape = problem.images, problem.images_shape
            machine = replace(machine, support_vectors=images[machine.support])
        jitters = jitters_on(images, recipe.drawn_jitters, shape)
        estimator.machine_ = query_jittered(machine, jitters, shape, steps_after_jitter(recipe))
        return estimator

    def work(self, recipe) -> Work:
        return Work(recipe.kernel.work, jittered_work(recipe))


def _positive(recipe, size: Sizes) -> int:
    """How many examples the positive part is found on."""
    return min(recipe.option("positive") or 0, size.n_train)


def jittered_work(recipe, sides: str = "one") -> float:
    """Plain kernel values that one of the jittering kernel takes, on images whose background is 0."""
    jitters = jitters_on(np.zeros((1, 1), np.float32), recipe.jitters, (1, 1))
    return Jittered(recipe.kernel, jitters, (1, 1), sides).work
