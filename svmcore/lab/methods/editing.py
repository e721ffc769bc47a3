"""cross-training: machines on small subsets say which training examples a last machine can do without. editing: a rule
says so."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np

from svmcore.allowed import amount, count, several
from svmcore.lab.costs import EASY as CLEAN
from svmcore.lab.costs import Sizes, Stage, distinct, effort
from svmcore.lab.fields import FLAG, NUMBERS, Field, RecipeError, choice, numerals, numeric, of_each
from svmcore.lab.method import Method, MethodFile
from svmcore.lab.methods.sv import GRID, SEARCHED, search, search_result, trainings, values_of
from svmcore.lab.solvers import nu_svc, svc
from svmcore.methods.editing import RULES, CrossTrainingSVC, EditingSVC, bagged
from svmcore.methods.editing.roles import EASY, KEPT, REINSERTED, TITLES, WRONG_SIDE, counts
from svmcore.methods.editing.rule import Rule
from svmcore.methods.editing.subsets import THIRD

ANSWERS = {"final": "The final machine", "bagged": "The average of the first machines"}
SHARE_LEFT = 0.25  # share of the training examples that the final machine trains on, about


class Edited(NamedTuple):
    """What an edited run keeps of each training example, in the order of the run's split: whether it was left out, why,
    and by what margin. Training saw labels with the recipe's noise (`registry.split.flipped`).

    Bakir, Bottou and Weston (2004), Algorithm 3.
    """

    index: np.ndarray  # (n,) int64, positions in the dataset's X_train
    role: np.ndarray  # (n,) int8, codes of svmcore.methods.editing.roles
    mean: np.ndarray  # (n,) float64, of y f over the first-stage machines; (0,) for a rule that has none
    variance: np.ndarray  # (n,) float64, likewise

    @classmethod
    def read(cls, index: np.ndarray, arrays: Mapping[str, np.ndarray]) -> "Edited":
        """From the arrays of its file. ValueError for what cannot be."""
        role, mean, variance = (arrays[name] for name in EDITED.arrays)
        n = len(index)
        if len(role) != n or (len(mean), len(variance)) not in ((n, n), (0, 0)):
            sizes = f"{len(role)}, {len(mean)} and {len(variance)}"
            raise ValueError(f"its arrays have {sizes} entries, the run has {n} training examples")
        if n and not 0 <= role.min() <= role.max() < len(TITLES):
            raise ValueError(f"its roles range from {role.min()} to {role.max()}; allowed: 0 to {len(TITLES) - 1}")
        if variance.min(initial=0) < 0:
            raise ValueError("it has a negative variance")
        return cls(index, role, mean, variance)


EDITED = MethodFile("edited", {"role": ("iu", 1), "mean": ("f", 1), "variance": ("f", 1)}, Edited.read)


class CrossTraining(Method):
    """Cross-training; its result says how many examples have each role (`roles`, in the order of TITLES), which C's
    were taken (`chosen`: first stage, final), and the seconds that went into others (`search_seconds`)."""

    name = "cross-training"
    title = "Cross-training"
    short = "Cross-trained"
    help = "Machines trained on small subsets decide which training examples the final machine does not need."
    source = "Bakir, Bottou and Weston, NIPS 17 (2004), Algorithm 3"
    tasks = ("classify",)
    unlike = "without an example, the machines on subsets would choose other training examples"
    two_classes = True
    looks = False
    variants: ClassVar = {}  # it uses no invariance
    files = (EDITED,)
    result_fields: ClassVar = {
        "roles": several(count, len(TITLES), len(TITLES)),
        "chosen": several(amount, 1, 2),
        "search_seconds": amount,
        "subset_size": count,
    }
    fields = (
        Field("answer", choice(ANSWERS, str), "final"),
        Field("n_subsets", numeric(2, 100, whole=True), 5),
        Field("subset_size", numeric(2, 1_000_000, whole=True), None),
        Field("validation", FLAG, False, usual=True),
        Field("slack", numeric(0, 3, closed=True), 0.0, step=0.5, usual=1.0),
        Field("balance", FLAG, True),
        Field("final_C", numeric(0, 1e9), None),
        Field("nu", numeric(0, 1), None),
        Field("final_nu", numeric(0, 1), None),
        replace(GRID, usual="0.1,1,10"),
        Field("final_grid", NUMBERS, "", usual="1,10,100"),
    )

    def check(self, recipe) -> None:
        super().check(recipe)
        size = recipe.option("subset_size")
        if size is not None and size % 2:
            raise RecipeError("subset_size", size, "an even number: half of each class")
        for name in ("grid", "final_grid"):
            if recipe.option("nu") is not None and max(values_of(recipe.option(name)) or (0,)) >= 1:
                raise RecipeError(name, recipe.option(name), "values of nu, below 1, or none")
        if recipe.option("final_grid").count(",") and not recipe.option("validation"):
            allowed = "one value; several values need a validation set"
            raise RecipeError("final_grid", recipe.option("final_grid"), allowed)

    def train(self, recipe, problem, monitor):
        first, last = self.machines(recipe, problem)
        estimator = CrossTrainingSVC(
            first,
            n_subsets=recipe.option("n_subsets"),
            subset_size=recipe.option("subset_size"),
            final=last,
            grid=values_of(recipe.option("grid")),
            final_grid=values_of(recipe.option("final_grid")),
            validation_size=THIRD if recipe.option("validation") else None,
            slack=recipe.option("slack"),
            balance=recipe.option("balance"),
            random_state=recipe.seed,
        ).fit(problem.X_train, problem.y_train, monitor=monitor)
        if recipe.option("answer") == "bagged":
            estimator.machine_ = bagged(estimator.first_stage_)
        return estimator

    def machines(self, recipe, problem):
        """The unfitted estimators of the first stage and of the end."""
        C, nu, final_nu = (recipe.option(name) for name in ("final_C", "nu", "final_nu"))
        if nu is not None:
            return nu_svc(recipe, problem, nu), nu_svc(recipe, problem, final_nu or nu)
        return svc(recipe, problem), svc(recipe.replace(C=C or recipe.C), problem)

    def figures(self, estimator) -> dict:
        return {
            "roles": list(counts(estimator.role_).values()),
            "chosen": [float(estimator.C_), float(estimator.final_C_)],
            "search_seconds": float(estimator.search_seconds_),
            "subset_size": int(estimator.subsets_.shape[1]),
        }

    def arrays(self, estimator) -> dict[str, dict[str, np.ndarray]]:
        mean, variance = estimator.margin_mean_, estimator.margin_variance_
        return {"edited": {"role": estimator.role_, "mean": mean, "variance": variance}}

    def words(self, result: dict) -> str:
        return discarded(result)

    def stages(self, recipe, size: Sizes) -> list[Stage]:
        s, asked = recipe.option("n_subsets"), recipe.option("subset_size")
        r = min(asked or max(2, size.n_train // s), size.n_train)
        values = values_of(recipe.option("grid")) or [recipe.C]
        first = Stage(r, 1, s * len(values), rounds=effort(size, values), decided=s * len(values) * size.n_train)
        tried = max(1, len(values_of(recipe.option("final_grid")) or ()))
        last = Stage(max(2, round(SHARE_LEFT * size.n_train)), 1, tried, CLEAN)  # none on the wrong side
        return (
            [first, last]
            if recipe.option("answer") == "final"
            else [first._replace(times=s, decided=s * size.n_train), last]
        )

    def held_rows(self, recipe, size: Sizes) -> float:
        """The subsets, and what the final machine trains on."""
        first, last = self.stages(recipe, size)
        return first.n * recipe.option("n_subsets") + last.n + distinct(size, first)


def discarded(result: dict) -> str:
    """What an edited run threw away."""
    roles = result.get("roles")
    if roles is None:
        return ""
    left = roles[KEPT] + roles[REINSERTED]
    out = f"{roles[WRONG_SIDE]:,} on the wrong side and {roles[EASY]:,} easy ones were discarded"
    return f"editing kept {left:,} of {sum(roles):,} examples: {out}."


OFFERED = {name: rule for name, rule in RULES.items() if name != "cross-training"}  # that is a method
RULE = Field("rule", choice(OFFERED, lambda rule: rule.title), "multiedit")


class Editing(Method):
    """Editing; its result says how many examples have each role (`roles`, in the order of TITLES)."""

    name = "editing"
    title = "Editing"
    short = "Edited"
    help = "A rule discards training examples. A machine is trained on the remaining ones."
    source = "Devijver and Kittler, Pattern Recognition: A Statistical Approach (1982), chapter 3"
    tasks = ("classify",)
    unlike = "without an example, its rule would discard other examples"
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
        return {"roles": list(counts(estimator.role_).values())} | search_result(estimator)

    def arrays(self, estimator) -> dict[str, dict[str, np.ndarray]]:
        return {"edited": {"role": estimator.role_, "mean": np.zeros(0), "variance": np.zeros(0)}}

    def words(self, result: dict) -> str:
        return discarded(result)

    def stages(self, recipe, size: Sizes) -> list[Stage]:
        first = (Stage(n, size.machines, times) for n, times in self._rule(recipe).machines(size.n_train))
        return [*trainings(recipe, size), *first, Stage(size.n_train, size.machines)]
