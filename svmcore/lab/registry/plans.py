"""What a recipe's method makes of a problem of some size, with all that its task, solver and jitters say of it."""

from functools import lru_cache
from math import inf

from svmcore.jitter import JitterSet
from svmcore.lab.registry.costs import STEADY, Plan, Sizes
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.solvers import SOLVERS
from svmcore.lab.registry.tasks import task_of


def plans(recipe, size: Sizes) -> tuple[Plan, list[Plan]]:
    """That of the first training, and those of each that follows: folds, parts."""
    method, task = METHODS[recipe.method], task_of(recipe)
    how = {
        "solver": recipe.solver,
        "working_set": recipe.options.get("working_set"),
        "settings": SOLVERS[recipe.solver].settings(recipe),
        "filled": method.filled(recipe),
        "real": _real(tuple(recipe.preprocess), recipe.jitters if method.uses_jitters else "none"),
        "bounds": recipe.bounds,
        "beside": task.beside(recipe),
    }
    whole, *others = (method.plan(recipe, n)._replace(**how) for n in (size, *task.others(recipe, size)))
    hardest = method.plan(recipe, size._replace(hardness=inf))
    return whole._replace(most=max(size.n_train, *(stage.n for stage in hardest.stages))), others


@lru_cache(maxsize=256)
def _real(steps: tuple[str, ...], jitters: str) -> bool:
    """Whether steps or jitters make other than whole numbers of pixels."""
    return not set(steps) <= STEADY or JitterSet.parse(jitters).offsets is None
