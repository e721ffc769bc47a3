"""Sweeps to begin with: what each asks, and the values that are usual for a field."""

from svmcore.kernels import RBF
from svmcore.lab.analyses.sweep import Sweep
from svmcore.lab.presets import PRESET, RECIPES

FOLDS = 5
USUAL = {  # field -> values
    "C": ("0.02", "0.1", "0.5", "2", "10"),
    "kernel.degree": ("1", "2", "3", "5", "7", "9"),
    "kernel.gamma": ("0.2", "0.5", "1", "2", "5"),
    "jitters": ("none", "plus:1", "box:1", "box:2"),
    "preprocess": ("unit-norm", "smooth:0.75,unit-norm", "deslant,unit-norm", "gradients:7,unit-norm"),
    "n_train": ("125", "250", "500", "1000"),
    "noise": ("0", "0.05", "0.1", "0.2"),
}
STEPS_OF_TABLES = ("zscore", "unit-norm", "zscore,unit-norm")  # of examples that are no images
_SMALL = RECIPES[PRESET].replace(n_train=1000, n_test=1000, folds=FOLDS)
_TURNED = _SMALL.replace(method="vsv", classes=(6, 9), n_train=200, n_test=800)
EXAMPLES = {  # name -> (label, what it asks, the sweep)
    "C": ("C for ten digits", "How much should one error count?", Sweep(_SMALL, "C", USUAL["C"])),
    "width": (
        "Width of a Gaussian",
        "How local should the machine be?",
        Sweep(_SMALL.replace(kernel=RBF(1.0)), "kernel.gamma", USUAL["kernel.gamma"]),
    ),
    "map": (
        "C and width together",
        "Which pairs are equally good, and where is the border of fitting too closely?",
        Sweep(
            _SMALL.replace(kernel=RBF(1.0), folds=3),
            *("C", ("0.5", "2", "8", "32"), "kernel.gamma", ("0.2", "0.5", "1", "2", "5")),
        ),
    ),
    "amount": (
        "More examples",
        "Would more examples help, or is the error near its floor?",
        Sweep(_SMALL, "n_train", USUAL["n_train"]),
    ),
    "worth": (
        "Virtual examples or real ones",
        "How many real examples are virtual ones worth?",
        Sweep(
            _SMALL.replace(method="vsv", jitters="box:1"),
            *("n_train", USUAL["n_train"], "jitters", ("none", "box:1")),
        ),
    ),
    "features": (
        "Pixels or features",
        "What does preprocessing change, and how long does it take?",
        Sweep(_SMALL.replace(kernel=RBF(1.0)), "preprocess", USUAL["preprocess"]),
    ),
    "capacity": (
        "Degree and VC bound",
        "Structural risk: with a higher degree, training errors fall and the capacity term of the VC bound grows "
        "(Osuna, Freund and Girosi 1997, sections 1 and 2.1).",
        Sweep(_SMALL.replace(n_train=400, bounds=True), "kernel.degree", USUAL["kernel.degree"]),
    ),
    "turned": (
        "A 6 rotated towards a 9",
        "The open question of the paper, section 6: does cross-validation warn when invariance is pushed too far?",
        Sweep(_TURNED, "jitters", ("none", "rot:-20,20", "rot:-60,60", "rot:-120,120", "rot:-120,-60,60,120,180")),
    ),
}
