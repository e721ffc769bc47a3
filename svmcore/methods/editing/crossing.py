"""Cross-training: machines on small subsets say which training examples a last machine can do without.

    m_i = 1/s sum_j y_i f_j(x_i)          v_i = 1/s sum_j (m_i - y_i f_j(x_i))^2          j = 1 ... s, i = 1 ... n

    m + v < 0    WRONG_SIDE: confidently misclassified, it would become a bound support vector
    m - v > 1    EASY: confidently beyond the margin, it would not become a support vector

Every training example is judged by all s machines, also those that trained on it. With a validation part every
machine's threshold is the one with the fewest errors there; with `slack` the least shift of those whose errors are
within so many standard errors of the fewest: a small part's best threshold is mostly chance. Y (n,) float64, +1 and -1.

Bakir, Bottou and Weston (2004), section 3, Algorithm 3; section 4.3 (thresholds, re-insertion, validation part). The
slack of one standard error: Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), 3.4.
"""

import time
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from svmcore.kernels.base import numeral
from svmcore.methods.editing.bagged import bagged, decisions
from svmcore.methods.editing.beside import Beside, Trained
from svmcore.methods.editing.roles import EASY, KEPT, REINSERTED, VALIDATION, WRONG_SIDE
from svmcore.methods.editing.rule import Given, Rule
from svmcore.methods.editing.subsets import THIRD, draw_subsets, subset_size, validation_part
from svmcore.model import Machine
from svmcore.solvers.session import Session
from svmcore.svc import SVC

ALIKE = 1e-12  # decision values nearer to each other than this, beside the largest, leave no room for a threshold


