"""Virtual support vectors: retrain on transformed copies of the support vectors.

    stage 0     a machine on all examples x_i  ->  its SVs                                   (parent i, jitter 0)
    stage r     a machine on prepare(T_j x_i) for every jitter of every SV of stage r - 1    (parent i, jitter j)

Where rows belong to groups, stage 0 has the first row of each, and x_i of the later stages are all rows of the groups
of the SVs.

A virtual example is known by its parent and its jitter, so a second round composes transformations of the original
image instead of transforming a transformed one; its label and its C are its parent's. Jitters act on images before
the normalisation `prepare`.

Symbols: X (n, d) float32 rows of pixels; Y (k, n) targets +1, -1 of the k machines; parent (m,) int64; jitter (m,)
int32, its number in the set of all products of r jitters; alpha (k, m) float64.

References: Schölkopf, Burges and Vapnik, ICANN (1996); DeCoste and Schölkopf, Machine Learning 46 (2002), section
3.2, Table 1 (scope "union") and section 5.1.1 (scope "machine").
"""

from collections import Counter
from dataclasses import replace

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_consistent_length

from svmcore.estimator import Targets, seed_of
from svmcore.files import Checkpoint
from svmcore.gram.threads import CORES
from svmcore.kernels import Kernel
from svmcore.memory import ceiling_bytes
from svmcore.methods.virtual.checkpointed import DrawsCheckpoint
from svmcore.methods.virtual.draws import Draws
from svmcore.methods.virtual.retraining import FRESH_GAP, Retraining, Share, Shifts
from svmcore.model import Machine
from svmcore.solvers.progress import Snapshot, Standing, Stopped
from svmcore.solvers.session import Session
from svmcore.svc import SVC

APART = ("machine", "positive", "all-positive")  # scopes in which each machine has examples of its own


