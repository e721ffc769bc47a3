"""editing: a rule throws training examples away, then a machine is trained on the rest."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from svmcore.allowed import count, several
from svmcore.lab.costs import Sizes, Stage
from svmcore.lab.fields import Field, RecipeError, choice, numerals, of_each
from svmcore.lab.method import Method
from svmcore.lab.methods.cross_training import EDITED, discarded
from svmcore.lab.methods.sv import SEARCHED
from svmcore.lab.searching import GRID, said, search, trainings
from svmcore.lab.solvers import svc
from svmcore.methods.editing import RULES, EditingSVC
from svmcore.methods.editing.roles import TITLES, counts
from svmcore.methods.editing.rule import Rule

OFFERED = {name: rule for name, rule in RULES.items() if name != "cross-training"}  # that is a method
RULE = Field(
    "rule", choice(OFFERED, lambda rule: rule.title), "multiedit", "Rule",
    "Rule that discards examples (Bakir, Bottou and Weston 2004, sections 2.3 and 2.4).",
)  # fmt: skip


class Editing(Method):
    """Editing; its result says how many examples have each role (`roles`, in the order of TITLES)."""

    name = "editing"
    title = "Editing"
    short = "Edited"
    help = "A rule discards training examples; a machine is trained on the rest."
    source = "Devijver and Kittler, Pattern Recognition: A Statistical Approach (1982), chapter 3"
    tasks = ("classify",)
    unlike = "without an example, its rule would discard others"
    looks = False
    variants: ClassVar = {}  # it uses no invariance
    files = (EDITED,)
    result_fields: ClassVar = {"roles": several(count, len(TITLES), len(TITLES)), **SEARCHED}

    @property
    def fields(self) -> tuple[Field, ...]:
        return RULE, *of_each("rule", OFFERED, numerals), replace(GRID, shown=False)

    def need_classes(self, recipe, n_classes: int) -> None:
        if n_classes > 2 and OFFERED[recipe.option("rule")].two_classes:
            raise RecipeError("rule", recipe.option("rule"), "another rule, because this one is for two classes")

    def brief(self, recipe) -> str:
        return recipe.option("rule")

    def summary(self, recipe) -> str:
        return OFFERED[recipe.option("rule")].title

    def train(self, recipe, problem, monitor):
        machine = svc(recipe, problem)
        if chosen := search(recipe, problem, machine, "C", monitor):
            machine.set_params(C=chosen.value)
        estimator = EditingSVC(machine, rule=self._rule(recipe), random_state=recipe.seed)
        estimator.chosen_ = chosen
        return estimator.fit(problem.X_train, problem.y_train, monitor=monitor)

    def _rule(self, recipe) -> Rule:
        rule = OFFERED[recipe.option("rule")]
        return rule(**{field.name: recipe.option(field.name) for field in numerals(rule)})

    def figures(self, estimator) -> dict:
        return {"roles": list(counts(estimator.role_).values())} | said(estimator)

    def arrays(self, estimator) -> dict[str, dict[str, np.ndarray]]:
        return {"edited": {"role": estimator.role_, "mean": np.zeros(0), "variance": np.zeros(0)}}

    def words(self, result: dict) -> str:
        return discarded(result)

    def stages(self, recipe, size: Sizes) -> list[Stage]:
        first = (Stage(n, size.machines, times) for n, times in self._rule(recipe).machines(size.n_train))
        return [*trainings(recipe, size), *first, Stage(size.n_train, size.machines)]
