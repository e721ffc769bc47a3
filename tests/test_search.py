"""A search over invariances: what it takes and leaves, what it tells, and that the test set has no part in it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from pages.ui.figures.validation import added, path_chart
from pages.ui.run.exports import report
from svmcore import SVC, Poly, VirtualSVC
from svmcore.explain import remedy
from svmcore.jitter import JitterSet
from svmcore.lab import Recipe, RecipeError, execute, split
from svmcore.lab.analyses import remedies
from svmcore.lab.methods import METHODS
from svmcore.methods.virtual import search as module
from svmcore.methods.virtual.search import Search, Tried, search_jitters
from tests.driven import captions, finished, open_page, whole_app  # noqa: F401
from tests.homes import lend_compiled

RECIPE = Recipe(
    dataset="digits-8x8",
    n_train=150,
    n_test=200,
    method="vsv-search",
    preprocess=("unit-norm",),
    kernel=Poly(5, 1.0, 1.0),
    options={"candidates": "plus:1 rot:-8,8", "budget": 4},
)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:150].astype(np.float32), y[:150]


def machine(jitters="none"):
    return VirtualSVC(SVC(Poly(5, 1e-3, 1), C=10), jitters=jitters, image_shape=(8, 8))


class Counted:
    """In place of the folds: errors by set, and what was asked."""

    def __init__(self, errors):
        self.errors, self.asked, self.search = errors, [], Search((), 150)

    def __call__(self, *_):
        return self

    def tried(self, step, text, best):
        self.asked.append(text)
        return Tried(step, text, len(JitterSet.parse(text)), self.errors[text], 5)


@pytest.fixture
def counted(monkeypatch):
    def of(errors):
        trials = Counted(errors)
        monkeypatch.setattr(module, "_Trials", trials)
        return trials

    return of


def test_each_step_takes_the_set_with_the_fewest_errors_until_none_has_fewer(digits, counted):
    errors = {"none": 9, "plus:1": 7, "rot:-8,8": 6, "rot:-8,8+plus:1": 4}
    trials = counted(errors)
    found = search_jitters(machine(), *digits, ["plus:1", "rot:-8,8"])
    assert trials.asked == ["none", "plus:1", "rot:-8,8", "rot:-8,8+plus:1"]  # the union of both is known after that
    assert [one.jitters for one in found.path] == ["none", "rot:-8,8", "rot:-8,8+plus:1"]
    assert found.ending == "best"


def test_of_equal_errors_the_smaller_set_is_taken_and_none_at_the_price_of_a_step(digits, counted):
    counted({"none": 5, "box:1": 3, "plus:1": 3, "plus:1+box:1": 3})
    found = search_jitters(machine(), *digits, ["box:1", "plus:1"])
    assert [one.jitters for one in found.path] == ["none", "plus:1"]


def test_the_budget_ends_it_with_the_best_of_what_was_tried(digits, counted):
    trials = counted({"none": 5, "box:1": 3, "plus:1": 2})
    found = search_jitters(machine(), *digits, ["box:1", "plus:1"], budget=2)
    assert (found.ending, found.path[-1].jitters, len(trials.asked)) == ("budget", "box:1", 2)


def test_products_are_tried_where_they_are_asked_for_and_the_border_stays(digits, counted):
    errors = {"plus:1@edge": 5, "(plus:1)*(thick:0.5)@edge": 3, "plus:1+thick:0.5@edge": 4}
    trials = counted(errors)
    found = search_jitters(machine("plus:1@edge"), *digits, ["thick:0.5"], joins="+*", budget=3)
    assert set(trials.asked) == set(errors)
    assert found.path[-1].jitters == "(plus:1)*(thick:0.5)@edge"


def test_the_errors_are_those_of_machines_trained_on_the_other_folds(digits):
    X, y = digits
    found = search_jitters(machine(), X, y, ["plus:1"], folds=3, random_state=4)
    folds = StratifiedKFold(3, shuffle=True, random_state=4)
    for one in found.tried:
        said = cross_val_predict(clone(machine(one.jitters)), X, y, cv=folds)
        if one.folds == 3:
            assert one.errors == (said != y).sum()
        else:
            assert one.errors <= (said != y).sum()


def test_a_set_is_left_as_soon_as_it_has_more_errors_than_the_best_on_all_folds(digits):
    trials = module._Trials(machine(), *digits, 5, None, 0, None)
    whole = trials.tried(0, "none", None)
    assert whole.folds == 5
    assert trials.tried(1, "none", whole) == whole._replace(step=1)  # as many is not more
    left = trials.tried(1, "none", whole._replace(errors=0))
    assert 0 < left.errors <= whole.errors
    assert left.folds < 5


def test_the_test_set_has_no_part_in_it(monkeypatch):
    def garbage(*asked):
        parts = whole(*asked)
        return parts._replace(y_test=np.roll(parts.y_test, 7))

    honest, whole = execute(RECIPE), split.whole
    monkeypatch.setattr(split, "whole", garbage)
    blind = execute(RECIPE)
    assert blind.result["search"] == honest.result["search"]
    assert blind.result["jitters"] == honest.result["jitters"]
    assert blind.result["errors"] > honest.result["errors"]


def test_the_machine_is_that_of_the_set_found_on_all_examples():
    found = execute(RECIPE)
    search = found.result["search"]
    last = [Tried(*one) for one in search["tried"] if one[-1]][-1]
    plain = execute(RECIPE.replace(method="vsv", jitters=last.jitters, options={}))
    assert found.test.decision == pytest.approx(plain.test.decision, abs=1e-6)
    assert 0 < found.result["search_seconds"] <= found.result["fit_seconds"]
    assert f"{last.errors} errors on {search['n']}" in METHODS["vsv-search"].words(found.result)


def test_a_monitor_ends_it_and_leaves_what_was_found():
    seen = []

    def monitor(progress):
        seen.append(progress.facts)
        return len((progress.facts or {}).get("tried", [])) < 2

    found = execute(RECIPE, monitor)
    assert found.result["search"]["ending"] == "stopped"
    assert len(found.result["search"]["tried"]) == 2


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("candidates", "", "jitter sets"),
        ("candidates", "spin:3", "spin"),
        ("candidates", "plus:1 plus:1", "different"),
        ("budget", 0, "whole number"),
        ("joins", "/", "\\+, \\*"),
    ],
)
def test_settings_that_cannot_be_are_named(field, value, said):
    with pytest.raises(RecipeError, match=said):
        RECIPE.replace(options={field: value})


def test_too_few_examples_of_a_class_are_named(digits):
    X, y = digits
    with pytest.raises(ValueError, match="folds = 5; allowed: at most 1"):
        search_jitters(machine(), X[:12], y[:12], ["plus:1"])


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A finished run of the search, in a home of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVMLAB_HOME", str(lend_compiled(tmp_path_factory.mktemp("search"))))
        yield finished(RECIPE)


def test_sets_to_try_are_picked_or_typed_in_the_form(home):
    app = open_page("train", dataset="digits-8x8", method="vsv-search", jitters="plus:1", candidates="box:1 shear:0.3")
    key = "recipe_vsv-search_candidates"
    assert app.session_state[key] == ["box:1", "shear:0.3"]
    app.multiselect(key=key).set_value(["box:1", "plus:1"]).run()
    assert app.query_params["candidates"] == "box:1 plus:1"
    app.multiselect(key=key).set_value([]).run()
    assert any("1 to 40 different jitter sets" in error.value for error in app.error)


def test_its_lines_of_progress_are_read_again(kept):
    told = [line["tried"] for line in kept.progress() if line.get("tried")]
    assert len(told[-1]) > 1
    assert told[-1][0][-1] == 1


def test_the_page_shows_the_path_and_takes_the_set_to_the_form(kept):
    app = open_page("train", run=kept.id)
    assert any("Train with" in link.proto.label for link in app.get("page_link"))
    assert "was not used for the choice" in captions(app)
    search = Search.of(kept.result["search"])
    figure = path_chart(search)
    taken = next(trace for trace in figure.data if trace.mode == "lines+markers")
    assert list(taken.x) == [one.errors for one in search.tried if one.taken]
    assert len(figure.layout.yaxis.ticktext) == len(search.tried)


def test_what_was_found_stands_while_the_last_machine_trains(kept):
    last = kept.progress()[-1]
    assert last["stage"] == "the chosen set"
    assert Search.of(last).tried == Search.of(kept.result["search"]).tried


def test_the_report_tells_every_set(kept):
    text = report(kept)
    for one in kept.result["search"]["tried"]:
        assert one[1].rpartition("+")[2] in text


def test_a_row_says_what_a_step_adds():
    tried = [Tried(0, "none", 1, 9, 5, True), Tried(1, "plus:1", 5, 7, 5, True), Tried(2, "plus:1+rot:3", 6, 7, 5)]
    tried += [Tried(2, "(plus:1)*(rot:3)", 10, 8, 2)]
    assert [added(tried, row) for row in range(4)] == ["none", "plus:1", "+ rot:3", "× rot:3"]


def test_choose_c_leads_to_it():
    app = open_page("sweep", dataset="digits-8x8", over="jitters", value=["none", "plus:1"])
    (link,) = [link for link in app.get("page_link") if "step by step" in link.proto.label]
    assert "method=vsv-search" in link.proto.query_string


def test_what_a_search_found_is_what_would_fix_it_starts_from(kept):
    """Not the set that the search began with, and no second search."""
    found = kept.learned
    assert (found.method, found.jitters) == ("vsv", Search.of(kept.result["search"]).path[-1].jitters)
    assert remedies.twin_of(found).method == "vsv"
    totals = remedies.Totals((8, 8), 5, 5, remedy.empty(remedies._ladder((8, 8))))
    known = dict(zip(totals.ladder.texts, remedies.known(totals, found), strict=True))
    assert all(known[text] for text in found.jitters.split("+") if text in known)
