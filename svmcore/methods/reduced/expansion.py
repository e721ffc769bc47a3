"""Expansions: vectors of feature space that are weighted sums of examples' images, and all that is asked of them.

    Psi_c = sum_i coef[c, i] phi(x_i)                                       c = 1 ... k machines over shared examples
    <Psi_c, phi(x)> = sum_i coef[c, i] K(x_i, x)
    rho_c^2 = |Psi_c - sum_j gamma[c, j] phi(z_j)|^2 = |Psi_c|^2 - 2 gamma_c p_c + gamma_c B gamma_c,
    p[c, j] = <Psi_c, phi(z_j)>,  B[j, l] = K(z_j, z_l);   at fixed z smallest for B gamma_c = p_c

X (n, d) float32 examples; coef (k, n) float64; Z (m, d); gamma (k, m) float64. Everything through kernel values, by
blocks, in double precision unless they are very many.

Reference: Burges and Schölkopf (1997), section 4.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular

from svmcore.gram.products import Operand
from svmcore.gram.sources import Work
from svmcore.gram.threads import CORES, side_by_side
from svmcore.kernels import Kernel, squared_norms
from svmcore.model import Machine

FLOP = 1e9  # multiplications and additions of a block of kernel values at most: some 30 ms
WIDTH = 4096  # vectors of a block at most
PANEL = 256  # columns of a Cholesky factor found at once
STEP = 64  # rows of kernel values in single precision at a time
SINGLE_FROM = 1.5e11  # multiplications from which kernel values are in single precision
RIDGE = 1e-11  # of B's diagonal: added to it, so that near duplicates do not blow gamma up


@dataclass(frozen=True, eq=False)
class Expansion:
    """k vectors of feature space over shared examples. ValueError when shapes disagree or numbers are not finite."""

    kernel: Kernel
    vectors: np.ndarray  # (n, d) float32
    coef: np.ndarray  # (k, n) float64

    def __post_init__(self):
        if self.vectors.ndim != 2 or self.coef.ndim != 2 or self.coef.shape[1] != len(self.vectors):
            shapes = f"vectors of shape {self.vectors.shape} and coef of shape {self.coef.shape}"
            raise ValueError(f"expansion: {shapes}; allowed: (n, d) and (k, n)")
        for name in ("vectors", "coef"):
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"expansion: {name} has numbers that are not finite")

    @classmethod
    def of(cls, machine: Machine) -> "Expansion":
        """The normals of a machine's k hyperplanes."""
        return cls(machine.kernel, machine.support_vectors, machine.coef)

    def machine(self, c: int) -> "Expansion":
        """Psi_c alone, over the examples that it uses."""
        used = np.flatnonzero(self.coef[c])
        return Expansion(self.kernel, self.vectors[used], self.coef[c : c + 1, used])

    @property
    def used(self) -> np.ndarray:
        """Positions (n',) of the examples that some machine uses."""
        return np.flatnonzero((self.coef != 0).any(axis=0))

    @cached_property
    def _operand(self) -> Operand:
        return Operand(self.vectors)

    def _large(self, m: int) -> bool:
        """Whether kernel values with m vectors are so many that single precision has to do."""
        return self.vectors.size * m >= SINGLE_FROM

    def along(self, Z, work: Work | None = None) -> np.ndarray:
        """p[c, j] = <Psi_c, phi(z_j)> for Z (m, d): (k, m) float64."""
        p = np.zeros((len(self.coef), len(Z)))
        if self._large(len(Z)):
            for rows, K in self._rows(Z, work):
                p[:, rows] = self.coef @ K.T
        else:
            for rows, K in blocks(self.kernel, self.vectors, Z, work):
                p += self.coef[:, rows] @ K
        return p

    def own(self, work: Work | None = None) -> np.ndarray:
        """<Psi_c, phi(x_i)> of its own examples: (k, n) float64, computed once, each pair of examples once."""
        if "_own" not in self.__dict__:
            p, X = np.zeros(self.coef.shape), self.vectors
            if self._large(len(X)):
                for rows, K in self._rows(X, work, beyond=True):
                    p[:, rows] += self.coef[:, rows.start :] @ K.T
                    p[:, rows.stop :] += self.coef[:, rows] @ K[:, len(K) :]
            else:
                for rows in pieces(len(X), WIDTH, X.shape[1]):
                    for cols, K in blocks(self.kernel, X[: rows.stop], X[rows], work):
                        p[:, rows] += self.coef[:, cols] @ K
                        before = slice(cols.start, min(cols.stop, rows.start))
                        p[:, before] += self.coef[:, rows] @ K[: max(before.stop - before.start, 0)].T
            self.__dict__["_own"] = p
        return self.__dict__["_own"]

    def _rows(self, Z, work: Work | None, beyond: bool = False) -> Iterator[tuple[slice, np.ndarray]]:
        """Kernel values (t, n) float64 of a few rows of Z at a time with all examples, in single precision; `beyond`:
        those of the examples with themselves, from the first row on."""
        work = work or Work()
        for start in range(0, len(Z), STEP):
            work.check()
            rows = slice(start, min(start + STEP, len(Z)))
            part = np.asarray(Z[rows], np.float32)
            cols = slice(start if beyond else 0, len(self.vectors))
            K = self._operand.product(part, squared_norms(part), self.kernel, cols)
            work.count(evaluations=K.size)
            yield rows, K.astype(np.float64)

    def norms(self, work: Work | None = None) -> np.ndarray:
        """|Psi_c|^2: (k,) float64."""
        return np.einsum("ci,ci->c", self.coef, self.own(work))

    def rho2(self, Z, gamma, work: Work | None = None, norms=None) -> np.ndarray:
        """|Psi_c - sum_j gamma[c, j] phi(z_j)|^2 for Z (m, d), gamma (k, m): (k,) float64, from 0 up.

        norms (k,): |Psi_c|^2, where they are known. Burges and Schölkopf (1997), section 4.
        """
        norms = self.norms(work) if norms is None else norms
        own = Expansion(self.kernel, np.asarray(Z), np.asarray(gamma, np.float64)).norms(work)
        crossed = np.einsum("cj,cj->c", gamma, self.along(Z, work))
        return np.maximum(norms - 2 * crossed + own, 0)

    def weights(self, Z, work: Work | None = None) -> np.ndarray:
        """gamma (k, m) of the smallest rho for fixed Z (m, d), by linear least squares."""
        B = np.concatenate([K for _, K in blocks(self.kernel, Z, Z, work)])
        return solve(B, self.along(Z, work), work)


