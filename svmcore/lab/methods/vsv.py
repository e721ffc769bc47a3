"""vsv: train again on transformed copies of the support vectors."""

from functools import lru_cache
from typing import ClassVar

from svmcore.allowed import count, several, text
from svmcore.gram.orbit import relative
from svmcore.jitter import JitterSet
from svmcore.kernels import kernel_from_dict
from svmcore.lab.costs import RATE, Sizes, Stage, distinct, vectors_of_each
from svmcore.lab.fields import DESCRIBED, Field, RecipeError, choice, numeric
from svmcore.lab.method import Method, steps_after_jitter
from svmcore.lab.solvers import svc
from svmcore.methods.virtual import VirtualSVC
from svmcore.methods.virtual.estimator import DRAWN_BY
from svmcore.preprocess import parse_step

SCOPES = {
    "machine": "Each machine's own support vectors",
    "union": "The union of all machines' support vectors",
    "all": "All training examples",
    "positive": "Each machine's own support vectors, positive class only",
    "all-positive": "All training examples of each machine's positive class",
}


MAX_DRAWS = 100_000_000
KEPT, FEWER = 0.35, 0.8  # of what is drawn KEPT copies^FEWER is held in the end: the fewer learned, the more violate
DRAWN = {"hardness": 9.0, "rounds": 15.0}  # of their stage, read off runs of 4000 and of 60,000 digits
RANKED = {"margin": "Those with the smallest margin", "random": "Random ones"}


