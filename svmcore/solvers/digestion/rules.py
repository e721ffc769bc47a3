"""When a full pass is left for an inbounds one: the five rules of DeCoste and Schölkopf (2002), section 4.2."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from svmcore._jit import native
from svmcore.allowed import above, check, flag, number, optional, whole


@dataclass(frozen=True)
class Digestion:
    """When a full pass is left for an inbounds one; the defaults are the paper's, the highest priority first.

    Parameters
    ----------
    on : bool, default True
        False for the same solver without digestion.
    wait : int, default 1000
        No digestion before so many kernel values since the last return to the full pass.
    force : int, default 100_000
        Digestion after so many.
    patience : float, default 2.0
        Else none before this factor of the last inbounds pass's kernel values.
    new_svs_when_full : int, default 200
        Digestion at so many net new support vectors while they exceed the cache's rows.
    new_svs : int, default 1000
        Digestion at so many in any case.
    growth : float or None, default None
        The alternative that the paper suggests, a fraction of the support vectors at that return; None leaves it out.
    rows : int or None, default None
        The cache's rows R; None for as many as fit.
    cache_mb : float or None, default None
        The cache in megabytes, which for n examples are 2**18 cache_mb / n rows; None for as many as fit.
    hoard : bool, default True
        Rows belong to support vectors, which keep them until their alpha is 0. False: to the examples that moved last.
    second_order : bool, default True
        Inbounds passes move the pair that gains most, as `smo` does. False: the worst pair (Keerthi et al. 2001).
    one_pass : bool, default False
        LASVM: the only full pass visits the examples in an order drawn by the seed. After each of them one pair of
        support vectors moves, and at the end pairs of these until none violates. No digestion; the gap on other
        examples stays what it is.

    Raises
    ------
    ValueError
        Naming the setting and what is allowed.

    References
    ----------
    DeCoste and Schölkopf (2002), section 4.2.
    Bordes, Ertekin, Weston and Bottou, JMLR 6 (2005), section 3.2: one pass.

    Examples
    --------
    >>> from svmcore import SVC, Digestion
    >>> SVC(solver=Digestion(new_svs=100)).solver.new_svs
    100
    """

    on: bool = True
    wait: int = 1000  # 1: no digestion before so many new kernel values
    force: int = 100_000  # 2: digestion after so many
    patience: float = 2.0  # 3: else none before this factor of the last inbounds pass's kernel values
    new_svs_when_full: int = 200  # 4: digestion at so many net new SVs while SVs exceed the cache's rows
    new_svs: int = 1000  # 5: digestion at so many in any case
    growth: float | None = None
    rows: int | None = None
    cache_mb: float | None = None
    hoard: bool = True
    second_order: bool = True
    one_pass: bool = False

    def __post_init__(self):
        rules = dict.fromkeys(("wait", "force", "patience", "new_svs_when_full", "new_svs"), number(0))
        sizes = {"growth": optional(above(0)), "rows": optional(whole(1)), "cache_mb": optional(above(0))}
        check(self, "digestion: ", **rules, **sizes, on=flag, hoard=flag, second_order=flag, one_pass=flag)

    @property
    def compiled(self) -> "Rules":
        rules = Rules(*(getattr(self, name) for name in Rules._fields))
        growth = np.inf if self.growth is None else self.growth
        return rules._replace(on=self.on and not self.one_pass, patience=float(self.patience), growth=float(growth))

    def rows_of(self, n: int, cache_bytes: int) -> int:
        """The cache's rows for n examples, within so many bytes."""
        within = min(cache_bytes, cache_bytes if self.cache_mb is None else self.cache_mb * 2**20)
        return max(1, int(min(n, within // (4 * n), n if self.rows is None else self.rows)))


class Rules(NamedTuple):
    """The settings as compiled code takes them."""

    on: bool
    wait: int
    force: int
    patience: float
    new_svs_when_full: int
    new_svs: int
    growth: float


@native()
def _digest(s, rules):
    """The highest priority first. DeCoste and Schölkopf (2002), section 4.2, rules 1 to 5."""
    c = s.count
    computed, new = c.evals - c.evals_back, c.n_sv - c.sv_back
    if computed < rules.wait:
        return False
    if computed >= rules.force:
        return True
    if computed < rules.patience * c.evals_inbounds:
        return False
    if c.n_sv > s.store.shape[0] and new >= rules.new_svs_when_full:
        return True
    return new >= rules.new_svs or new >= rules.growth * max(c.sv_back, 1)
