"""Method: one way to learn, with everything that the lab, the command line and the pages want to know of it.

    origin(recipe)                         the recipe of what is trained before the method begins: itself, of most
    kernel(recipe, X, image_shape)         the kernel that training starts with, fitted to X where it learns from it
    train(recipe, problem, monitor)        a fitted estimator, whose `machine_` decides on examples like problem.X_test
    figures(estimator), words(result)      what it adds to a result, and how that is said
    kept(estimator)                        what the run keeps beside the machine, in `files` of the method
    plan(recipe, size)                     what it makes of a problem, for the forecast: stages, work, held

A recipe and a problem come as plain arguments; `recipe.option(name)` is the value of one of the method's own fields.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from svmcore.allowed import Allowed
from svmcore.jitter import JitterSet
from svmcore.kernels import Kernel
from svmcore.lab.costs import Plan, Sizes, Stage, Work, effort
from svmcore.lab.fields import Field, RecipeError
from svmcore.lab.solvers import train_svc
from svmcore.preprocess import Preprocessor, as_images, background, parse_step

JITTERS_DEFAULT = "box:1"
FILLED = 10.0  # times as long as products of plain kernels take those that are made value by value
REPEATABLE = {"unit-norm", "standardise"}  # steps that a kernel can repeat after each jitter


class MethodFile(NamedTuple):
    """A file that runs of a method keep beside the machine, for each part: `edited.npz`, `edited-1.npz`, ..."""

    stem: str
    arrays: Mapping[str, tuple[str, int]]  # that it holds: name -> kinds of number, dimensions
    read: Callable[[np.ndarray, Mapping], object]  # (the training examples' positions, arrays) -> what they are


class Method:
    """Base of all methods: a plain machine on the examples as they are; a subclass changes what it does differently.

    name, title, help, source    for forms; short: for the column of a table
    tasks            names of the Tasks that it solves, the usual one first
    fields           its own options of a recipe
    plain            it trains on the examples as they are, and no more
    made             False for one that begins with another method's machine instead of examples (`origin`)
    two_classes      it tells two classes apart and no more
    needs_images     it transforms images; uses_jitters: by the recipe's jitter set
    takes_groups     the other rows of a group are virtual examples to it, of images or not
    splits           it transforms images between the steps of preprocessing (`Preprocessor.split`), not after them
    bounded          its machine is an SVC on the problem's own examples, of whose error bounds can be told
    unlike           why examples cannot be taken out of its machine as of an SVC with C; empty where they can
    repeats          its kernel transforms preprocessed examples, and does again the steps that a jitter undoes
    of_forms         it trains on features and makes them of each form later, too, of images that it keeps
    looks            its solvers report machines of the problem's own examples, which a page can show while they train
    variants         what stands for it where methods are compared: caption -> options
    """

    name = title = short = help = source = ""
    tasks: tuple[str, ...] = ("classify", "detect")
    fields: tuple[Field, ...] = ()
    made = True
    result_fields: Mapping[str, Allowed] = {}  # of what `figures` adds, what is checked when a result is read
    line_fields: Mapping[str, Allowed] = {}  # of what its fits report as `Progress.facts`, likewise
    files: tuple[MethodFile, ...] = ()  # that `kept` fills
    plain = bounded = uses_jitters = needs_images = takes_groups = splits = repeats = of_forms = False
    two_classes, looks = False, True
    unlike = "its machine is not an SVC with C trained on the training examples themselves"

    @property
    def variants(self) -> dict[str, dict]:
        """Caption -> options, for comparing ways to use an invariance."""
        return {self.short: {}}

    def check(self, recipe) -> None:
        """RecipeError for a recipe that this method cannot carry out, whatever the data."""
        undone = set(steps_after_jitter(recipe)) - REPEATABLE
        if self.of_forms:
            undone = {one for one in undone if not (kind := parse_step(one).step).features or kind.learn}
        if self.repeats and undone:
            allowed = (
                f"steps that method {self.name} can repeat after a jitter, so not {min(undone)}; method vsv jitters "
            )
            allowed += "before such steps"
            raise RecipeError("preprocess", ",".join(recipe.preprocess), allowed)

    def learns_kernel(self, recipe) -> bool:
        """Whether the kernel is learned from the training examples."""
        return False

    def out_of_reach(self, recipe) -> str:
        """Why scikit-learn cannot train what a plain method trains; empty where it can."""
        return ""

    def require_images(self, recipe, image_shape: tuple[int, ...] | None, grouped: bool = False) -> None:
        """RecipeError if the method transforms images and the examples are none; grouped: if some belong together."""
        if not self.needs_images or image_shape is not None:
            return
        why = f"as the examples of {recipe.dataset} are not images"
        if not (self.takes_groups and grouped):
            able = [name for name, one in METHODS.items() if not one.needs_images or (one.takes_groups and grouped)]
            raise RecipeError("method", self.name, f"{', '.join(able)}, {why}")
        if recipe.jitters != "none":
            allowed = f"none, {why}; the other rows of an example's group serve as its virtual copies"
            raise RecipeError("jitters", recipe.jitters, allowed)

    def need_classes(self, recipe, n_classes: int) -> None:
        """RecipeError for a number of classes that the method cannot tell apart."""
        if self.two_classes and n_classes > 2:
            allowed = f"two of the {n_classes} classes, or one against the rest, for method {self.name}"
            raise RecipeError("classes", recipe.classes, allowed)

    def origin(self, recipe):
        """The recipe of the machine that the method begins with; `recipe` itself where it begins with examples."""
        return recipe

    def jitters(self, recipe) -> str:
        """The jitter set that a recipe of this method has; empty where it uses none."""
        return (recipe.jitters or JITTERS_DEFAULT) if self.uses_jitters else ""

    def learned(self, recipe, result: dict):
        """The recipe that trains what a finished run found, without its search."""
        return recipe

    def brief(self, recipe) -> str:
        """The method in a few characters, for titles."""
        return " · ".join(filter(None, (self.name, recipe.jitters)))

    def summary(self, recipe) -> str:
        """The method in words, for a line that says what was asked."""
        return " · ".join(filter(None, (self.title, recipe.jitters)))

    def kernel(self, recipe, X: np.ndarray, image_shape: tuple[int, ...] | None) -> Kernel:
        """The kernel that training starts with; X (n, d): the training examples, all that it may learn from."""
        return recipe.kernel

    def folds_together(self, recipe) -> bool:
        """Whether the machines of its folds are SVCs on rows of the same examples, so that they share kernel values."""
        return False

    def train(self, recipe, problem, monitor: Callable | None):
        """A fitted estimator with `machine_`, `kernel_`, `history_`, `converged_` and `kernel_evals_`."""
        return train_svc(recipe, problem, monitor)

    def usual(self, recipe):
        """The recipe with this method and the options that a form begins with."""
        return recipe.replace(method=self.name, **{field.name: field.first for field in self.fields})

    def figures(self, estimator) -> dict:
        """What a result says beyond the figures that all methods share; JSON-able."""
        return {}

    def arrays(self, estimator) -> dict[str, dict[str, np.ndarray]]:
        """The arrays of each of its `files`, by stem."""
        return {}

    def points(self, line: dict) -> int:
        """How many results of its own a line of progress tells; the first line with another one is kept at once."""
        return 0

    def words(self, result: dict) -> str:
        """A sentence about those figures; empty when there is nothing to say."""
        return ""

    def plan(self, recipe, size: Sizes) -> Plan:
        """What the forecast asks."""
        return Plan(size, self.stages(recipe, size), self.work(recipe), self.held_rows(recipe, size))

    def stages(self, recipe, size: Sizes) -> list[Stage]:
        """The trainings, one after the other."""
        return [Stage(size.n_train, size.machines, rounds=effort(size, [recipe.C]))]

    def work(self, recipe) -> Work:
        """What a kernel value costs."""
        value = recipe.kernel.work * (FILLED if hasattr(recipe.kernel, "fill") else 1.0)
        return Work(value, value)

    def filled(self, recipe) -> bool:
        """Whether the kernel that trains makes its values one by one, so that they are kept."""
        return hasattr(recipe.kernel, "fill")

    def held_rows(self, recipe, size: Sizes) -> float:
        """Rows of d float32 numbers held beside the training and test examples."""
        return 0.0


METHODS: dict[str, Method] = {}  # by name; `enter` fills them, called once by the package of methods
MADE_BY: dict[str, Method] = {}  # those that make a machine of examples, which another method may begin with


def enter(*methods: Method) -> None:
    """Make methods known, in the order in which forms list them."""
    METHODS.update((method.name, method) for method in methods)
    MADE_BY.update((method.name, method) for method in methods if method.made)


def steps_after_jitter(recipe) -> tuple[str, ...]:
    """The preprocessing steps that a jitter can undo, to be repeated after it."""
    return Preprocessor(*recipe.preprocess).split()[1].steps


def makes_features_within(recipe) -> bool:
    """Whether the kernel makes features of every form, so that the machine takes images."""
    return METHODS[recipe.method].of_forms and Preprocessor(*recipe.preprocess).makes_features


def steps_before_machine(recipe) -> tuple[str, ...]:
    """The preprocessing of the examples that the machine takes."""
    steps = Preprocessor(*recipe.preprocess)
    return (steps.split()[0] if makes_features_within(recipe) else steps).steps


def some(recipe, X: np.ndarray, n: int) -> np.ndarray:
    """At most n rows of X, drawn by the seed."""
    return X[np.random.default_rng(recipe.seed).permutation(len(X))[:n]]


def jitters_on(X: np.ndarray, jitters: str, image_shape: tuple[int, ...]) -> str:
    """The set with its border spelled out: `@zero` if the background of all X is 0, so kernels count shifts alone."""
    asked = JitterSet.parse(jitters, image_shape)
    black = asked.border == "background" and not background(as_images(X, image_shape)).any()
    return str(asked.with_border("zero")) if black else str(asked)
