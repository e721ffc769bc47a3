"""A whole experiment in one frozen, validated value: what a form edits, a URL carries, a run stores and the CLI runs.

    to_dict / from_dict      JSON, every field                          stored with the run
    to_query / with_texts    field -> short text, only what differs     in a URL; the same texts follow `--set`; options
                             of a method or solver are spelled like fields
    digest()                 16 hex digits of what decides the outcome  cache keys, finding similar runs

Every field is checked when a recipe is made, so that a Recipe at hand is a possible one; whether its dataset is there
and what it will cost is for `estimate` to say. Kernels: DeCoste and Schölkopf, Machine Learning 46 (2002).
"""

# ruff: noqa: RUF009  (a field that carries its words is made by a function, as those of kernels are)
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

from svmcore.jitter import seeded
from svmcore.kernels import Kernel, Poly
from svmcore.lab.fields import (
    FLAG,
    JITTERS,
    KERNEL,
    LABELS,
    LINE,
    OPTIONS,
    SLUG,
    STEPS,
    WEIGHTS,
    Field,
    Kind,
    RecipeError,
    choice,
    numeric,
    read_value,
)
from svmcore.lab.methods import METHODS
from svmcore.lab.solvers import SOLVERS
from svmcore.lab.tasks import TASKS, task_of
from svmcore.preprocess import Preprocessor

PAPER_KERNEL = Poly(9, 1.0, 1.0)  # (u.v + 1)^9 / 512
SPLITS = {
    "given": "The given training and test sets, in their order",
    "first-of-each": "The first examples of each class, the same number from each",
    "stratified": "Drawn at random by the seed, in the proportions of the classes",
}


def _asked(kind: Kind, default, **how):
    """A field of the recipe, declared with the arguments of a registry's Field, whose name is the field's."""
    begin = {"default_factory": default.copy} if isinstance(default, dict) else {"default": default}
    return field(**begin, metadata={"kind": kind, "default": default, **how})