def solve(B, p, work: Work | None = None) -> np.ndarray:
    """gamma (k, m) with gamma B = p for symmetric B (m, m) >= 0 and p (k, m), steadied by a small ridge."""
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(B)), np.finfo(float).tiny))  # vectors of any length count alike
    ridge = RIDGE
    while True:
        steadied = scale[:, None] * B * scale
        steadied.flat[:: len(B) + 1] += ridge
        try:
            factor = _cholesky(steadied, work or Work())
        except LinAlgError:  # an indefinite kernel, or rounding
            ridge *= 100
        else:
            return (scale[:, None] * cho_solve((factor, True), (p * scale).T)).T


def _cholesky(B, work: Work) -> np.ndarray:
    """L of B = L L' in the lower triangle of B (m, m), panel by panel, so that no product lasts long."""
    m = len(B)
    for start in range(0, m, PANEL):
        panel, below = slice(start, start + PANEL), slice(min(start + PANEL, m), m)
        B[panel, panel] = L = cholesky(B[panel, panel], lower=True, check_finite=False)
        B[below, panel] = left = solve_triangular(L, B[below, panel].T, lower=True, check_finite=False).T

        def update(rows, panel=panel, below=below, left=left):
            B[below][rows, below.start : below.start + rows.stop] -= left[rows] @ left[: rows.stop].T

        in_turn(update, pieces(m - below.start, m - below.start, PANEL), work)
    return B


def in_turn(one: Callable[[slice], None], stretches: list[slice], work: Work) -> None:
    """Call `one` for each stretch, a few side by side; `work` is asked between them whether to go on."""
    for start in range(0, len(stretches), CORES):
        work.check()
        side_by_side(one, [(rows,) for rows in stretches[start : start + CORES]])


def blocks(kernel: Kernel, X, Z, work: Work | None = None) -> Iterator[tuple[slice, np.ndarray]]:
    """Kernel values K (t, m) float64 of stretches of X (n, d) with all of Z (m, d), and which stretch; `work`
    counts them and is asked between them whether to go on."""
    work, Z64 = work or Work(), np.asarray(Z, np.float64)
    stretches = pieces(len(X), len(Z), X.shape[1])
    for start in range(0, len(stretches), CORES):
        values, some = {}, stretches[start : start + CORES]

        def fill(rows, values=values):
            values[rows.start] = kernel.exact(X[rows], Z64)

        in_turn(fill, some, work)
        work.count(evaluations=sum(map(len, values.values())) * len(Z64))
        for rows in some:
            yield rows, values.pop(rows.start)


def pieces(n: int, m: int, d: int) -> list[slice]:
    """range(n) cut into stretches whose products with m vectors of d features stay below FLOP."""
    size = int(np.clip(FLOP / (2 * max(m, 1) * max(d, 1)), 16, WIDTH))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
