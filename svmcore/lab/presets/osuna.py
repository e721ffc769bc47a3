"""Osuna's study of his decomposition (MIT AI memo 1602, 1997, section 3.2.3), on face windows: each point of a
figure is an ordinary run.

    osuna-n...      time, SVs and global iterations against n; each with three sizes of the working set, for its memory
    osuna-b...      time against |B|, for a small and a large lookahead, at one n
    osuna-scaling   the largest of the first kind; as a study, all of them
    osuna-d...      time against the dimension: digits with more and more of their border cut off
    osuna-in-...    section 3.3: which violators enter the working set, and from where
    osuna-beyond... section 3.3: more SVs than a working set holds
    osuna-ripley... osuna-sonar... osuna-digit-n...    small problems, by general optimisers too (solvers/general.py)

Examples: `face-windows`, prepared as he prepared his. Where its files are not at hand the stand-in is a digit against
the rest, 4000 in all, which has another kernel and tells nothing of faces; its runs are named "stand-in".

What decides the course of a study is what the settings are beside the number of SVs, which is unknown before. B of 2000
holds the SVs of all sizes of n here; 1000 examples may be looked at, and 200 may enter, in each round.
"""

from typing import NamedTuple

from data import catalogue
from svmcore.kernels import Linear, Poly
from svmcore.lab.presets.layout import Cell, Row, Table
from svmcore.lab.recipe import Recipe
from svmcore.lab.store.reading import Group
from svmcore.solvers.general import SLOW, WAYS

NAME = "osuna-scaling"
SIZES, STAND_IN_SIZES = (2000, 5000, 10_000, 20_000, 50_000), (500, 1000, 2000, 4000)
USUAL_B, SMALL_B, LARGE_B = 2000, 1000, 4000
NEW, LOOKAHEAD = 200, 1000
AT, B_SIZES, LOOKAHEADS = 20_000, (600, 800, 1200, 2000, 4000), (100, 10_000)


class Study(NamedTuple):
    """The recipes of a study, and whether its examples stand in for faces that are not at hand."""

    growth: tuple[Recipe, ...]
    sets: tuple[Recipe, ...]
    dimensions: tuple[Recipe, ...]
    stand_in: bool

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """All of them, each once."""
        return tuple({recipe.digest(): recipe for recipe in (*self.growth, *self.sets, *self.dimensions)}.values())

    @property
    def group(self) -> Group:
        """What its runs are started for."""
        name, title = ("osuna-stand-in", "Stand-in for Osuna's study") if self.stand_in else ("osuna", "Osuna's study")
        return Group(name, title)


_FACES = Recipe(
    dataset="face-windows",
    preprocess=("brightness-plane", "oval-mask", "equalise", "unit-norm"),
    kernel=Poly(2, 1.0, 1.0),
    C=200.0,
    n_test=1000,
    solver="decomposition",
)
_DIGITS = Recipe(dataset="mnist-5k", classes=(8,), kernel=Poly(9, 1.0, 1.0), C=2.0, n_test=1000, solver="decomposition")


def _point(base: Recipe, name: str, n: int, size: int, lookahead: int, words: str) -> Recipe:
    title = f"{words}: {n:,} examples, working set of {size:,}, lookahead of {lookahead:,}"
    return base.replace(name=name, title=title, n_train=n, working_set=size, new_points=NEW, lookahead=lookahead)


def _growing(base: Recipe, prefix: str, words: str, sizes, sets) -> tuple[Recipe, ...]:
    return tuple(
        _point(base, NAME if (n, B) == (SIZES[-1], USUAL_B) else f"{prefix}-n{n}-b{B}", n, B, LOOKAHEAD, words)
        for B in sets
        for n in sizes
    )


def _sets(base: Recipe, prefix: str, words: str, n: int, sets, lookaheads) -> tuple[Recipe, ...]:
    return tuple(
        _point(base, f"{prefix}-b{B}-look{lookahead}", n, B, lookahead, words) for lookahead in lookaheads for B in sets
    )


