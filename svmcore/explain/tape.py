"""Machines in a sequence, for playback: the recording of a training run, the regularisation path, a decomposition.

A recording (`record`) has every pair that the solver updated:

    step t:   i in I_up, j in I_low,   violation = f_j - f_i > 0        f = K (alpha y) - y      (solvers/smo.py)
              y_i alpha_i += s,   y_j alpha_j -= s,   then the bias b

The recording is the trace of the actual solver: `fit` of an estimator with a monitor that is called after every pair.
The monitor does not influence the solver, so the last frame is the trained machine.

A stage (a virtual SV machine has two, "base" and "virtual") records its first `FULL` steps individually. Later only
every 2nd pair is recorded, then every 4th, 8th, ..., so that no stage has more than FULL + THIN frames besides its
first one. The first and the last frame are always recorded.

A path (`path`) has the machine of the same examples at each C of a series, each solved from the one before:

    sum_F K_ij y_j alpha_j + b = y_i - C sum_B K_ij y_j,  i in F         F: free SVs, B: bounded ones
    sum_F y_j alpha_j = -C sum_B y_j

so that between two changes of F and B all alpha and b are linear in C.

A decomposition (`rounds`) has the machine of a working set alone after each round, whichever solver does the inner
problem; then examples with alpha = 0 leave the set, and the worst i and j of all n, as in a step above, enter it.

Symbols: n examples of all stages, the training set first, then virtual examples; alpha (n,) float64.

Sequential minimal optimisation and the most violating pair: Keerthi et al. (2001); Fan, Chen and Lin (2005). The path:
Hastie, Rosset, Tibshirani and Zhu, Journal of Machine Learning Research 5 (2004), section 3. Rounds: Osuna, Freund and
Girosi (1997), section 3.2.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from svmcore.gram.sources import Dense
from svmcore.methods.virtual import VirtualSVC
from svmcore.solvers import decomposition, general
from svmcore.solvers.general import General
from svmcore.solvers.progress import Progress
from svmcore.solvers.session import Session
from svmcore.svc import SVC

FULL, THIN = 1000, 400  # frames of a stage: its first steps individually, and later ones at growing intervals
PATH_TOL = 1e-6  # gap of the machines of a path: events are told apart by it
DUST = 1e-12  # of C: an alpha that is rounding alone
ROUND_TOL, INNER_TOL = 1e-3, 1e-4  # gap that ends the rounds; gap of the inner problems, which is less
MOST_ROUNDS = 300  # should an inner solver not reach its gap


class Frame(NamedTuple):
    """The machine after some step, and what that step did to the frame before it."""

    stage: int  # 0, or 1 for the machine on virtual examples
    step: int  # pairs updated in this stage so far; 0 at its beginning
    pair: tuple[int, ...]  # (i, j), if the previous frame was one step earlier and both changed; else ()
    violation: float  # f_j - f_i before the step; 0 without a pair
    gap: float  # the largest violation of any pair after the step, as the solver reports it
    changed: np.ndarray  # (c,) int64, examples whose alpha changed since the frame before
    alpha: np.ndarray  # (c,) float64, their alpha now
    bias: float
    C: float
    inside: np.ndarray = np.empty(0, np.int64)  # the working set that a round solved


class Tape(NamedTuple):
    """All frames of a fit or of a path, and the examples they refer to."""

    X: np.ndarray  # (n, d) float32 as the kernel sees them: the training set first
    y: np.ndarray  # (n,) float64, +1 or -1
    parent: np.ndarray  # (n,) int64; a training example is its own parent
    jitter: np.ndarray  # (n,) int64, 0 for a training example
    frames: list[Frame]
    steps: tuple[int, ...]  # pairs of each stage, including those between frames


def record(estimator: SVC | VirtualSVC, X, y) -> Tape:
    """Fit `estimator` on X (n, d), y (n,) of two classes, and record its solver; the estimator is fitted afterwards.

    ValueError for more classes, or from the estimator's fit.
    """
    if len(np.unique(y)) > 2:
        raise ValueError(f"y: {len(np.unique(y))} classes; allowed: 2, because a tape shows one machine")
    recorder = _Recorder()
    estimator.fit(X, y, monitor=recorder)
    snapshots = recorder.snapshots
    number = _numbers(estimator, len(X), snapshots)
    jitter, parent, points, targets = _examples(estimator, X, y, number)
    C = estimator.machine_.C
    stages = list(dict.fromkeys(snapshot.stage for snapshot in snapshots))
    kernels = [estimator.kernel_] if len(stages) == 1 else [estimator.base_.kernel_, estimator.kernel_]
    grams = [kernel.exact(points, points) for kernel in kernels]
    frames, before = [], np.zeros(len(targets))
    for t, snapshot in enumerate(snapshots):
        stage, begins = stages.index(snapshot.stage), t == 0 or snapshots[t - 1].stage != snapshot.stage
        alpha = np.zeros(len(targets))
        alpha[[number[key] for key in snapshot.support]] = snapshot.alpha
        changed = np.flatnonzero(alpha) if begins else np.flatnonzero(alpha != before)
        pair, violation = (), 0.0
        if not begins and snapshot.step == snapshots[t - 1].step + 1 and len(changed) == 2:
            pair, violation = _pair(grams[stage], targets, before, alpha, changed)
        machine = changed, alpha[changed], snapshot.bias, float(C)
        frames.append(Frame(stage, snapshot.step, pair, violation, snapshot.gap, *machine))
        before = alpha
    steps = tuple(max(frame.step for frame in frames if frame.stage == s) for s in range(len(stages)))
    return Tape(points, targets, parent, jitter, frames, steps)


def path(estimator: SVC | VirtualSVC, X, y, costs: Sequence[float]) -> Tape:
    """The machine of a fitted estimator at each of the growing values `costs` of C, a frame each, to a gap of PATH_TOL.

    X (n, d), y (n,) are what it was fitted to; its examples stay those of its last stage, also where another C would
    have given other virtual ones. ValueError for more classes, another loss than hinge, class weights, virtual examples
    of several rounds or a choice of them, or costs that do not grow.
    """
    K, used, tape = _last_problem(estimator, X, y)
    if len(costs) < 1 or not (np.diff([0.0, *costs]) > 0).all():
        raise ValueError(f"costs = {list(costs)}; allowed: increasing values above 0")
    before = np.zeros(len(tape.y))
    for t, (alpha, bias, gap) in enumerate(_warm(K, tape.y[used], costs)):
        _add(tape, before, t, _spread(alpha, used), bias, gap, float(costs[t]))
    return tape._replace(steps=(len(costs) - 1,))


def rounds(estimator: SVC | VirtualSVC, X, y, new: int = 1, inner: General | None = None) -> Tape:
    """Osuna's decomposition of a fitted estimator's last problem, a frame a round; the first has no machine yet.

    new: of each class in the first working set, and of I_up and of I_low those that enter in a round; inner: a general
    optimiser for the inner problems, else the library's own solver. The set grows with the support vectors. ValueError
    as for `path`, and for new below 1.
    """
    if new < 1:
        raise ValueError(f"new = {new}; allowed: 1 or more")
    K, used, tape = _last_problem(estimator, X, y)
    before, C = np.zeros(len(tape.y)), float(estimator.machine_.C)
    for t, (alpha, bias, gap, inside) in enumerate(_sets(K, tape.y[used], C, new, inner)):
        _add(tape, before, t, _spread(alpha, used), bias, gap, C, inside=np.flatnonzero(used)[inside])
    return tape._replace(steps=(len(tape.frames) - 1,))


def _spread(alpha, used) -> np.ndarray:
    """(n,) alpha of all examples, of which some are used."""
    every = np.zeros(len(used))
    every[used] = alpha
    return every


def _add(tape: Tape, before, t: int, now, bias: float, gap: float, C: float, **more) -> None:
    """A frame of the machine `now`; `before` (n,) is that of the frame before, and becomes it."""
    changed = np.flatnonzero(now != before)
    tape.frames.append(Frame(0, t, (), 0.0, gap, changed, now[changed], bias, C, **more))
    before[:] = now


def _last_problem(estimator, X, y) -> tuple[np.ndarray, np.ndarray, Tape]:
    """K (m, m) of the examples that the last stage has, which they are (n,) bool, and a tape without frames."""
    virtual = isinstance(estimator, VirtualSVC)
    last = (estimator.second or estimator.estimator or SVC()) if virtual else estimator
    plain = not virtual or (estimator.rounds == 1 and estimator.keep == 1 and not estimator.draws)
    if len(estimator.classes_) > 2 or last._squared or last.class_weight is not None or not plain:
        allowed = "two classes, the hinge loss, no class weights, and for VirtualSVC rounds = 1, keep = 1 and draws = 0"
        raise ValueError(f"{estimator}; allowed: {allowed}")
    number = _numbers(estimator, len(X), [])
    jitter, parent, points, targets = _examples(estimator, X, y, number)
    used = np.isin(parent, estimator.base_.machine_.support) if virtual else np.ones(len(targets), bool)
    K = estimator.kernel_.exact(points[used], points[used])
    return K, used, Tape(points, targets, parent, jitter, [], (0,))


def _sets(K, y, C: float, new: int, inner: General | None):
    """(alpha (n,), bias, gap over all n, working set) after each round, at first of no machine."""
    solve = decomposition.solve if inner is None else partial(general.solve, settings=inner)
    inside = np.sort(np.concatenate([np.flatnonzero(y == sign)[:new] for sign in (-1, 1)]))
    yield np.zeros(len(y)), 0.0, 2.0, inside
    for _ in range(MOST_ROUNDS):
        with Session() as session:
            box = np.full((1, len(inside)), C)
            solution = solve(Dense(K[np.ix_(inside, inside)]), y[inside][None], box, session, tol=INNER_TOL)
        alpha = np.zeros(len(y))
        alpha[inside] = np.where(solution.alpha[0] < DUST * C, 0.0, solution.alpha[0])
        f = K @ (alpha * y) - y
        up, low = (np.flatnonzero(np.where(y == sign, alpha < C, alpha > 0)) for sign in (1, -1))
        up, low = up[np.argsort(f[up], kind="stable")], low[np.argsort(-f[low], kind="stable")]
        gap = max(float(f[low[0]] - f[up[0]]), 0.0)
        yield alpha, float(solution.bias[0]), gap, inside
        if gap <= ROUND_TOL:
            return
        inside = np.unique(np.concatenate([inside[alpha[inside] > 0], up[:new], low[:new]]))


def _warm(K, y, costs):
    """(alpha (n,), bias, gap) at each C: alpha is scaled to the next C, which it is feasible for, and solved on."""
    gram, alpha, C = Dense(K), np.zeros(len(y)), float(costs[0])
    for cost in map(float, costs):
        alpha = np.where(alpha >= C, cost, np.minimum(alpha * (cost / C), cost))
        start = alpha[None], (K @ (alpha * y) - y)[None]
        with Session() as session:
            box = np.full((1, len(y)), cost)
            solution = decomposition.solve(gram, y[None], box, session, tol=PATH_TOL, start=start)
        alpha, C = solution.alpha[0], cost
        alpha[alpha < DUST * C] = 0
        yield alpha, float(solution.bias[0]), float(solution.gaps[0])


class _Snapshot(NamedTuple):
    """The machine at a call of the monitor."""

    stage: str
    step: int
    support: list[tuple[int, int]]  # (m,) jitter and parent of the support vectors
    alpha: np.ndarray  # (m,)
    bias: float
    gap: float


class _Recorder:
    """A monitor that records the machine after every pair, or after every `burst` pairs of a long stage."""

    def __init__(self):
        self.burst, self.snapshots = 1, []
        self._stage, self._begin, self._first = "", 0, 0

    def __call__(self, progress: Progress) -> bool:
        if progress.snapshot is None:
            return True
        if progress.stage != self._stage:
            self._stage, self._begin, self._first, self.burst = (
                progress.stage,
                progress.iterations,
                len(self.snapshots),
                1,
            )
        snapshot = self._snapshot(progress)
        if len(self.snapshots) > self._first and self.snapshots[-1].step == snapshot.step:
            self.snapshots[-1] = snapshot  # no pair since then, but bias and gap may be more precise
        else:
            self.snapshots.append(snapshot)
            full = self._first + FULL + 1
            if len(self.snapshots) > full + THIN:
                del self.snapshots[full:-1:2]
                self.burst *= 2
        return True

    def _snapshot(self, progress: Progress) -> _Snapshot:
        step = progress.iterations - self._begin
        if step == 0:  # a stage begins with alpha = 0, but the snapshot may still be the previous machine
            return _Snapshot(self._stage, 0, [], np.empty(0), 0.0, progress.gap)
        snapshot = progress.snapshot()
        jitter = np.zeros(len(snapshot.support), int) if snapshot.jitter is None else snapshot.jitter
        alpha = np.abs(snapshot.coef[0])
        support = list(zip(jitter.tolist(), snapshot.support.tolist(), strict=True))
        return _Snapshot(self._stage, step, support, alpha, float(snapshot.bias[0]), progress.gap)


def _examples(estimator, X, y, number) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """jitter, parent (n,), points (n, d) float32 and targets (n,) of +1 and -1 of the numbered examples."""
    jitter, parent = np.array(list(number)).T
    X = np.asarray(X, np.float32)
    points = X.copy() if not jitter.any() else estimator.jitters_.pick(X[parent], jitter)
    return jitter, parent, points, np.where(np.asarray(y)[parent] == estimator.classes_[1], 1.0, -1.0)


def _numbers(estimator, n: int, snapshots: list[_Snapshot]) -> dict[tuple[int, int], int]:
    """(jitter, parent) -> number of an example: the training set, and all forms of the first stage's SVs."""
    forms = {key for snapshot in snapshots for key in snapshot.support}
    if isinstance(estimator, VirtualSVC) and estimator.base_ is not None:
        forms |= {(j, p) for p in estimator.base_.machine_.support.tolist() for j in range(len(estimator.jitters_))}
    return {key: at for at, key in enumerate(sorted(forms | {(0, p) for p in range(n)}))}


def _pair(K, y, before, after, changed) -> tuple[tuple[int, int], float]:
    """The working pair of one step, with i of I_up first, and its violation before the step."""
    i, j = sorted(changed.tolist(), key=lambda at: -y[at] * (after[at] - before[at]))
    f = K[[i, j]] @ (before * y) - y[[i, j]]
    return (i, j), float(f[1] - f[0])
