"""A share of a virtual stage: where its kernel values come from, what memory they take, and how its machines stand.

    orbit      all of K, by relative shift but for the few forms that a shift clips (gram/orbit.py)
    vectors    the virtual examples themselves, and the solver that the SVC asks for

Either way K is that of the virtual examples as the machine has them, and so is the gap.

Shares are solved side by side, each in a thread of its own (solvers/session.py); what each of them does is settled
before the first one begins, so that it does not depend on what runs beside it.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone

from svmcore.gram.orbit import Orbit, block_bytes, moved, relative
from svmcore.gram.sources import STEP
from svmcore.memory import MB
from svmcore.solvers.progress import Snapshot, Solution, Standing
from svmcore.solvers.session import Part
from svmcore.source import Source


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

    @classmethod
    def of_all(cls, machines: np.ndarray, n: int) -> "Share":
        """Some machines on all n examples, not yet trained."""
        nothing = np.zeros((len(machines), n))
        return cls(machines, np.arange(n), np.zeros(n, int), nothing, nothing > 0, np.zeros(len(machines)))

    def support(self) -> "Share":
        """The same machines on their support vectors alone."""
        return self.at((self.alpha > 0).any(axis=0))

    def at(self, which) -> "Share":
        """The same machines on some of their examples, or on all in another order."""
        positions = {"parent": self.parent[which], "jitter": self.jitter[which]}
        return replace(self, alpha=self.alpha[:, which], bound=self.bound[:, which], **positions)

    def live(self, inner: Snapshot) -> "Share":
        """The share as the solver's own snapshot of its examples has it."""
        alpha, bound = (
            np.zeros((len(inner.coef), len(self.parent))),
            np.zeros((len(inner.coef), len(self.parent)), bool),
        )
        alpha[:, inner.support], bound[:, inner.support] = abs(inner.coef), inner.bound
        return replace(self, alpha=alpha, bound=bound, bias=inner.bias)


APART = 0.125  # the largest share of examples that relative shifts do not describe
SAMPLE, PIECE = 200, 100  # images that are looked at first, and at a time
FRESH_GAP = 2.0  # of a machine without support vectors
BESIDE = 100  # bytes of the solver for each machine and example


class Shifts:
    """The jitter set of a stage as shifts of bases (gram/orbit.py), and which forms they describe.

    factors: the set taken apart; None where it is none of images.
    """

    def __init__(self, stages):
        self.stages, self.factors = stages, stages.jitters.factor()
        self._described = {}  # by image, once it was looked at: a mask (J,)

    def bases(self, parents) -> np.ndarray:
        """Images of these parents after each transformation that is no shift, as the kernel sees them: (R, n0, d)."""
        forms = self.factors.rest.apply(self.stages.X[parents])
        rows = self.stages.owner.prepared(forms.reshape(-1, forms.shape[-1]))
        return rows.reshape(*forms.shape[:2], -1)

    def describe(self, parents) -> np.ndarray:
        """A mask (J, n0): which forms of these parents are shifted bases; each image is read once. Raises Stopped."""
        new = np.array([i for i in parents.tolist() if i not in self._described])
        for part in (new[at : at + PIECE] for at in range(0, len(new), PIECE)):
            self.stages.session.check()
            self._described.update(zip(part.tolist(), self._moved(part).T, strict=True))
        return np.stack([self._described[i] for i in parents.tolist()], axis=1)

    def _moved(self, parents) -> np.ndarray:
        J = len(self.stages.jitters)
        forms = self.stages.vectors(np.tile(parents, J), np.arange(J).repeat(len(parents)))
        if forms.shape[1] != self.stages.X.shape[1]:  # the preparation makes no image
            return np.zeros((J, len(parents)), bool)
        lay = self.stages.jitters.image_shape, *self.factors[1:]
        return moved(forms.reshape(J, len(parents), -1), self.bases(parents), *lay)


