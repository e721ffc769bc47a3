"""reduced: a machine's expansion by fewer vectors, tried at several sizes (lab/reducing.py).

Burges and Schölkopf (1997).
"""

import math
from typing import ClassVar

from svmcore.allowed import amount, an_object, count, finite, flag, one_of, optional, several, size
from svmcore.gram.products import LAYOUTS
from svmcore.lab.costs import Plan, Sizes, Work, distinct, vectors_of_each
from svmcore.lab.fields import FLAG, OPTIONS, Field, RecipeError, choice, numeric
from svmcore.lab.method import MADE_BY, Method
from svmcore.lab.reducing import TENTH, Reducing
from svmcore.methods.reduced.checks import memory, method_for
from svmcore.methods.reduced.estimator import path_of_answers
from svmcore.methods.reduced.stages import KEPT
from svmcore.preprocess import Preprocessor

WAYS = {
    "auto": "Chosen automatically, by the kernel, sharing, and the numbers of machines and examples",
    "exact": "Remove vectors that depend linearly on others",
    "quadratic": "Eigenvectors, for kernels of degree 2",
    "rho": "Nearest expansion in feature space",
    "one-by-one": "Nearest expansion, the paper's search: vectors one by one, then all together (conjugate gradients)",
    "fixed-point": "Nearest expansion, vectors one by one, by fixed-point iteration (Gaussian kernels)",
    "answers": "Classes of training examples, by gradient steps",
    "direct": "Lowest SVM objective on training examples, if they are a few thousand at most (Wu et al. 2006)",
}
STARTS = {
    "auto": "Chosen automatically",
    "k-means": "Centres of clusters of support vectors",
    "greedy": "One by one, the vector that lowers rho most",
    "weight": "Support vectors with the largest alphas",
    "random": "Random support vectors",
    "examples": "Random training examples, for gradient steps only",
}
TAUGHT = {
    "labels": "The label of each example",
    "machine": "The class that the machine predicts for the deformed example",
}
THRESHOLDS = {
    "train": "Chosen anew on training examples", "fewest": "With the fewest training errors, as published",
    "kept": "Those of the original machine",
}  # fmt: skip
POINT = several(optional(finite), 6, 6)  # of the curve, checked
FLOPS = 60e9  # rate of kernel products
IN_DOUBLE = 3 * 8  # bytes of a pixel of all examples, where images are deformed
MADE = 6e-5  # seconds that features of an image take
DEFORMING = 2.2e-5  # seconds that an image takes in an epoch, where images are deformed
# Kernel values of a vector and one of the machine's, an example of an epoch, or a feature, for all steps together:
ROUNDS = {
    "rho": 170,
    "one-by-one": 1000,
    "fixed-point": 700,
    "answers": 0.9,
    "direct": 300,
    "exact": 2,
    "quadratic": 10,
}


