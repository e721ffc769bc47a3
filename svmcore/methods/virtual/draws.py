"""Virtual examples that are drawn, not enumerated: of far more forms than memory holds those that tell something.

    draw       (i, j): a parent i among the support vectors' own, a jitter j of the set, by the seed and the round
    violates   y f(T_j x_i) < 1 - tol for some machine: it would become a support vector
    keep       violators join the examples of all machines, which go on from where they stand: all of a round's, or the
               share `keep` of them that the machines are least sure of, min over machines of y f
    drop       who has been no support vector of any machine for STAYS rounds goes, and may be drawn again

A set of J jitters has J copies of each example: `random:1000` of 60,000 images are 60 million deformed ones, of which
a fit holds those that count alone. With keep = 1 the answer is that of training on all that were drawn, but for those
that were dropped and came to violate again since; with less, memory and seconds pay for more draws instead.

Symbols: p examples held; parent, jitter (p,) int64; alpha, f (k, p), f = sum_j alpha_j y_j K_ij - y_i.

References: Loosli, Canu and Bottou, Training invariant support vector machines using selective sampling, in Large Scale
Kernel Machines (2007): online, with eight million digits; DeCoste and Schölkopf (2002), section 3.2: the support
vectors' copies.
"""

from math import ceil
from typing import NamedTuple

import numpy as np

from svmcore.estimator import seed_of
from svmcore.memory import BudgetError
from svmcore.methods.virtual.retraining import Share
from svmcore.model import Machine
from svmcore.solvers import decomposition, smo
from svmcore.solvers.progress import Standing, Stopped
from svmcore.source import Source, gram_source

PIECE = 4096  # draws decided at a time
GROWTH, LONGEST = 0.25, 10  # a round ends with so many violators, or so many draws, for each example held
STAYS = 2  # rounds that an example is held without being a support vector


class Round(NamedTuple):
    """What a round came to."""

    drawn: int  # forms looked at so far
    looked: int  # of them in this round
    violators: int  # of these
    held: int  # examples that the machines were then trained on
    n_sv: int  # distinct ones that are support vectors of some machine


