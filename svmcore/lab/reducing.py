"""Reducing: one reduction carried out, the points of its curve told as they come.

    m_1 < ... < m_p = n_vectors, each about half of the next      a point of the curve: rho, errors on examples aside
    rho is stored squared, as (rho / |Psi|)^2, and shown as rho / |Psi|
    the machine = that of the largest m, or of the smallest whose errors aside stay within what is allowed

The examples aside are those of the dataset that neither train nor test; where there are none, training examples that
the reduction is not fitted to, unless there is nothing to choose. The machine has seen these, so that their errors
compare sizes and estimate nothing. Test examples are seen once, by the machine that is kept.
"""

import time
from collections.abc import Callable, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from svmcore.methods.reduced import Answers, ReducedSet
from svmcore.model import Machine, labels, multiply_adds
from svmcore.solvers.progress import Progress, Stopped

FEWEST_ASIDE, MAX_ASIDE = 100, 10_000  # examples aside
ONE_ASIDE_IN = 6  # of the training examples, where none are left
TIMED, LONG, TURNS = 256, 0.15, 5  # examples aside that are timed at least, seconds of a turn at most, turns
TENTH = 0.1  # of the machine's vectors, where no number is asked for


class CurvePoint(NamedTuple):
    """What a machine of m vectors came to."""

    m: int
    rho2: float | None  # (rho / |Psi|)^2 of all machines; None where that is not known
    errors: int  # of the examples aside
    changed: int  # how many of their answers differ from the machine's
    apart: float  # quadratic mean of f after less f before, over these and all machines
    seconds: float


class Reduction(NamedTuple):
    """What the lab reads of a fitted estimator, and the report of the whole reduction."""

    machine_: Machine
    kernel_: object
    history_: list
    converged_: bool
    ending_: str
    kernel_evals_: int
    report: dict


class Reducing:
    """One reduction: its examples aside, what has been reported, and the points of its curve."""

    def __init__(self, recipe, problem, monitor):
        self.recipe, self.problem, self.monitor = recipe, problem, monitor
        self.machine: Machine = problem.machine
        self.path: list[CurvePoint] = []
        self.fitted: list[ReducedSet] = []  # of each point
        self.latest = Progress("", 0, 1.0, (), 0.0, 0, 0, 0, 0, 0, 0.0, None)
        self.wrong, self.started = 0, time.perf_counter()
        self.rows, self.X, self.y = _aside(recipe, problem)
        self.of_features = problem.last.makes_features and problem.images_shape is not None
        self.estimator = reducer(recipe, problem.images_shape if self.of_features else problem.image_shape)

    def carried_out(self) -> Reduction:
        problem, estimator = self.problem, self.estimator
        self.before = self.machine.decision_values(self.X, self._check)
        self.answers = labels(self.machine.classes, self.before)
        self.wrong = int(np.count_nonzero(self.answers != self.y))
        self.began = time.perf_counter()
        X, y = (problem.images if self.of_features else problem.X_train)[self.rows], problem.y_train[self.rows]
        prepare = problem.last if self.of_features else None
        estimator.fit(self.machine, X, y, prepare=prepare, monitor=self._listen, seen=self._seen)
        if not self.path:  # stopped before the first point
            self.monitor = None
            self._seen(estimator)
        kept = self.fitted[self._chosen()]
        stopped = estimator.ending_ == "stopped"
        return Reduction(
            kept.machine_,
            kept.kernel_,
            [self.latest],
            kept.converged_ and not stopped,
            estimator.ending_ if stopped else kept.ending_,
            estimator.kernel_evals_,
            self._report(kept),
        )

    def _seen(self, fitted: ReducedSet) -> None:
        """Another point of the curve."""
        after = fitted.machine_.decision_values(self.X, self._check)
        said = labels(self.machine.classes, after)
        wrong, changed = (int(np.count_nonzero(said != other)) for other in (self.y, self.answers))
        apart = float(np.sqrt(np.mean((after - self.before) ** 2)))
        (m, rho, _), now = (fitted.path_ or [(fitted.n_after_, None, None)])[-1], time.perf_counter()
        self.path.append(CurvePoint(m, rho and rho**2, wrong, changed, apart, now - self.began))
        self.fitted.append(copy(fitted))
        self.began = now
        self._check()

    def _chosen(self) -> int:
        """The place in the path of what is kept."""
        allowed = self.recipe.option("allowed")
        if allowed is None:
            return len(self.path) - 1
        most = self.wrong + allowed / 100 * len(self.y)
        return next((at for at, point in enumerate(self.path) if point.errors <= most), len(self.path) - 1)

    def _report(self, kept: ReducedSet) -> dict:
        machine = kept.machine_
        return self._told() | {
            "n_after": len(machine.support),
            "rho": _shares(kept.rho_, kept.norms_),
            "rho_start": _shares(kept.rho_start_, kept.norms_),
            "multiply_adds": [multiply_adds(self.machine), multiply_adds(machine)],
            "take": taken((self.machine, machine), self.X, self._check),
            "products": [self.machine.products, machine.products],
            "bias": machine.bias.tolist(),
            "shift": (machine.bias - self.machine.bias).tolist(),
        }

    def _told(self) -> dict:
        """What is known by now."""
        return {
            "n_before": len(self.machine.support),
            "aside": len(self.y),
            "unseen": _others(self.problem) is not None,
            "machine_errors": self.wrong,
            "path": [list(point) for point in self.path],
        }

    def _check(self) -> None:
        """Between pieces of work that nobody else reports."""
        if not self._listen(self.latest._replace(stage="predicting held-out examples")):
            raise Stopped

    def _listen(self, progress: Progress) -> bool:
        """What a reduction reports, with what is known of other sizes."""
        gap = progress.gap if np.isfinite(progress.gap) else 1.0  # answers have a loss, and no distance
        seconds = round(time.perf_counter() - self.started, 3)
        self.latest = progress._replace(gap=gap, seconds=seconds, snapshot=None, facts=None)
        sizes, done = getattr(self.estimator, "sizes_", []), len(self.path)
        m = sizes[min(done, len(sizes) - 1)] if sizes else max(progress.n_sv, 1)
        return self.monitor is None or self.monitor(self.latest._replace(facts=self._told() | {"n_vectors": m}))


