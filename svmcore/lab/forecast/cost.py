"""What a recipe costs, by rules of thumb: the seconds and megabytes of the stages that its method makes of it.

    train(n) = 2 d w u n / F + 8 u n / S,    u = distinct support vectors of n examples (registry/costs.py)
    test(u)  = 2 d w u t / F
    fit      = operands + numbers of each example and machine + Gram matrices of two working sets or of a virtual stage

n, t, d  training and test examples, features;  w  plain kernel values that one takes;  F  rate of kernel products
(flop/s);  S  rate of the solver's passes over examples (1/s). The rates are read off runs of 2000 to 60000 digits on
two cores.
"""

from __future__ import annotations

from typing import NamedTuple

from svmcore.gram.sources import CHUNK
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.costs import Sizes, in_the_end, support_vectors
from svmcore.lab.registry.methods import METHODS
from svmcore.memory import MB

FLOPS, PASSES = 60e9, 1e9
WORKING_SET = 12_000  # examples, the largest working set of a machine in practice
LARGEST = 1.3  # times the mean: the virtual set of the machine with the most support vectors


class Cost(NamedTuple):
    """Seconds of each training and of the test that follows it, on the machine that the rates were read off; memory."""

    parts: list[tuple[float, float]]
    examples_mb: float  # beside a fit
    least_mb: float  # what a fit cannot do without
    fit_mb: float  # what a fit takes when nothing holds it back

    @property
    def seconds(self) -> float:
        """Of everything."""
        return sum(map(sum, self.parts))


def cost(recipe: Recipe, size: Sizes) -> Cost:
    """The whole cost of a recipe whose problem has this size."""
    method = METHODS[recipe.method]
    plan, work = method.stages(recipe, size), method.work(recipe)
    parts = _seconds(plan, work, size)
    held = method.held(recipe, size)
    if recipe.folds:
        out = size.n_train // recipe.folds
        smaller = size._replace(n_train=size.n_train - out, n_test=out)
        parts += recipe.folds * _seconds(method.stages(recipe, smaller), work, smaller)
        held += size.n_train * (2 if method.splits else 1)
    examples = size.d * ((size.n_train + size.n_test) * (1 + 4) + 4 * held)  # as stored, and as float32 rows
    least = _least_bytes(plan, size.d)
    return Cost(parts, examples / MB, least / MB, (least + _gram_bytes(plan)) / MB)


def _seconds(plan, work, size: Sizes) -> list[tuple[float, float]]:
    made = 2.0 * size.d * work.training / FLOPS + 8.0 / PASSES
    decided = 2.0 * size.d * work.deciding / FLOPS
    trainings = [support_vectors(stage.n) * stage.n * stage.times * made for stage in plan]
    tests = [0.0] * (len(plan) - 1) + [in_the_end(plan) * size.n_test * decided]
    return list(zip(trainings, tests, strict=True))


def _least_bytes(plan, d: int) -> float:
    """A fit's operand, twice for a while, nine numbers an example and machine, a little room for working sets."""
    return max(s.n * (8 * d + 72 * s.machines + 4 * CHUNK) + 4 * s.n * d * (s is not plan[0]) for s in plan)


def _gram_bytes(plan) -> float:
    """Two working sets, or all of K in a virtual stage of one machine."""
    return max(4 * ((LARGEST * s.n) ** 2 / 3 if s.times > 1 else 2 * min(s.n, WORKING_SET) ** 2) for s in plan)
