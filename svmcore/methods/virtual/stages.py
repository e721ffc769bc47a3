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

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from svmcore.estimator import Targets
from svmcore.gram.orbit import Orbit, block_bytes
from svmcore.kernels import Kernel
from svmcore.memory import ceiling_bytes
from svmcore.methods.virtual.share import Share
from svmcore.model import Machine
from svmcore.preprocess import as_images, background
from svmcore.solvers.progress import Solution, Standing, Stopped
from svmcore.solvers.session import Session
from svmcore.svc import SVC, Source

CLIPPED = 0.005  # share of the squared ink on the rim up to which clipping it or not makes no difference that counts
APART = ("machine", "positive", "all-positive")  # scopes in which each machine has examples of its own
FRESH_GAP = 2.0  # of a machine without support vectors


class VirtualSnapshot(NamedTuple):
    """All machines as they would be if training stopped now: those not yet retrained as they were."""

    support: np.ndarray  # (m,) int64, parents: training rows
    coef: np.ndarray  # (k, m) float64, y alpha
    bias: np.ndarray  # (k,) float64
    bound: np.ndarray  # (k, m) bool, alpha is at its C
    vectors: np.ndarray  # (m, d) float32, the support vectors themselves
    kernel: Kernel
    jitter: np.ndarray  # (m,) int32, each one's jitter, counted in the set of the machines that stand


