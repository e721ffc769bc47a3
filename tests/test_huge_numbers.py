"""Numbers of hundreds and thousands of digits: refused in words on the command line, in a recipe and in an address."""

import json
from contextlib import suppress

import pytest

from svmcore import __main__ as cli
from svmcore.lab.recipe import DEFAULT, FIELDS, Recipe, RecipeError
from svmcore.lab.store.reading import Damaged, read_json, recipe
from tests.cases import all_cases
from tests.driven import open_page, whole_app  # noqa: F401

DIGITS = (309, 400, 4300, 4301, 9000)  # more than a float holds; more than Python reads and writes
BASES = (Recipe(), Recipe(method="vsv"), Recipe(method="tangent"), Recipe(solver="smo-digestion"))
NUMBERS = ("n_train", "n_test", "C", "rounds", "tol", "cache_mb", "seed", "folds", "kernel.degree", "kernel.gamma")


def forms(big):
    """Texts of a URL or the command line with a number in them, whatever the field."""
    inside = ("gamma", "degree", "rows", "lam", "second_C", "digestion")
    yield from (big, f"-{big}", f"[{big}]", f"1,{big}", f"smooth:{big}", f"box:{big}", f"poly:degree={big}")
    yield from (f'{{"{name}":{big}}}' for name in inside)
    yield f'{{"digestion":{{"rows":{big}}}}}'
    yield f'{{"second_kernel":{{"name":"poly","degree":{big}}}}}'
    yield f'{{"name":"rbf","gamma":{big}}}'


@all_cases("digits", DIGITS)
@all_cases("name", [*FIELDS, "kernel.degree"])
def test_no_field_breaks_down_over_a_long_number(name, digits):
    for text in forms("9" * digits):
        for base in BASES:
            with suppress(RecipeError):
                base.with_text(name, text)


@all_cases("digits", DIGITS)
@all_cases("name", NUMBERS)
def test_a_field_of_a_number_refuses_it_by_name(name, digits):
    with pytest.raises(RecipeError, match=f"^{name.partition('.')[0]} = "):
        Recipe(method="vsv").with_text(name, "9" * digits)
    value = 10**digits
    with pytest.raises(RecipeError):
        Recipe().replace(method="vsv", **{name.replace("kernel.gamma", "tol").replace("kernel.degree", "seed"): value})


@pytest.mark.parametrize("digits", DIGITS)
def test_a_stored_recipe_refuses_it(tmp_path, digits):
    path, whole = tmp_path / "recipe.json", json.dumps(DEFAULT.to_dict())
    for name in FIELDS:
        for text in ("9" * digits, f"[{'9' * digits}]", f'{{"name":"poly","degree":{"9" * digits}}}'):
            path.write_text(f'{whole[:-1]}, "{name}": {text}}}')  # of two values of a name the last one counts
            with pytest.raises(Damaged, match=r"recipe\.json"):
                read_json(path, recipe)


@pytest.mark.parametrize("digits", DIGITS)
def test_the_command_line_says_what_is_allowed(home, capsys, digits):
    for arguments in (["run", "moons", "--set", f"C={'9' * digits}"], ["sweep", "moons", "C", "1", "9" * digits]):
        assert cli.main(arguments) == 2
        assert "allowed: a number above 0, up to 1,000,000,000" in capsys.readouterr().err


@pytest.mark.parametrize("digits", [309, 9000])
def test_an_address_says_so_too(digits):
    big = "9" * digits
    app = open_page("train", C=big, n_train=big, kernel=f"poly:degree={big}")
    assert len(app.warning) >= 1
    assert "C = " in app.warning[0].value.replace("\\", "")
    for page, name in (("jitters", "index"), ("digestion", "rows"), ("methods", "n"), ("sweep", "value")):
        open_page(page, **{name: big})
