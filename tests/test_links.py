"""Addresses: what of them no page knows is said on every page of the menu, and nothing that one knows is."""

import ast
import os
import re
import tomllib
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from data import permission
from pages.ui.kit import short_links
from pages.ui.kit.parameters import address
from pages.ui.kit.parameters.address import STREAMLITS
from pages.ui.play.setting import NAMES
from svmcore.lab import jobs
from svmcore.lab.presets import RECIPES
from tests.driven import finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

ROOT = Path(__file__).parents[1]
LISTED = tomllib.loads((ROOT / "pages" / "menu.toml").read_text("utf-8"))
PAGES = [file for pages in (*LISTED["menu"].values(), LISTED["tabs"], LISTED["studies"]) for file in pages]
ELSEWHERE = (
    "asked",
    "begin",
    "own",
    "refusal",
    "judge",
    "say_wrong",
    "shown",
    "taken",
    "write",
    "one_of",
)  # no name first


def said(app):
    return [warning.value.replace("\\", "") for warning in app.warning]


def unknown(app):
    return [text for text in said(app) if "is not a parameter of this page" in text]


def declared(files) -> set[str]:
    """The parameters that these files draw or read under a name that is written out there, or is a constant."""
    names = set()
    for file in files:
        tree, constants = ast.parse(file.read_text("utf-8")), {}
        for node in tree.body:
            if isinstance(node, ast.Assign):
                pairs = zip(*(getattr(side, "elts", [side]) for side in (node.targets[0], node.value)), strict=False)
                constants |= {to.id: of.value for to, of in pairs if isinstance(of, ast.Constant)}
        for node in ast.walk(tree):
            called = getattr(node, "func", None)
            if isinstance(called, ast.Attribute) and getattr(called.value, "id", "") == "parameters" and node.args:
                first = node.args[0]  # "name", "table.name" of widgets.toml, or f"table.{NAME}"
                last = first.values[-1].value if isinstance(first, ast.JoinedStr) else first
                name = constants.get(last.id) if isinstance(last, ast.Name) else getattr(last, "value", None)
                known = called.attr not in ELSEWHERE and isinstance(name, str)
                names |= {name.rpartition(".")[2]} if known else set()
    return names


@pytest.mark.parametrize("page", PAGES)
def test_a_parameter_that_a_page_has_not_is_said_with_those_like_it_and_one_that_it_has_is_not(page):
    own = declared([ROOT / f"pages/{page}.py", *(ROOT / f"pages/{page}").rglob("*.py")])
    app = open_page(page, presnt="true", embed="false", present="false", why="bill", digit="")
    (text,) = unknown(app)
    assert re.match(r"presnt in the address is not a parameter of this page. Similar parameters: present\b", text)
    assert own <= app.session_state["parameters"]["now"].keys(), "drawn in some of its states only: parameters.own"
    names = NAMES if page == "playground" else app.session_state["parameters"]["now"]  # others lead on to Train
    for name in names:
        app.query_params[name] = "\0"  # what none of them can be, and no page breaks down over
    assert len(unknown(app.run())) == 1
    assert not app.exception


ANY_TEXT = {"title", "find", "tag", "open", "across", "up", "off", "by", "picture", "and_value", *STREAMLITS}
WRONG = "?\0"
OFFERED_NOW = {("runs", "state"), ("labels", "by")}  # drawn, with what there is now: what else can be is said, too
CALLED = {
    "jitter_set": "jitters",
    "dearer": "Costlier",
    "value": "values",
    "runs": r"The run \?",
    "revision": "no letter",
    "compare": r"no run \?",
}
DIGITS = RECIPES["digits-8x8-sv"].replace(n_train=200, n_test=150)


def test_a_value_that_cannot_be_is_said_on_every_page_whatever_it_shows_and_one_that_means_nothing_now_is_not(
    home, monkeypatch
):
    """Once with no run of one's own, where a page has a sample or nothing, and once with a run."""
    monkeypatch.setattr(jobs, "ensure_preset", lambda: False)  # a run that ends begins a page anew
    silent, loud, made = [], [], None
    for page, trained in [(page, trained) for trained in (False, True) for page in PAGES]:
        run = {"run": made.id} if trained and (made := made or finished(DIGITS)) else {}
        domains = dict(open_page(page, **run).session_state["parameters"]["now"])
        app = open_page(page, **{name: WRONG for name in domains if name != "run"}, **run)
        told = " ".join([*said(app), *(error.value.replace("\\", "") for error in app.error)])
        asked = domains.keys() - {*ANY_TEXT, "run"}
        silent += [f"{page}: {n}" for n in asked if not re.search(rf"{CALLED.get(n) or chr(0)}|\b{n}\b", told)]
        can_be = {name: next(iter(of)) for name, of in domains.items() if isinstance(of, dict | list | tuple) and of}
        can_be |= {name: of.start for name, of in domains.items() if isinstance(of, slice)}
        app = open_page(page, **{name: str(value) for name, value in can_be.items()}, **run)
        offered = {name for at, name in OFFERED_NOW if at == page}
        loud += [f"{page}: {text}" for text in said(app) if any(f"{name}=" in text for name in can_be.keys() - offered)]
    assert (silent, loud) == ([], [])


@pytest.mark.parametrize("page", PAGES)
def test_a_run_that_is_not_there_is_said_on_every_page(page):
    assert any(text.startswith("There is no run no-such-run here") for text in said(open_page(page, run="no-such-run")))


def test_a_short_link_that_cannot_be_stored_says_why(home, monkeypatch):
    def page():
        import streamlit as st

        from pages.ui.kit import short_links

        st.session_state[short_links.SHARED] = "errors", []
        short_links._code_and_link()

    monkeypatch.setattr(os, "write", lambda handle, line: 0)  # a full disk
    app = AppTest.from_function(page).run()
    assert not app.exception
    assert "No space left" in app.error[0].value


def test_a_short_link_keeps_its_number_and_leads_to_what_it_was_made_of(home):
    query = {"lesson": ["margin.2"], "cells": ["3/8", "8/3"], "who": ["0123456789abcdef"], "present": ["true"]}
    assert short_links.number("errors", query) == 1
    assert short_links.number("", {"C": ["7"]}) == 2
    (home / "links.jsonl").open("a").write("damaged\n")
    assert short_links.number("errors", {}) == 4
    assert short_links.number("errors", query) == 1
    assert short_links.read("1") == ("errors", {"lesson": ["margin.2"], "cells": ["3/8", "8/3"]})
    assert short_links.read("3") == ("", {})  # the first page
    for word in ("0", "5", "-1", "²", "1e0", "", "errors", "9" * 40):
        assert short_links.read(word) is None
    permission.answer_with(lambda action, what: False)
    with pytest.raises(permission.Forbidden):
        short_links.number("runs", {})
    permission.answer_with(None)
    assert short_links.read("5") is None


def test_of_many_words_that_are_allowed_those_most_like_the_one_given_are_named():
    many = [f"other-{number}" for number in range(20)] + ["mnist-vsv", "mnist-5k-vsv"]
    text = address.refusal("recipe", "mnist-vvs", many)
    assert text.startswith("recipe=mnist-vvs in the address; allowed: mnist-vsv, mnist-5k-vsv")
    assert "other" not in text
    assert address.refusal("recipe", "mnist-vvs", many[-3:]).endswith("allowed: other-19, mnist-vsv, mnist-5k-vsv.")
    assert "allowed: other-0, other-1," in address.refusal("recipe", "€", many)
