"""The reader's own presets: kept, replaced, removed; names that are texts alone, files that are damaged."""

import json

import pytest

from pages.ui.recipe.presets import SHOWS
from svmcore.lab.presets import LISTED, RECIPES
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store import presets

MOONS = RECIPES["moons"]


def test_kept_replaced_and_removed(home):
    assert presets.own_recipes() == {}
    presets.keep(" Mine ", MOONS)
    presets.keep("Other", MOONS.replace(C=3.0))
    presets.keep("Mine", MOONS.replace(C=5.0))
    found = presets.own_recipes()
    assert list(found) == ["Mine", "Other"]
    assert (found["Mine"].C, found["Mine"].title, found["Mine"].name) == (5.0, "Mine", "custom")
    presets.remove("Mine")
    presets.remove("nobody")
    assert list(presets.own_recipes()) == ["Other"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "two\nlines", "a\x00b", None, 3])
def test_a_name_is_one_short_line(home, name):
    with pytest.raises(RecipeError, match="one line"):
        presets.keep(name, MOONS)
    assert not (home / "presets.json").exists()


def test_a_name_is_no_path(home):
    presets.keep("../../etc/x", MOONS)
    assert list(presets.own_recipes()) == ["../../etc/x"]
    assert [path.name for path in home.iterdir()] == ["presets.json"]


def test_there_is_an_end_to_them(home, monkeypatch):
    monkeypatch.setattr(presets, "MAX_PRESETS", 2)
    for name in ("a", "b", "a"):
        presets.keep(name, MOONS)
    with pytest.raises(RecipeError, match="delete one first"):
        presets.keep("c", MOONS)


@pytest.mark.parametrize(
    "text", ["", "[", "{}", "3", "[3, null, {}]", "[" * 100_000, '[{"name": "x", "recipe": {"C": -1}}]']
)
def test_what_cannot_be_read_is_left_out(home, text):
    (home / "presets.json").write_text(text)
    assert presets.own_recipes() == {}
    presets.keep("good", MOONS)
    assert list(presets.own_recipes()) == ["good"]


@pytest.mark.parametrize("text", ["[", "{}", "[" * 100_000])
def test_a_damaged_file_is_set_aside_and_not_lost(home, text):
    (home / "presets.json").write_text(text)
    presets.remove("good")
    assert (home / "presets.json").read_text() == text
    presets.keep("good", MOONS)
    assert (home / "presets.damaged.json").read_text() == text


def test_the_good_ones_of_a_file_are_kept(home):
    presets.keep("good", MOONS)
    listed = json.loads((home / "presets.json").read_text())
    (home / "presets.json").write_text(json.dumps([{"name": "bad", "recipe": 3}, *listed]))
    assert list(presets.own_recipes()) == ["good"]
    presets.keep("more", MOONS)
    presets.remove("good")
    left = json.loads((home / "presets.json").read_text())
    assert left[0] == {"name": "bad", "recipe": 3}, "a newer version may know what it is"
    assert list(presets.own_recipes()) == ["more"]


def test_what_a_form_offers_first_is_listed_and_fits_the_form():
    assert all(LISTED[name].task == "classify" for name in SHOWS)
