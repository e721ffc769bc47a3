"""Recipes: checked when made, the same after JSON and after a URL, and told apart by their digest."""

import json

import pytest

from svmcore.kernels import RBF, Linear, Poly
from svmcore.lab.method import METHODS
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.recipe import FIELDS, Recipe, RecipeError
from svmcore.lab.store import reading, titles
from tests.cases import all_cases

ODD = Recipe(
    name="odd",
    title="A title, with = and &",
    dataset="own:my-set",
    n_train=10,
    classes=(3, "8b"),
    preprocess=("smooth:0.75", "deslant", "unit-norm"),
    kernel=RBF(0.02),
    C=0.1,
    class_weight={"3": 2.0},
    tol=1e-4,
    cache_mb=100,
    seed=7,
    slow_motion=True,
    method="vsv",
    jitters="plus:1*rot:-8,8",
    options={"second_kernel": RBF(0.1).to_dict(), "second_C": 5},
)


@all_cases("recipe", [*RECIPES.values(), ODD, ODD.replace(class_weight="balanced")], ids=lambda r: r.name)
def test_json_and_url_bring_back_the_same_recipe(recipe):
    assert Recipe.from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe
    query = recipe.to_query()
    assert all(isinstance(text, str) for text in query.values())
    again = Recipe().with_texts(query)
    assert again == recipe
    assert again.to_query() == query
    assert (hash(again), again.digest()) == (hash(recipe), recipe.digest())


def test_urls_are_short_and_stable():
    assert Recipe().to_query() == {}
    assert ODD.replace(name="custom", title="").to_query() == {
        "dataset": "own:my-set",
        "n_train": "10",
        "classes": "3,8b",
        "preprocess": "smooth:0.75,deslant,unit-norm",
        "kernel": "rbf:gamma=0.02",
        "C": "0.1",
        "class_weight": "3:2",
        "tol": "0.0001",
        "cache_mb": "100",
        "seed": "7",
        "slow_motion": "true",
        "method": "vsv",
        "jitters": "plus:1*rot:-8,8",
        "second_C": "5",
        "second_kernel": "rbf:gamma=0.1",
    }


def test_whole_and_fractional_spellings_of_a_number_are_one_recipe():
    one, other = Recipe(kernel=Poly(9, 1, 1), C=2), Recipe(kernel=Poly(9, 1.0, 1.0), C=2.0)
    assert one == other
    assert hash(one) == hash(other)
    assert one.digest() == other.digest()


def test_digest_knows_what_decides_the_outcome():
    same = ODD.replace(name="x", title="", cache_mb=None, slow_motion=False)
    assert same.digest() == ODD.digest()
    for change in ({"C": 3}, {"seed": 8}, {"kernel": Linear()}, {"preprocess": ()}, {"n_test": 5}):
        assert ODD.replace(**change).digest() != ODD.digest()