class Stages:
    """One fit of a VirtualSVC, `owner`: machines in shares that are solved side by side, all within the SVC's budget.

    The method: Burges and Schölkopf (1997), section 3.
    """

    def __init__(self, owner, single, X, targets: Targets, session: Session, groups=None):
        self.owner, self.single, self.X, self.targets, self.session = owner, single, X, targets, session
        self.first = SVC() if owner.estimator is None else owner.estimator
        self.second = self.first if owner.second is None else owner.second
        self.Y, self.box = targets.Y, self.second._box(targets)
        self.jitters, self.rounds, self.base, self.drawn = single.power(0), 0, None, []
        self.group = None  # (n,) that each row belongs to, those of another label apart
        if groups is not None:
            check_consistent_length(X, groups)
            self.group = np.unique(groups, return_inverse=True)[1] * len(targets.classes) + targets.label
        self.saved = None  # DrawsCheckpoint of a fit that can be continued
        self.endings = [("base stage", "")]  # of each stage so far, why it ended above tol
        self.gaps, self.iterations = np.full(len(self.Y), FRESH_GAP), np.zeros(len(self.Y), int)
        self.ceiling = ceiling_bytes(self.second.cache_mb)

    def go_on_from(self, checkpoint: Checkpoint) -> str:
        """Leave rounds of draws there, and go on from those that were; what comes of that, in words."""
        self.saved = DrawsCheckpoint(checkpoint, self)
        return self.saved.message

    def first_stage(self, base: SVC | None = None) -> None:
        """The base machine, one share a machine or one for all; scope "all" begins with every example instead.

        base: one that was fitted to the same examples.

        DeCoste and Schölkopf (2002), section 3.2, step 1.
        """
        k, n = self.Y.shape
        rows = self.owner.prepared(self.X)
        self.second_kernel = self.second._kernel_for(rows)
        groups = [[c] for c in range(k)] if self.owner.scope in APART else [range(k)]
        if self.owner.scope.startswith("all"):
            self.kernel = self.second_kernel
            self.shares = [Share.of_all(np.array(group), n) for group in groups]
            return
        if self.saved and self.saved.arrays:
            base = self.saved.base(rows)
        targets = self.targets
        if self.group is not None:
            first = np.isin(np.arange(n), np.unique(self.group, return_index=True)[1])
            targets = Targets(rows, targets.y, targets.weight * first)
        self.base = base or clone(self.first)._fit(rows, targets, self.session, "base")
        machine, self.kernel = self.base.machine_, self.base.kernel_
        self.base.n_features_in_ = rows.shape[1]
        self.gaps[:], self.iterations[:] = self.base.gap_, self.base.n_iter_
        self.endings = [("base stage", self.base.ending_)]
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

        DeCoste and Schölkopf (2002), section 3.2, steps 2 and 3; again from the new SVs as in
        DeCoste and Schölkopf (2002), note 3.

        Where training is stopped, the machines not yet retrained stay as they are; where the second stage has another
        kernel, all of them do.
        """
        fresh = self.base is None and self.rounds == 0
        seeds = self.shares if fresh else [share.support() for share in self.shares]
        standing = self.assemble(self.shares) if self.owner.keep < 1 else None
        self.rounds += 1
        larger = self.single.power(self.rounds)
        table = larger.after(self.jitters, self.single)
        self.jitters = larger
        self.shifts = Shifts(self)
        self.kept = [replace(share, jitter=table[share.jitter, 0]) for share in self.shares]
        why, self.tasks = "", []
        try:
            self.tasks = [Retraining(self._virtual(seed, table, standing), self) for seed in seeds]
            self.session.begin(self._name, self.standing)
            self._retrain()
        except Stopped:
            why = "stopped"
        for task in self.tasks:
            if task.solution is not None:
                self.gaps[task.share.machines] = task.solution.gaps
                self.iterations[task.share.machines] = task.solution.iterations
                why = why or task.solution.ending
        self.endings.append(("virtual stage", why))
        self.session.strategy = self._strategy()
        self.session.forget_memory()
        now = [task.share if task.solution else None for task in self.tasks]
        self.kernel, self.shares = self._state(now or [None] * len(self.kept))
        self.session.trace = self.tasks[0].part.trace if len(self.tasks) == 1 else None

    def drawn_stage(self, budget: int) -> None:
        """Retrain all machines together on the forms that tell something among so many draws (draws.py)."""
        self.jitters, draws = self.single, None
        try:
            draws = Draws(self, self.shares[0].support(), budget)
            draws.run()
            why = draws.ending
        except Stopped:
            why = "stopped"
        self.endings.append(("virtual stage", why))
        self.session.forget_memory()
        if draws is None:  # stopped before it stood: the machines are those of the base stage
            return
        self.kernel, self.shares = self.second_kernel, [draws.share()]
        self.gaps, self.iterations, self.drawn = draws.gaps, draws.iterations, draws.rounds
        last = draws.rounds[-1] if draws.rounds else None
        self.session.strategy = f"{last.held:,} examples retained of {last.drawn:,} drawn" if last else "nothing drawn"

    @property
    def ending(self) -> str:
        """Why the last stage ended above tol; where it did not, why an earlier one did, under its name."""
        *before, (_, last) = self.endings
        return last or next((f"{stage}: {words}" for stage, words in before if words), "")

    def standing(self) -> Standing:
        """How all machines of the fit stand: those of each share as they were when last looked at."""
        now, gaps = [task.part.standing() for task in self.tasks], np.empty(len(self.Y))
        for task, one in zip(self.tasks, now, strict=True):
            gaps[task.share.machines] = one.gaps

        def snapshot():
            shares = [
                task.share.live(one.snapshot()) if one.snapshot else None
                for task, one in zip(self.tasks, now, strict=True)
            ]
            return self._snapshot(*self._state(shares))

        sums = (sum(getattr(one, name) for one in now) for name in ("dual", "n_sv", "n_bound"))
        return Standing(tuple(gaps.tolist()), *sums, snapshot)

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
        shape, made = self.jitters.image_shape, {}
        if shape is not None:  # else there is the identity alone: rows as they are
            meta = {"jitters": str(self.jitters), "image_shape": list(shape)}
            made = {"parent": parent, "jitter": jitter.astype(np.int32), "meta": meta}
        return Machine(
            kernel=self.kernel if kernel is None else kernel,
            classes=self.targets.classes,
            support=parent,
            support_vectors=self.vectors(parent, jitter),
            coef=coef,
            bias=bias,
            C=float(self.second.C),
            bound=bound,
            prepare=self.owner.prepare_,
            **made,
        )

    def _virtual(self, seed: Share, table, standing: Machine | None) -> Share:
        """The seed's machines on all jittered forms of its examples, or those that tell most, not yet trained."""
        n = len(self.X)
        forms = table[seed.jitter].T * n + seed.parent  # (J, m), the identity first
        own = forms[0]
        if self.group is not None:
            others = np.setdiff1d(np.flatnonzero(np.isin(self.group, self.group[seed.parent])), seed.parent)
            if self.owner.scope == "positive":
                others = others[self.Y[seed.machines[0], others] > 0]
            forms = np.concatenate([forms, table[np.zeros(len(others), int)].T * n + others], axis=1)
        if self.owner.scope.endswith("positive"):  # the others keep the form that they have
            forms = np.where(self.Y[seed.machines[0], forms[0] % n] > 0, forms, forms[0])
        keys = np.unique(forms) if standing is None else self._telling(np.unique(forms), own, seed, standing)
        nothing = np.zeros((len(seed.machines), len(keys)))
        return Share(seed.machines, keys % n, keys // n, nothing, nothing > 0, seed.bias, len(keys))

    def _telling(self, keys, own, seed: Share, standing: Machine) -> np.ndarray:
        """Of virtual examples the seed's own, and of the copies the share `keep` that the machines `standing` are least
        sure of, by the least y f, or at random.

        Burges and Schölkopf (1997), section 6: measure what each tells, and keep the most important.
        """
        n, copies = len(self.X), np.setdiff1d(keys, own)
        most = round(self.owner.keep * len(copies))
        if self.owner.rank == "random":
            drawn = np.random.default_rng([seed_of(self.second.random_state), self.rounds, *seed.machines.tolist()])
            return np.union1d(own, drawn.permutation(copies)[:most])
        parent, jitter = copies % n, copies // n
        f = standing.decision_values(self.vectors(parent, jitter), self.session.check)[:, seed.machines]
        sure = (f.T * self.Y[np.ix_(seed.machines, parent)]).min(axis=0)
        return np.union1d(own, copies[np.argsort(sure, kind="stable")[:most]])

    def _retrain(self) -> None:
        """All tasks, as many at a time as cores and memory allow; the largest first, so that the cores end together."""
        self.together = 1
        for task in self.tasks:
            task.plan()
        if len(self.tasks) == 1:
            return self.tasks[0].run(self.ceiling)
        waiting = sorted(self.tasks, key=lambda task: -task.nbytes)
        alone = [task for task in waiting if 2 * task.nbytes > self.ceiling]
        for tasks, together in ((alone, 1), (waiting[len(alone) :], CORES)):
            if tasks:
                self.together = min(together, max(self.ceiling // tasks[0].nbytes, 1), len(tasks))
                calls = [(task, self.ceiling // self.together) for task in tasks]
                self.session.side_by_side(Retraining.run, calls, self.together)
        return None

    def _strategy(self) -> str:
        """Where kernel values came from, and how many machines were solved at a time in the end, in words."""
        strategies = Counter(task.strategy for task in self.tasks if len(task.share.parent))
        parts = [
            way if len(strategies) == 1 else f"{way} for {times} of {len(self.tasks)} machines"
            for way, times in strategies.items()
        ]
        if len(self.tasks) > 1:
            parts[-1] += f"; up to {self.together} machine{'s' * (self.together > 1)} at a time"
        return ", ".join(parts)

    def _name(self) -> str:
        """The stage, with the classes whose machines are at work."""
        at_work = [task.share.machines for task in self.tasks if task.at_work or len(self.tasks) == 1]
        names = ", ".join(str(self.targets.classes[machines[0]]) for machines in at_work if len(machines) == 1)
        return f"virtual {names}".strip()

    def vectors(self, parent, jitter) -> np.ndarray:
        """Virtual examples (m, d) as the kernel sees them."""
        if not len(parent):  # transformers refuse to prepare none
            return self.owner.prepared(self.X[:1])[:0]
        if self.jitters.image_shape is None:  # the identity alone
            return self.owner.prepared(self.X[parent])
        return self.owner.prepared(self.jitters.pick(self.X[parent], jitter))

    def _state(self, now: list[Share | None]) -> tuple[Kernel, list[Share]]:
        """Kernel and shares as far as they are retrained, the others as they were if the kernel allows."""
        if self.second_kernel == self.kernel or None not in now:
            return self.second_kernel, [old if new is None else new for old, new in zip(self.kept, now, strict=True)]
        return self.kernel, self.kept

    def _snapshot(self, kernel: Kernel, shares) -> Snapshot:
        """All machines as they stand: those not yet retrained as they were."""
        machine = self.assemble(shares, kernel)
        arrays = machine.support, machine.coef, machine.bias, machine.bound, machine.support_vectors
        return Snapshot(*arrays, kernel, machine.jitter)
