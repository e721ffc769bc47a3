"""Machines that never met their bound: each is also the machine of every larger C, to the last bit.

    C enters in comparisons alone: is alpha_i < C_i, and how far may a pair move? While no alpha_i has come to C_i, the
    first is always so and the second limits no pair. A larger C_i then leads along the same pairs to the same alpha.

A narrow kernel separates the examples at a moderate C, so that most values of a search over C give one machine.
Machines that are alike (exact.py) share what is measured of their errors, so they are taken together or not at all.
"""

from hashlib import blake2b
from threading import Lock
from typing import NamedTuple

import numpy as np

from svmcore.solvers.decomposition.look import see_present
from svmcore.solvers.decomposition.state import State


class _Machine(NamedTuple):
    """A machine at its end."""

    C: np.ndarray  # (n,) float64, which no alpha has come to
    alpha: np.ndarray  # (n,) float64
    f: np.ndarray  # (n,) float64
    gap: float
    bias: float
    iterations: int


class Interior:
    """Such machines of one source whose whole matrix is in memory, for its next fits; threads may share it."""

    def __init__(self):
        self._machines: dict[bytes, _Machine] = {}
        self._lock = Lock()

    @property
    def nbytes(self) -> int:
        """What is held."""
        with self._lock:
            return sum(machine.C.nbytes * 3 for machine in self._machines.values())

    def take(self, s: State) -> None:
        """The machines of a state that are here: they have come to their end."""
        for group in s.alike():
            with self._lock:
                there = [self._machines.get(_key(s, m)) for m in group]
            if not all(one is not None and (s.C[m] >= one.C).all() for m, one in zip(group, there, strict=True)):
                continue
            for m, one in zip(group, there, strict=True):
                s.alpha[m], s.f[m], s.gaps[m], s.bias[m] = one.alpha, one.f, one.gap, one.bias
                s.iterations[m], s.exact.known[m] = one.iterations, True
                see_present(s, m)
            s.session.count(iterations=sum(one.iterations for one in there), taken=len(group))

    def keep(self, s: State) -> None:
        """Of a state at its end, the machines that have not met their bound."""
        for group in s.alike():
            if s.exact.known[group].all() and not s.bounded[group].any():
                for m in group:
                    arrays, figures = (s.C[m], s.alpha[m], s.f[m]), (s.gaps[m], s.bias[m], s.iterations[m])
                    with self._lock:
                        here = self._machines.get(key := _key(s, m))
                        if here is None or (s.C[m] < here.C).any():
                            self._machines[key] = _Machine(*map(np.copy, arrays), *figures)


def _key(s: State, m: int) -> bytes:
    """What machine m depends on, but for the source and C: its number among all draws its samples."""
    signs = np.packbits([s.Y[m] > 0, s.C[m] > 0])
    return blake2b(signs.tobytes() + np.array([m, s.tol, s.seed, s.limit, s.square_bytes]).tobytes()).digest()