class Draws:
    """The drawn stage of a fit, `stages`, whose machines stand as `share` says, all of them on the same examples."""

    def __init__(self, stages, share: Share, budget: int):
        self.stages, self.session, self.budget = stages, stages.session, budget
        self.kernel, self.tol, self.solver = stages.second_kernel, stages.second.tol, stages.second.solver
        self.seed, self.jitters = seed_of(stages.second.random_state), len(stages.single)
        self.keep, self.rank = stages.owner.keep, stages.owner.rank
        self.parents = np.unique(share.parent)
        self.parent, self.jitter = share.parent, share.jitter
        self.idle, self.ending = np.zeros(len(self.parent), int), ""
        self.gaps, self.iterations = stages.gaps.copy(), stages.iterations.copy()
        self.rounds: list[Round] = []
        self.drawn, self.stage = 0, "virtual, drawing"
        if stages.saved and stages.saved.arrays:
            stages.saved.restore(self)
        else:
            self._begin(share)

    def _begin(self, share: Share) -> None:
        """The machines as the share has them, or at zero: of another kernel or C they are no start."""
        self.alpha, self.bias, self.f = np.zeros_like(share.alpha), np.zeros_like(share.bias), -self._targets()
        if self.stages.second is self.stages.first:
            self.alpha, self.bias = share.alpha, share.bias
            X = self.stages.vectors(self.parent, self.jitter)
            f = self._machine().decision_values(X, self.session.check).T
            self.f += f - self.bias[:, None]

    def run(self) -> None:
        """Rounds, until all draws are used, none of a round's violates, or memory has no room for those that do.
        Stopped where someone asks for an end; the machines are then as the round before left them, or as far as the
        solver came."""
        self.session.begin(lambda: self.stage, self.standing)
        if not self.alpha.any():
            self._solve(self._source())
        if not self.rounds:
            self._leave()
        while self.drawn < self.budget:
            before = self.drawn
            n_violators, keys, f = self._violators()
            looked = self.drawn - before
            try:
                source = self._taken_in(keys, f) if n_violators else None
            except BudgetError as error:
                self.ending = f"memory was exhausted with {self.drawn:,} of {self.budget:,} drawn copies: {error}"
                return
            if n_violators:
                self._solve(source)
            n_sv = int((self.alpha > 0).any(0).sum())
            self.rounds.append(Round(self.drawn, looked, n_violators, len(self.parent), n_sv))
            if not n_violators:
                return
            self.idle = np.where((self.alpha > 0).any(0), 0, self.idle + 1)  # those idle for long are let go of
            stays = self.idle < STAYS
            self.parent, self.jitter, self.idle = self.parent[stays], self.jitter[stays], self.idle[stays]
            self.alpha, self.f = self.alpha[:, stays], self.f[:, stays]
            self._leave()

    def share(self) -> Share:
        """All machines on the examples that are held."""
        bound = (self.alpha > 0) & (self.alpha >= self._box())
        machines = np.arange(len(self.alpha))
        return Share(machines, self.parent, self.jitter, self.alpha, bound, self.bias, len(self.parent))

    def standing(self) -> Standing:
        """How all machines stand."""
        own = self.share()
        counts = int(np.count_nonzero(self.alpha > 0)), int(np.count_nonzero(own.bound))
        dual = float(sum(map(smo.dual_objective, self._targets(), self.alpha, self.f)))
        return Standing(tuple(self.gaps), dual, *counts, lambda: self.stages._snapshot(self.kernel, [own]))

    def _violators(self) -> tuple[int, np.ndarray, np.ndarray]:
        """How many of the drawn forms violate, none of them held: enough for a round, or what its last draw gives. Of
        those kept the keys (v,), jitter n + parent, and f (k, v)."""
        wanted = GROWTH * len(self.parent) / self.keep
        last = min(self.budget, self.drawn + LONGEST * len(self.parent))
        rng, machine = np.random.default_rng([self.seed, len(self.rounds)]), self._machine()
        n, members = len(self.stages.X), self.jitter * len(self.stages.X) + self.parent
        batches, count, begun = [], 0, self.drawn
        while self.drawn < last and count < wanted:
            m = min(PIECE, last - self.drawn)
            keys = np.setdiff1d(rng.integers(self.jitters, size=m) * n + rng.choice(self.parents, m), members)
            self.drawn += m
            parent, jitter = keys % n, keys // n
            f = machine.decision_values(self.stages.vectors(parent, jitter), self.session.check).T
            Y = self.stages.Y[:, parent]
            sure = (f * Y).min(0)
            tells = sure < 1 - self.tol
            batches.append((keys[tells], sure[tells], (f - self.bias[:, None] - Y)[:, tells]))
            count += int(tells.sum())
            share = f"{1000 * count / (self.drawn - begun):.0f} of 1,000 violate a margin"
            self.stage = f"virtual, {self.drawn:,} of {self.budget:,} drawn, {share}"
            self.session.check()
        keys, sure, f = (np.concatenate(arrays, axis=-1) for arrays in zip(*batches, strict=True))
        keys, first = np.unique(keys, return_index=True)
        most = ceil(self.keep * len(keys))
        order = rng.permutation(len(keys)) if self.rank == "random" else np.argsort(sure[first], kind="stable")
        chosen = np.sort(order[:most])
        return len(keys), keys[chosen], f[:, first[chosen]]

    def _taken_in(self, keys, f) -> Source:
        """The source of kernel values of what is held and of these. BudgetError, and nothing changed, without room."""
        parent, jitter = keys % len(self.stages.X), keys // len(self.stages.X)
        source = self._source(parent, jitter)
        self.parent, self.jitter = np.append(self.parent, parent), np.append(self.jitter, jitter)
        self.alpha = np.hstack([self.alpha, np.zeros((len(self.alpha), len(keys)))])
        self.f, self.idle = np.hstack([self.f, f]), np.append(self.idle, np.zeros(len(keys), int))
        return source

    def _source(self, parent=(), jitter=()) -> Source:
        """Of what is held, and of these beside it."""
        forms = np.append(self.parent, parent).astype(np.int64), np.append(self.jitter, jitter).astype(np.int64)
        X = self.stages.vectors(*forms)
        return gram_source(X, self.kernel, self.solver, self.stages.ceiling, len(self.alpha), X.nbytes)

    def _solve(self, source: Source) -> None:
        """The machines on all that is held, from where they stand."""
        solution = decomposition.solve(
            source.gram, self._targets(), self._box(), self.session, tol=self.tol, square_bytes=source.square_bytes,
            seed=self.seed, start=(self.alpha, self.f), stage=self.stage, whole=self._whole,
        )  # fmt: skip
        self.alpha, self.bias, self.f = solution.alpha, solution.bias, solution.f
        self.gaps, self.iterations = solution.gaps, self.iterations + solution.iterations
        self.ending = solution.ending
        self.session.begin(lambda: self.stage, self.standing)
        if self.session.stopped:
            raise Stopped

    def _whole(self, standing: Standing) -> Standing:
        """The solver's machines with the forms that they stand on."""
        own, stages = self.share(), self.stages
        return standing._replace(snapshot=lambda: stages._snapshot(self.kernel, [own.live(standing.snapshot())]))

    def _leave(self) -> None:
        """How all stands after a round, for a fit that goes on when this one is broken off."""
        if self.stages.saved:
            self.stages.saved.write(self)

    def _machine(self) -> Machine:
        return self.stages.assemble([self.share()], self.kernel)

    def _targets(self) -> np.ndarray:
        return self.stages.Y[:, self.parent]

    def _box(self) -> np.ndarray:
        return np.tile(self.stages.box[self.parent], (len(self.stages.Y), 1))
