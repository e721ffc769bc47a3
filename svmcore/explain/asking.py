"""Active learning: the unlabelled examples to label next.

    lead_i = |f(x_i)|                            for two classes, in units of the margin
           = the largest f_c(x_i) - the second   for more

    nearest   the smallest leads: the most uncertain examples, for which any label changes the machine
    spread    of the REACH m smallest leads the smallest, then m - 1 times the one farthest from those chosen, by
              |phi(u) - phi(v)|^2 = K(u, u) - 2 K(u, v) + K(v, v), so that the examples are diverse
    random    at random; the baseline of the other two

Symbols: p unlabelled examples, k machines; m examples are chosen at a time.
Tong and Koller, Support vector machine active learning, JMLR 2 (2001), section 4.1 (nearest); Brinker, Incorporating
diversity in active learning with support vector machines, ICML (2003), spreads them by angle.
"""

from collections.abc import Callable

import numpy as np

from svmcore.allowed import require
from svmcore.model import lead

WAYS = {"nearest": "Nearest to the plane", "spread": "Nearest and spread", "random": "At random"}
REACH = 2  # `spread` chooses among this many times m nearest examples

Squared = Callable[[int, np.ndarray], np.ndarray]  # (i, (c,) others) -> (c,) squared distances; positions


def next_ones(way: str, decision: np.ndarray, m: int, squared: Squared, rng: np.random.Generator) -> np.ndarray:
    """Positions (min(m, p),) int64 of the examples to label next, the most informative first; ties by position.

    way: one of WAYS; decision (p, k): decision values of the unlabelled examples; m: how many to choose;
    squared(i, others): their squared distances from example i; rng: random generator, for `random`. ValueError for an
    unknown way.
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
        apart[taken] = -np.inf  # a chosen example never comes again, but a duplicate of it may
        taken.append(int(apart.argmax()))
        apart = np.minimum(apart, squared(near[taken[-1]], near))
    return near[taken]
