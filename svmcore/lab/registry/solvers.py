"""The solvers that a recipe may ask for, and the options that only one of them has."""

from __future__ import annotations

from typing import NamedTuple

from svmcore.lab.registry.fields import DIGESTION, Field
from svmcore.solvers.digestion import Digestion


class Solver(NamedTuple):
    """A solver: what it is good for, its options, and what SVC is given for it, made from a recipe."""

    help: str
    fields: tuple[Field, ...] = ()

    def argument(self, recipe):
        """The `solver` of SVC: its name, or a Digestion with the settings asked for."""
        settings = recipe.option("digestion") if self.fields else None
        return Digestion(**settings) if settings else recipe.solver


_SETTINGS = Field(
    "digestion",
    DIGESTION,
    {},
    "Digestion",
    'settings of the solver that digests, as JSON: {"on":false,"rows":200}',
    shown=False,
)

SOLVERS: dict[str, Solver] = {
    "auto": Solver("Chooses by size."),
    "smo": Solver("Holds the whole Gram matrix."),
    "decomposition": Solver("Works on sets of examples."),
    "smo-digestion": Solver("The solver of the paper.", (_SETTINGS,)),
}
