"""The bill of one decision: what every support vector adds to f, exactly.

    f_c(x) = sum_i alpha_i y_i K(x_i, x) + b_c = b_c + sum_i part[c, i],      part[c, i] = coef[c, i] K(x_i, x)

Lines of a bill are support vectors, or sums of them: those made from one parent, or those of one class. What is not
pictured is told as two sums, the lines for (part > 0) and those against; how much of the bill the pictured lines are is

    share = sum_{pictured} |part| / sum_{all lines} |part|

Symbols: x (d,) an example as the kernel takes it; k (m,) float64 its kernel values with all m support vectors
(`Machine.kernel_values`), which serve every machine c of the k; positions count in the Machine's arrays.

Burges, Data Mining and Knowledge Discovery 2 (1998), section 4.
"""

from typing import NamedTuple

import numpy as np

from svmcore.model import Machine


class Bill(NamedTuple):
    """One machine's decision on one example, line by line. Arrays (g,)."""

    name: np.ndarray  # what a line stands for: the position of a support vector, a parent, a class
    part: np.ndarray  # float64, what it adds to f
    count: np.ndarray  # support vectors in it
    bias: float

    @property
    def f(self) -> float:
        """The decision value."""
        return self.bias + float(self.part.sum())

    def strongest(self, most: int) -> np.ndarray:
        """Which `most` lines weigh most, in order; ties in the order of the bill."""
        size = np.abs(self.part)
        if most < len(size):  # a whole sort of 20,000 lines takes longer than their kernel values
            least = np.partition(size, len(size) - most)[len(size) - most]
            candidates = np.flatnonzero(size >= least)
        else:
            candidates = np.arange(len(size))
        return candidates[np.argsort(-size[candidates], kind="stable")][:most]

    def grouped(self, key: np.ndarray) -> "Bill":
        """The same bill with lines of one key (g,) added up; its names are the keys."""
        names, line = np.unique(key, return_inverse=True)
        part = np.bincount(line, self.part, len(names))
        count = np.bincount(line, self.count, len(names)).astype(np.int64)
        return Bill(names, part, count, self.bias)


class Rest(NamedTuple):
    """What a bill has beside the pictured lines."""

    n_for: int
    part_for: float
    n_against: int
    part_against: float
    share: float  # of all pull, that the pictured lines have; 1 for a bill without lines


def of_machine(machine: Machine, c: int, k: np.ndarray) -> Bill:
    """The bill of machine c, a line for each of its support vectors, for an example with kernel values k (m,)."""
    position = np.flatnonzero(machine.coef[c])
    part = machine.coef[c, position] * k[position]
    return Bill(position, part, np.ones(len(position), np.int64), float(machine.bias[c]))


def rest(bill: Bill, pictured: np.ndarray) -> Rest:
    """What the lines beside `pictured` add up to, those for and those against apart."""
    left = np.ones(len(bill.part), bool)
    left[pictured] = False
    part = bill.part[left]
    pull = float(np.abs(bill.part).sum())
    share = 1.0 if pull == 0 else float(np.abs(bill.part[pictured]).sum()) / pull
    pro, contra = part[part > 0], part[part < 0]
    return Rest(len(pro), float(pro.sum()), len(contra), float(contra.sum()), share)


def parts(machine: Machine, k: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """What the support vectors at `positions` add to f of every machine, together: (number of machines,) float64."""
    return machine.coef[:, positions] @ k[positions]
