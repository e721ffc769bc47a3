"""editing: a rule throws training examples away, then a machine is trained on the rest."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from svmcore.lab.registry.checks import count, several
from svmcore.lab.registry.costs import Sizes, Stage
from svmcore.lab.registry.edited import EDITED
from svmcore.lab.registry.fields import Field, RecipeError, choice, numeric
from svmcore.lab.registry.machine import svc
from svmcore.lab.registry.method import Method
from svmcore.lab.registry.methods.cross_training import told
from svmcore.methods.editing import RULES, EditingSVC
from svmcore.methods.editing.roles import TITLES, counts

OWN = {name: rule for name, rule in RULES.items() if name != "cross-training"}  # that has a method of its own
BINARY = ("trimmed",)  # rules for two classes alone


class Editing(Method):
    """Editing; its result says how many examples have each role (`roles`, in the order of TITLES)."""

    name = "editing"
    title = "Editing"
    short = "Edited"
    help = "A rule throws training examples away; a machine is trained on the rest."
    source = "Devijver and Kittler, Pattern Recognition: A Statistical Approach (1982), chapter 3"
    tasks = ("classify",)
    looks = False
    files = (EDITED,)
    result_fields: ClassVar = {"roles": several(count, len(TITLES), len(TITLES))}
    fields = (
        Field(
            "rule",
            choice(OWN, lambda rule: rule.title),
            "multiedit",
            "Rule",
            "Why an example is thrown away (Bakir, Bottou and Weston 2004, sections 2.3 and 2.4).",
        ),
        Field(
            "n_neighbors",
            numeric(1, 1000, whole=True),
            1,
            "Neighbours",
            "How many vote, for the edited nearest neighbour rule.",
        ),
        Field(
            "n_splits", numeric(2, 1000, whole=True), 3, "Splits", "Random parts that judge each other in MULTIEDIT."
        ),
        Field(
            "patience",
            numeric(1, 100, whole=True),
            3,
            "Patience",
            "Rounds without a discard after which MULTIEDIT ends.",
        ),
        Field(
            "below",
            numeric(-1e6, 0),
            -1.0,
            "Trimmed below",
            "An example with y f below this does not count, for the trimmed loss.",
        ),
    )

    @property
    def variants(self) -> dict[str, dict]:
        return {}  # it uses no invariance

    def need_classes(self, recipe, n_classes: int) -> None:
        if n_classes > 2 and recipe.option("rule") in BINARY:
            raise RecipeError("rule", recipe.option("rule"), "another rule, as this one is for two classes")

    def brief(self, recipe) -> str:
        return recipe.option("rule")

    def summary(self, recipe) -> str:
        return OWN[recipe.option("rule")].title

    def train(self, recipe, problem, monitor):
        settings = {field.name: recipe.option(field.name) for field in self.fields}
        estimator = EditingSVC(svc(recipe, problem), **settings, random_state=recipe.seed)
        return estimator.fit(problem.X_train, problem.y_train, monitor=monitor)

    def figures(self, estimator) -> dict:
        return {"roles": list(counts(estimator.role_).values())}

    def kept(self, estimator) -> dict[str, dict[str, np.ndarray]]:
        return {"edited": {"role": estimator.role_, "mean": np.zeros(0), "variance": np.zeros(0)}}

    def words(self, result: dict) -> str:
        return told(result)

    def stages(self, recipe, size: Sizes) -> list[Stage]:
        last = Stage(size.n_train, size.machines)
        if recipe.option("rule") == "multiedit-svm":
            splits = recipe.option("n_splits")
            return [
                Stage(max(2, size.n_train // splits), size.machines, splits * (2 + recipe.option("patience"))),
                last,
            ]
        return [Stage(size.n_train, size.machines, 3), last] if recipe.option("rule") == "trimmed" else [last]
