"""When a full pass is left for an inbounds one: the five rules of DeCoste and Schoelkopf (2002), section 4.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from svmcore.solvers.digestion.state import EVALS, EVALS_BACK, EVALS_INBOUNDS, N_SV, SV_BACK


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

    Raises
    ------
    ValueError
        Naming the setting and what is allowed.

    References
    ----------
    DeCoste and Schoelkopf (2002), section 4.2.

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

    def __post_init__(self):
        for name in ("wait", "force", "patience", "new_svs_when_full", "new_svs"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"digestion: {name} = {getattr(self, name)!r}; allowed: a number from 0")
        if self.growth is not None and not self.growth > 0:
            raise ValueError(f"digestion: growth = {self.growth!r}; allowed: a fraction above 0, or None")
        if self.rows is not None and not self.rows >= 1:
            raise ValueError(f"digestion: rows = {self.rows!r}; allowed: a whole number from 1, or None")
        if self.cache_mb is not None and not self.cache_mb > 0:
            raise ValueError(f"digestion: cache_mb = {self.cache_mb!r}; allowed: megabytes above 0, or None")
        for name in ("on", "hoard", "second_order"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"digestion: {name} = {getattr(self, name)!r}; allowed: true or false")

    def rows_of(self, n: int, cache_bytes: int) -> int:
        """The cache's rows for n examples, within so many bytes."""
        within = min(cache_bytes, cache_bytes if self.cache_mb is None else self.cache_mb * 2**20)
        return max(1, int(min(n, within // (4 * n), n if self.rows is None else self.rows)))


class Rules(NamedTuple):
    on: bool
    wait: int
    force: int
    patience: float
    new_svs_when_full: int
    new_svs: int
    growth: float


def compiled(settings: Digestion) -> Rules:
    """The settings as compiled code takes them."""
    growth = np.inf if settings.growth is None else settings.growth
    return Rules(
        settings.on,
        settings.wait,
        settings.force,
        float(settings.patience),
        settings.new_svs_when_full,
        settings.new_svs,
        float(growth),
    )


@njit(cache=True, nogil=True)
def _digest(s, rules):
    """The highest priority first. DeCoste and Schoelkopf (2002), section 4.2, rules 1 to 5."""
    c = s.count
    computed, new = c[EVALS] - c[EVALS_BACK], c[N_SV] - c[SV_BACK]
    if computed < rules.wait:
        return False
    if computed >= rules.force:
        return True
    if computed < rules.patience * c[EVALS_INBOUNDS]:
        return False
    if c[N_SV] > s.store.shape[0] and new >= rules.new_svs_when_full:
        return True
    return new >= rules.new_svs or new >= rules.growth * max(c[SV_BACK], 1)
