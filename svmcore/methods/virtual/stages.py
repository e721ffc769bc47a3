"""Virtual support vectors: retrain on transformed copies of the support vectors.

    stage 0     a machine on all examples x_i  ->  its SVs                                   (parent i, jitter 0)
    stage r     a machine on prepare(T_j x_i) for every jitter of every SV of stage r - 1    (parent i, jitter j)

A virtual example is known by its parent and its jitter, so a second round composes transformations of the original
image instead of transforming a transformed one; its label and its C are its parent's. Jitters act on images before
the normalisation `prepare`.

Symbols: X (n, d) float32 rows of pixels; Y (k, n) targets +1, -1 of the k machines; parent (m,) int64; jitter (m,)
int32, its number in the set of all products of r jitters; alpha (k, m) float64.

References: Schoelkopf, Burges and Vapnik, ICANN (1996); DeCoste and Schoelkopf, Machine Learning 46 (2002), section
3.2, Table 1 (scope "union") and section 5.1.1 (scope "machine").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _check_sample_weight

from svmcore.gram.orbit import Orbit, block_bytes
from svmcore.gram.sources import Gram
from svmcore.kernels import Kernel
from svmcore.memory import ceiling_bytes
from svmcore.model import Machine
from svmcore.preprocess import as_images, background
from svmcore.solvers import decomposition
from svmcore.solvers.progress import Progress, Snapshot, Stopped, retold
from svmcore.svc import SVC, one_vs_rest

CLIPPED = 0.005  # share of the squared ink on the rim up to which clipping it or not makes no difference that counts
SPENT = ("iterations", "kernel_evals", "cache_hits", "cache_misses", "seconds")  # of a Progress: adds up from the start


class VirtualSnapshot(NamedTuple):
    """All machines as they would be if training stopped now: those not yet retrained as they were."""

    support: np.ndarray  # (m,) int64, parents: training rows
    coef: np.ndarray  # (k, m) float64, y alpha
    bias: np.ndarray  # (k,) float64
    vectors: np.ndarray  # (m, d) float32, the support vectors themselves
    kernel: Kernel
    bound: np.ndarray  # (k, m) bool, alpha is at its own C


@dataclass(frozen=True)
class Share:
    """Some of the k machines, and the examples that they were trained on together."""

    machines: np.ndarray  # (s,) which of the k
    parent: np.ndarray  # (m,)
    jitter: np.ndarray  # (m,)
    alpha: np.ndarray  # (s, m)
    bound: np.ndarray  # (s, m) bool
    bias: np.ndarray  # (s,)
    examples: int = 0  # of the virtual training set

    def support(self) -> Share:
        """The same machines on their support vectors alone."""
        sv = (self.alpha > 0).any(axis=0)
        return replace(
            self, parent=self.parent[sv], jitter=self.jitter[sv], alpha=self.alpha[:, sv], bound=self.bound[:, sv]
        )


class Stages:
    """One fit of a VirtualSVC, `owner`: machines in shares that are solved in turn, each within the SVC's budget."""

    def __init__(self, owner, single, X, y, sample_weight, monitor):
        self.owner, self.single, self.X, self.y, self.monitor = owner, single, X, y, monitor
        self.weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        self.first = SVC() if owner.estimator is None else owner.estimator
        self.second = self.first if owner.second is None else owner.second
        self.classes, label = np.unique(y, return_inverse=True)
        self.Y = one_vs_rest(label, len(self.classes))
        self.box = self.second.box(y, label, self.weight)
        self.jitters, self.rounds = single.power(0), 0
        self.base = None
        self.history, self.evaluations, self.converged = [], 0, True
        self.ceiling = ceiling_bytes(self.second.cache_mb)
        self.space: np.ndarray | None = None  # of the present stage's blocks by relative shift
        self.begun: Progress | None = None  # the present stage, up to the share at work

    def first_stage(self) -> None:
        """The base machine, one share a machine or one for all; scope "all" begins with every example instead."""
        k, n = self.Y.shape
        rows = self.owner.prepared(self.X)
        self.second_kernel = self.second.kernel_for(rows)
        if self.owner.scope == "all":
            nothing = np.zeros((k, n))
            self.kernel = self.second_kernel
            self.shares = [Share(np.arange(k), np.arange(n), np.zeros(n, int), nothing, nothing > 0, np.zeros(k))]
            return
        self.base = clone(self.first)
        monitor = retold(self.monitor, lambda progress: progress._replace(stage="base"))
        self.base.fit(rows, self.y, self.weight, monitor=monitor)
        machine, self.kernel = self.base.machine_, self.base.kernel_
        groups = [[c] for c in range(k)] if self.owner.scope == "machine" else [range(k)]
        self.shares = [
            Share(
                machines=np.array(group),
                parent=machine.support,
                jitter=np.zeros(len(machine.support), int),
                alpha=machine.alpha[group],
                bound=machine.bound[group],
                bias=machine.bias[group],
            ).support()
            for group in groups
        ]
        self._count(self.base.history_, self.base.converged_)

    def virtual_stage(self) -> None:
        """Retrain every share on the jittered forms of its SVs.

        Where training is stopped, the machines not yet retrained stay as they are; where the second stage has another
        kernel, all of them do.
        """
        fresh = self.base is None and self.rounds == 0
        seeds = self.shares if fresh else [share.support() for share in self.shares]
        self.rounds += 1
        larger = self.single.power(self.rounds)
        table = larger.after(self.jitters, self.single)
        self.jitters = larger
        kept = [replace(share, jitter=table[share.jitter, 0]) for share in self.shares]
        kernel = self.second_kernel
        self.begun, done = self._at_rest("virtual"), []
        self.most = max(len(seed.parent) for seed in seeds)  # at least the parents of every machine
        for seed in seeds:
            try:
                done.append(self._retrain(seed, table, kernel, lambda *live: self._state([*done, *live], kept, kernel)))
            except Stopped:
                self.converged = False
            if not self.converged:
                break
        self.space = None
        self.kernel, self.shares = self._state(done, kept, kernel)

    def assemble(self, shares, kernel=None) -> Machine:
        """One machine of all shares, in which each distinct virtual example stands once."""
        n = len(self.X)
        shares = [share.support() for share in shares]
        keys = np.unique(np.concatenate([share.jitter * n + share.parent for share in shares]))
        parent, jitter = keys % n, keys // n
        coef, bound = np.zeros((len(self.Y), len(keys))), np.zeros((len(self.Y), len(keys)), bool)
        bias = np.zeros(len(self.Y))
        for share in shares:
            at = np.ix_(share.machines, np.searchsorted(keys, share.jitter * n + share.parent))
            coef[at] = share.alpha * self.Y[np.ix_(share.machines, share.parent)]
            bound[at], bias[share.machines] = share.bound, share.bias
        return Machine(
            kernel=self.kernel if kernel is None else kernel,
            classes=self.classes,
            support=parent,
            support_vectors=self._vectors(parent, jitter),
            coef=coef,
            bias=bias,
            C=float(self.second.C),
            bound=bound,
            parent=parent,
            jitter=jitter.astype(np.int32),
            meta={"jitters": str(self.jitters), "image_shape": list(self.jitters.image_shape)},
        )

    def _retrain(self, seed: Share, table, kernel: Kernel, state) -> Share:
        """The seed's machines on all jittered forms of its examples; `state(share)` is what a stop now would leave,
        `state()` what one at the start would."""
        n = len(self.X)
        keys = np.unique(table[seed.jitter].T * n + seed.parent)
        parent, jitter = keys % n, keys // n
        box = np.tile(self.box[parent], (len(seed.machines), 1))

        nothing = np.zeros_like(box)
        share = Share(seed.machines, parent, jitter, nothing, nothing > 0, np.zeros(len(box)), len(parent))

        def of_all(progress):
            inner = progress.snapshot
            return self._whole(progress, share)._replace(
                snapshot=lambda: self._snapshot(*state(self._live(inner(), share)))
            )

        stage = "virtual" if len(seed.machines) > 1 else f"virtual {self.classes[seed.machines[0]]}"
        Y, monitor = self.Y[np.ix_(seed.machines, parent)], retold(self.monitor, of_all)
        if self.second.digestion:
            solution = self.second.digest(self._vectors(parent, jitter), kernel, Y, box, monitor, stage)
        else:
            gram, square_bytes = self._gram(parent, jitter, kernel, len(seed.machines), stage, state)
            solution = decomposition.solve(
                gram,
                Y,
                box,
                tol=self.second.tol,
                monitor=monitor,
                stage=stage,
                square_bytes=square_bytes,
                seed=0 if self.second.random_state is None else self.second.random_state,
            )
        self._count([self._whole(progress, share) for progress in solution.history], solution.converged)
        self.begun = self.history[-1]
        bound = (solution.alpha > 0) & (solution.alpha >= box)
        return replace(share, alpha=solution.alpha, bound=bound, bias=solution.bias)

    def _gram(self, parent, jitter, kernel: Kernel, machines: int, stage: str, state) -> tuple[Gram, int]:
        """The Gram source of virtual examples, and the bytes left for the Gram matrices of working sets.

        By relative shift where every parent stands in every form, only the shift counts, and the blocks fit the budget.
        Raises Stopped when the monitor wants an end.
        """
        factors, J = self.jitters.factor(), len(self.jitters)
        n0 = len(parent) // J
        grid = np.arange(J).repeat(n0), np.tile(parent[:n0], J)
        full = len(parent) == J * n0 and np.array_equal(jitter, grid[0]) and np.array_equal(parent, grid[1])
        need = block_bytes(n0, factors.index, factors.offsets) + 100 * machines * len(parent)
        fits = need <= self.ceiling
        if not (full and fits and self.second.solver == "auto" and self._only_shifts_count(parent[:n0], kernel)):
            return self.second.gram_source(self._vectors(parent, jitter), kernel, machines)

        def check():
            if self.monitor:
                progress = self.begun._replace(stage=stage, snapshot=lambda: self._snapshot(*state()))
                if not self.monitor(progress):
                    raise Stopped

        forms = factors.rest.apply(self.X[parent[:n0]])
        bases = self.owner.prepared(forms.reshape(-1, forms.shape[-1])).reshape(len(forms), n0, -1)
        if self.space is None:
            # One machine's blocks lie where the last one's lay: pages in use are sooner filled than fresh ones are had.
            most = block_bytes(self.most, factors.index, factors.offsets)
            self.space = np.empty(min(most, self.ceiling) // 4, np.float32)
        orbit = Orbit(bases, self.jitters.image_shape, factors.index, factors.offsets, kernel, check, self.space)
        return orbit, 0

    def _only_shifts_count(self, parents, kernel: Kernel) -> bool:
        """Whether kernel values of shifted images depend on their relative shift alone: on a background of 0 with next
        to no ink that a shift would clip, with preparations that a shift does not change, and a kernel of products.
        """
        prepare = self.owner.prepare
        steps = () if prepare is None else getattr(prepare, "steps", ("unknown",))
        if hasattr(kernel, "fill") or not set(steps) <= {"unit-norm", "scale01"}:
            return False
        images = as_images(self.X[parents], self.jitters.image_shape)
        reach = self.jitters.reach
        inner = images[:, reach:-reach, reach:-reach] if reach else images
        kept, total = (float(np.einsum("nhwc,nhwc->", part, part, dtype=np.float64)) for part in (inner, images))
        paper = self.jitters.border == "zero" or (self.jitters.border == "background" and not background(images).any())
        return paper and total - kept <= CLIPPED * total

    def _vectors(self, parent, jitter) -> np.ndarray:
        return self.owner.prepared(self.jitters.pick(self.X[parent], jitter))

    def _state(self, done, kept, kernel) -> tuple[Kernel, list[Share]]:
        """Kernel and shares once `done` are retrained: with the others as they were, if the kernel allows."""
        if kernel == self.kernel or len(done) == len(kept):
            return kernel, done + kept[len(done) :]
        return self.kernel, kept

    def _live(self, inner: Snapshot, share) -> Share:
        """The share as the solver's own snapshot of its virtual examples has it."""
        alpha = np.zeros((len(inner.coef), len(share.parent)))
        alpha[:, inner.support] = abs(inner.coef)
        bound = np.zeros(alpha.shape, bool)
        bound[:, inner.support] = inner.bound
        return replace(share, alpha=alpha, bound=bound, bias=inner.bias)

    def _snapshot(self, kernel: Kernel, shares) -> VirtualSnapshot:
        machine = self.assemble(shares, kernel)
        vectors = machine.support_vectors
        return VirtualSnapshot(machine.support, machine.coef, machine.bias, vectors, kernel, machine.bound)

    def _at_rest(self, stage: str) -> Progress:
        """A stage that is about to begin: machines without support vectors, whose gap is 2; what was spent before."""
        k, spent = len(self.Y), dict.fromkeys(SPENT, 0)
        if self.history:
            spent = {name: getattr(self.history[-1], name) for name in SPENT}
        return Progress(stage=stage, gap=2.0, gaps=(2.0,) * k, dual=0.0, n_sv=0, n_bound=0, snapshot=None, **spent)

    def _whole(self, progress: Progress, share: Share) -> Progress:
        """The Progress of one share as that of all machines: sums over those of this stage, costs over all stages."""
        gaps = np.array(self.begun.gaps)
        gaps[share.machines] = progress.gaps
        names = (*SPENT, "dual", "n_sv", "n_bound")
        sums = {name: getattr(self.begun, name) + getattr(progress, name) for name in names}
        return progress._replace(gap=float(gaps.max()), gaps=tuple(gaps.tolist()), **sums)

    def _count(self, history, converged) -> None:
        self.history += history
        self.evaluations = history[-1].kernel_evals
        self.converged &= converged
