"""vsv-search: virtual support vectors, whose jitter set is grown by errors on folds of the training set."""

import time
from typing import ClassVar

from svmcore.allowed import Allowed, amount, an_object, count, one_of, several, size, text
from svmcore.explain.remedy import FAMILIES
from svmcore.jitter import JitterSet, seeded
from svmcore.lab.costs import Sizes, Stage, distinct
from svmcore.lab.fields import Field, Kind, RecipeError, choice, numeric
from svmcore.lab.methods.sv import FOLDS
from svmcore.lab.methods.vsv import VirtualSupportVectors
from svmcore.lab.split import possible_folds
from svmcore.methods.virtual.search import Search, Tried, search_jitters
from svmcore.solvers.progress import under_name

USUAL = " ".join(("plus:1", "box:1", *(f.texts[len(f.texts) // 2] for f in FAMILIES if f.name != "shift")))
KNOWN = dict.fromkeys(("plus:1", "box:1", *(text for family in FAMILIES for text in family.texts)))
MAX_CANDIDATES = 40
STEPS = 3  # that a search takes, about
JOINS = {"+": "As a union", "*": "As a product", "+*": "Whichever is better"}
ENDINGS = {
    "best": "The search ended because no extension of the best set makes fewer errors.",
    "budget": "The search ended because the maximum number of sets had been tried.",
    "stopped": "The search was stopped.",
}


def _candidates(name, value):
    """Jitter sets as one text with spaces between them, none twice."""
    try:
        sets = [str(JitterSet.parse(one)) for one in value.split()]
    except (AttributeError, ValueError) as error:
        raise RecipeError(name, value, f"jitter sets with spaces between them ({error})") from None
    if not 1 <= len(sets) <= MAX_CANDIDATES or len(set(sets)) < len(sets):
        raise RecipeError(name, value, f"1 to {MAX_CANDIDATES} different jitter sets with spaces between them")
    return " ".join(sets)


_FIELDS_OF_TRIED = an_object(dict(zip(Tried._fields, (count, text, size, count, size, count), strict=True)))
TRIED = Allowed(
    "the figures of one jitter set",
    lambda value: isinstance(value, list) and _FIELDS_OF_TRIED.takes(dict(zip(Tried._fields, value))),
)


class SearchedJitters(VirtualSupportVectors):
    """Virtual support vectors by a set that is searched for; its result says `search` and `search_seconds` beside."""

    name = "vsv-search"
    title = "Virtual SVs, jitters searched"
    short = "Virtual SV, searched"
    help = (
        "Starts with the set in the field Jitter set. Each step adds the set that most lowers the errors on held-out "
        "folds of the training set. The test set is used once, at the end."
    )
    source = "DeCoste and Schölkopf, Machine Learning 46 (2002), section 6 (which invariances to choose)"
    tasks = ("classify",)
    looks = takes_groups = False
    variants: ClassVar = {}  # what it finds stands beside other methods as virtual SVs with that set
    fields = (
        Field("candidates", Kind(_candidates, str, str, "words", KNOWN), USUAL),
        Field("joins", choice(JOINS, str), "+"),
        Field(
            "budget",
            numeric(1, 1000, whole=True),
            24,
            help=f"Each set needs up to {FOLDS} trainings, and fewer if it soon makes more errors than the best set.",
        ),
        *VirtualSupportVectors.fields,
    )
    result_fields: ClassVar = VirtualSupportVectors.result_fields | {
        "search": an_object({"tried": several(TRIED), "n": size, "ending": one_of(ENDINGS)}),
        "search_seconds": amount,
    }
    line_fields: ClassVar = {"tried": several(TRIED, 0), "n": size}

    def jitters(self, recipe) -> str:
        return recipe.jitters or "none"

    def learned(self, recipe, result: dict):
        path = Search.of(result["search"]).path
        searched = SearchedJitters.fields[: -len(VirtualSupportVectors.fields)]
        own = {name: value for name, value in recipe.options.items() if name not in {field.name for field in searched}}
        found = path[-1].jitters if path else self.jitters(recipe)
        return recipe.replace(name="custom", title="", method=VirtualSupportVectors.name, jitters=found, options=own)

    def train(self, recipe, problem, monitor):
        started = time.perf_counter()
        search = search_jitters(
            self.machine(recipe, problem),
            problem.images,
            problem.y_train,
            [seeded(one, recipe.seed) for one in recipe.option("candidates").split()],
            joins=recipe.option("joins"),
            budget=recipe.option("budget"),
            folds=possible_folds(recipe, problem, FOLDS),
            groups=problem.groups,
            random_state=recipe.seed,
            monitor=monitor,
        )
        seconds = time.perf_counter() - started
        found = {"search": search.facts() | {"ending": search.ending}, "search_seconds": seconds}
        watch = under_name("the chosen set", monitor, search.facts())
        estimator = super().train(self.learned(recipe, found), problem, watch)
        estimator.found_ = found
        return estimator

    def figures(self, estimator) -> dict:
        return super().figures(estimator) | estimator.found_

    def points(self, line: dict) -> int:
        return len(line.get("tried", ()))

    def words(self, result: dict) -> str:
        search = Search.of(result.get("search", {}))
        if not search.path:
            return ""
        first, last = search.path[0], search.path[-1]
        return (
            f"chosen by search: {last.jitters}, with {last.errors:,} errors on {search.n:,} validation examples "
            f"(the first set, {first.jitters}, had {first.errors:,}); {len(search.tried)} sets tried."
        )

    def stages(self, recipe, size: Sizes) -> list[Stage]:
        names = recipe.option("candidates").split()
        tried = min(recipe.option("budget"), 1 + STEPS * len(names))
        largest = sorted(names, key=lambda name: len(JitterSet.parse(name)))[-STEPS:]
        grown = recipe.replace(jitters="+".join([recipe.jitters.partition("@")[0], *largest]))
        part = size._replace(n_train=round(size.n_train * (1 - 1 / FOLDS)))
        each = super().stages(recipe.replace(jitters=largest[-1]), part)
        once = 0 if recipe.option("scope").startswith("all") else 1  # the first stage, which all sets share
        return [*FOLDS * each[:once], *tried * FOLDS * each[once:], *super().stages(grown, size)]

    def held_rows(self, recipe, size: Sizes) -> float:
        """The images before normalisation, and the first machines of the folds."""
        return size.n_train + FOLDS * distinct(size, Stage(size.n_train, size.machines))
