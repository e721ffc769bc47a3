"""What a run will need, said before it starts.

    seconds = c + r (2 d u (n + t) / F + 8 u n / S),    u = min(1, 4.2 n^-1/4) n distinct support vectors
    memory  = examples + min(cache_mb, operand + 4 n u + working sets)

n, t, d  training and test examples, features;  F  rate of kernel products (flop/s);  S  rate of the solver's passes
over examples (1/s);  c  a start's fixed seconds. r is the median ratio of measured to predicted seconds over stored
runs of similar size, 1 without any. The law of u and the rates are read off runs of 2000 to 60000 digits on two cores.

cache_mb is a ceiling for all that grows with the data while fitting; left open it is a third of the memory that is
free, less what runs at work were promised.
"""

from __future__ import annotations

from math import prod
from statistics import median
from typing import NamedTuple

from data import catalogue
from svmcore.gram import CHUNK
from svmcore.lab import runs
from svmcore.lab.recipe import Recipe
from svmcore.memory import MB, SHARE, BudgetError, free_mb

FLOPS, PASSES = 60e9, 1e9
FIXED_SECONDS = 0.3
WORKING_SET = 12_000  # examples, the largest working set of a machine in practice
LOOKS_MB = 64  # that live looks may hold
SIMILAR = 5  # stored runs that calibrate a prediction


class Sizes(NamedTuple):
    """How large a recipe's problem is."""

    n_train: int
    n_test: int
    d: int
    machines: int


class Estimate(NamedTuple):
    """What a run will need. `advice` says what would fit when it does not, and is empty when it does."""

    seconds: float
    memory_mb: float
    cache_mb: float
    fits: bool
    advice: str


def estimate(recipe: Recipe) -> Estimate:
    """Predicted time and memory of a run. UnknownDataset for a data set that the catalogue does not have."""
    size = sizes(recipe)
    promised = sum(run.grant_mb for run in runs.list() if run.state in ("running", "paused"))
    free = max(free_mb() - promised, 0.0)
    ceiling = recipe.cache_mb or SHARE * free
    beside, least = _examples_mb(size) + LOOKS_MB, _least_mb(size)
    need = beside + max(least, min(ceiling, _fit_mb(size)))
    advice = ""
    if least > ceiling or need > free:
        advice = _advice(recipe, size, least, beside, free)
    return Estimate(FIXED_SECONDS + _seconds(size) * _calibration(recipe, size), need, ceiling, not advice, advice)


def require(recipe: Recipe) -> Estimate:
    """`estimate`, or BudgetError for a run that does not fit."""
    predicted = estimate(recipe)
    if not predicted.fits:
        raise BudgetError(predicted.advice)
    return predicted


def sizes(recipe: Recipe) -> Sizes:
    """The sizes that the catalogue promises, before anything is loaded."""
    entry = catalogue.entry(recipe.dataset)
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


def _union(n: int) -> float:
    return min(1.0, 4.2 * n**-0.25) * n


def _seconds(size: Sizes) -> float:
    union = _union(size.n_train)
    products = 2.0 * size.d * union * (size.n_train + size.n_test) / FLOPS
    passes = 4.0 * 2.0 * union * size.n_train / PASSES
    return products + passes


def _calibration(recipe: Recipe, asked: Sizes) -> float:
    """Measured over predicted seconds, the median of the latest stored runs like this one, compiling left out."""
    ratios = {True: [], False: []}
    for run in runs.list():
        result = run.result
        if result and not run.recipe.slow_motion and run.recipe.method == recipe.method:
            size = Sizes(result["n_train"], result["n_test"], result["n_features"], len(result["n_sv"]))
            measured = result["fit_seconds"] - result.get("compile_seconds", 0) + result["predict_seconds"]
            if not 0.1 < _seconds(size) / _seconds(asked) < 10:
                continue
            alike = (run.recipe.dataset, run.recipe.kernel.name) == (recipe.dataset, recipe.kernel.name)
            ratios[alike].append(max(measured - FIXED_SECONDS, 0.1 * measured) / _seconds(size))
    return median((ratios[True] or ratios[False] or [1.0])[:SIMILAR])


def _examples_mb(size: Sizes) -> float:
    """Images as they are stored, and as float32 rows."""
    return (size.n_train + size.n_test) * size.d * (1 + 4) / MB


def _least_mb(size: Sizes) -> float:
    """What a fit cannot do without: its operand, five numbers an example and machine, two chunks of rows."""
    return size.n_train * (4 * size.d + 40 * size.machines + 8 * CHUNK) / MB


def _fit_mb(size: Sizes) -> float:
    """What a fit takes when nothing holds it back: the rows of all support vectors, and two working sets."""
    n = size.n_train
    return _least_mb(size) + 4 * (n * _union(n) + 2 * min(n, WORKING_SET) ** 2) / MB


def _advice(recipe: Recipe, size: Sizes, least: float, beside: float, free: float) -> str:
    text = f"{size.n_train} training examples need at least {least + beside:,.0f} MB; {free:,.0f} MB are free"
    if recipe.cache_mb is not None:
        text += f" and cache_mb is {recipe.cache_mb:g}"
    if least + beside <= free:
        return f"{text}. cache_mb from {least:,.0f} to {free - beside:,.0f} would fit."
    n = int(size.n_train * (free - LOOKS_MB) / (least + beside))
    return f"{text}. " + (f"n_train up to {n} would fit." if n >= 2 else "Nothing fits before memory is freed.")