@dataclass(frozen=True)
class Recipe:
    """One experiment. Raises RecipeError for a field that cannot be.

    classes: () all of them, one label for that class against the rest, several for only those. n_train, n_test: None
    for all there are. jitters belong to methods that use them. options: the values of the fields that only this method
    or solver has, where they differ from their defaults; those of other methods are left out, and `option(name)` is
    the value of any. folds: the run also cross-validates, in so many parts. slow_motion rests the solver between bursts
    so that a short run can be watched.
    """

    name: str = _asked(SLUG, "custom")
    title: str = _asked(LINE, "")
    task: str = _asked(choice(TASKS, lambda task: task.title), "classify", shown=False)
    dataset: str = _asked(SLUG, "mnist-5k")
    n_train: int | None = _asked(numeric(2, 10_000_000, whole=True), None)
    n_test: int | None = _asked(numeric(1, 10_000_000, whole=True), None)
    split: str = _asked(choice(SPLITS, str), "stratified")
    classes: tuple[int | str, ...] = _asked(LABELS, ())
    preprocess: tuple[str, ...] = _asked(STEPS, ("unit-norm",))
    kernel: Kernel = _asked(KERNEL, PAPER_KERNEL)
    C: float = _asked(numeric(0, 1e9), 2.0, step=1.0)
    class_weight: str | dict | None = _asked(WEIGHTS, None)
    method: str = _asked(choice(METHODS, lambda method: method.title), "sv")
    jitters: str = _asked(JITTERS, "")
    solver: str = _asked(choice(SOLVERS), "auto")
    tol: float = _asked(numeric(1e-8, 1), 1e-3, step=1e-3)
    cache_mb: float | None = _asked(numeric(1, 1e6), None, step=100.0)
    seed: int = _asked(numeric(0, 2**32 - 1, whole=True), 0)
    folds: int | None = _asked(numeric(2, 100, whole=True), None)
    bounds: bool = _asked(FLAG, False, shown=False)
    slow_motion: bool = _asked(FLAG, False)
    options: dict = _asked(OPTIONS, {}, shown=False)

    def __post_init__(self):
        for name, field_ in FIELDS.items():
            if name == "options":
                self._check_task()
                self._check_options_by_name()
            object.__setattr__(self, name, field_.check(getattr(self, name)))
        self._check_pictures()
        method = METHODS[self.method]
        object.__setattr__(self, "options", _own_options(self._owners, self.options))
        object.__setattr__(self, "jitters", method.jitters(self))
        method.check(self)
        task_of(self).check(self)
        if self.bounds and not (method.bounded and task_of(self).answers):
            allowed = ", ".join(name for name, known in METHODS.items() if known.bounded)
            allowed = f"false for method {self.method}; only {allowed} have bounds, and only when they classify"
            raise RecipeError("bounds", True, allowed)

    def check_new(self) -> None:
        """RecipeError for what stored runs may have asked for and no new run may, as its figures would be untrue."""
        if self.bounds and METHODS[self.method].learns_kernel(self):
            allowed = (
                "false, because the kernel is learned from the training examples and would change without one of them"
            )
            raise RecipeError("bounds", True, allowed)
        task_of(self).check_new(self)

    @cached_property
    def origin(self) -> "Recipe":
        """What is trained first: of a reduction the recipe of its machine, else the recipe itself."""
        return METHODS[self.method].origin(self)

    @property
    def drawn_jitters(self) -> str:
        """Its jitter set, random deformations drawn by its seed."""
        return seeded(self.jitters, self.seed)

    @property
    def _owners(self) -> tuple[str, str, str]:
        """Whose options it has."""
        return self.task, self.method, self.solver

    def _check_task(self) -> None:
        """A method that does not classify decides the task; any other task that is asked for, it must solve."""
        solved = METHODS[self.method].tasks
        if self.task == "classify" and self.task not in solved:
            object.__setattr__(self, "task", solved[0])
        if self.task not in solved:
            allowed = (name for name, method in METHODS.items() if self.task in method.tasks)
            raise RecipeError("method", self.method, f"{', '.join(allowed)} for the task {self.task}")

    def _check_pictures(self) -> None:
        """A kernel of nearby pixels after a step that makes features, which have no neighbours."""
        if getattr(self.kernel, "image_shape", None) and Preprocessor(*self.preprocess).makes_features:
            allowed = "one without image neighbourhoods, such as rbf or poly, as the steps turn pictures into features"
            raise RecipeError("kernel", self.kernel.name, allowed)

    def _check_options_by_name(self) -> None:
        """Before they are checked together, so that an error names the one that is wrong."""
        given = self.options if isinstance(self.options, Mapping) else {}
        for name, field_ in own_fields(*self._owners).items():
            if name in given:
                field_.check(given[name])

    def __hash__(self):
        return hash(self._key)

    def to_dict(self) -> dict:
        """JSON-able, every field."""
        values = {name: getattr(self, name) for name in FIELDS}
        lists = {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
        return values | lists | {"kernel": self.kernel.to_dict()}

    @classmethod
    def from_dict(cls, description: Mapping) -> "Recipe":
        """The recipe that `to_dict` described; fields left out take their defaults. RecipeError for anything else."""
        if not isinstance(description, Mapping):
            raise RecipeError("recipe", description, "an object with the fields of a recipe")
        return cls(**_gathered(description, {}))

    def option(self, name: str) -> object:
        """The value of one of the method's or solver's own fields. KeyError for one that they do not have."""
        return self.options.get(name, own_fields(*self._owners)[name].default)

    def texts(self) -> dict[str, str]:
        """Every field and every option as a short text."""
        own = own_fields(*self._owners)
        shown = {name: f.show(getattr(self, name)) for name, f in FIELDS.items() if name != "options"}
        return shown | {name: f.show(self.option(name)) for name, f in own.items()}

    def to_query(self) -> dict[str, str]:
        """Short texts for a URL: the fields and options that differ from the defaults, in a fixed order."""
        texts = self.texts()
        changed = [n for n in FIELDS if n in texts and getattr(self, n) != getattr(DEFAULT, n)]
        return {name: texts[name] for name in (*changed, *sorted(self.options))}

    def replace(self, **changes) -> "Recipe":
        """This recipe with some fields or options changed."""
        return replace(self, **_gathered(changes, self.options))

    def with_text(self, name: str, text: str) -> "Recipe":
        """One field or option read from text: ("C", "5"), ("kernel", "rbf:gamma=0.02"), ("kernel.degree", "5")."""
        return self.with_texts({name: text})

    def with_texts(self, texts: Mapping[str, str]) -> "Recipe":
        """All of them read from text and changed together, so that their order does not matter."""
        owners = (texts.get(name, getattr(self, name)) for name in ("task", "method", "solver"))
        known = known_fields(*owners)
        of_kernel = {name: text for name, text in texts.items() if name.startswith("kernel.")}
        values = {name: _known(name, known).read(text) for name, text in texts.items() if name not in of_kernel}
        if of_kernel:
            kernel = FIELDS["kernel"].check(values.get("kernel", self.kernel))
            parts = {name.partition(".")[2]: read_value(text) for name, text in of_kernel.items()}
            values["kernel"] = kernel.to_dict() | parts
        return self.replace(**values)

    def digest(self) -> str:
        """16 hex digits of everything that decides the outcome (not of names, memory or slow motion)."""
        beside = {"name", "title", "cache_mb", "slow_motion"} | {n for n in ("folds", "bounds") if not getattr(self, n)}
        deciding = [pair for pair in self._key if pair[0] not in beside]
        return hashlib.sha256(json.dumps(deciding).encode()).hexdigest()[:16]

    @cached_property
    def outcome(self) -> str:
        """The digest of what decides the machine: two recipes that differ in their folds or bounds have the same."""
        return self.replace(folds=None, bounds=False).digest() if self.folds or self.bounds else self.digest()

    @cached_property
    def but_for_seed(self) -> str:
        """The digest of what decides the outcome but for the seed: repeats of each other have the same."""
        return self.replace(seed=0).digest()

    @cached_property
    def _key(self) -> tuple[tuple[str, str], ...]:
        """What tells recipes apart: every field, and the options that differ from their defaults."""
        texts = self.texts()
        usual = {"task"} if self.task == METHODS[self.method].tasks[0] else set()
        return tuple((name, texts[name]) for name in (*FIELDS, *sorted(self.options)) if name in texts.keys() - usual)


def own_fields(task: str, method: str, solver: str) -> dict[str, Field]:
    """Name -> Field of the options that this task, this method and this solver have."""
    return {field.name: field for owner in (TASKS[task], METHODS[method], SOLVERS[solver]) for field in owner.fields}


def option_fields() -> dict[str, Field]:
    """Name -> Field of every option of any task, method or solver, the first of a name."""
    every = [f for known in (*SOLVERS.values(), *METHODS.values(), *TASKS.values()) for f in known.fields]
    return {field.name: field for field in reversed(every)}


def known_fields(task: str, method: str, solver: str) -> dict[str, Field]:
    """Name -> Field of everything that a recipe's text may set: the options of this task, method and solver before
    those of others, which are read and left out. Names of tasks, methods and solvers that do not exist have none."""
    own = own_fields(task, method, solver) if task in TASKS and method in METHODS and solver in SOLVERS else {}
    return FIELDS | option_fields() | own


def _own_options(owners: tuple[str, str, str], options: Mapping) -> dict:
    """Those of the options that differ from their defaults, each checked; those of other owners left out."""
    own, kept = own_fields(*owners), {}
    for name, value in options.items():
        if name in own:
            value = own[name].check(value)
            if value != own[name].default:
                kept[name] = value
        elif name not in (others := option_fields()):
            raise RecipeError("options", name, ", ".join(others))
    return kept


def _gathered(changes: Mapping, options: Mapping) -> dict:
    """Changes of fields and options; options are added to `options`, except those that need a field now left open."""
    others = option_fields()
    given_fields = {name: value for name, value in changes.items() if name in FIELDS or name not in others}
    flat = {n: v.to_dict() if isinstance(v, Kernel) else v for n, v in changes.items() if n not in given_fields}
    for name in given_fields:
        _known(name, FIELDS | others)
    kept = {name: value for name, value in options.items() if changes.get(others[name].needs, "another") is not None}
    if flat or len(kept) < len(options):
        given = FIELDS["options"].check(given_fields.get("options", kept))
        given_fields["options"] = given | flat
    return given_fields


def _known(name: str, known: Mapping[str, Field]) -> Field:
    if name not in known:
        raise RecipeError("field", name, ", ".join(known))
    return known[name]


FIELDS: dict[str, Field] = {own.name: Field(own.name, **own.metadata) for own in fields(Recipe)}
DEFAULT = Recipe()
