"""Beyond the paper: MNIST deslanted, virtual SVs by 17 jitters: 13 shifts, two turns, thicker and thinner lines; and
digits deformed at random, far more than memory holds, of which those are kept that tell something.

`mnist-best` is reproduced, not found blindly: this set of jitters, and the test errors of sets much like it, were known
from earlier experiments before a search on a validation part of the training set (tests/bench/NOTES.md) singled it out
again. Its error on the test set is therefore no estimate free of selection.

`*-gradients` are machines on histograms of gradient directions (Liu, Nakashima, Sako and Fujisawa, 2003). Their
settings were compared on training examples alone: tests/bench/NOTES.md. Fashion-MNIST (Xiao, Rasul and Vollgraf, 2017)
comes without its published split: 60,000 train and 10,000 test by seed 0. A mirrored article is an article.

`*-blind` are what tests/bench/blind.py chose by folds of the training set alone, before the test set was asked, once.
"""

from svmcore.kernels import RBF, Poly
from svmcore.lab.presets.layout import TIMES, Table, table_of
from svmcore.lab.recipe import Recipe

_BEST = Recipe(
    dataset="mnist", split="given", preprocess=("deslant", "unit-norm"), kernel=Poly(9, 1.0, 1.0), C=2.0, method="vsv"
)
_GRADIENTS = _BEST.replace(preprocess=("deslant", "gradients:9", "unit-norm"), kernel=RBF(2.0), C=10.0, method="sv")
_USPS = _GRADIENTS.replace(dataset="usps", preprocess=("gradients:7,margin=4", "unit-norm"))
_FASHION = Recipe(dataset="fashion-mnist", n_train=60_000, n_test=10_000, kernel=RBF(2.0), C=5.0)
_CLOTHES = _FASHION.replace(preprocess=("gradients:9,block=2", "unit-norm"), kernel=RBF(4.0))
_BLIND = _BEST.replace(scope="union", seed=20)
_USPS_BLIND = _BLIND.replace(dataset="usps", preprocess=("smooth:0.75", "unit-norm"), kernel=Poly(5, 1.0, 1.0), C=5.0)
_ENDLESS = _BEST.replace(preprocess=("unit-norm",), jitters="random:1000", scope="union", cache_mb=3500)

RECIPES = (
    _BEST.replace(
        name="mnist-best",
        title="MNIST: deslanted, virtual SVs by shifts, rotations and line thickness",
        jitters="vsv2+rot:-8,8+thick:0.5",
        cache_mb=2120,  # 161 blocks by relative shift would take 5 GB a machine
    ),
    _GRADIENTS.replace(name="mnist-gradients", title="MNIST, deslanted: histograms of gradient directions"),
    _GRADIENTS.replace(
        name="mnist-gradients-vsv",
        title="MNIST, deslanted: gradients of virtual SVs, 3x3 shifts",
        method="vsv",
        jitters="box:1",
    ),
    _GRADIENTS.replace(
        name="mnist-gradients-blind",
        title="MNIST, deslanted: gradients chosen blind, 24 deformations of each SV",
        kernel=RBF(1.0),
        method="vsv",
        jitters="random:24,shift=1,rot=8,shear=0.14,scale=0.06,elastic=1.4,smooth=4",
        scope="union",
        seed=20,
        cache_mb=6000,
    ),
    _USPS.replace(name="usps-gradients", title="USPS: histograms of gradient directions"),
    _USPS.replace(
        name="usps-gradients-vsv", title="USPS: gradients of virtual SVs, 3x3 shifts", method="vsv", jitters="box:1"
    ),
    _FASHION.replace(name="fashion-sv", title="Fashion-MNIST: ten Gaussian machines"),
    _FASHION.replace(name="fashion-vsv", title="Fashion-MNIST: virtual SVs, shifts", method="vsv", jitters="plus:1"),
    _CLOTHES.replace(name="fashion-5k", title="Fashion-MNIST, 5000 clothes: gradients", n_train=4000, n_test=1000),
    _CLOTHES.replace(
        name="fashion-mnist-gradients-blind",
        title="Fashion-MNIST: gradients chosen blind",
        kernel=RBF(3.0),
        C=10.0,
    ),
    _CLOTHES.replace(name="fashion-gradients", title="Fashion-MNIST: histograms of gradient directions"),
    _CLOTHES.replace(
        name="fashion-gradients-vsv",
        title="Fashion-MNIST: gradients of virtual SVs, mirror images",
        method="vsv",
        jitters="flip:h",
    ),
    _USPS.replace(
        name="usps-gradients-blind",
        title="USPS: gradients chosen blind, virtual SVs by shifts",
        method="vsv",
        jitters="plus:1",
        scope="union",
        seed=20,
    ),
    _USPS_BLIND.replace(name="usps-blind-sv", title="USPS: settings chosen blind, no virtual SVs", method="sv"),
    _USPS_BLIND.replace(
        name="usps-blind",
        title="USPS: settings chosen blind, shifts of rotations, and slants",
        jitters="(vsv2)*(rot:-12,12)+shear:-0.2,0.2",
        cache_mb=1000,
    ),
    _BLIND.replace(
        name="mnist-blind",
        title="MNIST: settings chosen blind, shifts of scales, and rotations",
        kernel=Poly(7, 1.0, 1.0),
        jitters="(vsv2)*(scale:0.88,1.12)+rot:-12,12",
        cache_mb=16000,  # 438,000 digits, and working sets for two machines at a time
    ),
    *(
        _ENDLESS.replace(
            name=f"{dataset}-endless",
            title=f"{title}: {draws:,} digits deformed at random",
            dataset=dataset,
            draws=draws,
            copies=copies,
            **drawn,
        )
        for dataset, title, draws, copies, drawn in (
            ("mnist-5k", "MNIST, 5000 digits", 30_000, 1.0, {"split": "stratified", "n_train": 4000, "n_test": 1000}),
            ("mnist", "MNIST", 3_000_000, 0.05, {}),
        )
    ),
)


FEATURES = {  # each dataset: its recipes of pixels, with virtual SVs, and both of gradients
    "MNIST, deslanted": ("mnist-deslant-sv", "mnist-deslant-vsv", "mnist-gradients", "mnist-gradients-vsv"),
    "USPS": ("usps-blind-sv", "usps-blind", "usps-gradients", "usps-gradients-vsv"),
    "Fashion-MNIST": ("fashion-sv", "fashion-vsv", "fashion-gradients", "fashion-gradients-vsv"),
}
KINDS = "pixels", "pixels, virtual SVs", "gradients", "gradients, virtual SVs"


def tables() -> tuple[Table, ...]:
    """What came after the papers."""
    rows = [
        (f"{data}: {kind}", name) for data, names in FEATURES.items() for kind, name in zip(KINDS, names, strict=True)
    ]
    figures = {"error_pct": "Errors, %", "vectors": "Distinct support vectors"} | TIMES
    note = (
        "No setting was chosen by test errors: those of MNIST's pixels are the paper's, all others were compared on "
        "training examples. Virtual SVs are shifted by a pixel; those of USPS's pixels are also rotated and slanted, "
        "and those of Fashion-MNIST's gradients are mirrored. Fashion-MNIST is split by seed, because its npm package "
        "does not record the published split. The training time does not include the making of features."
    )
    return (
        table_of("features", "Pixels and gradient features: MNIST, USPS and Fashion-MNIST", figures, *rows, note=note),
    )
