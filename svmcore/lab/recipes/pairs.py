"""3 against 8, the first 200 of each, tested on all 1984 of the test set: Table 10 of DeCoste and Schoelkopf (2002).

3v8-*: 3x3 shifts; 3v8-5x5-*: deslanted, 5x5 shifts; 3v8-J*: the same with sets of growing size, for their cost.
"""

from svmcore.kernels import Poly
from svmcore.lab.recipe.recipe import Recipe

JITTER_SETS = {1: "none", 5: "plus:1", 9: "box:1", 13: "vsv2", 25: "box:2"}  # J -> a set of as many shifts

_PAIR = Recipe(dataset="mnist", split="first-of-each", classes=(3, 8), n_train=400, kernel=Poly(9, 1.0, 1.0), C=2.0)
_TITLES = {"sv": "support vectors", "query-jitter": "query jitter", "vsv": "virtual SVs", "jsv": "jittering kernel"}


def _family(prefix: str, title: str, jitters: str, preprocess: tuple[str, ...]) -> tuple[Recipe, ...]:
    return tuple(
        _PAIR.replace(
            name=f"{prefix}-{method}",
            title=f"{title}: {words}",
            method=method,
            jitters=jitters,
            preprocess=preprocess,
        )
        for method, words in _TITLES.items()
    )


RECIPES = (
    *_family("3v8", "3 against 8, 3x3 shifts", "box:1", ("unit-norm",)),
    *_family("3v8-5x5", "3 against 8, deslanted, 5x5 shifts", "box:2", ("deslant", "unit-norm")),
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
