"""3 against 8, the first 200 of each, tested on all 1984 of the test set: Table 10 of DeCoste and Schölkopf (2002).

3v8-*: 3x3 shifts; 3v8-5x5-*: deslanted, 5x5 shifts, 3v8-5x5-pixels-*: deslanted by the paper's words; 3v8-J*: the same
with sets of growing size, for their cost; 3v8-drawn-*, 3v8-5x5-drawn-*: 400 digits drawn by the seed; 3v8-product-*:
shifts, each after a turn.

HURT: 200 digits of each of the 45 pairs, virtual SVs by jitters of every kind and strength (section 6).
"""

from itertools import combinations

from svmcore.kernels import Poly
from svmcore.lab.presets.layout import PUBLISHED, TIMES, Cell, Row, Table, table_of
from svmcore.lab.recipe import Recipe
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
    *_family("3v8-product", "3 against 8, 3x3 shifts of rotated digits", "box:1*rot:-8,8"),
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


# Tables

DRAWS = 50


def tables() -> tuple[Table, ...]:
    """In the order of the paper."""
    return (
        _table10("table10-3v8", "Table 10: 3 against 8, 400 digits, 3x3 shifts", "3v8", PUBLISHED["table10"]),
        _table10(
            "table10-3v8-5x5-deslant",
            "Table 10: 3 against 8, deslanted, 5x5 shifts",
            "3v8-5x5",
            PUBLISHED["table10_5x5"],
        ),
        _table10(
            "table10-3v8-5x5-pixels",
            "Table 10: 3 against 8, deslanted as the paper describes",
            "3v8-5x5-pixels",
            PUBLISHED["table10_5x5"],
        ),
        _draws(),
        _jsv_cost(),
        table_of(
            "jsv-products",
            "3 against 8: products of jitters",
            {"errors": "Errors", "svs": "Support vectors"} | TIMES,
            *(
                (f"{words}, {named}", f"{prefix}-{method}")
                for prefix, named in (("3v8", "9 shifts"), ("3v8-product", "27 shifts of rotated digits"))
                for method, words in (("vsv", "Virtual SVs"), ("jsv", "Jittering kernel"))
            ),
            tests=(("3v8-vsv", "3v8-product-vsv"), ("3v8-jsv", "3v8-product-jsv")),
        ),
    )


def _table10(name: str, title: str, prefix: str, known: dict) -> Table:
    figures = {"errors": "Errors of 1984", "svs": "Support vectors", "size": "Training examples"} | TIMES
    methods = {"base": "sv", "base + query jitter": "query-jitter", "vsv": "vsv", "jsv": "jsv"}
    keys = ("errors", "svs", "of", *TIMES)  # what the paper's figures are called
    lines = ((words, f"{prefix}-{method}", *map(known[words].get, keys)) for words, method in methods.items())
    tests = tuple((f"{prefix}-sv", f"{prefix}-{method}") for method in ("query-jitter", "vsv", "jsv"))
    return table_of(name, title, figures, *lines, tests=tests, note="Published times: on a Sun Ultra60 of 450 MHz.")


def _draws() -> Table:
    figures = "errors", "spread", "svs"
    methods = {"sv": "Support vectors", "vsv": "Virtual SVs", "jsv": "Jittering kernel"}
    sets = {"3v8-drawn": "3x3 shifts", "3v8-5x5-drawn": "deslanted, 5x5 shifts"}
    rows = tuple(
        Row(f"{words}, {shifts}", tuple(Cell(f"{prefix}-{method}", f, splits=DRAWS) for f in figures))
        for prefix, shifts in sets.items()
        for method, words in methods.items()
    )
    columns = ("Errors of 1984, mean", "Standard deviation over draws", "Support vectors")
    note = f"{DRAWS} draws of 400 digits from the training set, the same for each method, tested on all 1984."
    return Table("jsv-draws", "3 against 8: which method varies less over draws", columns, rows, note=note)


def _jsv_cost() -> Table:
    figures = ("errors", "size", "gram_mb", "train_s", "test_s")
    words = ("errors", "examples", "Gram matrix, MB", "training, s", "testing, s")
    columns = tuple(f"{method} {w}" for method in ("VSV", "JSV") for w in words)
    rows = tuple(
        Row(f"{J} jitters", tuple(Cell(f"3v8-j{J}-{method}", f) for method in ("vsv", "jsv") for f in figures))
        for J in JITTER_SETS
    )
    return Table("jsv-cost", "3 against 8: cost of virtual SVs and of jittering kernels", columns, rows)