class Stages:
    """One fit of a VirtualSVC, `owner`: machines in shares that are solved in turn, each within the SVC's budget.

    The method: Burges and Schoelkopf (1997), section 3.
    """

    def __init__(self, owner, single, X, targets: Targets, session: Session):
        self.owner, self.single, self.X, self.targets, self.session = owner, single, X, targets, session
        self.first = SVC() if owner.estimator is None else owner.estimator
        self.second = self.first if owner.second is None else owner.second
        self.Y, self.box = targets.Y, self.second._box(targets)
        self.jitters, self.rounds, self.base, self.ending = single.power(0), 0, None, ""
        self.gaps, self.iterations = np.full(len(self.Y), FRESH_GAP), np.zeros(len(self.Y), int)
        self.ceiling = ceiling_bytes(self.second.cache_mb)

    def first_stage(self) -> None:
        """The base machine, one share a machine or one for all; scope "all" begins with every example instead.

        DeCoste and Schoelkopf (2002), section 3.2, step 1.
        """
        k, n = self.Y.shape
        rows = self.owner.prepared(self.X)
        self.second_kernel = self.second._kernel_for(rows)
        groups = [[c] for c in range(k)] if self.owner.scope in APART else [range(k)]
        if self.owner.scope.startswith("all"):
            self.kernel = self.second_kernel
            self.shares = [Share.of_all(np.array(group), n) for group in groups]
            return
        self.base = clone(self.first)._fit(rows, self.targets, self.session, "base")
        machine, self.kernel = self.base.machine_, self.base.kernel_
        self.base.n_features_in_ = rows.shape[1]
        self.gaps[:], self.iterations[:], self.ending = self.base.gap_, self.base.n_iter_, self.base.ending_
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
        self.session.forget_memory()

    def virtual_stage(self) -> None:
        """Retrain every share on the jittered forms of its SVs.

        DeCoste and Schoelkopf (2002), section 3.2, steps 2 and 3; again from the new SVs as in
        DeCoste and Schoelkopf (2002), note 3.

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
        kernel, done = self.second_kernel, []
        self.standing = Standing((FRESH_GAP,) * len(self.Y), 0.0, 0, 0, None)  # of the shares that are done
        self.most = max(len(seed.parent) for seed in seeds)  # at least the parents of every machine
        for seed in seeds:
            try:
                done.append(self._retrain(seed, table, kernel, lambda *live: self._state([*done, *live], kept, kernel)))
            except Stopped:
                self.ending = "stopped"
            if self.session.stopped:
                break
        self.session.forget_memory()
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
        shape = self.jitters.image_shape
        return Machine(
            kernel=self.kernel if kernel is None else kernel,
            classes=self.targets.classes,
            support=parent,
            support_vectors=self._vectors(parent, jitter),
            coef=coef,
            bias=bias,
            C=float(self.second.C),
            bound=bound,
            parent=parent,
            jitter=jitter.astype(np.int32),
            meta={"jitters": str(self.jitters), "image_shape": None if shape is None else list(shape)},
            prepare=self.owner.prepare_,
        )

    def _retrain(self, seed: Share, table, kernel: Kernel, state) -> Share:
        """The seed's machines on all jittered forms of its examples; `state(share)` is what a stop now would leave,
        `state()` what one at the start would."""
        n = len(self.X)
        forms = table[seed.jitter].T * n + seed.parent  # (J, m), the identity first
        if self.owner.scope.endswith("positive"):  # the others keep the form that they have
            forms = np.where(self.Y[seed.machines[0], seed.parent] > 0, forms, forms[0])
        keys = np.unique(forms)
        parent, jitter = keys % n, keys // n
        box = np.tile(self.box[parent], (len(seed.machines), 1))
        nothing = np.zeros_like(box)
        share = Share(seed.machines, parent, jitter, nothing, nothing > 0, np.zeros(len(box)), len(parent))
        begun = self.standing

        def of_all(standing: Standing) -> Standing:
            inner = standing.snapshot
            self.standing = _joined(begun, standing, share.machines)
            return self.standing._replace(snapshot=lambda: self._snapshot(*state(share.live(inner()))))

        stage = "virtual" if len(seed.machines) > 1 else f"virtual {self.targets.classes[seed.machines[0]]}"
        self.session.begin(stage, lambda: begun._replace(snapshot=lambda: self._snapshot(*state())))
        solution = self._solve(share, kernel, box, stage, of_all)
        self.gaps[seed.machines], self.iterations[seed.machines] = solution.gaps, solution.iterations
        self.ending = self.ending or solution.ending
        bound = (solution.alpha > 0) & (solution.alpha >= box)
        return replace(share, alpha=solution.alpha, bound=bound, bias=solution.bias)

    def _solve(self, share: Share, kernel: Kernel, box, stage: str, whole) -> Solution:
        """The machines of a share on its virtual examples: by relative shift where that is the same, or as SVC does."""
        Y, factors = self.Y[np.ix_(share.machines, share.parent)], self.jitters.factor()
        how = {"stage": stage, "whole": whole}
        if not self._only_shifts_count(share, factors, kernel):
            vectors = self._vectors(share.parent, share.jitter)
            return self.second._solve(vectors, kernel, Y, box, self.session, **how)
        n0 = len(share.parent) // len(self.jitters)
        forms = factors.rest.apply(self.X[share.parent[:n0]])
        bases = self.owner.prepared(forms.reshape(-1, forms.shape[-1])).reshape(len(forms), n0, -1)
        most = min(block_bytes(self.most, factors.index, factors.offsets), self.ceiling) // 4
        with self.session.memory(max(most, block_bytes(n0, factors.index, factors.offsets) // 4)) as memory:
            shape = self.jitters.image_shape
            orbit = Orbit(bases, shape, factors.index, factors.offsets, kernel, self.session, memory)
            return self.second._solve(None, kernel, Y, box, self.session, source=Source(orbit, 0), **how)

    def _only_shifts_count(self, share: Share, factors, kernel: Kernel) -> bool:
        """Whether kernel values of shifted images depend on their relative shift alone, and the blocks fit the budget:
        every parent stands in every form, on a background of 0 with next to no ink that a shift would clip, with
        preparations that a shift does not change, and a kernel of products.
        """
        prepare, J = self.owner.prepare, len(self.jitters)
        n0 = len(share.parent) // J
        steps = () if prepare is None else getattr(prepare, "steps", ("unknown",))
        if (
            factors is None
            or self.second.solver != "auto"
            or hasattr(kernel, "fill")
            or not set(steps) <= {"unit-norm", "scale01"}
        ):
            return False
        parents = share.parent[:n0]
        if len(share.parent) != J * n0 or self.jitters.image_shape is None:
            return False
        if (share.jitter != np.arange(J).repeat(n0)).any() or (share.parent != np.tile(parents, J)).any():
            return False
        need = block_bytes(n0, factors.index, factors.offsets) + 100 * len(share.machines) * len(share.parent)
        if need > self.ceiling:
            return False
        images = as_images(self.X[parents], self.jitters.image_shape)
        reach = self.jitters.reach
        inner = images[:, reach:-reach, reach:-reach] if reach else images
        kept, total = (float(np.einsum("nhwc,nhwc->", part, part, dtype=np.float64)) for part in (inner, images))
        paper = self.jitters.border == "zero" or (self.jitters.border == "background" and not background(images).any())
        return paper and total - kept <= CLIPPED * total

    def _vectors(self, parent, jitter) -> np.ndarray:
        if self.jitters.image_shape is None:  # the identity alone
            return self.owner.prepared(self.X[parent])
        return self.owner.prepared(self.jitters.pick(self.X[parent], jitter))

    def _state(self, done, kept, kernel) -> tuple[Kernel, list[Share]]:
        """Kernel and shares once `done` are retrained: with the others as they were, if the kernel allows."""
        if kernel == self.kernel or len(done) == len(kept):
            return kernel, done + kept[len(done) :]
        return self.kernel, kept

    def _snapshot(self, kernel: Kernel, shares) -> VirtualSnapshot:
        machine = self.assemble(shares, kernel)
        arrays = machine.support, machine.coef, machine.bias, machine.bound, machine.support_vectors
        return VirtualSnapshot(*arrays, kernel, machine.jitter)


def _joined(done: Standing, now: Standing, machines) -> Standing:
    """How all machines stand: those that are done, and those of one share as they are now."""
    gaps = np.array(done.gaps)
    gaps[machines] = now.gaps
    sums = {name: getattr(done, name) + getattr(now, name) for name in ("dual", "n_sv", "n_bound")}
    return Standing(tuple(gaps.tolist()), **sums, snapshot=None)
