"""The next label: which of the examples that have none are to be asked for.

    lead_i = |f(x_i)|                            of two classes, in units of the margin
           = the largest f_c(x_i) - the second   of more

    nearest   the smallest leads: what the machine is least sure of, so that either answer moves it
    spread    of the REACH m smallest leads the smallest, then m - 1 times the one farthest from those taken, by
              |phi(u) - phi(v)|^2 = K(u, u) - 2 K(u, v) + K(v, v), so that no two of them ask the same
    random    drawn; what the other two are compared with

Symbols: p examples without a label, k machines; m are asked for at a time.
Tong and Koller, Support vector machine active learning, JMLR 2 (2001), section 4.1 (nearest); Brinker, Incorporating
diversity in active learning with support vector machines, ICML (2003), spreads them by angle.
"""

from collections.abc import Callable

import numpy as np

from svmcore.allowed import require
from svmcore.model import lead

WAYS = {"nearest": "Nearest to the plane", "spread": "Nearest and spread", "random": "At random"}
REACH = 2  # times as many as are asked for: the nearest, among which they are spread

Squared = Callable[[int, np.ndarray], np.ndarray]  # (i, (c,) others) -> (c,) squared distances, of positions


def next_ones(way: str, decision: np.ndarray, m: int, squared: Squared, rng: np.random.Generator) -> np.ndarray:
    """Which to ask for next, the most telling first; of equal leads the first: (min(m, p),) int64, positions of the p.

    way: one of WAYS; decision (p, k): what the machine says of the examples without a label; m: how many are asked for;
    squared(i, others): their squared distances from example i, positions of the p; rng: what `random` draws from.
    ValueError for a way that there is not.
    """
    require(way in WAYS, "way", way, ", ".join(WAYS))
    if way == "random":
        return rng.permutation(len(decision))[:m]
    order = np.argsort(lead(decision), kind="stable")
    if way == "nearest" or m < 2 or len(order) <= m:
        return order[:m]
    near = order[: REACH * m]
    taken, apart = [0], np.asarray(squared(near[0], near), np.float64)
    while len(taken) < m:
        apart[taken] = -np.inf  # a copy of one that is taken may come, itself never again
        taken.append(int(apart.argmax()))
        apart = np.minimum(apart, squared(near[taken[-1]], near))
    return near[taken]
