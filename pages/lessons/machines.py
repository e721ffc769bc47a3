"""The small machines that the lessons share, so that one trained for a lesson is there for the next."""

from pages.ui.studies import usual
from svmcore.kernels import RBF
from svmcore.lab.analyses.sweep import Sweep
from svmcore.lab.methods.reduced import reduction_of
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.recipe import Recipe

SHIFTS = "box:1"  # one pixel in each of eight directions
PAIR = Recipe(dataset="mnist-5k", classes=(3, 8), n_train=200, n_test=700, title="3 against 8, 200 digits")
JITTERED = PAIR.replace(method="jsv", jitters=SHIFTS, title="3 against 8, jittering kernel")

STRENGTHS = ("0.02", "1", "10")
BY_C = Sweep(PAIR.replace(title="", folds=2), "C", STRENGTHS)
DEGREES = ("1", "3", "9")
BY_DEGREE = Sweep(PAIR.replace(title="", folds=2, bounds=True), "kernel.degree", DEGREES)
TURNS = Sweep(
    Recipe(dataset="mnist-5k", classes=(6, 9), n_train=200, n_test=800, folds=2, method="vsv", jitters="none"),
    "jitters",
    ("none", "rot:-20,20", "rot:180"),
)

EIGHT = Recipe(dataset="digits-8x8", classes=(8,), n_train=500, kernel=RBF(2.0))
CLEAN = PAIR.replace(n_train=400, n_test=600, title="3 against 8, 400 digits")
SWAPPED = {"noise": 0.15}  # the share of labels that are swapped
FOUND = RECIPES["volcano-synthetic"].replace(name="custom", title="Synthetic volcanoes")
PAGED = RECIPES[PRESET].replace(  # what the page Digestion makes of its widgets
    name="custom", title="", n_train=2000, n_test=None, split="stratified", classes=(8,), solver="smo-digestion"
)


def _titled(sweep: Sweep, titles: dict[str, str]) -> dict[str, Recipe]:
    """The recipes of a sweep. titles: machine -> its title."""
    pairs = zip(titles.items(), sweep.recipes().values(), strict=True)
    return {name: recipe.replace(title=title) for (name, title), recipe in pairs}


MACHINES = {
    "plain": PAIR,
    "virtual": PAIR.replace(method="vsv", jitters=SHIFTS, title="3 against 8, virtual SVs by shifts"),
    "jittered": JITTERED,
    "plain_scrambled": usual.scrambled(PAIR, PAIR.title, 0),
    "jittered_scrambled": usual.scrambled(JITTERED, JITTERED.title, 0),
    "few": reduction_of(PAIR, n_vectors=6, sizes=3).replace(title="3 against 8, 6 constructed vectors"),
    "clothes": Recipe(
        dataset="fashion-mnist",
        classes=("Coat", "Shirt"),
        n_train=400,
        n_test=1000,
        title="Coat against shirt, 400 clothes",
    ),
    **_titled(BY_C, {f"c{value}": f"3 against 8, C = {value}" for value in STRENGTHS}),
    **_titled(BY_DEGREE, {f"d{degree}": f"3 against 8, degree {degree}" for degree in DEGREES}),
    **_titled(
        TURNS,
        {
            "upright": "6 against 9, not turned",
            "tilted": "6 against 9, turned by 20°",
            "upside": "6 against 9, turned by 180°",
        },
    ),
    "soft": EIGHT.replace(C=0.5, title="8 against the rest, C = 0.5"),  # with 0.1 it never says 8
    "hard": EIGHT.replace(C=10.0, title="8 against the rest, C = 10"),
    "hard_virtual": EIGHT.replace(
        C=10.0, method="vsv", jitters=SHIFTS, title="8 against the rest, C = 10, virtual SVs"
    ),
    "clean": CLEAN,
    "noisy": CLEAN.replace(options=SWAPPED, folds=5, title="3 against 8, labels swapped"),
    "edited": CLEAN.replace(
        method="cross-training", options=SWAPPED | {"subset_size": 100}, title="3 against 8, labels swapped, edited"
    ),
    "found": FOUND,
    "digested": PAGED.replace(digestion={"rows": 600, "on": True}, title="8 against the rest, with digestion"),
    "undigested": PAGED.replace(digestion={"rows": 600, "on": False}, title="8 against the rest, without digestion"),
}
PARENTS = {"few": "plain"}  # a machine -> the one that it is made of