@all_cases(
    ("field", "value", "allowed"),
    [
        ("C", -1, "above 0"),
        ("C", float("nan"), "above 0"),
        ("C", True, "above 0"),
        ("C", "2", "above 0"),
        ("n_train", 1, "from 2 to"),
        ("n_train", 2.5, "whole"),
        ("tol", 0, "from 1e-8 to 1"),
        ("seed", 2**32, "from 0 to 4,294,967,295"),
        ("seed", -1, "from 0"),
        ("dataset", "../../etc/passwd", "letters, digits"),
        ("name", "", "letters, digits"),
        ("title", "two\nlines", "one line"),
        ("title", "x" * 121, "120"),
        ("split", "random", "stratified"),
        ("method", "magic", "sv"),
        ("solver", "magic", "auto"),
        ("preprocess", ["blur"], "preprocess = 'blur'; allowed: scale01"),
        ("preprocess", ["unit-norm:3"], "preprocess = 'unit-norm:3'; allowed: 'unit-norm'"),
        ("preprocess", "unit-norm", "list"),
        ("kernel", {"name": "magic"}, "rbf"),
        ("kernel", {"name": "poly", "degree": 1.5}, "0, 1"),
        ("kernel", "rbf", "rbf"),
        ("classes", [3, 3], "different"),
        ("classes", list(range(101)), "100"),
        ("class_weight", {"3": 0}, "above 0"),
        ("class_weight", "heavy", "8:5,9:2"),
        ("class_weight", {"3": "heavy"}, "above 0"),
        ("slow_motion", 1, "true, false"),
        ("jitters", "ring:1", "box:R"),
        ("jitters", "box:x", "whole numbers"),
        ("options", {"x": object()}, "JSON"),
        ("options", {"x": "y" * 5000}, "4096"),
    ],
)
def test_an_impossible_field_is_named_with_value_and_what_is_allowed(field, value, allowed):
    with pytest.raises(RecipeError) as caught:
        Recipe.from_dict({field: value})
    assert caught.value.field.startswith(field)
    assert field in str(caught.value)
    assert allowed in str(caught.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "property"), ("[1]", "object"), ('{"colour": 1}', "no name"), ("[" * 60_000, "recursion"), (" ", "value")],
)
def test_a_text_that_is_no_recipe_is_refused(tmp_path, text, why):
    (tmp_path / "recipe.json").write_text(text)
    with pytest.raises(reading.Damaged, match=why):
        reading.read_json(tmp_path / "recipe.json", reading.recipe)


def test_what_is_no_recipe_says_what_one_has():
    for value, allowed in (([1], "object"), ({"colour": 1}, "dataset")):
        with pytest.raises(RecipeError, match=allowed):
            Recipe.from_dict(value)


def test_fields_are_read_from_text():
    recipe = Recipe()
    assert recipe.with_text("C", "5").C == 5
    assert recipe.with_text("n_train", "all").n_train is None
    assert recipe.with_text("classes", "3,8").classes == (3, 8)
    for names in (("salt, pepper", 3), ("[a]", "b"), ("a" * 200,), ()):
        text = recipe.replace(classes=names).texts()["classes"]
        assert recipe.with_text("classes", text).classes == names
    assert recipe.with_text("kernel", "rbf:gamma=0.5").kernel == RBF(0.5)
    assert recipe.with_text("kernel", "linear").kernel == Linear()
    assert recipe.with_text("kernel.degree", "5").kernel == Poly(5)
    assert recipe.with_text("preprocess", "").preprocess == ()
    assert recipe.with_text("slow_motion", "true").slow_motion
    for text in ("8:5,9:0.5", " 9:.5 , 8:5", '{"8": 5, "9": 0.5}'):
        weighted = recipe.with_text("class_weight", text)
        assert weighted.class_weight == {"8": 5.0, "9": 0.5}
        assert weighted.to_query()["class_weight"] == "8:5,9:0.5"
    odd = recipe.replace(class_weight={"a, b": 2, "c:d": 3})
    assert Recipe().with_texts(odd.to_query()) == odd


@pytest.mark.parametrize(
    ("field", "text"),
    [("C", "much"), ("kernel.degree", "x"), ("kernel.colour", "1"), ("kernel", "rbf:gamma"), ("colour", "1"),
     ("slow_motion", "yes"), ("options", "{"), ("n_train", "1e3x")],
)  # fmt: skip
def test_unreadable_text_is_refused(field, text):
    with pytest.raises(RecipeError):
        Recipe().with_text(field, text)


def test_every_field_of_a_recipe_is_checked():
    assert list(FIELDS) == list(Recipe.__dataclass_fields__)
    assert {name: field.default for name, field in FIELDS.items()} == {n: getattr(Recipe(), n) for n in FIELDS}


def test_named_recipes_are_named_and_titled():
    assert PRESET in RECIPES
    for name, recipe in RECIPES.items():
        assert (recipe.name, bool(recipe.title)) == (name, True)
        assert titles.of_recipe(recipe)
        assert METHODS[recipe.method].summary(recipe) is not None
