"""The contributions of the support vectors to one decision value, exactly (drawn as a waterfall).

    f_c(x) = sum_i alpha_i y_i K(x_i, x) + b_c = b_c + sum_i part[c, i],      part[c, i] = coef[c, i] K(x_i, x)

A line is a support vector, or a sum of them by parent or by class. The lines that are not shown are summed
up in two numbers, those for (part > 0) and those against. The share of the shown lines is

    share = sum_{shown} |part| / sum_{all lines} |part|

Symbols: x (d,) a preprocessed example; k (m,) float64 its kernel values with all m support vectors
(`Machine.kernel_values`), used for every machine c; positions refer to the arrays of the Machine.

Burges, Data Mining and Knowledge Discovery 2 (1998), section 4.
"""

from typing import NamedTuple

import numpy as np

from svmcore.model import Machine


class Contributions(NamedTuple):
    """The contributions to one machine's decision on one example. Arrays (g,)."""

    name: np.ndarray  # of a line: the position of a support vector, a parent, or a class
    part: np.ndarray  # float64, its contribution to f
    count: np.ndarray  # number of support vectors
    bias: float

    @property
    def f(self) -> float:
        """The decision value."""
        return self.bias + float(self.part.sum())

    def strongest(self, most: int) -> np.ndarray:
        """The `most` lines with the largest |part|, in decreasing order; ties in the given order."""
        size = np.abs(self.part)
        if most < len(size):  # sorting 20,000 lines takes longer than computing their kernel values
            least = np.partition(size, len(size) - most)[len(size) - most]
            candidates = np.flatnonzero(size >= least)
        else:
            candidates = np.arange(len(size))
        return candidates[np.argsort(-size[candidates], kind="stable")][:most]

    def grouped(self, key: np.ndarray) -> "Contributions":
        """Lines of equal key (g,) summed up; their names are the keys."""
        names, line = np.unique(key, return_inverse=True)
        part = np.bincount(line, self.part, len(names))
        count = np.bincount(line, self.count, len(names)).astype(np.int64)
        return Contributions(names, part, count, self.bias)


class Rest(NamedTuple):
    """The lines that are not shown, summed up."""

    n_for: int
    part_for: float
    n_against: int
    part_against: float
    share: float  # of the shown lines in the sum of |part|; 1 without lines


def of_machine(machine: Machine, c: int, k: np.ndarray) -> Contributions:
    """Of machine c, with one line per support vector, for an example with kernel values k (m,)."""
    position = np.flatnonzero(machine.coef[c])
    part = machine.coef[c, position] * k[position]
    return Contributions(position, part, np.ones(len(position), np.int64), float(machine.bias[c]))


def rest(whole: Contributions, pictured: np.ndarray) -> Rest:
    """The sums of the lines that are not in `pictured`, separately for and against."""
    left = np.ones(len(whole.part), bool)
    left[pictured] = False
    part = whole.part[left]
    pull = float(np.abs(whole.part).sum())
    share = 1.0 if pull == 0 else float(np.abs(whole.part[pictured]).sum()) / pull
    pro, contra = part[part > 0], part[part < 0]
    return Rest(len(pro), float(pro.sum()), len(contra), float(contra.sum()), share)


def parts(machine: Machine, k: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The joint contribution of the support vectors at `positions` to f of each machine: (k,) float64."""
    return machine.coef[:, positions] @ k[positions]
