"""The small machines that the lessons share, so that one trained for a lesson is there for the next."""

from pages.ui.studies import usual
from svmcore.kernels import RBF
from svmcore.lab.analyses.sweep import Sweep
from svmcore.lab.methods.reduced import reduction_of
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.recipe import Recipe

SHIFTS = "box:1"  # one pixel in each of eight directions
PAIR = Recipe(dataset="mnist-5k", classes=(3, 8), n_train=200, n_test=700, title="3 against 8, 200 digits")
VIRTUAL = PAIR.replace(method="vsv", jitters=SHIFTS, title="3 against 8, virtual SVs by shifts")
JITTERED = PAIR.replace(method="jsv", jitters=SHIFTS, title="3 against 8, jittering kernel")

PAIR_SCRAMBLED, JITTERED_SCRAMBLED = (usual.scrambled(one, one.title, 0) for one in (PAIR, JITTERED))

CLOTHES = Recipe(
    dataset="fashion-mnist",
    classes=("Coat", "Shirt"),
    n_train=400,
    n_test=1000,
    title="Coat against shirt, 400 clothes",
)

STRENGTHS = ("0.02", "1", "10")
BY_C = Sweep(PAIR.replace(title="", folds=2), "C", STRENGTHS)

DEGREES = ("1", "3", "9")
BY_DEGREE = Sweep(PAIR.replace(title="", folds=2, bounds=True), "kernel.degree", DEGREES)

TURNS = Sweep(
    Recipe(dataset="mnist-5k", classes=(6, 9), n_train=200, n_test=800, folds=2, method="vsv", jitters="none"),
    "jitters",
    ("none", "rot:-20,20", "rot:180"),
)
UPRIGHT, TILTED, UPSIDE_DOWN = (
    recipe.replace(title=f"6 against 9, {title}")
    for recipe, title in zip(TURNS.recipes().values(), ("as they are", "turned by 20°", "turned by 180°"), strict=True)
)

EIGHT = Recipe(dataset="digits-8x8", classes=(8,), n_train=500, kernel=RBF(2.0))
SOFT = EIGHT.replace(C=0.5, title="8 against the rest, C = 0.5")  # with 0.1 it never says 8
HARD = EIGHT.replace(C=10.0, title="8 against the rest, C = 10")
HARD_VIRTUAL = HARD.replace(method="vsv", jitters=SHIFTS, title="8 against the rest, C = 10, virtual SVs")

FEW = 6  # vectors, instead of all support vectors
REDUCED = reduction_of(PAIR, n_vectors=FEW, sizes=3).replace(title=f"3 against 8, {FEW} constructed vectors")

SWAPPED = 0.15  # of the labels
CLEAN = PAIR.replace(n_train=400, n_test=600, title="3 against 8, 400 digits")
NOISY = CLEAN.replace(options={"noise": SWAPPED}, folds=5, title="3 against 8, labels swapped")
EDITED = CLEAN.replace(
    method="cross-training", options={"noise": SWAPPED, "subset_size": 100}, title="3 against 8, labels swapped, edited"
)

FOUND = RECIPES["volcano-synthetic"].replace(name="custom", title="Synthetic volcanoes")

ROWS = 600  # of the cache that the two solvers share
PAGED = RECIPES[PRESET].replace(  # what the page Digestion makes of its widgets
    name="custom", title="", n_train=2000, n_test=None, split="stratified", classes=(8,), solver="smo-digestion"
)
DIGESTED = PAGED.replace(digestion={"rows": ROWS, "on": True}, title="8 against the rest, digestion")
UNDIGESTED = PAGED.replace(digestion={"rows": ROWS, "on": False}, title="8 against the rest, no digestion")
