"""A whole experiment in one frozen, validated value: what a form edits, a URL carries, a run stores and the CLI runs.

    to_dict / from_dict      JSON, every field                          stored with the run
    to_query / from_query    field -> short text, only what differs     in a URL; the same texts follow `--set`
    digest()                 16 hex digits of what decides the outcome  cache keys, finding similar runs

Every field is checked when a recipe is made, so that a Recipe at hand is a possible one; whether its data set is there
and what it will cost is for `estimate` to say. Kernels: DeCoste and Schoelkopf, Machine Learning 46 (2002).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from svmcore.kernels import Kernel, Poly
from svmcore.lab.recipe.fields import (
    DIGESTION,
    FLAG,
    JITTERS,
    KERNEL,
    LABELS,
    LINE,
    OPTIONS,
    SLUG,
    STEPS,
    WEIGHTS,
    Kind,
    RecipeError,
    choice,
    numeric,
    read_json,
)
from svmcore.methods.jittering import SIDES
from svmcore.preprocess import Preprocessor
from svmcore.svc import SOLVERS

PAPER_KERNEL = Poly(9, 1.0, 1.0)  # (u.v + 1)^9 / 512
METHODS = {
    "sv": "Support vectors",
    "vsv": "Virtual support vectors",
    "jsv": "Jittering kernel",
    "query-jitter": "Jittered test examples",
    "tangent": "Kernel that whitens tangents",
}
TRANSFORMING = ("vsv",)  # methods that preprocess again after a transformation
COMPARING = ("jsv", "query-jitter", "tangent")  # methods whose kernels transform preprocessed examples
OPTIONS_OF: dict[str, dict[str, Kind]] = {  # of a method, or of a solver
    "vsv": {"second_kernel": KERNEL, "second_C": numeric(0, 1e9)},
    "jsv": {"sides": choice({side: side for side in SIDES}), "positive": numeric(2, 5000, whole=True)},
    "tangent": {"lam": numeric(0, 1), "space": choice({"input": "Pixels", "feature": "The kernel's feature space"})},
    "smo-digestion": {"digestion": DIGESTION},
}
JITTERS_DEFAULT = "box:1"
SPLITS = {
    "given": "The first examples of the given training and test sets, in their order",
    "first-of-each": "Equally many of each class for training, the first ones of the training set",
    "stratified": "Drawn by the seed, each class in its proportion",
}
SCOPES = {"machine": "Each machine's own support vectors", "union": "The union of them", "all": "All training examples"}
MAX_JSON = 65_536  # characters of a recipe that comes from outside

FIELDS: dict[str, Kind] = {
    "name": SLUG,
    "title": LINE,
    "dataset": SLUG,
    "n_train": numeric(2, 10_000_000, whole=True, none="all"),
    "n_test": numeric(1, 10_000_000, whole=True, none="all"),
    "split": choice(SPLITS),
    "classes": LABELS,
    "preprocess": STEPS,
    "kernel": KERNEL,
    "C": numeric(0, 1e9),
    "class_weight": WEIGHTS,
    "method": choice(METHODS),
    "jitters": JITTERS,
    "scope": choice(SCOPES),
    "rounds": numeric(1, 5, whole=True),
    "solver": choice(SOLVERS),
    "tol": numeric(1e-8, 1),
    "cache_mb": numeric(1, 1e6, none="a third of the free memory"),
    "seed": numeric(0, 2**32 - 1, whole=True),
    "folds": numeric(2, 100, whole=True, none="no cross-validation"),
    "slow_motion": FLAG,
    "options": OPTIONS,
}


@dataclass(frozen=True)
class Recipe:
    """One experiment. Raises RecipeError for a field that cannot be.

    classes: () all of them, one label for that class against the rest, several for only those. n_train, n_test: None
    for all there are. jitters belong to every method but "sv", scope and rounds to "vsv"; OPTIONS_OF lists the
    options of a method or solver. folds: the run also cross-validates, in so many parts. slow_motion rests the solver
    between bursts so that a short run can be watched.
    """

    name: str = "custom"
    title: str = ""
    dataset: str = "mnist-5k"
    n_train: int | None = None
    n_test: int | None = None
    split: str = "stratified"
    classes: tuple[int | str, ...] = ()
    preprocess: tuple[str, ...] = ("unit-norm",)
    kernel: Kernel = PAPER_KERNEL
    C: float = 2.0
    class_weight: str | dict | None = None
    method: str = "sv"
    jitters: str = ""
    scope: str = "machine"
    rounds: int = 1
    solver: str = "auto"
    tol: float = 1e-3
    cache_mb: float | None = None
    seed: int = 0
    folds: int | None = None
    slow_motion: bool = False
    options: dict = field(default_factory=dict)

    def __post_init__(self):
        for name, kind in FIELDS.items():
            object.__setattr__(self, name, kind.check(name, getattr(self, name)))
        if self.method != "sv" and not self.jitters:
            object.__setattr__(self, "jitters", JITTERS_DEFAULT)
        object.__setattr__(self, "options", _options(self.method, self.solver, self.options))
        undone = set(Preprocessor(*self.preprocess).split()[1].steps) - {"unit-norm", "standardise"}
        if self.method in COMPARING and undone:
            allowed = f"steps that can be repeated after a jitter, without {min(undone)}, for method {self.method}"
            raise RecipeError("preprocess", self.preprocess, allowed)

    def __hash__(self):
        return hash(self._texts())

    def to_dict(self) -> dict:
        """JSON-able, every field."""
        values = {name: getattr(self, name) for name in FIELDS}
        lists = {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
        return values | lists | {"kernel": self.kernel.to_dict()}

    @classmethod
    def from_dict(cls, description: Mapping) -> Recipe:
        """The recipe that `to_dict` described; fields left out take their defaults. RecipeError for anything else."""
        if not isinstance(description, Mapping):
            raise RecipeError("recipe", description, "an object with the fields of a recipe")
        _known(description)
        return cls(**description)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """A recipe from a text that a user brings: at most 64 kB of JSON."""
        if len(text) > MAX_JSON:
            raise RecipeError("recipe", f"{len(text)} characters", f"at most {MAX_JSON}")
        try:
            description = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RecipeError("recipe", text[:40], f"JSON ({error})") from None
        return cls.from_dict(description)

    def to_query(self) -> dict[str, str]:
        """Short texts for a URL: the fields that differ from the defaults, in a fixed order."""
        return {
            name: kind.show(getattr(self, name))
            for name, kind in FIELDS.items()
            if getattr(self, name) != getattr(DEFAULT, name)
        }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Recipe:
        """The recipe of a URL's parameters; parameters that are no field of a recipe are left to others."""
        return cls.from_dict({name: read_text(name, query[name]) for name in FIELDS if name in query})

    def replace(self, **changes) -> Recipe:
        """This recipe with some fields changed."""
        _known(changes)
        return replace(self, **changes)

    def with_text(self, name: str, text: str) -> Recipe:
        """One field read from text: ("C", "5"), ("kernel", "rbf:gamma=0.02"), ("kernel.degree", "5")."""
        head, _, part = name.partition(".")
        if head == "kernel" and part:
            return self.replace(kernel=self.kernel.to_dict() | {part: _read(read_json, text)})
        return self.replace(**{name: read_text(name, text)})

    def digest(self) -> str:
        """16 hex digits of everything that decides the outcome (not of names, memory or slow motion)."""
        beside = {"name", "title", "cache_mb", "slow_motion"} | ({"folds"} if self.folds is None else set())
        deciding = [pair for pair in self._texts() if pair[0] not in beside]
        return hashlib.sha256(json.dumps(deciding).encode()).hexdigest()[:16]

    def _texts(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, kind.show(getattr(self, name))) for name, kind in FIELDS.items())


def read_text(name: str, text: str) -> object:
    """The value that a field's text in a URL or on a command line stands for; an unreadable text stays a text."""
    _known([name])
    return _read(FIELDS[name].read, text)


def _read(read, text):
    try:
        return read(text)
    except (ValueError, RecursionError):
        return text


def _options(method: str, solver: str, options: dict) -> dict:
    """The options of a method and a solver, each checked; kernels as their descriptions."""
    kinds = OPTIONS_OF.get(method, {}) | OPTIONS_OF.get(solver, {})
    checked = {}
    for name, value in options.items():
        if name not in kinds:
            raise RecipeError("options", name, f"{', '.join(kinds) or 'none'}, for method {method} and solver {solver}")
        value = kinds[name].check(f"options.{name}", value)
        checked[name] = value.to_dict() if isinstance(value, Kernel) else value
    return checked


def _known(names):
    for name in names:
        if name not in FIELDS:
            raise RecipeError("field", name, ", ".join(FIELDS))


DEFAULT = Recipe()