GROWTH = _growing(_FACES, "osuna", "Osuna's study", SIZES, (USUAL_B, SMALL_B, LARGE_B))
SETS = _sets(_FACES, "osuna", "Osuna's study", AT, B_SIZES, LOOKAHEADS)
DIMENSIONS = tuple(
    _DIGITS.replace(
        name=f"osuna-d{(28 - 2 * cut) ** 2}",
        title=f"Osuna's study: digits of {(28 - 2 * cut) ** 2} pixels",
        preprocess=(*((f"crop:{cut}",) if cut else ()), "unit-norm"),
        n_train=4000,
        working_set=1000,
        new_points=NEW,
        lookahead=LOOKAHEAD,
    )
    for cut in (0, 4, 7, 9)
)
_RIPLEY = Recipe(dataset="toy-ripley", kernel=Linear(), n_train=250, n_test=300, preprocess=(), solver="smo")
_SONAR = Recipe(dataset="sonar", kernel=Poly(3, 1.0, 1.0), n_train=206, n_test=2, preprocess=(), solver="smo")
FEW = 250  # examples up to which all general optimisers are tried
GENERAL = {  # problems of a few hundred examples
    **{
        f"osuna-ripley-c{C}": _RIPLEY.replace(C=float(C), title=f"Points made like Ripley's, linear machine, C = {C:,}")
        for C in (1, 100, 10_000)
    },
    **{
        f"osuna-sonar-c{C}": _SONAR.replace(C=float(C), title=f"Sonar, machine of degree 3, C = {C:,}")
        for C in (1, 100, 10_000)
    },
    **{
        f"osuna-digit-n{n}": _DIGITS.replace(n_train=n, solver="smo", title=f"Digit 8 against the rest, {n} examples")
        for n in (200, 400, 800)
    },
}
ENTER = {  # section 3.3: end of a name -> words, settings
    "worst": ("the worst of all violators enter", {}),
    "found": ("the first violators found enter", {"choice": "first-found"}),
    "worst-look": ("the worst violators of 1,000 checked examples enter", {"lookahead": LOOKAHEAD}),
    "found-look": (
        "the first violators of 1,000 checked examples enter",
        {"lookahead": LOOKAHEAD, "choice": "first-found"},
    ),
    "list": (
        "the first violators of 1,000 checked examples enter, former members are checked first",
        {"lookahead": LOOKAHEAD, "choice": "first-found", "keep_exited": True},
    ),
}
_NOISY = _FACES.replace(n_train=AT, C=1.0, noise=0.1)
ENTERED = {  # name -> words, recipe
    f"{name}-{end}": (f"{words}: {how}", base.replace(working_set=size, new_points=100, **own))
    for name, words, base, size in (  # |B| is hardly more than there are SVs
        ("osuna-in-digit", "Digit 8, 4,000 digits", _DIGITS.replace(n_train=4000), 900),
        ("osuna-in-faces", "Faces, 20,000 windows", _FACES.replace(n_train=AT), 600),
    )
    for end, (how, own) in ENTER.items()
}
BEYOND = {  # as ENTERED; more SVs than a set holds
    f"osuna-beyond-{end}": (f"Faces, 20,000 windows, 10 % of the labels swapped: {how}", _NOISY.replace(**own))
    for end, how, own in (
        ("set", "one working set of 2,000", {"working_set": 2000, "new_points": NEW}),
        ("80mb", "working sets of automatic size, at most 80 MB", {"cache_mb": 80.0}),
    )
}
STAND_IN_GROWTH = _growing(_DIGITS, "osuna-stand-in", "Stand-in for Osuna's study", STAND_IN_SIZES, (1000, 700, 1500))
STAND_IN_SETS = _sets(_DIGITS, "osuna-stand-in", "Stand-in for Osuna's study", 4000, (600, 800, 1000, 1500), (50, 4000))
RECIPES = (
    *(*GROWTH, *SETS, *STAND_IN_GROWTH, *STAND_IN_SETS, *DIMENSIONS),
    *(recipe.replace(name=name) for name, recipe in GENERAL.items()),
    *(recipe.replace(name=name, title=words) for name, (words, recipe) in (ENTERED | BEYOND).items()),
    _SONAR.replace(name="osuna-sonar-linear", title="Sonar, linear machine, C = 1,000,000", kernel=Linear(), C=1e6),
    *(
        recipe.replace(name=f"{name}-{end}", title=f"{recipe.title}, {words}", **more)
        for name, recipe in GENERAL.items()
        for end, words, more in (
            ("decomposition", "working set of 100", {"solver": "decomposition", "working_set": 100}),
            ("smo-digestion", "pairs only", {"solver": "smo-digestion"}),
            *(
                (way.lower(), way, {"solver": "general", "way": way})
                for way in WAYS
                if way not in SLOW or recipe.n_train <= FEW
            ),
        )
    ),
)


STAND_IN = Study(STAND_IN_GROWTH, STAND_IN_SETS, DIMENSIONS, True)


def study() -> Study:
    """The study on faces where their files are at hand, else on the stand-in."""
    faces = catalogue.entry("face-windows").at_hand
    return Study(GROWTH, SETS, DIMENSIONS, False) if faces else STAND_IN


def tables() -> tuple[Table, ...]:
    """What enters the working set; the tables of solvers are in tables.toml."""
    # Of a set of a given size
    own = {"rounds": "Rounds", "priced": "Examples checked, thousands", "again": "Re-entries"}
    figures = own | {"computed": "Million kernel evaluations", "svs": "SVs", "gap": "Gap", "train_s": "Training, s"}
    rows = [
        Row(words, tuple(Cell(name, f) if name in ENTERED or f not in own else None for f in figures))
        for name, (words, _) in (ENTERED | BEYOND).items()
    ]
    title = "Osuna, section 3.3: what enters the working set"
    note = (
        "In each round, at most 100 examples enter the working set. They are chosen from the examples that were "
        "checked for a violation. The working set has 900 examples for the digit and 600 for the faces. In the last "
        "row, the lab chooses the size of the working set, which may be smaller than the number of support vectors."
    )
    return (Table("osuna-enter", title, tuple(figures.values()), tuple(rows), note=note),)
