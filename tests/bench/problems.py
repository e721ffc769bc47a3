"""The problems that the benchmark solves: data, kernel, C, and the peers that finish them in reasonable time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from svmcore import RBF, Kernel, Linear, Poly
from tests.bench import sets
from tests.bench.sets import NINE, Task

ONEDAL, LIBSVM, THUNDER, LIBLINEAR, SGD = PEERS = "sklearnex", "sklearn", "thundersvm", "liblinear", "sgd"
SMALL = 3000  # examples up to which fits follow one another in a process that has started
LIMIT = 300.0  # seconds that a fit may take


@dataclass(frozen=True)
class Problem:
    """One row of the table. `cache_mb` is given to every candidate; weight: that of the positives' C; kind: its line in
    the picture, where it has one."""

    title: str
    n: int
    make: Callable[[], Task]
    kernel: Kernel = NINE
    C: float = 2.0
    weight: float = 1.0
    cache_mb: int = 2000
    peers: tuple[str, ...] = (ONEDAL, LIBSVM)
    kind: str | None = None
    limit: float = LIMIT

    @property
    def small(self) -> bool:
        return self.n <= SMALL

    @property
    def quick(self) -> bool:
        """Also part of --quick."""
        return self.small and self.limit == LIMIT


def _peers(n: int, libsvm: int = 10**9, thunder: int = 0) -> tuple[str, ...]:
    """intelex, and LIBSVM and ThunderSVM up to so many examples."""
    return tuple(who for who, most in ((ONEDAL, n), (LIBSVM, libsvm), (THUNDER, thunder)) if n <= most)


def _series(name: str, make: Callable[..., Task], sizes, *more, libsvm=10**9, thunder=0, **how) -> dict[str, Problem]:
    """name-n -> the problem of that size."""
    return {
        f"{name}-{n}": Problem(n=n, make=partial(make, n, *more), peers=_peers(n, libsvm, thunder), **how)
        for n in sizes
    }


def _at(name: str, title: str, make: Callable[[int], Task], kernel: Kernel, *sizes) -> dict[str, Problem]:
    """name-n-C -> the problem with so many examples and that C, each of `sizes` a pair of them."""
    return {
        f"{name}-{n}-C{C}": Problem(
            f"{title}, C = {C:,}", n, partial(make, n), kernel, float(C), peers=_peers(n, thunder=3000)
        )
        for n, C in sizes
    }


def _at_large_c(name: str, title: str, make: Callable[[], Task], n: int, kernel: Kernel) -> dict[str, Problem]:
    """name-C1e3 and so on: one problem at three large C."""
    return {
        f"{name}-C1e{power}": Problem(f"{title}, C = {10**power:,}", n, make, kernel, 10.0**power, limit=60.0)
        for power in (3, 4, 5)
    }


DESLANTED = ("deslant", "unit-norm")
TABLES, FORESTS = (200, 500, 1000, 2000, 3000, 10000, 20000, 30000, 60000), (500, 3000, 10000, 30000)
TABLE, NARROW = {"kernel": RBF(0.03), "C": 10.0}, {"kernel": RBF(0.5), "C": 1000.0}
ADULT = {"title": "adult, 123 features", "kind": "adult", "kernel": RBF(0.05), "C": 1.0}
GAUSSIANS = {"title": "Gaussians, 100 features", "kind": "Gaussians", "kernel": RBF(0.005), "C": 1.0, "thunder": 3000}
FACES = {"title": "face windows, 283 features", "kind": "faces", "kernel": Poly(2, 1.0, 1.0), "C": 200.0}
VOLCANOES = {"title": "volcano chips, 225 features", "kind": "volcanoes", "C": 1.0, "weight": 3.0}
EIGHT = {"title": "MNIST digit 8 against the rest", "kind": "digit 8", "thunder": 2000}
TEN = {"title": "ten MNIST digits", "kind": "ten digits", "libsvm": 2000}
WINDOWS = {"cache_mb": 4000, "libsvm": 2000}
FULL = {"n": 60000, "cache_mb": 4000, "peers": (ONEDAL,)}
SHIFTS = {"cache_mb": 8000, "peers": (ONEDAL,)}
GRADIENTS = {"title": "directions of gradients, 392 features", "kind": "gradients", "kernel": RBF(2.0), "C": 10.0}
PLANES = {"kernel": Linear(), "C": 1.0, "peers": (ONEDAL, LIBSVM, LIBLINEAR, SGD)}
SHOWERS = (1000, 1), (5000, 10), (19020, 1), (19020, 100), (5000, 10**4)
LETTERS = (2000, 10), (20000, 10), (20000, 1000)
WORDS = (5000, 10), (20000, 10), (49749, 1)

PROBLEMS: dict[str, Problem] = {
    **_series("digit-8", sets.digits, (500, 1000, 2000, 5000, 10000, 20000, 60000), 8, **EIGHT),
    **_series("digits", sets.digits, (200, 500, 1000, 2000, 10000), **TEN),
    **_series("digits", sets.digits, (60000,), cache_mb=4000, **TEN),
    "digits-rbf": Problem("ten MNIST digits, RBF", make=sets.digits, kernel=RBF(2.0), **FULL),
    "digits-deslanted": Problem("ten MNIST digits, deslanted", make=partial(sets.digits, steps=DESLANTED), **FULL),
    "usps": Problem("ten USPS digits", 7291, sets.usps, RBF(2.0), C=10.0),
    "virtual-0": Problem("virtual SV stage of digit 0", 17577, partial(sets.virtual, 0), **SHIFTS),
    "virtual-9": Problem("virtual SV stage of digit 9", 37008, partial(sets.virtual, 9), **SHIFTS),
    **_series(
        "table", sets.table, TABLES, title="table, 54 features", kind="table", libsvm=10000, thunder=3000, **TABLE
    ),
    **_series("table-narrow", sets.table, (3000, 10000), title="table, narrow kernel, C = 1,000", **NARROW),
    **_series("table-C1e4", sets.table, (3000, 10000), title="table, C = 10,000", kernel=RBF(0.03), C=1e4),
    **_at_large_c("smooth", "table, smooth kernel", partial(sets.table, 3000), 3000, RBF(0.003)),
    **_at_large_c("overlap", "five Gaussian features", partial(sets.gaussians, 2000, 5), 2000, RBF(0.1)),
    **_series("forest", sets.forest, FORESTS, title="forest cover, 54 features", kind="forest", libsvm=10000, **TABLE),
    **_at("forest", "forest cover", sets.forest, RBF(0.03), (500, 1), (10000, 10**4)),
    **_at("forest-narrow", "forest cover, narrow kernel", sets.forest, RBF(0.5), (10000, 1000)),
    **_at("showers", "showers, 10 features", sets.showers, RBF(0.1), *SHOWERS),
    **_at("letters", "letters, 16 features", sets.letters, RBF(0.1), *LETTERS),
    **_at("words", "words, 300 features of 0 and 1", sets.words, RBF(0.05), *WORDS),
    **_series("adult", sets.adult, (3000, 10000, 32561), **ADULT),
    **_series("gaussians", sets.gaussians, (200, 500, 1000, 3000, 10000, 20000), 100, **GAUSSIANS),
    **_series("faces", sets.faces, (2000, 10000, 50000), **FACES, **WINDOWS),
    **_series("volcanoes", sets.volcanoes, (2000, 10000, 50000), **VOLCANOES, **WINDOWS),
    **_series("gradients", sets.gradients, (2000, 10000, 60000), libsvm=2000, cache_mb=4000, **GRADIENTS),
    "linear-adult": Problem("adult, linear kernel", 32561, sets.adult, **PLANES),
    "linear-8": Problem("MNIST digit 8, linear kernel", 10000, partial(sets.digits, 10000, 8), **PLANES),
}
