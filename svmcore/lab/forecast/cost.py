"""What a recipe costs, by rules of thumb: the seconds and megabytes of the stages that its method makes of it.

    train(n) = (2 d w / F + (6 + k) / S) u n,    u = distinct support vectors of n examples (registry/costs.py)
    test(u)  = 2 d w u t / F
    fit      = operands + numbers of each example and machine + Gram matrices of two working sets, or of all virtual
               examples of two machines

n, t, d  training and test examples, features;  k  machines;  w  plain kernel values that one takes;  F  rate of kernel
products (flop/s), zeros counted;  S  rate of the solver's passes over examples (1/s). The rates are read off runs of
2000 to 60000 digits, and of tables, on two cores (tests/bench/measured).
"""

from __future__ import annotations

from typing import NamedTuple

from svmcore.gram.sources import STEP
from svmcore.lab.registry.costs import Plan, Stage, in_the_end, support_vectors
from svmcore.memory import MB

FLOPS, PASSES = 600e9, 2.5e9
WORKING_SET = 12_000  # examples, the largest working set of a machine in practice
LOOKS_MB = 64  # that live looks may hold
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

    def advice(self, n_train: int, cache_mb: float | None, free: float) -> str:
        """What would fit into `free` MB."""
        text = f"{n_train} training examples need at least {self.least_mb + self.examples_mb:,.0f} MB; "
        text += f"{free:,.0f} MB are free" + (f" and cache_mb is {cache_mb:g}" if cache_mb is not None else "")
        if self.least_mb + self.examples_mb <= free:
            return f"{text}. cache_mb from {self.least_mb:,.0f} to {free - self.examples_mb:,.0f} would fit."
        n = int(n_train * (free - LOOKS_MB) / (self.least_mb + self.examples_mb))
        return f"{text}. " + (f"n_train up to {n} would fit." if n >= 2 else "Nothing fits before memory is freed.")


def cost(plan: Plan, folds: list[Plan]) -> Cost:
    """The whole cost of a plan and of those of its folds."""
    parts = [part for each in (plan, *folds) for part in _seconds(each)]
    size, largest = plan.size, max((each.size.n_train + each.size.n_test + each.held for each in folds), default=0)
    rows = (size.n_train + size.n_test) * (1 + 4) + 4 * (plan.held + largest)  # as stored, and as float32
    least = _least_bytes(plan.stages, size.d) if plan.least is None else plan.least
    most = least + (_gram_bytes(plan.stages) if plan.least is None else 0.0)
    return Cost(parts, rows * size.d / MB + LOOKS_MB, least / MB, most / MB)


def _seconds(plan: Plan) -> list[tuple[float, float]]:
    size, stages = plan.size, plan.stages
    made = 2.0 * size.d * plan.work.training / FLOPS
    decided = 2.0 * size.d * plan.work.deciding / FLOPS
    trainings = [support_vectors(s.n) * s.n * s.times * (made + (6 + s.machines) / PASSES) for s in stages]
    if plan.seconds is not None:
        trainings = [plan.seconds]
    trainings[0] += plan.beside
    vectors = in_the_end(stages) if plan.vectors is None else plan.vectors
    tests = [0.0] * (len(trainings) - 1) + [vectors * size.n_test * decided]
    return list(zip(trainings, tests, strict=True))


def _least_bytes(stages: list[Stage], d: int) -> float:
    """A fit's operand, twice for a while, nine numbers an example and machine, a little room for working sets."""
    return max(s.n * (8 * d + 72 * s.machines + 4 * STEP) + 4 * s.n * d * (s is not stages[0]) for s in stages)


def _gram_bytes(stages: list[Stage]) -> float:
    """Two working sets, or all of K of two machines that are solved side by side in a virtual stage."""
    return max(8 * ((LARGEST * s.n) ** 2 / 3 if s.times > 1 else min(s.n, WORKING_SET) ** 2) for s in stages)
