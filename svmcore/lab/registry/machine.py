"""The SVC that a recipe asks for, on the examples of a problem."""

import numpy as np

from svmcore.lab.registry.fields import RecipeError, check_weights
from svmcore.lab.registry.solvers import SOLVERS
from svmcore.nu import SOLVERS as NU_SOLVERS
from svmcore.nu import NuSVC
from svmcore.svc import SVC


def svc(recipe, problem) -> SVC:
    """The unfitted estimator. RecipeError for weights of classes that the problem does not have."""
    return SVC(C=recipe.C, loss=recipe.options.get("loss", "hinge"), **_settings(recipe, problem))


def nu_svc(recipe, problem, nu: float) -> NuSVC:
    """The same in the nu formulation. RecipeError also for a solver that it does not have."""
    if recipe.solver not in NU_SOLVERS:
        raise RecipeError("solver", recipe.solver, f"{', '.join(NU_SOLVERS)} for nu-SVC")
    return NuSVC(nu=nu, **_settings(recipe, problem))


def _settings(recipe, problem) -> dict:
    weight = recipe.class_weight
    if isinstance(weight, dict):
        labels = {str(label): label for label in np.unique(problem.y_train).tolist()}
        check_weights(weight, labels)
        weight = {labels[name]: w for name, w in weight.items()}
    return {
        "kernel": problem.kernel,
        "class_weight": weight,
        "tol": recipe.tol,
        "cache_mb": recipe.cache_mb,
        "solver": SOLVERS[recipe.solver].argument(recipe),
        "random_state": recipe.seed,
    }


def train_svc(recipe, problem, monitor) -> SVC:
    """One SVC on the problem's examples, with the problem's kernel and, where it has one, its Gram source."""
    examples = problem.X_train, problem.y_train, problem.weight
    return svc(recipe, problem).fit(*examples, monitor=monitor, source=problem.source)


def share(recipe, problem):
    """The problem with a Gram source, so that fits which differ in C compute each kernel value once between them."""
    machines = len(np.unique(problem.y_train))
    source = svc(recipe, problem).shared_source(problem.X_train, 1 if machines == 2 else machines)
    return problem._replace(source=source)