@dataclass
class Crossing:
    """The first stage, step by step; what is known of it so far stands in its attributes.

    X (n, d) float32, y (n,) labels, label (n,) 0 or 1.
    """

    X: np.ndarray
    y: np.ndarray
    label: np.ndarray
    session: Session
    slack: float = 0.0  # standard errors
    validation: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    subsets: np.ndarray | None = None  # (s, r)
    first_stage: list[Machine] = field(default_factory=list)
    chosen: int = 0  # of the settings tried
    setting: dict = field(default_factory=dict)  # what the search chose for the first machines
    search_seconds: float = 0.0
    gap: float = np.inf
    ending: str = ""

    def __post_init__(self):
        n = len(self.y)
        self.Y = np.where(self.label == 1, 1.0, -1.0)
        self.role = np.full(n, KEPT, np.int8)
        self.mean, self.variance = np.full(n, np.nan), np.full(n, np.nan)

    def draw(self, n_subsets: int, size: int | None, validation: int | str | None, rng) -> None:
        """Bakir, Bottou and Weston (2004), Algorithm 3, step 1, beside the validation part of section 4.3. size,
        validation: as of CrossTrainingSVC; ValueError names them."""
        counts = np.bincount(self.label, minlength=2)
        if validation == THIRD:
            validation = max(2, subset_size(size, counts, n_subsets) // 3)
        if validation:
            leave = 1 if size is None else subset_size(size, counts, n_subsets) // 2
            self.validation = validation_part(self.label, validation, leave, rng)
            self.role[self.validation] = VALIDATION
        usable = np.flatnonzero(self.role == KEPT)
        size = subset_size(size, np.bincount(self.label[usable], minlength=2), n_subsets)
        self.subsets = draw_subsets(self.label, usable, n_subsets, size, rng)

    def train(self, estimator: SVC, settings: list[dict], n_jobs: int | None) -> None:
        """Bakir, Bottou and Weston (2004), Algorithm 3, step 2: all machines of all settings, with their
        thresholds chosen on the validation part; those of the setting stay that is best on what its machines have not
        trained on."""
        beside, started = Beside(self.session, "first stage", self.subsets), time.perf_counter()
        try:
            beside.run(estimator, self.X, self.y, settings, n_jobs)
        finally:
            if beside.done:
                self._choose(beside.done, settings)
        spent = sum(one.seconds for task in beside.done for one in task)
        others = 1 - sum(one[self.chosen].seconds for one in beside.done) / spent
        self.search_seconds = others * (time.perf_counter() - started)  # side by side they take less than their sum

    def _choose(self, done: list[list[Trained]], settings: list[dict]) -> None:
        stages = [[self._in_training_set(one[at], s) for s, one in enumerate(done)] for at in range(len(settings))]
        right = np.zeros(len(settings))
        if not self.session.stopped:
            stages = [self._adjusted(stage) for stage in stages] if len(self.validation) else stages
            right = [self._share_right(stage) for stage in stages] if len(stages) > 1 else right
        self.chosen = best = int(np.argmax(right))
        self.first_stage, self.setting = stages[best], settings[best]
        chosen = [one[best] for one in done]
        self.gap = max(one.gap for one in chosen)
        self.ending = next((f"first stage: {one.ending}" for one in chosen if one.ending), "")

    def _in_training_set(self, trained: Trained, subset: int) -> Machine:
        return replace(trained.machine, support=self.subsets[subset][trained.machine.support])

    def _adjusted(self, machines: list[Machine]) -> list[Machine]:
        """The machines with thresholds chosen on the validation part."""
        at = self.validation
        F = decisions(machines, self.X[at], self.session)
        shifts = (threshold(f, self.Y[at], self.slack)[0] for f in F)
        return [replace(m, bias=m.bias + shift) for m, shift in zip(machines, shifts, strict=True)]

    def _share_right(self, machines: list[Machine]) -> float:
        """The share that the machines have right of what they have not trained on."""
        right = (decisions(machines, self.X, self.session) > 0) == (self.Y > 0)
        unseen = np.ones(right.shape, bool)
        np.put_along_axis(unseen, self.subsets, False, axis=1)
        return float(right[unseen].mean()) if unseen.any() else 0.0

    def judge(self) -> None:
        """Margin mean and variance of every training example.

        Bakir, Bottou and Weston (2004), Algorithm 3, step 3.
        """
        margins = self.Y * decisions(self.first_stage, self.X, self.session)
        self.mean = margins.mean(axis=0)
        self.variance = ((self.mean - margins) ** 2).mean(axis=0)

    def discard(self, balance: bool) -> None:
        """Bakir, Bottou and Weston (2004), Algorithm 3, steps 4 and 5; then section 4.3's re-insertion.

        A class that would be left without an example gets its easy ones back even without `balance`. ValueError where
        it has none.
        """
        mine = self.role != VALIDATION
        self.role[mine & (self.mean + self.variance < 0)] = WRONG_SIDE
        self.role[mine & (self.mean - self.variance > 1)] = EASY
        left = [int(np.count_nonzero((self.role == KEPT) & (self.label == side))) for side in (0, 1)]
        fewer = int(np.argmin(left))
        if balance or not min(left):
            self._reinsert(fewer, max(left) - left[fewer])
        if not max(left):  # nothing was kept of either class
            for side in (0, 1):
                self._reinsert(side, len(self.label))
        for side in (0, 1):
            if not ((self.label == side) & np.isin(self.role, (KEPT, REINSERTED))).any():
                name = self.y[self.label == side].tolist()[0]
                raise ValueError(
                    f"y: the first machines misclassify every example of class {name!r}, so the final machine has "
                    "none to train on; allowed: a larger subset_size, another C, or fewer wrong labels"
                )

    def _reinsert(self, side: int, count: int) -> None:
        """The easy examples of one class that are nearest to the boundary, so many at most, come back.

        Bakir, Bottou and Weston (2004), section 4.3.
        """
        easy = np.flatnonzero((self.role == EASY) & (self.label == side))
        order = np.argsort((self.mean - self.variance)[easy], kind="stable")
        self.role[easy[order[:count]]] = REINSERTED

    def as_it_stands(self) -> Machine | None:
        """What a stop in the first stage leaves: the average of the machines that there are."""
        return bagged(self.first_stage) if self.first_stage else None


def threshold(f: np.ndarray, Y: np.ndarray, slack: float = 0.0) -> tuple[float, float]:
    """(shift, share right): what to add to decision values f (m,) so that most signs are Y's (m,), +1 and -1; of those
    as good up to `slack` standard errors the least.

    Bakir, Bottou and Weston (2004), section 4.3.
    """
    order = np.argsort(f, kind="stable")
    values, positive = f[order], Y[order] > 0
    right = np.concatenate([[0], np.cumsum(~positive)]) + positive.sum() - np.concatenate([[0], np.cumsum(positive)])
    cuts = np.concatenate([[values[0] - 1], (values[1:] + values[:-1]) / 2, [values[-1] + 1]])
    apart = np.concatenate([[True], np.diff(values) > ALIKE * (1 + np.abs(values).max()), [True]])
    as_it_is = np.mean((f > 0) == (Y > 0))
    best = right[apart].max()
    enough = best - slack * np.sqrt(max(best * (len(f) - best) / len(f), 1.0))
    if as_it_is * len(f) >= enough:
        return 0.0, float(as_it_is)
    good = np.flatnonzero(apart & (right >= enough))
    least = good[np.argmin(np.abs(cuts[good]))]
    return float(-cuts[least]), float(right[least] / len(f))


@dataclass(frozen=True)
class ByCrossTraining(Rule):
    """Cross-training's first stage as a rule."""

    name: ClassVar[str] = "cross-training"
    title: ClassVar[str] = "Cross-training"
    why: ClassVar[str] = (
        "Discards an example if machines trained on small subsets agree that it is misclassified, or that it is well "
        "beyond the margin."
    )
    source: ClassVar[str] = "Bakir, Bottou and Weston (2004), Algorithm 3"
    two_classes: ClassVar[bool] = True
    n_subsets: int = numeral(5, "Subsets", "The number of machines in the first stage (s in the paper).", 2, 100)
    subset_size: int | None = None
    balance: bool = True

    def role(self, given: Given) -> np.ndarray:
        crossing = Crossing(given.X, given.y, given.label, given.session)
        crossing.draw(self.n_subsets, self.subset_size, None, given.rng)
        crossing.train(given.svc, [{}], None)
        crossing.judge()
        crossing.discard(self.balance)
        return crossing.role
