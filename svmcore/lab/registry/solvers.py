"""The solvers that a recipe may ask for, and the options that only one of them has."""

from collections.abc import Callable
from typing import NamedTuple

from svmcore.lab.registry.fields import DIGESTION, FLAG, Field, choice, numeric
from svmcore.solvers.decomposition import CHOICES, Decomposition
from svmcore.solvers.digestion import Digestion
from svmcore.solvers.general import WAYS, General


class Solver(NamedTuple):
    """A solver: what it is good for, its options, and what makes the `solver` of SVC of their values (None: its
    name)."""

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


_DIGESTION = Field(
    "digestion", DIGESTION, {}, "Digestion", 'settings of the solver that digests, as JSON: {"on":false,"rows":200}',
    shown=False,
)  # fmt: skip
_WAY = Field(
    "way", choice(dict.fromkeys(WAYS)), WAYS[0], "Optimiser",
    "Conjugate gradients as Osuna describes them, or a method of SciPy (Osuna et al. 1997, section 3.1).",
)  # fmt: skip
_COUNT = numeric(1, 10_000_000, whole=True)
_DECOMPOSITION = (
    Field(
        "working_set", numeric(2, 200_000, whole=True), None, "Working set",
        "Examples solved at a time, |B|; empty for what memory allows, which grows with its square "
            "(Osuna et al. 1997, section 3).", "auto",
    ),
    Field("new_points", _COUNT, None, "New points", "How many violators may enter in a round "
            "(Osuna et al. 1997, section 3).", "no limit"),
    Field(
        "lookahead", _COUNT, None, "Lookahead",
        "Examples looked at for violators before a round starts with those found "
            "(Osuna et al. 1997, section 3).", "all",
    ),
    Field(
        "choice", choice(dict.fromkeys(CHOICES)), "most-violating", "Choice",
        "The worst violators of those looked at, or the first ones found.",
    ),
    Field(
        "keep_exited", FLAG, False, "Those that left first",
        "Examples that left the working set are the first that are looked at again.",
    ),
)  # fmt: skip

SOLVERS: dict[str, Solver] = {
    "auto": Solver("Chooses by size."),
    "smo": Solver("Holds the whole Gram matrix."),
    "decomposition": Solver("Works on sets of examples.", _DECOMPOSITION, lambda values: Decomposition(**values)),
    "smo-digestion": Solver(
        "The solver of the paper (DeCoste and Schölkopf 2002, section 4).",
        (_DIGESTION,),
        lambda values: Digestion(**values["digestion"]),
    ),
    "general": Solver(
        "An optimiser that knows nothing of SVMs, for some hundred examples.", (_WAY,), lambda values: General(**values)
    ),
}
