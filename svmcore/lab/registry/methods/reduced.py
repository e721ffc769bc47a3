"""reduced: a machine's expansion by fewer vectors, tried at several sizes.

    m_1 < ... < m_p = n_vectors, each half of the next      a point of the curve: rho, errors on examples kept aside
    the machine = that of the largest m, or of the smallest whose errors aside stay within what is allowed

The examples aside are those of the data set that neither train nor test; where there are none, training examples that
the reduction is not fitted to, unless there is nothing to choose. The machine has seen these, so that their errors
compare sizes and estimate nothing. Test examples are seen once, by the machine that is kept.

Burges and Schoelkopf (1997).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np

from svmcore.lab.registry.checks import an_object, count, flag, maybe, number, positive, several
from svmcore.lab.registry.costs import Plan, Sizes, Work, in_the_end, support_vectors
from svmcore.lab.registry.fields import FLAG, OPTIONS, Field, RecipeError, choice, numeric
from svmcore.lab.registry.method import Method
from svmcore.methods.reduced import ReducedSet
from svmcore.methods.reduced.answers import Answers
from svmcore.model import Machine, labels, multiply_adds
from svmcore.solvers.progress import Progress, Stopped

MADE_BY: dict[str, Method] = {}  # name -> what makes machines of examples; methods/__init__.py fills it in
WAYS = {
    "auto": "As it fits the kernel and the number of machines",
    "exact": "Without the vectors that depend on others",
    "quadratic": "By eigenvectors, for kernels of degree 2",
    "rho": "The nearest expansion in feature space",
    "answers": "The nearest decisions on training examples",
}
STARTS = {
    "auto": "As it fits",
    "k-means": "Centres of clusters of support vectors",
    "greedy": "One by one, what lowers rho most",
    "weight": "The largest alphas",
    "random": "At random",
}
THRESHOLDS = {"train": "Found again on training examples", "kept": "As the machine has them"}
PIECE = 4e9  # floating-point operations between two checks while deciding
FEWEST, MOST, SHARE = 100, 10_000, 6  # examples aside; one in SHARE of the training examples, where none are left
FIRST = 2000  # vectors that answers begin with, about
MANY = 20_000  # training examples from which on machines that share vectors are reduced by their answers
FLOPS = 60e9  # rate of kernel products
ROUNDS = {"rho": 300, "answers": 1.4}  # kernel values of a vector and one of the machine's, or an example of an epoch


class Point(NamedTuple):
    """What a machine of m vectors came to."""

    m: int
    rho: float | None  # of all machines, as a share of their |Psi|^2; None where that is not known
    errors: int  # of the examples aside
    changed: int  # how many of their answers differ from the machine's
    apart: float  # quadratic mean of f after less f before, over these and all machines
    seconds: float


class Reducing(NamedTuple):
    """A Progress, with the size at work and the points of the curve that are known by now."""

    stage: str
    iterations: int
    gap: float
    gaps: tuple[float, ...]
    dual: float
    n_sv: int
    n_bound: int
    kernel_evals: int
    cache_hits: int
    cache_misses: int
    seconds: float
    snapshot: Callable | None
    n_vectors: int
    path: tuple[Point, ...]
    n_before: int
    aside: int  # examples
    unseen: bool
    machine_errors: int  # the machine's own, of these


class Reduction(NamedTuple):
    """What the lab reads of a fitted estimator, and the report of the whole reduction."""

    machine_: Machine
    kernel_: object
    history_: list
    converged_: bool
    ending_: str
    kernel_evals_: int
    report: dict


class Reduced(Method):
    """Fewer vectors for the machine of another method; its result says `reduction`."""

    name = "reduced"
    title = "Reduced set"
    short = "Reduced"
    help = "The decisions of a trained machine by fewer vectors."
    source = "Burges and Schoelkopf, NIPS 9 (1997)"
    made = False
    variants: ClassVar = {}  # it stands beside its machine, not beside methods
    fields = (
        Field("of", choice(MADE_BY, lambda method: method.title), "sv", "Machine", "What made it.", shown=False),
        Field("of_options", OPTIONS, {}, "Its options", "Fields of the machine's method alone, as JSON.", shown=False),
        Field(
            "n_vectors", numeric(1, 1_000_000, whole=True), None, "Vectors",
            "How many a machine may keep; where vectors are shared, all machines together.",
            "a tenth of the machine's",
        ),
        Field(
            "reduction", choice(WAYS, str), "auto", "How", "By what the vectors and their weights are found.",
        ),
        Field("start", choice(STARTS, str), "auto", "First vectors", "What the search begins with."),
        Field("shared", FLAG, True, "Shared by all machines", "One kernel value then serves all of them."),
        Field(
            "thresholds", choice(THRESHOLDS, str), "train", "Thresholds",
            "Where the two classes' distributions of f on training examples differ most, or unchanged.",
        ),
        Field(
            "epochs", numeric(1, 2000, whole=True), 200, "Epochs",
            "For answers: how often its steps pass over the training examples.",
        ),
        Field(
            "deformed", numeric(0, 5, closed=True), 1.2, "Deformed",
            "For answers: how strongly images are shifted, turned and bent in each epoch; 0 leaves them.", step=0.5,
        ),
        Field(
            "sizes", numeric(1, 9, whole=True), 4, "Sizes tried",
            "The points of the curve, each with half of the vectors of the next.",
        ),
        Field(
            "allowed", numeric(0, 100, closed=True), None, "Errors allowed, points",
            "Keep the fewest vectors whose errors aside are at most so much above the machine's, in per cent points.",
            "keep the largest size", step=0.05,
        ),
    )  # fmt: skip
    result_fields: ClassVar = {
        "reduction": lambda value: an_object(
            value,
            {
                "n_before": count, "n_after": count, "aside": count, "unseen": flag, "machine_errors": count,
                "path": several(several(maybe(number), 6, 6)),
                "rho": several(maybe(number)), "rho_start": several(maybe(number)),
                "multiply_adds": several(positive, 2, 2), "shift": several(number),
            },
        )
    }  # fmt: skip

    def check(self, recipe) -> None:
        if recipe.folds is not None:
            raise RecipeError("folds", recipe.folds, "none for a reduction, whose sizes are compared on examples aside")
        recipe.origin  # noqa: B018  a recipe that cannot be says so

    def origin(self, recipe):
        own = {field.name for field in self.fields}
        others = {name: value for name, value in recipe.options.items() if name not in own}
        options = others | recipe.option("of_options")
        return recipe.replace(name="custom", title="", method=recipe.option("of"), options=options)

    def jitters(self, recipe) -> str:
        return MADE_BY[recipe.option("of")].jitters(recipe)

    def brief(self, recipe) -> str:
        return f"{self._size(recipe)} of {MADE_BY[recipe.option('of')].brief(recipe) or 'sv'}"

    def summary(self, recipe) -> str:
        return " · ".join(filter(None, (MADE_BY[recipe.option("of")].summary(recipe), self._size(recipe))))

    def _size(self, recipe) -> str:
        m = recipe.option("n_vectors")
        return "reduced to a tenth" if m is None else f"reduced to {m:,} vectors"

    def train(self, recipe, problem, monitor):
        return _Work(recipe, problem, monitor).carried_out()

    def figures(self, estimator) -> dict:
        return {"reduction": estimator.report}

    def words(self, result: dict) -> str:
        if not (known := result.get("reduction")):
            return ""
        return f"{known['n_before']:,} vectors reduced to {known['n_after']:,}."

    def plan(self, recipe, size: Sizes) -> Plan:
        asked, k = recipe.option, size.machines
        stages = MADE_BY[asked("of")].stages(recipe.origin, size)
        whole = in_the_end(stages)
        own = support_vectors(stages[-1].n) if stages[-1].times > 1 else whole / k**0.7
        groups, n = (1, whole) if asked("shared") or k == 1 else (k, own)
        m = asked("n_vectors") or n / 10
        sizes = sum(0.5**step for step in range(asked("sizes")))
        many = size.n_train >= MANY and asked("shared") and k > 1
        if asked("reduction") == "answers" or (asked("reduction") == "auto" and many):
            first = min(m, FIRST)  # vectors that all epochs are for; those added to them take a tenth
            values = ROUNDS["answers"] * asked("epochs") * size.n_train * (first + 0.2 * (m - first))
        else:
            values = ROUNDS["rho"] * groups * n * m
        seconds = 2.0 * size.d * recipe.kernel.work * values * sizes / FLOPS
        held = 8.0 * size.d * (whole + 4 * m) + 24.0 * m * m
        work = Work(recipe.kernel.work, recipe.kernel.work)
        return Plan(size, stages[:1], work, size.n_train, seconds=seconds, vectors=groups * m, least=held)


def reduction_of(recipe, **options):
    """The recipe that reduces the machine of a recipe. RecipeError for options that cannot be, and for a machine that
    is reduced already."""
    own = {field.name for field in MADE_BY[recipe.method].fields} if recipe.method in MADE_BY else set()
    of_options = {name: value for name, value in recipe.options.items() if name in own}
    others = {name: value for name, value in recipe.options.items() if name not in own}
    asked = others | {"of": recipe.method, "of_options": of_options} | options
    return recipe.replace(name="custom", title="", method="reduced", folds=None, slow_motion=False, options=asked)


class _Work:
    """One reduction: its examples, what has been reported, and the points of its curve."""

    def __init__(self, recipe, problem, monitor):
        self.recipe, self.problem, self.monitor = recipe, problem, monitor
        self.machine: Machine = problem.machine
        self.path: list[Point] = []
        self.m, self.latest, self.started, self.wrong = 0, None, time.perf_counter(), 0
        self.rows, self.X, self.y = _aside(recipe, problem)

    def carried_out(self) -> Reduction:
        sizes, found = self._sizes(), []
        self.m = sizes[0]
        before = self._decide(self.machine)
        answers = labels(self.machine.classes, before)
        self.wrong = int(np.count_nonzero(answers != self.y))
        for self.m in sizes:
            started = time.perf_counter()
            fitted = self._fitted()
            found.append(fitted)
            after = self._decide(fitted.machine_)
            said = labels(self.machine.classes, after)
            left = float(np.sum(fitted.rho_) / np.sum(fitted.norms_)) if np.sum(fitted.norms_) > 0 else None
            wrong, changed = (int(np.count_nonzero(said != other)) for other in (self.y, answers))
            apart = float(np.sqrt(np.mean((after - before) ** 2)))
            seconds = time.perf_counter() - started
            self.path.append(Point(len(fitted.machine_.support), left, wrong, changed, apart, seconds))
            self._check()
        return self._reduction(found[self._chosen()])

    def _sizes(self) -> list[float | None]:
        """How many vectors to try, rising: numbers, or shares of what each machine has; None where that follows."""
        n, m = len(self.machine.support), self.recipe.option("n_vectors")
        if not n:
            raise RecipeError("n_vectors", m, "nothing, as this machine has no support vectors")
        if self.recipe.option("reduction") == "exact":
            return [None]
        most = n if self._shared else int(self.machine.n_sv.min())
        if m is not None and m > most:
            raise RecipeError("n_vectors", m, f"1 to {most}, as many as the machine has")
        steps = [0.5**step for step in reversed(range(self.recipe.option("sizes")))]
        if m is None:
            return sorted({max(1, round(step * n / 10)) for step in steps}) if self._shared else [s / 10 for s in steps]
        return sorted({max(1, round(step * m)) for step in steps})

    @property
    def _shared(self) -> bool:
        return self.recipe.option("shared")

    def _fitted(self):
        """The reduced set of the size at work."""
        asked, problem = self.recipe.option, self.problem
        estimator = ReducedSet(
            self.m,
            method=asked("reduction"),
            start=asked("start"),
            shared=self._shared,
            thresholds=asked("thresholds"),
            answers=Answers(epochs=asked("epochs"), deform=asked("deformed")),
            image_shape=problem.image_shape,
            cache_mb=self.recipe.cache_mb,
            random_state=self.recipe.seed,
        )
        return estimator.fit(self.machine, problem.X_train[self.rows], problem.y_train[self.rows], monitor=self._listen)

    def _chosen(self) -> int:
        """The place in the path of what is kept."""
        allowed = self.recipe.option("allowed")
        if allowed is None:
            return len(self.path) - 1
        most = self.wrong + allowed / 100 * len(self.y)
        return next((at for at, point in enumerate(self.path) if point.errors <= most), len(self.path) - 1)

    def _reduction(self, kept) -> Reduction:
        machine = kept.machine_
        report = {
            "n_before": len(self.machine.support),
            "n_after": len(machine.support),
            "aside": len(self.y),
            "unseen": self.problem.aside is not None,
            "machine_errors": self.wrong,
            "path": [list(point) for point in self.path],
            "rho": _shares(kept.rho_, kept.norms_),
            "rho_start": _shares(kept.rho_start_, kept.norms_),
            "multiply_adds": [multiply_adds(self.machine), multiply_adds(machine)],
            "shift": (machine.bias - self.machine.bias).tolist(),
        }
        return Reduction(
            machine, machine.kernel, [self.latest], kept.converged_, kept.ending_, kept.kernel_evals_, report
        )

    # Examples aside, and who is told of the work

    def _decide(self, machine: Machine) -> np.ndarray:
        """f (n, k) of a machine on the examples aside."""
        m, d = machine.support_vectors.shape
        step = max(16, int(PIECE / (2 * d * max(m, 1) * machine.kernel.work)))
        decision = np.empty((len(self.X), len(machine.bias)))
        for start in range(0, len(decision), step):
            self._check()
            decision[start : start + step] = machine.decision_values(self.X[start : start + step])
        return decision

    def _check(self) -> None:
        """Between pieces of work that nobody else reports."""
        latest = self.latest or Progress("", 0, 1.0, (), 0.0, 0, 0, 0, 0, 0, 0.0, None)
        if not self._listen(latest._replace(stage="deciding on examples aside")):
            raise Stopped

    def _listen(self, progress: Progress) -> bool:
        """What a reduction reports, with what is known of other sizes."""
        gap = progress.gap if np.isfinite(progress.gap) else 1.0  # answers have a loss, and no distance
        seconds = round(time.perf_counter() - self.started, 3)
        self.latest = progress._replace(gap=gap, seconds=seconds, snapshot=None)
        if self.monitor is None:
            return True
        known = {"n_before": len(self.machine.support), "path": tuple(self.path), "aside": len(self.y)}
        known |= {"unseen": self.problem.aside is not None, "machine_errors": self.wrong}
        m = self.m or self.latest.n_sv
        m = m if m >= 1 else max(1, round(m * np.count_nonzero(self.machine.coef)))
        return self.monitor(Reducing(*self.latest, n_vectors=m, **known))


def _shares(rho, norms) -> list[float | None]:
    """rho (k,) of each machine as a share of its |Psi|^2; None where it is not known."""
    return [float(r / n) if np.isfinite(r) and n > 0 else None for r, n in zip(rho, norms, strict=True)]


def _aside(recipe, problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the training set that the reduction is fitted to, and the examples aside, X (n, d) and y (n,)."""
    rows = np.arange(len(problem.y_train))
    if problem.aside is not None and len(problem.aside.y) >= FEWEST:
        return rows, problem.aside.X, problem.aside.y
    held = np.random.default_rng(recipe.seed).permutation(rows)[: min(MOST, max(len(rows) // SHARE, 1))]
    fitted = rows if _nothing_to_choose(recipe) else np.setdiff1d(rows, held)
    return fitted, problem.X_train[held], problem.y_train[held]


def _nothing_to_choose(recipe) -> bool:
    return recipe.option("sizes") == 1 and recipe.option("allowed") is None