class Reduced(Method):
    """Fewer vectors for the machine of another method; its result says `reduction`."""

    name = "reduced"
    title = "Reduced set"
    short = "Reduced"
    help = "Approximates a trained machine with fewer vectors."
    source = "Burges and Schölkopf, NIPS 9 (1997)"
    made = False
    unlike = "its vectors were constructed and are not training examples"
    variants: ClassVar = {}  # it stands beside its machine, not beside methods
    fields = (
        Field("of", choice(MADE_BY, lambda method: method.title), "sv", shown=False),
        Field("of_options", OPTIONS, {}, shown=False),
        Field("n_vectors", numeric(1, 1_000_000, whole=True), None),
        Field("reduction", choice(WAYS, str), "auto"),
        Field("start", choice(STARTS, str), "auto"),
        Field("shared", FLAG, True),
        Field("thresholds", choice(THRESHOLDS, str), "train"),
        Field("epochs", numeric(1, 2000, whole=True), 320),
        Field("deformed", numeric(0, 5, closed=True), 1.2, step=0.5),
        Field("taught", choice(TAUGHT, str), "labels"),
        Field("sizes", numeric(1, 9, whole=True), 4),
        Field("allowed", numeric(0, 100, closed=True), None, step=0.05),
    )
    line_fields: ClassVar = {
        "path": several(POINT, 0), "n_vectors": size, "n_before": size, "aside": size, "unseen": count,
        "machine_errors": count,
    }  # fmt: skip
    result_fields: ClassVar = {
        "reduction": an_object(
            {
                "n_before": count, "n_after": count, "aside": count, "unseen": flag, "machine_errors": count,
                "path": several(POINT),
                "rho": several(optional(finite)), "rho_start": several(optional(finite)),
                "multiply_adds": several(amount, 2, 2), "shift": several(finite),
            },
            {
                "bias": several(finite), "take": several(amount, 2, 2),
                "products": several(one_of(("double", *LAYOUTS)), 2, 2),
            },
        )
    }  # fmt: skip

    def check(self, recipe) -> None:
        if recipe.folds is not None:
            raise RecipeError(
                "folds", recipe.folds, "none, because a reduction compares its sizes on held-out examples"
            )
        recipe.origin  # noqa: B018  a recipe that cannot be says so

    def origin(self, recipe):
        own = {field.name for field in self.fields}
        others = {name: value for name, value in recipe.options.items() if name not in own}
        options = others | recipe.option("of_options")
        title = f"The machine of {recipe.title or recipe.name}"[:120]
        return recipe.replace(name="custom", title=title, method=recipe.option("of"), options=options)

    def jitters(self, recipe) -> str:
        return MADE_BY[recipe.option("of")].jitters(recipe)

    def brief(self, recipe) -> str:
        return f"{self._size(recipe)} of {MADE_BY[recipe.option('of')].brief(recipe.origin) or 'sv'}"

    def summary(self, recipe) -> str:
        return " · ".join(filter(None, (MADE_BY[recipe.option("of")].summary(recipe.origin), self._size(recipe))))

    def _size(self, recipe) -> str:
        m = recipe.option("n_vectors")
        return "reduced to a tenth" if m is None else f"reduced to {m:,} vectors"

    def train(self, recipe, problem, monitor):
        return Reducing(recipe, problem, monitor).carried_out()

    def figures(self, estimator) -> dict:
        return {"reduction": estimator.report}

    def points(self, line: dict) -> int:
        return len(line.get("path", ()))

    def words(self, result: dict) -> str:
        if not (known := result.get("reduction")):
            return ""
        return f"{known['n_before']:,} vectors reduced to {known['n_after']:,}."

    def plan(self, recipe, size: Sizes) -> Plan:
        asked, k = recipe.option, size.machines
        stages = MADE_BY[asked("of")].stages(recipe.origin, size)
        own, whole = size.counted or (vectors_of_each(size, stages[-1]), distinct(size, stages[-1]))
        parts, n = (1, whole) if asked("shared") or k == 1 else (k, own)
        how = asked("reduction")
        how = method_for(recipe.kernel, k, asked("shared"), size.n_train) if how == "auto" else how
        m = n if how == "exact" else asked("n_vectors") or TENTH * n
        values = _kernel_values(how, recipe, parts * n, m, size)
        seconds, deformed = 2.0 * size.d * recipe.kernel.work * values / FLOPS, 0.0
        if how == "answers" and asked("deformed"):
            features = MADE if Preprocessor(*recipe.preprocess).makes_features else 0.0
            seconds += (DEFORMING + features) * asked("epochs") * size.n_train
            deformed = IN_DOUBLE * size.d * size.n_train
        sizes, counts = [math.ceil(n)] * parts, [math.ceil(m)] * parts
        held = memory(recipe.kernel, how, asked("start"), asked("shared"), sizes, counts, size.d, k)
        work = Work(recipe.kernel.work, recipe.kernel.work)
        least = 8.0 * size.d * whole + held + deformed
        return Plan(size, stages[:1], work, size.n_train, seconds=seconds, vectors=parts * m, least=least)


def _kernel_values(how: str, recipe, n: float, m: float, size: Sizes) -> float:
    """About how many a reduction of n support vectors to m takes, or what takes as long."""
    if how == "answers":
        steps = path_of_answers(m) if recipe.option("sizes") == 1 else recipe.option("sizes")
        path, whole, times = [m / 2**back for back in reversed(range(steps))], 0.0, 0
        for at, vectors in enumerate(path):
            times += at > 0 and path[at - 1] >= KEPT
            whole += vectors / max(1, 6 * times)  # Answers.further
        asked = n if recipe.option("taught") == "machine" else 0.0
        return recipe.option("epochs") * size.n_train * (ROUNDS[how] * whole + asked)
    return ROUNDS[how] * n * (size.d if how == "quadratic" else m * sum(0.5**i for i in range(recipe.option("sizes"))))


def reduction_of(recipe, **options):
    """The recipe that reduces the machine of a recipe. RecipeError for options that cannot be, and for a machine that
    is reduced already."""
    own = {field.name for field in MADE_BY[recipe.method].fields} if recipe.method in MADE_BY else set()
    of_options = {name: value for name, value in recipe.options.items() if name in own}
    others = {name: value for name, value in recipe.options.items() if name not in own}
    asked = others | {"of": recipe.method, "of_options": of_options} | options
    unlike = {"folds": None, "bounds": False, "slow_motion": False}
    return recipe.replace(name="custom", title="", method="reduced", options=asked, **unlike)
