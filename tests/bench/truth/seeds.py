"""Every option that draws at random: the same seed draws the same, bit for bit, and another seed something else.

An option is a function of a Case and a seed. It gives what was drawn, of which two seeds must differ, and what came of
it. Those of STEADY draw nothing: what they give must not depend on the seed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold

from data import catalogue, drawn, load, plane, synthetic
from data import pictures as picture_sets
from data.dataset import Arrays
from svmcore import RBF, JitterSet, Poly, metrics
from svmcore.detection import curve
from svmcore.lab import reducing, split, train
from svmcore.lab.analyses import asking, remedies
from svmcore.lab.finders import scanned
from svmcore.lab.methods import jsv, tangent
from svmcore.lab.recipe import Recipe
from svmcore.lab.tasks import detect, task_of
from svmcore.methods.editing import edited as editing
from svmcore.methods.editing import rules
from svmcore.methods.editing.rule import Given
from svmcore.preprocess import Preprocessor
from tests.bench.truth.outcome import Outcome, told
from tests.homes import new_home

AT_ONCE = 4  # options of one problem
SIDE = 8
ROOM = 500.0  # MB
DRAWN, CAME = 0, 1  # places in what an option gives


@dataclass(frozen=True)
class Case:
    """A recipe on images whose test part is their own, so that nothing but an option is drawn; two: of two classes."""

    base: Recipe
    two: Recipe
    share: float

    def fitted(self, recipe: Recipe):
        return train.fit(recipe, train.prepare(recipe)).estimator


def of_machine(machine) -> list[np.ndarray]:
    return [machine.support_vectors, machine.coef, machine.bias]


def copies(case: Case, seed: int, **options):
    """Which copies of which examples its support vectors are, and the machine."""
    scope = "union" if "draws" in options or case.share < 0.4 else "machine"
    recipe = case.base.replace(method="vsv", jitters="box:1", seed=seed, options={"scope": scope} | options)
    if "draws" in options:
        recipe = recipe.replace(jitters="random:60")
    machine = case.fitted(recipe).machine_
    return [machine.parent, machine.jitter], of_machine(machine)


def some_copies(case, seed):
    return copies(case, seed, copies=case.share, ranked="random")


def surest_copies(case, seed):
    return copies(case, seed, copies=case.share)


def draws(case, seed):
    return copies(case, seed, draws=1500)


def some_of_the_draws(case, seed):
    return copies(case, seed, draws=1500, copies=case.share, ranked="random")


def plain(case, seed):
    machine = case.fitted(case.base.replace(seed=seed)).machine_
    return [machine.support], of_machine(machine)


def examples(case, seed):
    problem = train.prepare(case.base.replace(seed=seed, split="stratified", n_train=30, n_test=20))
    return [problem.train_index, problem.test_index], [problem.X_train]


def left_over(case, seed):
    return [split.left_over(case.base.replace(seed=seed, n_train=20), load(case.base.dataset), 12)], []


def folds(case, seed):
    recipe = case.base.replace(seed=seed, folds=3)
    return [task_of(recipe).fold(recipe, number, train.unchecked).train_index for number in range(3)], []


def noise(case, seed):
    problem = train.prepare(case.base.replace(seed=seed, options={"noise": min(case.share, 0.5)}))
    return [problem.y_train, problem.y_noisy], []


class Folds(StratifiedKFold):
    """Those that keep which examples they held out."""

    seen: list = []  # noqa: RUF012

    def split(self, X, y=None, groups=None):
        for kept, held in super().split(X, y, groups):
            self.seen.append(held)
            yield kept, held


@contextmanager
def held_out() -> Iterator[list]:
    """What the folds that are drawn meanwhile hold out."""
    with patch.object(metrics, "StratifiedKFold", Folds), patch.object(Folds, "seen", []) as seen:
        yield seen


def grid(case, seed):
    with held_out() as held:
        machine = case.fitted(case.base.replace(seed=seed, options={"grid": "0.1,1"})).machine_
    return held, of_machine(machine)


def nu_grid(case, seed):
    with held_out() as held:
        case.fitted(case.base.replace(seed=seed, method="nu-sv", options={"nu": 0.1, "grid": "0.05,0.1"}))
    return held, []


def editing_grid(case, seed):
    with held_out() as held:
        case.fitted(case.base.replace(seed=seed, method="editing", options={"rule": "edited-nn", "grid": "0.1,1"}))
    return held, []


def jitters_searched(case, seed):
    options = {"candidates": "plus:1", "budget": 2}
    with held_out() as held:
        machine = case.fitted(case.base.replace(seed=seed, method="vsv-search", jitters="none", options=options))
    return held, of_machine(machine.machine_)


def subsets(case, seed, **options):
    recipe = case.two.replace(seed=seed, method="cross-training", options={"n_subsets": 3} | options)
    found = case.fitted(recipe)
    return [found.subsets_], [found.role_, *of_machine(found.machine_)]


def subsets_and_validation(case, seed):
    return subsets(case, seed, validation=True, subset_size=8, grid="0.1,1")


class Shuffles(np.random.RandomState):
    """Those that keep what they gave."""

    def __init__(self, like: np.random.RandomState):
        super().__init__()
        self.set_state(like.get_state())
        self.seen: list = []

    def permutation(self, x):
        self.seen.append(super().permutation(x))
        return self.seen[-1]


def edited(case, seed, rule):
    """What a rule shuffles; whom it throws away, where two seeds may agree, and the machine on the rest, if any."""
    recipe, came = case.two.replace(seed=seed, method="editing", options={"rule": rule}), []
    roles, by_rule, drawn = [], editing.edited, []
    kept = patch.object(editing, "edited", lambda *args, **how: roles.append(by_rule(*args, **how)) or roles[-1])

    def given(X, y, label, session, rng, svc):
        shuffles = Shuffles(rng)
        drawn.append(shuffles.seen)
        return Given(X, y, label, session, shuffles, svc)

    with kept, patch.object(rules, "Given", given), suppress(ValueError):
        came = of_machine(case.fitted(recipe).machine_)
    return [one for seen in drawn for one in seen], [*(one.role for one in roles), *came]


def multiedit(case, seed):
    return edited(case, seed, "multiedit")


def multiedit_by_svm(case, seed):
    return edited(case, seed, "multiedit-svm")


def condense(case, seed):
    return edited(case, seed, "condense")


def edited_nearest(case, seed):
    return edited(case, seed, "edited-nn")


def positive_part(case, seed):
    recipe = case.base.replace(seed=seed, method="jsv", jitters="plus:1", options={"positive": 25})
    with patch.object(jsv, "some", wraps=jsv.some) as some:
        problem = train.prepare(recipe)
    drawn_from, n = some.call_args.args[1:]
    return [jsv.some(recipe, drawn_from, n)], [problem.kernel.block(problem.X_train, problem.X_train)]


def examined(case, seed):
    """The support vectors that a jittered kernel is examined on."""
    recipe = case.base.replace(seed=seed, method="jsv", jitters="plus:1")
    with patch.object(jsv, "EXAMINED", 10), patch.object(jsv, "examine", wraps=jsv.examine) as examine:
        jsv.JitteringKernel().figures(case.fitted(recipe))
    return [examine.call_args.args[1]], []


def tangents(case, seed):
    few = {"input": 60, "feature": 60}
    recipe = case.base.replace(seed=seed, method="tangent", jitters="plus:1")
    with patch.object(tangent, "TANGENTS", few), patch.object(tangent, "JUDGED", 60):
        problem = train.prepare(recipe)
        found = train.fit(recipe, problem).estimator
    return [problem.kernel.block(problem.X_train, problem.X_train)], [found.regulariser_]


def reduced(case, seed, **options):
    recipe = case.base.replace(seed=seed, method="reduced", options={"n_vectors": 6, "sizes": 1} | options)
    machine = case.fitted(recipe).machine_
    return [machine.support_vectors], of_machine(machine)


def first_vectors(case, seed):
    return reduced(case, seed, start="random", reduction="rho", thresholds="kept")


def clusters(case, seed):
    return reduced(case, seed, start="k-means", reduction="rho", thresholds="kept")


def answers(case, seed):
    return reduced(case, seed, reduction="answers", epochs=3, start="examples")


def aside(case, seed):
    recipe = case.base.replace(seed=seed, method="reduced", options={"n_vectors": 6})
    rows, X, _ = reducing._aside(recipe, train.prepare(recipe))
    return [rows, X], []


def next_labels(case, seed):
    """What is asked for at random, and the labels that are known from the start."""
    with patch.object(asking, "asked", wraps=asking.asked) as asked:
        found = asking.study(case.base.replace(seed=seed), ROOM, known=6, batch=4, most=18, seeds=1)
    begun = asking.begun(train.prepare(case.base).y_train, 12, seed)
    rows = [call.args[3] for call in asked.call_args_list if call.args[2] == "random"]
    return [begun, *rows], [*found.wrong.values()]


def halves(case, seed):
    """The background that each of the machines that vote learns from."""
    problem = train.prepare(case.two)
    signed = problem._replace(y_train=np.where(problem.y_train == problem.y_train[0], 1, -1))
    both = [detect._others(seed, number, signed) for number in range(2)]
    return both, []


def background(case, seed):
    """Windows that show no object."""
    pictures = picture_sets.load("venus-like")
    recipe = Recipe(task="detect", dataset="venus-like", seed=seed, options={"finder": "scan"})
    few = SimpleNamespace(train=[0])
    return [scanned.cut(recipe, pictures, few, 1.0, train.unchecked)[0]], []


def counted(case, seed):
    """The order in which examples are looked at, to count which invariance helps."""
    ahead = np.linspace(0, 1, 40)
    looked = [rows for _, rows in remedies._looked_at(ahead, np.arange(40) % 3 > 0, seed)]
    return [np.concatenate(looked)], []


def resampled(case, seed):
    rng = np.random.default_rng(0)
    found = curve.trial(rng.normal(size=60), np.where(np.arange(60) % 3, -1, np.arange(60)), np.arange(60) % 9,
                        np.arange(9), np.full(9, 4))  # fmt: skip
    return list(curve.band(found, np.arange(1, 9), replicates=50, seed=seed)[1:]), []


def scrambled(case, seed):
    X = load(case.base.dataset).X_train
    return [Preprocessor(f"scramble:{seed}").fit_transform(X)], []


def jittered(case, seed, text):
    return [JitterSet.parse(text.format(seed)).apply(load(case.base.dataset).X_train[:5])], []


def elastic(case, seed):
    return jittered(case, seed, "elastic:1,2,3,{}")


def deformed(case, seed):
    return jittered(case, seed, "random:4,seed={}")


def playground(case, seed):
    those = [one for one in plane.PROBLEMS.values() if one.make]  # of one's own points nothing is drawn
    return [part for one in those for part in (one.sample(seed)[0], one.fresh(30, seed)[0])], []


def made_up(case, seed):
    makers = synthetic.moons, synthetic.circles, synthetic.gaussians, synthetic.banana, synthetic.ripley
    of_amount = drawn.squares(30, 0.2, seed)[0], drawn.clouds(30, 1.0, seed)[0]
    return [*(make(30, seed)[0] for make in makers), *of_amount], []


STEADY: dict[str, Callable] = {one.__name__: one for one in (plain, surest_copies, edited_nearest)}
OPTIONS: dict[str, Callable] = {
    one.__name__: one
    for one in (
        some_copies, draws, some_of_the_draws, examples, left_over, folds, noise, grid, nu_grid, editing_grid,
        jitters_searched, subsets, subsets_and_validation, multiedit, multiedit_by_svm, condense, positive_part,
        examined, tangents, first_vectors, clusters, answers, aside, next_labels, halves, background, counted,
        resampled, scrambled, elastic, deformed, playground, made_up,
    )
} | STEADY  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """Some options on images, with two seeds."""

    arrays: Arrays
    kernel: object
    C: float
    share: float
    options: tuple[str, ...]
    seeds: tuple[int, int]

    def solved(self, limit: float, beside: bool) -> Outcome:
        started, faults = time.perf_counter(), []
        with new_home(), warnings.catch_warnings(action="ignore"):
            name = catalogue.keep("seeds", self.arrays).name
            base = Recipe(dataset=name, split="given", kernel=self.kernel, C=self.C)
            classes = tuple(np.unique(self.arrays.y_train)[:2].tolist())
            case = Case(base, base.replace(classes=classes), self.share)
            for option in self.options:
                faults += self.drawn(case, option)
        return told(faults, time.perf_counter() - started)

    def drawn(self, case: Case, option: str) -> Iterator[str]:
        def tried(seed: int) -> tuple[list, list] | str:
            """What the option gives, or why it refuses."""
            try:
                return OPTIONS[option](case, seed)
            except ValueError as refused:
                return str(refused)

        first, again, other = (tried(seed) for seed in (self.seeds[0], *self.seeds))
        refused = isinstance(first, str)
        if refused != isinstance(again, str) or not (first == again if refused else all(map(alike, first, again))):
            yield f"{option}: the same seed, {self.seeds[0]}, gives something else"
        if refused or isinstance(other, str):
            return
        if alike(first[DRAWN], other[DRAWN]) and option not in STEADY:
            yield f"{option}: seeds {self.seeds} draw the same"
        if option in STEADY and not (alike(first[DRAWN], other[DRAWN]) and all(map(close, first[CAME], other[CAME]))):
            yield f"{option}: nothing is drawn, and seeds {self.seeds} give something else"


def alike(some: list, others: list) -> bool:
    """Whether arrays are the same bit for bit."""
    some, others = ([np.ascontiguousarray(one) for one in those] for those in (some, others))
    same = [a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(some, others)]
    return len(some) == len(others) and all(same)


def close(one: np.ndarray, other: np.ndarray) -> bool:
    """As near as one gap: the seed also says which examples a solver looks at."""
    return one.shape == other.shape and np.allclose(one, other, atol=1e-3 * np.abs(one).max(initial=1.0))


def problem(rng, options: tuple[str, ...]) -> Problem:
    X, y = load_digits(return_X_y=True)
    classes = rng.choice(10, int(rng.choice([2, 3, 4])), replace=False)
    rows = rng.permutation(np.flatnonzero(np.isin(y, classes)))
    n = int(rng.integers(60, 130))
    rows = np.concatenate([*(np.flatnonzero(y == c)[:8] for c in classes), rows])  # enough of each class
    X, y = X[rows].reshape(-1, SIDE, SIDE).astype(np.uint8) * 15, y[rows]
    wrong = np.arange(len(y)) % int(rng.choice([7, 11])) == 0
    y = np.where(wrong, rng.permutation(y), y)
    kernel = Poly(int(rng.integers(2, 8)), 1.0, 1.0) if rng.random() < 0.5 else RBF(float(10 ** rng.uniform(-0.5, 0.5)))
    seeds = tuple(int(seed) for seed in rng.choice(2**31, 2, replace=False))
    if rng.random() < 0.4:
        seeds = tuple(int(seed) for seed in rng.choice(5, 2, replace=False))
    C, share = float(10 ** rng.uniform(-0.5, 2)), float(rng.uniform(0.2, 0.6))
    return Problem(Arrays(X[:n], y[:n], X[n : n + 40], y[n : n + 40]), kernel, C, share, options, seeds)


def seeds(rng) -> Problem:
    """Every option that draws at random: the same seed twice, and another one."""
    return problem(rng, tuple(map(str, rng.choice(list(OPTIONS), AT_ONCE, replace=False))))
