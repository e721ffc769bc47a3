"""The samples that pages open with: each is there, says so, gives way to the reader's own, and is what its recipe
gives."""

import pytest

from data import catalogue
from pages.paper import cards
from pages.ui.run import stored
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from tests import trained
from tests.bench.samples import differs, samples
from tests.driven import finished, open_page, whole_app  # noqa: F401

PAGES = ("sweep", "scaling", "methods", "scramble", "reduced", "detect", "compare")
MEGABYTES = 1.5


@pytest.fixture
def quiet(home, monkeypatch):
    """An empty home in which no preset is trained."""
    from svmcore.lab import jobs

    monkeypatch.setattr(jobs, "ensure_preset", lambda: None)


def said(app):
    return [info.value for info in app.info if "**A sample**" in info.value]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_with_a_sample_that_says_so(quiet, page):
    app = open_page(page)
    assert len(said(app)) == 1
    assert app.get("plotly_chart") or app.dataframe
    assert not runs.everything()


def test_a_study_of_which_a_sample_shows_too_little_opens_without(quiet):
    app = open_page("cross_training", cross_view="As noise and n grow")  # one run of 36
    assert not said(app)
    assert any("Start queues ordinary runs" in info.value for info in app.info)


def test_the_studies_are_cards_with_a_figure_each(quiet):
    app = open_page("paper")
    assert len(app.get("plotly_chart")) == len(cards.CARDS)


def test_a_table_of_the_paper_opens_with_the_sample_of_its_runs(quiet, monkeypatch):
    monkeypatch.setattr(stored, "at_hand", lambda recipe: recipe.task == "classify")
    app = open_page("paper", show="table10-3v8")
    assert len(said(app)) == 1
    assert "run_3v8-vsv" in [button.key for button in app.button]
    assert all(line.split()[0].isdigit() for line in app.dataframe[0].value["Errors of 1,984"])


def test_a_table_opens_with_samples_of_figures_alone(quiet):
    app = open_page("paper", show="features")
    assert len(said(app)) == 1
    rates = [float(line.split()[0]) for line in app.dataframe[0].value["Errors, %"]]
    assert len(rates) == 12
    assert all(0 < rate < 15 for rate in rates)


def test_a_run_of_ones_own_takes_the_place_of_the_sample(quiet):
    finished(samples()[0].recipe)
    app = open_page("sweep")
    assert not said(app)
    assert app.dataframe[0].value["State"].tolist().count("done") == 1


def test_a_sample_is_in_no_list_and_stays_as_it_is(home):
    run = runs.samples()[0]
    assert runs.get(run.id).sample
    assert (run.state, run.damage) == ("done", "")
    assert not runs.newest_first()
    assert runs.with_machine(run.recipe) is None
    for change in (run.delete, lambda: run.rename("mine"), lambda: run.tag(["mine"])):
        with pytest.raises(runs.RunBusy, match="sample"):
            change()
    assert runs.stored([run.recipe]) == [None]
    assert not runs.available(run)


def test_every_recipe_has_its_sample_and_all_are_small():
    known = {run.recipe.digest() for run in runs.samples()}
    assert known == {sample.recipe.digest() for sample in samples()}
    held = sum(path.stat().st_size for run in runs.samples() for path in run.path.iterdir())
    assert held < MEGABYTES * 1e6


def again(recipe, home):
    kept = next(run for run in runs.samples() if run.recipe.digest() == recipe.digest())
    return differs(kept, finished(recipe))


def test_the_quick_ones_are_what_their_recipes_give(home):
    kept = {sample.recipe.digest(): sample.recipe for sample in samples()}
    reduction = next(recipe for recipe in kept.values() if recipe.method == "reduced")
    assert not again(reduction, home)
    assert not again(RECIPES["digits-8x8-sv"], home)


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("at", range(len(samples())))
def test_each_is_what_its_recipe_gives(home, at, monkeypatch):
    monkeypatch.setattr(trained, "SECONDS", 1700)
    recipe = samples()[at].recipe
    if recipe.task == "classify" and not catalogue.entry(recipe.dataset).at_hand:
        pytest.skip(f"needs the dataset {recipe.dataset!r}")
    assert not again(recipe, home)
