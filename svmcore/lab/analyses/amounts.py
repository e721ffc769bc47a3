"""Learning curves: what more training examples bring, and how many of them a better recipe is worth.

    rate_v(n) = exp(level) n^slope     of each recipe v (sweep.PowerLaw), by cross-validation with n examples
    rate_a(n') = rate_b(n)             recipe b with n examples is worth n' of recipe a

So DeCoste and Schölkopf (2002), section 3, argue for virtual examples: what is known need not be learned from data.
"""

from collections.abc import Mapping, Sequence
from operator import truediv
from typing import NamedTuple

from svmcore.lab.analyses.sweep import AMOUNT, PowerLaw, Sweep

NOISE = "; this difference is within the noise"
WIDE = "The intervals assume independent curves. Curves from the same folds are not, so the intervals are too wide."


class Curve(NamedTuple):
    """The cells of one recipe, by growing numbers of training examples."""

    name: str  # the value of the other field; empty where there is none
    cells: tuple[str, ...]
    n: tuple[int, ...]


def curves(sweep: Sweep, checks: Mapping[str, tuple[int, int]]) -> list[Curve]:
    """The curves of a sweep over training examples, perhaps with another field, through its finished cells; checks: as
    in `fitted`, as a dataset may have fewer examples than are asked for."""
    own = {}
    for called, pair in sweep.cells().items():
        name = (*pair, "")[1] if sweep.field == AMOUNT else pair[0]
        if called in checks:
            own.setdefault(name, []).append((checks[called][1], called))
    return [Curve(name, *(tuple(part[at] for part in sorted(cells)) for at in (1, 0))) for name, cells in own.items()]


def fitted(curve: Curve, checks: Mapping[str, tuple[int, int]]) -> PowerLaw | None:
    """The power law through a curve; checks: of each cell (errors, validation examples)."""
    return PowerLaw.fitted(curve.n, *zip(*(checks[called] for called in curve.cells), strict=True))


def sentences(curves: Sequence[Curve], checks: Mapping[str, tuple[int, int]], over: str) -> list[str]:
    """What the curves say: of each what twice the examples would bring, and of the best how many examples it is worth
    to the others. over: what the names of the curves are values of."""
    said, laws = [], {curve.name: fitted(curve, checks) for curve in curves}
    for curve in curves:
        law, first, last = laws[curve.name], *(100 * truediv(*checks[curve.cells[at]]) for at in (0, -1))
        begin = f"{over} = {curve.name}: the error" if curve.name else "The error"
        text = f"{begin} is {first:.2f} % with {curve.n[0]:,} training examples, {last:.2f} % with {curve.n[-1]:,}"
        if law is not None:
            expected, least, most = (100 * rate for rate in law.at(2 * curve.n[-1]))
            text += f". A power law predicts {expected:.2f} % ({least:.2f} to {most:.2f}) with {2 * curve.n[-1]:,}. "
            text += f"Each doubling multiplies the error by {2**law.slope:.2f}"
        said.append(f"{text}.")
    return said + worth(curves, laws, over)


def worth(curves: Sequence[Curve], laws: Mapping[str, PowerLaw | None], over: str) -> list[str]:
    """How many examples the best recipe is worth to each other one, at the largest number of examples of all."""
    if any(law is None for law in laws.values()) or len(curves) < 2:
        return []
    n, said = min(curve.n[-1] for curve in curves), []
    best = min(laws, key=lambda name: laws[name].at(n)[0])
    for name, law in laws.items():
        if name == best:
            continue
        if (equal := law.as_good_as(laws[best], n)) is None:
            said.append(
                f"With {over} = {name} the error does not clearly fall with more examples. "
                f"It may never reach that of {over} = {best}."
            )
            continue
        middle, least, most = (rounded(value) for value in equal)
        others = f"{middle} ({least} to {most}) with {over} = {name}"
        text = f"{n:,} examples with {over} = {best} are worth as much as {others}"
        said.append(f"{text}{NOISE if equal[1] <= n else ''}.")
    return [*said, WIDE]


def rounded(value: float) -> str:
    """A number of examples, to two digits: `2,300`; none is told that is beyond all data."""
    return f"{float(f'{value:.2g}'):,.0f}" if value < 1e9 else "more than a thousand million"
