"""A share of a virtual stage: where its kernel values come from, what memory they take, and how its machines stand.

    orbit      all of K, by relative shift alone (gram/orbit.py): for sets that are shifts in the main
    vectors    the virtual examples themselves, and the solver that the SVC asks for

Shares are solved side by side, each in a thread of its own (solvers/session.py); what each of them does is settled
before the first one begins, so that it does not depend on what runs beside it.
"""

from dataclasses import replace

import numpy as np
from sklearn.base import clone

from svmcore.gram.orbit import Orbit, block_bytes, relative
from svmcore.gram.sources import STEP
from svmcore.memory import MB
from svmcore.methods.virtual.share import Share
from svmcore.preprocess import as_images, background
from svmcore.solvers.progress import Solution, Standing
from svmcore.solvers.session import Part
from svmcore.source import Source

CLIPPED = 0.005  # share of the squared ink on the rim up to which clipping it or not makes no difference that counts
STEADY = {"unit-norm", "scale01"}  # preparations that a shift does not change
FRESH_GAP = 2.0  # of a machine without support vectors
BESIDE = 100  # bytes of the solver for each machine and example


class Retraining:
    """The share on its virtual examples, within one fit, `stages`: to be solved, at work, or solved (`solution`).

    nbytes: what it is to take of the ceiling; a solver on sets of examples is content with this, and takes more.
    """

    def __init__(self, share: Share, stages):
        self.share, self.stages = share, stages
        self.at_work, self.solution = False, None
        fresh = Standing((FRESH_GAP,) * len(share.machines), 0.0, 0, 0, None)
        self.part = Part(stages.session, lambda: fresh)
        self.factors = stages.jitters.factor()
        m, J, d = len(share.parent), len(stages.jitters), stages.X.shape[1]
        beside = BESIDE * len(share.machines) * m
        self.orbit, self.nbytes = False, beside + 8 * m * d + 4 * STEP * m + m * m
        if self.factors is not None:
            blocks = beside + block_bytes(m // J, self.factors.index, self.factors.offsets)
            if blocks <= stages.ceiling and self._only_shifts_count():
                self.orbit, self.nbytes = True, blocks

    @property
    def way(self) -> str:
        """Where its kernel values come from, in words, without what differs between machines."""
        if self.orbit:
            return f"orbit of {len(relative(self.factors.index, self.factors.offsets)[0])} blocks"
        return f"{self.part.way.name if self.part.way else 'solver'} over virtual vectors"

    def run(self, ceiling: int) -> None:
        """Solve the share within so many bytes. Stopped where the end came before its solver began."""
        self.at_work = True
        try:
            Y, box = self.stages.Y[np.ix_(self.share.machines, self.share.parent)], self.stages.box[self.share.parent]
            box = np.tile(box, (len(Y), 1))
            solution = self._solve(Y, box, ceiling)
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
        if not self.orbit:
            vectors = stages.vectors(share.parent, share.jitter)
            return svc._solve(vectors, stages.second_kernel, Y, box, part, "virtual")
        n0 = len(share.parent) // len(stages.jitters)
        forms = self.factors.rest.apply(stages.X[share.parent[:n0]])
        bases = stages.owner.prepared(forms.reshape(-1, forms.shape[-1])).reshape(len(forms), n0, -1)
        lay = stages.jitters.image_shape, self.factors.index, self.factors.offsets
        with part.memory(block_bytes(n0, *lay[1:]) // 4) as memory:
            source = Source(Orbit(bases, *lay, stages.second_kernel, part, memory), ceiling - self.nbytes)
            return svc._solve(None, stages.second_kernel, Y, box, part, "virtual", source=source)

    def _only_shifts_count(self) -> bool:
        """Whether kernel values of shifted images depend on their relative shift alone: every parent stands in every
        form, on a background of 0 with next to no ink that a shift would clip, with preparations that a shift does not
        change, and a kernel of products.
        """
        stages, share = self.stages, self.share
        prepare, jitters, J = stages.owner.prepare, stages.jitters, len(stages.jitters)
        steps = () if prepare is None else getattr(prepare, "steps", ("unknown",))
        n0 = len(share.parent) // J
        parents = share.parent[:n0]
        if stages.second.solver != "auto" or stages.second_kernel.fills or not set(steps) <= STEADY:
            return False
        if len(share.parent) != J * n0 or jitters.image_shape is None:
            return False
        if (share.jitter != np.arange(J).repeat(n0)).any() or (share.parent != np.tile(parents, J)).any():
            return False
        images = as_images(stages.X[parents], jitters.image_shape)
        reach = jitters.reach
        inner = images[:, reach:-reach, reach:-reach] if reach else images
        kept, total = (float(np.einsum("nhwc,nhwc->", part, part, dtype=np.float64)) for part in (inner, images))
        paper = jitters.border == "zero" or (jitters.border == "background" and not background(images).any())
        return paper and total - kept <= CLIPPED * total
