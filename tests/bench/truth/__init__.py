"""Whether what the lab says is true, on random problems by kind, each recomputed by other means: `__main__.py`.

A kind is a function of a random generator that gives a problem, which has `solved(limit, beside) -> Outcome`.
"""

from collections.abc import Callable, Iterator

import numpy as np

from tests.bench.truth import fits, offsets, replaced, seeds, virtual
from tests.bench.truth.outcome import Outcome

LIMIT = 30.0  # seconds that a fit may take
STATED: dict[str, Callable] = {
    kind.__name__: kind for kind in (virtual.virtual, offsets.offsets, replaced.replaced, seeds.seeds)
}
GROUPS = fits.KINDS, STATED
KINDS = fits.KINDS | STATED  # in an order that lasts: a problem's seed has its kind's number


def outcomes(kind: str, count: int, seed: int, limit: float = LIMIT, beside: bool = True) -> Iterator:
    """(problem's seed, Outcome) of so many problems of a kind; beside: scikit-learn too, where a kind asks it."""
    for number in range(count):
        at = [seed, list(KINDS).index(kind), number]
        yield at, KINDS[kind](np.random.default_rng(at)).solved(limit, beside)