class VirtualSupportVectors(Method):
    """Virtual support vectors; its result says `jitters` (the set that machine.jitter counts in), `n_virtual` (size of
    each machine's virtual training set), and the first stage's n_sv, n_bound and n_union under `base`."""

    name = "vsv"
    title = "Virtual support vectors"
    short = "Virtual SV"
    help = "A second machine is trained on transformed copies of the first one's support vectors."
    source = "DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.2"
    uses_jitters = needs_images = takes_groups = splits = True
    unlike = "with other training examples, the second machine would be trained on other virtual examples"
    result_fields: ClassVar = {"n_virtual": several(count), "drawn": several(several(count, 5, 5)), "went_on": text}
    fields = (
        Field("scope", choice(SCOPES, str), "machine"),
        Field("rounds", numeric(1, 5, whole=True), 1),
        Field("second_kernel", DESCRIBED, None, shown=False),
        Field("second_C", numeric(0, 1e9), None),
        Field("copies", numeric(0, 1), 1.0, step=0.05),
        Field("ranked", choice(RANKED, str), "margin"),
        Field("draws", numeric(0, MAX_DRAWS, whole=True), 0),
        Field("first_solver", choice({"same": "The same", "auto": "Chosen by size"}, str), "same", shown=False),
    )

    def check(self, recipe) -> None:
        allowed = {"scope": ("union",), "rounds": (1,)}
        for name, values in allowed.items() if recipe.option("draws") else ():
            if recipe.option(name) not in values:
                raise RecipeError(name, recipe.option(name), f"{values[0]} if draws is above 0")
        if recipe.option("draws") and recipe.solver not in DRAWN_BY:
            raise RecipeError("solver", recipe.solver, f"{', '.join(DRAWN_BY)} if draws is above 0")
        if recipe.option("copies") < 1 and recipe.option("scope").startswith("all"):
            allowed = "1 if all examples are copied, because no first machine ranks the copies"
            raise RecipeError("copies", recipe.option("copies"), allowed)

    def train(self, recipe, problem, monitor):
        examples = problem.images, problem.y_train, problem.weight
        kept = {"groups": problem.groups, "checkpoint": problem.checkpoint}
        return self.machine(recipe, problem).fit(*examples, monitor=monitor, **kept)

    def machine(self, recipe, problem) -> VirtualSVC:
        """The unfitted estimator."""
        kernel, C = recipe.option("second_kernel"), recipe.option("second_C")
        first, second = svc(recipe, problem), None
        if kernel is not None or C is not None or recipe.option("first_solver") == "auto":
            second = svc(recipe, problem).set_params(
                kernel=problem.kernel if kernel is None else kernel_from_dict(kernel), C=recipe.C if C is None else C
            )
        if recipe.option("first_solver") == "auto":
            first.set_params(solver="auto")
        return VirtualSVC(
            first,
            jitters=recipe.drawn_jitters,
            image_shape=problem.images_shape,
            prepare=problem.last,
            scope=recipe.option("scope"),
            rounds=recipe.option("rounds"),
            second=second,
            keep=recipe.option("copies"),
            rank=recipe.option("ranked"),
            draws=recipe.option("draws"),
        )

    def figures(self, estimator) -> dict:
        found = {"jitters": str(estimator.jitters_), "n_virtual": estimator.n_virtual_.tolist()}
        if estimator.base_ is not None:
            base = estimator.base_.machine_
            counts = {"n_sv": base.n_sv.tolist(), "n_bound": base.bound.sum(axis=1).tolist()}
            found["base"] = counts | {"n_union": len(base.support)}
        drawn = {"drawn": estimator.drawn_.tolist()} if len(estimator.drawn_) else {}
        return found | drawn | ({"went_on": estimator.went_on_} if estimator.went_on_ else {})

    def words(self, result: dict) -> str:
        made_from = f", made from {result['base']['n_union']:,} support vectors" if "base" in result else ""
        drawn = f", selected from {result['drawn'][-1][0]:,} drawn copies" if "drawn" in result else ""
        broken_off = f"; {result['went_on']}" if "went_on" in result else ""
        return f"trained on up to {max(result['n_virtual']):,} virtual examples{drawn}{made_from}{broken_off}."

    def stages(self, recipe, size: Sizes) -> list[Stage]:
        k, scope, copies = size.machines, recipe.option("scope"), recipe.option("copies")
        solver = None if recipe.option("first_solver") == "same" else "auto"
        leaders = round(size.n_train / size.grouped)
        first = Stage(leaders, k, made=leaders, solver=solver)
        sets = [JitterSet.parse(recipe.jitters).power(r + 1) for r in range(recipe.option("rounds"))]
        if scope.startswith("all"):
            copied = size.positive if scope == "all-positive" else 1.0
            return [_stage((1 + (len(forms) - 1) * copied) * size.n_train, k) for forms in sets]
        own, union = (count(size, first) * size.grouped for count in (vectors_of_each, distinct))
        if draws := recipe.option("draws"):
            held = round(min(len(sets[0]) * union, union + KEPT * copies**FEWER * draws))
            return [first, Stage(held, k, made=2 * held, decided=draws, **DRAWN)]
        copied = size.positive if scope == "positive" else copies
        of_all = size.hardness * (size.n_train / (union if scope == "union" else own)) ** RATE  # copies of all examples
        if scope == "union":
            return [first, *(_stage(len(forms) * union, k, of_all) for forms in sets)]
        if copied < 1:
            counts = (round(own * (1 + (len(forms) - 1) * copied)) for forms in sets)
            return [first, *(Stage(n, 1, k, of_all, made=n) for n in counts)]
        steady = all(parse_step(step).step.steady for step in steps_after_jitter(recipe))
        shifted = steady and recipe.solver == "auto" and not hasattr(recipe.kernel, "fill")  # a Gram matrix by shift
        return [first, *(_of_each(own, k, of_all, forms, shifted) for forms in sets)]

    def held_rows(self, recipe, size: Sizes) -> float:
        """The images before normalisation."""
        return size.n_train


def _stage(n: float, k: int, hardness: float | None = None) -> Stage:
    return Stage(round(n), k, hardness=hardness, made=round(n))


def _of_each(own: float, k: int, hardness: float, forms: JitterSet, shifted: bool) -> Stage:
    """A stage in which each machine has the forms of its own examples; the largest counts for all, as it is solved
    beside the next one."""
    n = round(own * len(forms))
    made = (round(own), _blocks(str(forms))) if shifted else (n, 0)
    return Stage(n, 1, k, hardness, *made)


@lru_cache(maxsize=256)
def _blocks(jitters: str) -> int:
    """How many different relative shifts the forms of a set have."""
    factors = JitterSet.parse(jitters).factor()
    return len(relative(factors.index, factors.offsets)[0])
