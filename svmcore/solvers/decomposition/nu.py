"""The rounds of nu-SVC: C-SVC whose C is not known yet.

    max -1/2 sum_ij alpha_i alpha_j y_i y_j K_ij
    s.t. 0 <= alpha_i <= C_i,  sum_i alpha_i y_i = 0,  sum_i alpha_i = nu sum_i C_i

A machine starts with what the sums ask for; pairs lie within a class and keep them (smo.py). After every round alpha
and C are divided by the margin rho that the machine has come to. So the margin becomes 1, and the machine that of the
C-SVC with this C: gap, working sets, settled examples and exact values are as of that one.

Chang and Lin, Neural Computation 13 (2001), sections 3 and 4.
"""

import numpy as np

from svmcore.solvers import smo
from svmcore.solvers.decomposition.inner import LOOSE
from svmcore.solvers.decomposition.rounds import Rounds
from svmcore.solvers.decomposition.state import State

NEARLY = 3.0  # the largest margin after a round, and the least inverse, with which sets are solved to the target
FASTEST = 10.0  # times that C is scaled in a round, at most
NO_MARGIN = 1e3  # mean alpha_i K_ii above which a machine counts as one without margin: C is in the thousands


class NuRounds:
    """The strategy on a state, whose C it scales and whose pairs lie within classes: Rounds with a scaling of their
    own."""

    def __init__(self, state: State, nu: float):
        self.s, self.nu, self.rounds = state, nu, Rounds(state, self._scale_open)
        state.floor[:] = LOOSE
        for y, box, alpha in zip(state.Y, state.C, state.alpha, strict=True):
            for side in (1.0, -1.0):  # random ones of each class are filled until they have half of the sum
                members = state.rng.permutation(np.flatnonzero(y == side))
                before = np.cumsum(box[members]) - box[members]
                alpha[members] = np.clip(nu * box.sum() / 2 - before, 0, box[members])

    def solve(self) -> None:
        """As of Rounds."""
        self.rounds.solve()

    def ending(self) -> str:
        """Why machines ended above tol, or that there is no margin; empty where neither is so."""
        if (without := self._without_margin()).any():
            C = self.s.C[without].max()
            return f"nu = {self.nu:g} leaves almost no margin (it corresponds to C above {C:.2g}); allowed: a larger nu"
        return self.rounds.ending()

    def _scale_open(self) -> None:
        for m in self.s.open():
            s = self.s  # alpha and C become such that the margin is 1, or nearer to it; given up where there is none
            rho = margin(*s.of(m, s.columns))
            s.floor[m] = 0.0 if 1 / NEARLY < rho < NEARLY else LOOSE
            rho = float(np.clip(rho, 1 / FASTEST, FASTEST))
            s.f[m] = (s.f[m] + s.Y[m]) / rho - s.Y[m]
            s.lost[m] /= rho
            s.alpha[m] /= rho
            s.C[m] /= rho
            s.exact.given_up[m] |= self._without_margin()[m]

    def _without_margin(self) -> np.ndarray:
        return self.s.alpha @ self.s.gram.diag > NO_MARGIN * self.s.n


def margin(y, C, alpha, f) -> float:
    """rho = 1 + (level of class +1 - level of class -1) / 2, where an optimal nu-SVC has its margin while pairs lie
    within classes: y (sum_j alpha_j y_j K_ij + b) = rho at free SVs. level: f there, halfway between the ends.

    Chang and Lin, Neural Computation 13 (2001), section 4.
    """
    levels = []
    for side in (y > 0, y < 0):
        up, low = (members & side for members in smo.index_sets(y, C, alpha))
        ends = [f[up].min()] if up.any() else []
        ends += [f[low].max()] if low.any() else []
        levels.append(sum(ends) / max(len(ends), 1))
    return 1 + (levels[0] - levels[1]) / 2
