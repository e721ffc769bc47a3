"""What a recipe costs, by rules of thumb: the sizes of its problem, and the seconds and megabytes of its stages.

    train(n) = 2 d w u n / F + 8 u n / S,    u = min(1, 4.2 n^-1/4) n distinct support vectors
    test(u)  = 2 d w u t / F
    fit      = operands + numbers of each example and machine + Gram matrices of two working sets or of a virtual stage

n, t, d  training and test examples, features;  w  work of a kernel value;  F  rate of kernel products (flop/s);
S  rate of the solver's passes over examples (1/s). The law of u and the rates are read off runs of 2000 to 60000 digits
on two cores. Virtual SVs are a second stage of J times the support vectors: those of all k machines for scope "union",
or k stages of about u / k^0.7, one machine's.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from data import catalogue
from svmcore.gram.sources import STEP
from svmcore.jitter import JitterSet
from svmcore.lab.experiment.methods import work
from svmcore.lab.experiment.problem import require_images
from svmcore.lab.recipe.recipe import TRANSFORMING, Recipe
from svmcore.memory import MB
from svmcore.methods.jittering import SIDES, Jittered

FLOPS, PASSES = 60e9, 1e9
WORKING_SET = 12_000  # examples, the largest working set of a machine in practice
LARGEST = 1.3  # times the mean: the virtual set of the machine with the most support vectors


class Sizes(NamedTuple):
    """How large a recipe's problem is."""

    n_train: int
    n_test: int
    d: int
    machines: int


class Stage(NamedTuple):
    """One training, done so many times."""

    n: int
    machines: int
    times: int = 1


def sizes(recipe: Recipe) -> Sizes:
    """The sizes that the catalogue promises, before anything is loaded. RecipeError for a method that needs images."""
    entry = catalogue.entry(recipe.dataset)
    require_images(recipe, entry.shape if len(entry.shape) > 1 else None)
    share = len(recipe.classes) / entry.n_classes if len(recipe.classes) > 1 else 1.0
    n_train, n_test = round(entry.n_train * share), round(entry.n_test * share)
    if not entry.n_test:
        n_test = recipe.n_test or max(1, n_train - recipe.n_train if recipe.n_train else n_train // 5)
        n_train -= min(n_test, n_train - 1)
    n_classes = 2 if len(recipe.classes) == 1 else len(recipe.classes) or entry.n_classes
    return Sizes(
        min(recipe.n_train or n_train, n_train),
        min(recipe.n_test or n_test, n_test),
        prod(entry.shape),
        1 if n_classes == 2 else n_classes,
    )


def seconds(recipe: Recipe, size: Sizes) -> list[tuple[float, float]]:
    """Of each training and of the test that follows it, on the machine that the rates were read off."""
    parts = _seconds(recipe, size)
    if recipe.folds:
        held = size.n_train // recipe.folds
        parts += recipe.folds * _seconds(recipe, size._replace(n_train=size.n_train - held, n_test=held))
    return parts


def _seconds(recipe: Recipe, size: Sizes) -> list[tuple[float, float]]:
    plan = stages(recipe, size)
    made = 2.0 * size.d * _work(recipe, training=True) / FLOPS + 8.0 / PASSES
    decided = 2.0 * size.d * _work(recipe, training=False) / FLOPS
    trainings = [support_vectors(stage.n) * stage.n * stage.times * made for stage in plan]
    tests = [0.0] * (len(plan) - 1) + [_distinct(plan) * size.n_test * decided]
    return list(zip(trainings, tests, strict=True))


def stages(recipe: Recipe, size: Sizes) -> list[Stage]:
    """The trainings of a recipe, one after the other."""
    first = Stage(size.n_train, size.machines)
    if recipe.method != "vsv":
        return [first]
    forms = [len(JitterSet.parse(recipe.jitters).power(r + 1)) for r in range(recipe.rounds)]
    if recipe.scope == "all":
        return [Stage(J * size.n_train, size.machines) for J in forms]
    union = support_vectors(size.n_train)
    if recipe.scope == "union":
        return [first, *(Stage(round(J * union), size.machines) for J in forms)]
    own = union / size.machines**0.7
    return [first, *(Stage(round(J * own), 1, size.machines) for J in forms)]


def support_vectors(n: int) -> float:
    """Distinct support vectors that n training examples lead to."""
    return min(1.0, 4.2 * max(n, 1) ** -0.25) * n


def examples_mb(recipe: Recipe, size: Sizes) -> float:
    """Images as they are stored, and as float32 rows, again for folds; for virtual SVs also those before normalisation
    and the new ones, which are held twice while the machine is put together."""
    stored = (size.n_train + size.n_test) * size.d * (1 + 4)
    if recipe.method in TRANSFORMING:
        stored += 4 * size.d * (size.n_train + 2 * _distinct(stages(recipe, size)))
    if recipe.folds:
        stored += 4 * size.d * size.n_train * (2 if recipe.method in TRANSFORMING else 1)
    return stored / MB


def least_mb(recipe: Recipe, size: Sizes) -> float:
    """What a fit cannot do without: its operand, twice for a while, nine numbers an example and machine, and a little
    room for working sets."""
    plan = stages(recipe, size)
    return (
        max(s.n * (8 * size.d + 72 * s.machines + 4 * STEP) + 4 * s.n * size.d * (s is not plan[0]) for s in plan) / MB
    )


def fit_mb(recipe: Recipe, size: Sizes) -> float:
    """What a fit takes when nothing holds it back: two working sets, or all of K in a virtual stage of one machine."""
    plan = stages(recipe, size)
    rows = max(4 * ((LARGEST * s.n) ** 2 / 3 if s.times > 1 else 2 * min(s.n, WORKING_SET) ** 2) for s in plan)
    return least_mb(recipe, size) + rows / MB


def _distinct(plan: list[Stage]) -> float:
    """Distinct support vectors of all machines in the end."""
    return support_vectors(plan[-1].n) * plan[-1].times ** 0.7


def _work(recipe: Recipe, training: bool) -> float:
    if recipe.method == "jsv" or (recipe.method == "query-jitter" and not training):
        shape = catalogue.entry(recipe.dataset).shape
        return work(Jittered(recipe.kernel, recipe.jitters, shape, recipe.options.get("sides", SIDES[0])))
    return work(recipe.kernel)
