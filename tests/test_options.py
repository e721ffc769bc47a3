"""Fields and options of recipes: each has its words and a name of its own, and is read as it was ever written."""

from dataclasses import fields

import pytest

from svmcore.kernels import KERNELS
from svmcore.lab import Recipe, RecipeError
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import option_fields
from svmcore.lab.solvers import SOLVERS
from svmcore.lab.tasks import TASKS
from svmcore.svc import SOLVERS as OF_SVC
from tests.cases import all_cases
from tests.driven import captions, open_page, whole_app  # noqa: F401

DIGITS = Recipe(dataset="digits-8x8", n_train=100, n_test=100, classes=(3, 8))


def test_every_field_has_its_words_and_a_name_of_its_own():
    every = [field for known in (*TASKS.values(), *METHODS.values(), *SOLVERS.values()) for field in known.fields]
    assert all(field.label and field.help and field.check(field.default) == field.default for field in every)
    assert not {field.name for field in every} & set(Recipe.__dataclass_fields__)
    assert set(OF_SVC) == set(SOLVERS)
    assert {task for method in METHODS.values() for task in method.tasks} <= TASKS.keys()


def test_a_kernel_that_is_offered_describes_its_numbers():
    offered = [kind for kind in KERNELS.values() if kind.title]
    assert {kind.name for kind in offered} >= {"linear", "poly", "rbf", "sigmoid"}
    for kind in offered:
        assert all({"label", "help"} <= f.metadata.keys() for f in fields(kind))


OLD_FORM = {
    "name": "old", "title": "Old", "dataset": "mnist-5k", "n_train": 400, "n_test": None, "split": "stratified",
    "classes": [3, 8], "preprocess": ["unit-norm"], "kernel": {"name": "poly", "degree": 9, "gamma": 1.0, "coef0": 1.0,
    "normalised": True}, "C": 2.0, "class_weight": None, "method": "vsv", "jitters": "box:1", "scope": "union",
    "rounds": 2, "solver": "auto", "tol": 0.001, "cache_mb": None, "seed": 0, "folds": None, "slow_motion": False,
    "options": {"second_C": 5.0},
}  # fmt: skip


def test_recipes_stored_before_there_were_options_are_read():
    recipe = Recipe.from_dict(OLD_FORM)
    assert recipe.options == {"scope": "union", "rounds": 2, "second_C": 5.0}
    plain = Recipe.from_dict(OLD_FORM | {"method": "sv", "options": {}})
    assert (plain.options, plain.jitters) == ({}, "")  # of a method that it does not have
    assert plain.digest() == Recipe.from_dict(OLD_FORM | {"method": "sv", "options": {}, "rounds": 1}).digest()


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ({"method": "vsv", "scope": "union", "rounds": "2"}, {"scope": "union", "rounds": 2}),
        ({"method": "tangent", "options": '{"lam":0.1,"space":"feature"}'}, {"lam": 0.1, "space": "feature"}),
        ({"options": '{"lam":0.1}', "lam": "0.2", "method": "tangent"}, {"lam": 0.2}),
        ({"method": "jsv", "scope": "union"}, {}),
        ({"method": "vsv", "options": '{"second_kernel":{"name":"rbf","gamma":2}}'},
         {"second_kernel": {"name": "rbf", "gamma": 2}}),
        ({"solver": "smo-digestion", "options": '{"digestion":{"on":false,"wait":1000}}'},
         {"digestion": {"on": False}}),
    ],
)  # fmt: skip
def test_links_of_either_form_are_read(query, options):
    recipe = Recipe().with_texts(query)
    assert recipe.options == options
    assert Recipe().with_texts(recipe.to_query()) == recipe
    assert "options" not in recipe.to_query()


def test_an_option_at_its_default_is_one_left_out():
    plain = Recipe(method="vsv")
    for name, default in (("scope", "machine"), ("rounds", 1), ("second_C", None)):
        spelled = plain.replace(**{name: default})
        assert spelled == plain
        assert (spelled.digest(), hash(spelled), spelled.to_query()) == (plain.digest(), hash(plain), plain.to_query())
        assert spelled.option(name) == default
    assert plain.replace(scope="all").digest() != plain.digest()


def test_an_option_that_nobody_has_is_refused():
    for changes in ({"colour": 1}, {"options": {"colour": 1}}):
        with pytest.raises(RecipeError, match="colour"):
            Recipe().replace(**changes)
    assert Recipe().replace(lam=0.5) == Recipe()
    assert set(option_fields()) >= {"scope", "rounds", "lam", "digestion"}


def test_changes_from_the_command_line_are_made_together():
    texts = {"lam": "0.2", "kernel.gamma": "3", "jitters": "plus:1", "method": "tangent", "kernel": "rbf"}
    for order in (texts, dict(reversed(texts.items()))):
        recipe = Recipe().with_texts(order)
        assert (recipe.method, recipe.option("lam"), recipe.jitters, recipe.kernel.gamma) == (
            "tangent",
            0.2,
            "plus:1",
            3,
        )


@all_cases("digits", [309, 5000])
@all_cases("field", ["C", "n_train", "tol", "seed", "rounds", "kernel.gamma", "kernel.degree"])
def test_huge_integers_are_refused_like_any_other_value(field, digits):
    with pytest.raises(RecipeError):
        Recipe(method="vsv").with_text(field, "9" * digits)
    with pytest.raises(RecipeError):
        Recipe.from_dict({"method": "vsv", field.partition(".")[0]: 10**digits})
