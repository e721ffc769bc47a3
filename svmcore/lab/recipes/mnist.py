"""MNIST, all 60000 digits: ten machines, unit norm, K = (u.v + 1)^9 / 512, C = 2 (DeCoste and Schölkopf, 2002).

Virtual SVs are made from each machine's own support vectors. Degree 5: section 5.1 and note 7, whose shifts go in the
four principal directions; their C is not given, and that of USPS, 10, is taken. The jittering kernel on ten digits is
far from positive definite, so its positive part is a recipe too (methods/definite.py). How C was compared, and both
kernels: tests/bench/NOTES.md. The linear machines, invariant to shifts sideways, are those of Schölkopf, Simard, Smola
and Vapnik, NIPS 10 (1998), on digits of 28 x 28 for 20 x 20 pixels. qmnist-*: all 60,000 test digits, of which there
are 10,000 in MNIST.
"""

from svmcore.kernels import RBF, Linear, Poly
from svmcore.lab.recipe.recipe import Recipe

DEGREE_9, DEGREE_5 = Poly(9, 1.0, 1.0), Poly(5, 1.0, 1.0)

_SV = Recipe(dataset="mnist", split="given", kernel=DEGREE_9, C=2.0)
_VSV = _SV.replace(method="vsv", jitters="box:1")
_5 = {"kernel": DEGREE_5, "C": 10.0}
_5000 = {**_5, "n_train": 5000}
_LINEAR = _SV.replace(n_train=5000, kernel=Linear(), C=10.0)

RECIPES = (
    _SV.replace(name="mnist-sv", title="MNIST: ten machines of degree 9"),
    _VSV.replace(name="mnist-vsv", title="MNIST: virtual SVs, 3x3 shifts"),
    *(
        recipe.replace(
            name=f"mnist-{way}-{name}", title=f"MNIST, deslanted{how}: {words}", preprocess=(step, "unit-norm")
        )
        for way, how, step in (("deslant", "", "deslant"), ("pixels", " by whole pixels", "deslant-pixels"))
        for name, words, recipe in (
            ("sv", "ten machines of degree 9", _SV),
            ("vsv", "virtual SVs, 3x3 shifts", _VSV),
            ("vsv2", "virtual SVs, 3x3 and 2-pixel shifts", _VSV.replace(jitters="vsv2")),
        )
    ),
    _SV.replace(name="mnist-rbf", title="MNIST: ten Gaussian machines", kernel=RBF(2.0)),
    _SV.replace(name="mnist-8-vs-rest", title="MNIST: 8 against the rest", classes=(8,)),
    _SV.replace(name="mnist-8-c10", title="MNIST: 8 against the rest, C = 10", classes=(8,), C=10.0),
    _SV.replace(name="mnist-sv-degree5", title="MNIST: ten machines of degree 5", **_5),
    _VSV.replace(name="mnist-vsv-degree5", title="MNIST, degree 5: virtual SVs", jitters="plus:1", **_5),
    _VSV.replace(
        name="mnist-vsv-degree5-9",
        title="MNIST, degree 5, then virtual SVs of degree 9",
        jitters="plus:1",
        options={"second_kernel": DEGREE_9.to_dict(), "second_C": 2.0},
        **_5,
    ),
    _SV.replace(name="mnist-5000-sv", title="MNIST, the first 5000: degree 5", **_5000),
    _VSV.replace(name="mnist-5000-vsv", title="MNIST, the first 5000: virtual SVs", jitters="plus:1", **_5000),
    _VSV.replace(
        name="mnist-5000-virtual-all",
        title="MNIST, the first 5000: all examples shifted",
        jitters="plus:1",
        scope="all",
        **_5000,
    ),
    *(
        _SV.replace(name=f"{name}-jsv{end}", title=f"{title}: jittering kernel{words}", method="jsv", n_train=n, **how)
        for name, title, n, positive in (
            ("mnist-5000-degree9", "MNIST, the first 5000", 5000, 2000),
            ("mnist", "MNIST", None, 5000),
        )
        for end, words, how in (("", "", {}), ("-positive", ", its positive part", {"options": {"positive": positive}}))
    ),
    _LINEAR.replace(name="mnist-5000-linear", title="MNIST, the first 5000: ten linear machines"),
    _LINEAR.replace(
        name="mnist-5000-linear-tangent",
        title="MNIST, the first 5000: ten linear machines, tangents whitened",
        method="tangent",
        jitters="shift:0,-1;0,1",
    ),
    _SV.replace(name="mnist-5000-degree9-sv", title="MNIST, the first 5000: degree 9", n_train=5000),
    _VSV.replace(name="mnist-5000-degree9-vsv", title="MNIST, the first 5000: virtual SVs, 3x3 shifts", n_train=5000),
)
RECIPES += tuple(
    recipe.replace(name=recipe.name.replace("mnist", "qmnist", 1), title=f"Q{recipe.title}", dataset="qmnist")
    for recipe in RECIPES
    if recipe.name in ("mnist-sv-degree5", "mnist-vsv-degree5", "mnist-deslant-vsv2")
)