class Retraining:
    """The share on its virtual examples, within one fit, `stages`: to be solved, at work, or solved (`solution`).

    nbytes: what it is to take of the ceiling; a solver on sets of examples is content with this, and takes more. apart:
    numbers (r,) of the examples that no block of the orbit describes; None where K is no orbit.
    """

    def __init__(self, share: Share, stages):
        self.share, self.stages = share, stages
        self.at_work, self.solution = False, None
        fresh = Standing((FRESH_GAP,) * len(share.machines), 0.0, 0, 0, None)
        self.part = Part(stages.session, lambda: fresh)
        self.apart, self.nbytes = None, 0

    def plan(self) -> None:
        """Where kernel values are to come from, and what that takes. Stopped where the end comes before it is known."""
        share, stages, J = self.share, self.stages, len(self.stages.jitters)
        m, d = len(share.parent), stages.X.shape[1]
        beside = BESIDE * len(share.machines) * m
        self.nbytes = beside + 8 * m * d + 4 * STEP * m + m * m
        if not self._in_every_form():
            return
        rest, *lay = stages.shifts.factors
        fixed = beside + 4 * d * (m + len(rest) * (m // J))
        if fixed + block_bytes(m // J, *lay) > stages.ceiling or (apart := self._apart()) is None:
            return
        need = fixed + len(apart) * (beside // m + 4 * d) + block_bytes(m // J, *lay, len(apart))
        if need <= stages.ceiling:
            self.apart, self.nbytes = apart, need
            self.share = share.at(np.concatenate([np.arange(m), apart]))

    @property
    def strategy(self) -> str:
        """Where its kernel values come from, in words, without what differs between machines."""
        if self.apart is not None:
            return f"orbit of {len(relative(*self.stages.shifts.factors[1:])[0])} blocks"
        return f"{self.part.strategy.name if self.part.strategy else 'solver'} over virtual vectors"

    def run(self, ceiling: int) -> None:
        """Solve the share within so many bytes. Stopped where the end came before its solver began."""
        self.at_work = True
        try:
            Y, box = self.stages.Y[np.ix_(self.share.machines, self.share.parent)], self.stages.box[self.share.parent]
            box = np.tile(box, (len(Y), 1))
            if self.apart is not None:
                box[:, self.apart] = 0  # they stand behind the others
            solution = self._solve(Y, box, ceiling) if len(self.share.parent) else self._nothing_to_learn()
        finally:
            self.at_work = False
            standing = self.part.standing()
            self.part.standing = lambda: standing  # lets go of the solver
        bound = (solution.alpha > 0) & (solution.alpha >= box)
        self.share = replace(self.share, alpha=solution.alpha, bound=bound, bias=solution.bias)
        self.solution = solution

    def _solve(self, Y, box, ceiling: int) -> Solution:
        stages, share, part = self.stages, self.share, self.part
        svc = clone(stages.second).set_params(cache_mb=ceiling / MB)
        if self.apart is None:
            vectors = stages.vectors(share.parent, share.jitter)
            return svc._solve(vectors, stages.second_kernel, Y, box, part, "virtual")
        n0 = (len(share.parent) - len(self.apart)) // len(stages.jitters)
        bases, lay = stages.shifts.bases(share.parent[:n0]), stages.shifts.factors[1:]
        others = stages.vectors(share.parent[self.apart], share.jitter[self.apart])
        with part.memory(block_bytes(n0, *lay, len(others)) // 4) as memory:
            shape, kernel = stages.jitters.image_shape, stages.second_kernel
            gram = Orbit(bases, shape, *lay, kernel, part, memory, others)
            source = Source(gram, ceiling - self.nbytes)
            return svc._solve(None, stages.second_kernel, Y, box, part, "virtual", source=source)

    def _nothing_to_learn(self) -> Solution:
        """Of machines that had no support vectors, as their class has no weight: they stay as they are."""
        k = len(self.share.machines)
        return Solution(self.share.alpha, self.share.bias, np.zeros(k), True, np.zeros(k, int))

    def _in_every_form(self) -> bool:
        """Whether every parent is there in every form, the set has shifts and K is the solver's to choose."""
        stages, share, J = self.stages, self.share, len(self.stages.jitters)
        if stages.shifts.factors is None or stages.jitters.image_shape is None:
            return False
        if not len(share.parent) or len(share.parent) % J:
            return False
        if stages.second.solver != "auto" or stages.second_kernel.fills:
            return False
        n0 = len(share.parent) // J
        forms = (share.jitter == np.arange(J).repeat(n0)).all()
        return bool(forms and (share.parent == np.tile(share.parent[:n0], J)).all())

    def _apart(self) -> np.ndarray | None:
        """The examples that relative shifts do not describe; None where these are many."""
        describe = self.stages.shifts.describe
        parents = self.share.parent[: len(self.share.parent) // len(self.stages.jitters)]
        if np.mean(~describe(parents[:: max(1, len(parents) // SAMPLE)])) > 2 * APART:
            return None
        apart = ~describe(parents)
        return np.flatnonzero(apart) if np.mean(apart) <= APART else None
