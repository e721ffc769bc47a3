"""The rounds of nu-SVC: C-SVC whose C is not known yet.

    max -1/2 sum_ij alpha_i alpha_j y_i y_j K_ij
    s.t. 0 <= alpha_i <= C_i,  sum_i alpha_i y_i = 0,  sum_i alpha_i = nu sum_i C_i

A machine starts with what the sums ask for; pairs lie within a class and keep them (smo.py). After every round alpha
and C are divided by the margin rho that the machine has come to. So the margin becomes 1, and the machine that of the
C-SVC with this C: gap, working sets, settled examples and exact values are as of that one.

Chang and Lin, Neural Computation 13 (2001), sections 3 and 4.
"""

from __future__ import annotations

import numpy as np

from svmcore.solvers import smo
from svmcore.solvers.decomposition.inner import LOOSE
from svmcore.solvers.decomposition.rounds import Rounds

NEARLY = 3.0  # the largest margin after a round, and the least inverse, with which sets are solved to the target
MOST = 10.0  # times that C is scaled in a round
NO_MARGIN = 1e3  # mean alpha_i K_ii above which a machine counts as one without margin: C is in the thousands


class NuRounds(Rounds):
    """As Rounds; C (k, n) is a copy, scaled as it goes."""

    apart = True

    def __init__(self, gram, Y, C, session, tol, stage, whole, square_bytes, seed, memory, settings, hold, nu: float):
        super().__init__(gram, Y, C, session, tol, stage, whole, square_bytes, seed, memory, settings, hold)
        self.nu, self.far = nu, np.ones(self.k, bool)  # far: from a margin of 1
        for y, box, alpha in zip(self.Y, self.C, self.alpha, strict=True):
            for side in (1.0, -1.0):  # random ones of each class are filled until they have half of the sum
                members = self.rng.permutation(np.flatnonzero(y == side))
                before = np.cumsum(box[members]) - box[members]
                alpha[members] = np.clip(nu * box.sum() / 2 - before, 0, box[members])

    def _tolerance(self, m, whole):
        return max(super()._tolerance(m, whole), LOOSE if self.far[m] else 0.0)

    def _check_gaps(self):
        for m in self._open():
            self._scale(m)
        super()._check_gaps()

    def _scale(self, m) -> None:
        """alpha and C of machine m such that its margin is 1, or nearer to it; given up where it has none."""
        at = self.columns
        rho = smo.margin(self.Y[m, at], self.C[m, at], self.alpha[m, at], self.f[m, at])
        self.far[m] = not 1 / NEARLY < rho < NEARLY
        rho = float(np.clip(rho, 1 / MOST, MOST))
        self.f[m] = (self.f[m] + self.Y[m]) / rho - self.Y[m]
        self.alpha[m] /= rho
        self.C[m] /= rho
        self.exact.given_up[m] |= self._without_margin()[m]

    def _without_margin(self) -> np.ndarray:
        return self.alpha @ self.gram.diag > NO_MARGIN * self.n

    def _ending(self):
        if (without := self._without_margin()).any():
            C = self.C[without].max()
            return f"nu = {self.nu:g} leaves next to no margin (as C, it is beyond {C:.2g}); allowed: a larger nu"
        return super()._ending()