def reducer(recipe, image_shape: tuple[int, ...] | None = None) -> ReducedSet:
    """What reduces: to a share where no number is asked for. Its path is the curve."""
    asked = recipe.option
    exact = asked("reduction") == "exact"
    return ReducedSet(
        None if exact else asked("n_vectors") or TENTH,
        method=asked("reduction"),
        start=asked("start"),
        shared=asked("shared"),
        steps=asked("sizes") if asked("sizes") > 1 else None,
        thresholds=asked("thresholds"),
        answers=Answers(epochs=asked("epochs"), deform=asked("deformed"), by=asked("taught")),
        image_shape=image_shape,
        cache_mb=recipe.cache_mb,
        random_state=recipe.seed,
    )


def taken(machines: Sequence[Machine], X, check: Callable[[], None] = lambda: None) -> list[float]:
    """Seconds that 10,000 decisions take each of the machines, by prepared rows X (n, d): the median of some turns that
    it takes with the others, once all are compiled and have packed their vectors. All decide on the same rows, as many
    as the slowest does in a turn."""

    def turn(rows) -> list[float]:
        times = []
        for machine in machines:
            check()
            started = time.perf_counter()
            machine.decision_values(rows)
            times.append(time.perf_counter() - started)
        return times

    turn(X[:TIMED])
    slowest = max(turn(X[:TIMED]))
    rows = X[: max(TIMED, int(TIMED * LONG / max(slowest, 1e-9)))]
    return [
        1e4 / len(rows) * float(np.median(times)) for times in zip(*(turn(rows) for _ in range(TURNS)), strict=True)
    ]


def _shares(rho, norms) -> list[float | None]:
    """(rho / |Psi|)^2 of each machine, of rho and |Psi| (k,); None where it is not known."""
    return [float(r / n) ** 2 if np.isfinite(r) and n > 0 else None for r, n in zip(rho, norms, strict=True)]


def _others(problem):
    """Examples that neither train nor test, where they are enough to count errors on; else None."""
    enough = problem.aside is not None and len(problem.aside.y) >= FEWEST_ASIDE
    return problem.aside if enough else None


def _aside(recipe, problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the training set that the reduction is fitted to, and the examples aside, X (n, d) and y (n,)."""
    rows = np.arange(len(problem.y_train))
    if (others := _others(problem)) is not None:
        return rows, others.X, others.y
    held = np.random.default_rng(recipe.seed).permutation(rows)[: min(MAX_ASIDE, max(len(rows) // ONE_ASIDE_IN, 1))]
    one_size = recipe.option("sizes") == 1 and recipe.option("allowed") is None  # so that there is nothing to choose
    fitted = rows if one_size else np.setdiff1d(rows, held)
    return fitted, problem.X_train[held], problem.y_train[held]
