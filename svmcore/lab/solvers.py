"""The solvers that a recipe may ask for, with the options that only one of them has, and the SVC that it asks for."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmcore.lab.fields import DIGESTION, FLAG, Field, RecipeError, check_weights, choice, numeric
from svmcore.nu import SOLVERS as NU_SOLVERS
from svmcore.nu import NuSVC
from svmcore.solvers.decomposition import CHOICES, Decomposition
from svmcore.solvers.digestion import Digestion
from svmcore.solvers.general import WAYS, General
from svmcore.svc import SVC


class Solver(NamedTuple):
    """A solver: its purpose, its options, and what makes SVC's `solver` of their values (None: its name)."""

    help: str
    fields: tuple[Field, ...] = ()
    make: Callable | None = None

    def argument(self, recipe):
        """The `solver` of SVC: its name, or an object with the settings asked for where they are not the usual."""
        changed = any(recipe.option(field.name) != field.default for field in self.fields)
        return self.settings(recipe) if changed else recipe.solver

    def settings(self, recipe):
        """The object with the settings asked for; None for a solver that has none."""
        return self.make({f.name: recipe.option(f.name) for f in self.fields}) if self.make else None


_DIGESTION = Field("digestion", DIGESTION, {}, shown=False)
_WAY = Field("way", choice(dict.fromkeys(WAYS)), WAYS[0])
_COUNT = numeric(1, 10_000_000, whole=True)
_DECOMPOSITION = (
    Field("working_set", numeric(2, 200_000, whole=True), None),
    Field("new_points", _COUNT, None),
    Field("lookahead", _COUNT, None),
    Field("choice", choice(dict.fromkeys(CHOICES)), "most-violating"),
    Field("keep_exited", FLAG, False),
)

SOLVERS: dict[str, Solver] = {
    "auto": Solver("Chooses a solver by the size of the problem."),
    "smo": Solver("Keeps the whole Gram matrix in memory."),
    "decomposition": Solver(
        "Solves for one working set of examples at a time.",
        _DECOMPOSITION,
        lambda values: Decomposition(**values),
    ),
    "smo-digestion": Solver(
        "The solver of the paper (DeCoste and Schölkopf 2002, section 4).",
        (_DIGESTION,),
        lambda values: Digestion(**values["digestion"]),
    ),
    "general": Solver(
        "A general optimiser, not made for SVMs; for up to a few hundred examples.",
        (_WAY,),
        lambda values: General(**values),
    ),
}


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
