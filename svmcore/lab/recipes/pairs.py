"""3 against 8, the first 200 of each, tested on all 1984 of the test set: Table 10 of DeCoste and Schölkopf (2002).

3v8-*: 3x3 shifts; 3v8-5x5-*: deslanted, 5x5 shifts, 3v8-5x5-pixels-*: deslanted by the paper's words; 3v8-J*: the same
with sets of growing size, for their cost; 3v8-drawn-*, 3v8-5x5-drawn-*: 400 digits drawn by the seed; 3v8-product-*:
shifts, each after a turn.

HURT: 200 digits of each of the 45 pairs, virtual SVs by jitters of every kind and strength (section 6).
"""

from itertools import combinations

from svmcore.kernels import Poly
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.store.reading import Group

JITTER_SETS = {1: "none", 5: "plus:1", 9: "box:1", 13: "vsv2", 25: "box:2"}  # J -> a set of as many shifts

_PAIR = Recipe(dataset="mnist", split="first-of-each", classes=(3, 8), n_train=400, kernel=Poly(9, 1.0, 1.0), C=2.0)
_TITLES = {"sv": "support vectors", "query-jitter": "query jitter", "vsv": "virtual SVs", "jsv": "jittering kernel"}


def _family(prefix: str, title: str, jitters: str, **how) -> tuple[Recipe, ...]:
    return tuple(
        _PAIR.replace(name=f"{prefix}-{method}", title=f"{title}: {words}", method=method, jitters=jitters, **how)
        for method, words in _TITLES.items()
    )


_UPRIGHT, _IN_PIXELS = {"preprocess": ("deslant", "unit-norm")}, {"preprocess": ("deslant-pixels", "unit-norm")}
_DRAWN = {"split": "stratified"}
RECIPES = (
    *_family("3v8", "3 against 8, 3x3 shifts", "box:1"),
    *_family("3v8-5x5", "3 against 8, deslanted, 5x5 shifts", "box:2", **_UPRIGHT),
    *_family("3v8-5x5-pixels", "3 against 8, deslanted by whole pixels, 5x5 shifts", "box:2", **_IN_PIXELS),
    *_family("3v8-drawn", "3 against 8, drawn, 3x3 shifts", "box:1", **_DRAWN),
    *_family("3v8-5x5-drawn", "3 against 8, drawn, deslanted, 5x5 shifts", "box:2", **_UPRIGHT, **_DRAWN),
    *_family("3v8-product", "3 against 8, 3x3 shifts of turns", "box:1*rot:-8,8"),
    _PAIR.replace(name="3v8-tangent", title="3 against 8: tangents whitened in pixels", method="tangent"),
    _PAIR.replace(
        name="3v8-tangent-feature",
        title="3 against 8: tangents whitened in feature space",
        method="tangent",
        options={"space": "feature"},
    ),
    *(
        _PAIR.replace(name=f"3v8-j{J}-{method}", title=f"3 against 8, {J} shifts: {words}", method=method, jitters=text)
        for J, text in JITTER_SETS.items()
        for method, words in _TITLES.items()
        if method in ("vsv", "jsv")
    ),
)

# ---------------------------------------------------------------------------------------- when does invariance hurt?

HURTS = (
    "none", "box:1", "box:2", "box:4", "rot:-10,10", "rot:-30,30", "rot:-90,90", "scale:0.9,1.1", "scale:0.7,1.4",
    "shear:-0.6,0.6", "thick:0.5", "flip:h", "box:1*rot:-10,10", "box:1*thick:0.5", "rot:-10,10*scale:0.9,1.1",
)  # fmt: skip
_HURT = Recipe(dataset="mnist-5k", n_train=200, n_test=800, folds=5, method="vsv")
HURT: dict[tuple[int, int], dict[str, Recipe]] = {
    pair: {
        text: _HURT.replace(classes=pair, jitters=text, title=f"{pair[0]} against {pair[1]}, 200 digits: {text}")
        for text in HURTS
    }
    for pair in combinations(range(10), 2)
}
HURT_GROUP = Group("hurt", "When does invariance hurt? 45 pairs of digits")
