"""The study of digestion (DeCoste and Schölkopf, 2002, section 4): one digit against the rest by the paper's solver.

    digest-DIGIT-WAY-MB      all 60,000 digits, with a cache of so many megabytes
    digest-DIGIT-few-WAY-MB  6000 of them, in a minute or two
    digest-DIGITv-WAY-MB     the virtual stage after them, 3x3 shifts; the first stage is the fast solver's
    digest-rule-WAY          the rules one by one, on 6000 digits, to learn settings from
    digest-vsv-MB, -jsv-MB   note 6, without digestion: 500 digits and their shifts as examples, and in the kernel

Digit 1 has the fewest support vectors, so that its caches are from a small part of them to more than all; 8 the most.
"""

from typing import NamedTuple

from svmcore.kernels import Poly
from svmcore.lab.presets.layout import Table, table_of
from svmcore.lab.recipe import Recipe

NEVER, SHARES = 10**9, (5, 20, 50, 100)
LEARNED = 20  # of these the one that takes the fewest kernel values on FEW digits
NO_RULES = {"wait": 0, "force": NEVER, "patience": 0, "new_svs_when_full": NEVER, "new_svs": NEVER}
WAYS = {  # what others do, the paper's cache, its digestion, and the rule that did best on a tenth of the examples
    "lru": ("Cache rows for recently changed examples", {"on": False, "hoard": False}),
    "hoard": ("Cache rows reserved for SVs", {"on": False}),
    "digest": ("Digestion by the paper's rules", {}),
    "learned": (f"Digestion at each growth of {LEARNED} % in SVs", NO_RULES | {"growth": LEARNED / 100}),
}
RULES = {
    "off": ("No digestion", {"on": False}),
    "paper": ("The paper's rules", {}),
    "no-2": ("Without rule 2 (digest after 100,000 kernel evaluations)", {"force": NEVER}),
    "no-3": ("Without rule 3 (patience)", {"patience": 0}),
    "no-4": ("Without rule 4 (digest at 200 new SVs if the cache is full)", {"new_svs_when_full": NEVER}),
    "no-5": ("Without rule 5 (digest at 1000 new SVs)", {"new_svs": NEVER}),
    **{
        f"grow-{share}": (f"Digestion at each growth of {share} % in SVs", NO_RULES | {"growth": share / 100})
        for share in SHARES
    },
    "first-off": ("First-order pairs, no digestion", {"on": False, "second_order": False}),
    "first": ("First-order pairs, the paper's rules", {"second_order": False}),
}  # fmt: skip
FEW, RULES_MB = 6000, 6
SHIFTED = 500  # digits of note 6
SHIFTED_MB = (1, 4, 16)


class Problem(NamedTuple):
    """One problem of the study, and the caches that it is solved with, in megabytes."""

    title: str
    base: Recipe
    caches: tuple[int, ...]


_MNIST = Recipe(dataset="mnist", split="given", n_test=1000, kernel=Poly(9, 1.0, 1.0), C=2.0, solver="smo-digestion")
_VIRTUAL = {"method": "vsv", "jitters": "box:1", "first_solver": "auto"}
_FEW = {"n_train": FEW}
PROBLEMS = {
    "1": Problem("Digit 1, 60,000 digits", _MNIST.replace(classes=(1,)), (800, 400, 200, 100, 50)),
    "1v": Problem("Digit 1, virtual stage, 60,000 digits", _MNIST.replace(classes=(1,), **_VIRTUAL), (200, 100, 50)),
    "8": Problem("Digit 8, 60,000 digits", _MNIST.replace(classes=(8,)), (800, 400, 200)),
    "8v": Problem("Digit 8, virtual stage, 60,000 digits", _MNIST.replace(classes=(8,), **_VIRTUAL), (800, 400, 200)),
    "1-few": Problem("Digit 1, 6,000 digits", _MNIST.replace(classes=(1,), **_FEW), (32, 16, 8, 4, 2, 1)),
    "8-few": Problem("Digit 8, 6,000 digits", _MNIST.replace(classes=(8,), **_FEW), (32, 16, 8, 4)),
    "1v-few": Problem(
        "Digit 1, virtual stage, 6,000 digits", _MNIST.replace(classes=(1,), **_VIRTUAL, **_FEW), (32, 16, 8)
    ),
}


def _of(base: Recipe, name: str, title: str, settings: dict, mb: float) -> Recipe:
    title = f"{title}, cache of {mb} MB"
    return base.replace(name=f"digest-{name}", title=title, digestion=settings | {"cache_mb": mb})


def _shifted(method: str, title: str, **how) -> tuple[Recipe, ...]:
    base = _MNIST.replace(classes=(8,), n_train=SHIFTED, method=method, jitters="box:1", **how)
    return tuple(
        _of(base, f"{method}-{mb}", f"{SHIFTED} digits, 3x3 shifts: {title}", {"on": False}, mb) for mb in SHIFTED_MB
    )


RECIPES = (
    *(
        _of(problem.base, f"{name}-{way}-{mb}", f"{problem.title}: {title}", settings, mb)
        for name, problem in PROBLEMS.items()
        for mb in problem.caches
        for way, (title, settings) in WAYS.items()
    ),
    *(
        _of(PROBLEMS["1-few"].base, f"rule-{way}", f"Digit 1, {FEW:,} digits: {title}", settings, RULES_MB)
        for way, (title, settings) in RULES.items()
    ),
    *_shifted("vsv", "virtual examples", scope="all"),
    *_shifted("jsv", "the jittering kernel"),
)


# Tables

COUNTED = {"work": "Work", "computed": "Kernel evaluations", "lookups": "Look-ups", "updates": "Updates",
           "steps": "Steps", "sv_most": "Most SVs at once", "jumps": "Digestions", "filled": "Filled share of rows, %",
           "solve_s": "Processor time, s"}  # fmt: skip
UNIT = (
    "Work, kernel evaluations, look-ups and updates are in millions. Work is the cost of the other three together, in "
    "units of d multiply-adds, where d is the number of features: an evaluation costs one unit for each inner product, "
    "a look-up or an update 1/d. Seconds are processor time."
)


def tables() -> tuple[Table, ...]:
    """One rule changed at a time; note 6. What the size of the cache does is a figure."""
    rules = table_of(
        "mnist-digestion-rules",
        "Section 4.2: digestion with one rule changed at a time",
        COUNTED,
        *((title, f"digest-rule-{way}") for way, (title, _) in RULES.items()),
        note=f"The problem is digit 1 against the rest, with {FEW:,} digits and a cache of {RULES_MB} MB. {UNIT}",
    )
    jittering = table_of(
        "mnist-digestion-jsv",
        "Note 6: virtual examples and the jittering kernel, each with the same small cache",
        {"size": "Examples", "svs": "SVs"} | COUNTED,
        *(
            (f"{title}, cache of {mb} MB", f"digest-{method}-{mb}")
            for method, title in (("vsv", "Virtual examples"), ("jsv", "Jittering kernel"))
            for mb in SHIFTED_MB
        ),
        note=UNIT,
    )
    return rules, jittering
