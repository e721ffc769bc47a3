"""The pages about the paper: jitters, methods side by side, tables and figures, digestion; driven from app.py."""

import re
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from data import catalogue
from data.dataset import Arrays
from pages.digestion import race
from pages.paper import figures, table
from pages.paper.table import _text
from pages.ui.example import evidence, jittered, parents
from pages.ui.example.spoken import brief
from pages.ui.figures import comparison
from pages.ui.run import stored
from pages.ui.studies import study
from svmcore.jitter import JitterSet
from svmcore.kernels import Linear
from svmcore.lab import forecast, jobs
from svmcore.lab.analyses.rivals import RIVALS, Rival
from svmcore.lab.forecast import estimate
from svmcore.lab.jobs import sweeping
from svmcore.lab.jobs.analyses import MEASURED
from svmcore.lab.papers import TABLES, fill
from svmcore.lab.presets import RECIPES
from svmcore.lab.presets.digits import HURT
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store import runs
from svmcore.solvers.digestion import Digestion
from tests.driven import captions, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

DIGITS = RECIPES["digits-8x8-sv"].replace(n_train=120, n_test=150)
SECONDS = 120


@pytest.fixture(scope="module")
def digits_run():
    """A finished run on 8 x 8 digits."""
    return finished(DIGITS)


def finish_all(app):
    """Wait for the runs that a page has queued, and draw it again."""
    for run_id in jobs.active():
        assert jobs.wait(run_id, SECONDS).state == "done"
    app.run()
    assert not app.exception


@pytest.mark.parametrize("text", ["box:1", "vsv2", "plus:2", "rot:-10,10", "box:1*thick:0.5", "none", "thick:0.5,1"])
def test_every_jitter_stands_once_in_the_layout_with_the_original_at_its_centre(text):
    jitters = JitterSet.parse(text, (28, 28))
    squares = jittered.squares(jitters)
    drawn = np.concatenate([square.cells[square.cells >= 0] for square in squares])
    assert sorted(drawn) == list(range(len(jitters)))
    rows, columns = squares[0].cells.shape
    assert squares[0].cells[rows // 2, columns // 2] == 0


def test_shifts_stand_where_they_move_to():
    jitters = JitterSet.parse("box:2", (28, 28))
    (square,) = jittered.squares(jitters)
    offsets = jitters.offsets[square.cells]
    assert (offsets == np.stack(np.mgrid[-2:3, -2:3], axis=-1)).all()


def test_a_set_too_large_to_be_drawn_keeps_its_nearest_shifts():
    (square,) = jittered.squares(JitterSet.parse("box:20", (28, 28)))
    assert square.cells.shape == (15, 15)


@pytest.mark.parametrize(
    ("text", "title", "says"),
    [
        ("none", "", "as it is"),
        ("shift:-1,2", "", "↑1→2"),
        ("shift:0,-3", "", "←3"),
        ("thick:0.5*shift:1,-1", "thinner 0.5", "↓1←1"),
        ("thick:0.5", "thinner 0.5", ""),
        ("rot:-8", "", "−8°"),
        ("flip:h", "", "flip h"),
    ],
)
def test_each_form_says_which_jitter_it_is(text, title, says):
    assert brief(JitterSet.parse(text, (28, 28)).jitters[-1], title) == says


def test_jitters_counts_forms_and_says_what_the_run_takes_them_for(digits_run):
    app = open_page("jitters", run=digits_run.id, set="digits-8x8")
    assert app.metric[0].value == "9"
    assert f"Below each form: the prediction of *{digits_run.title}*. Of 9 predictions" in captions(app)
    app.text_input(key="jitter_set").set_value("vsv2").run()
    assert app.metric[0].value == "13"


def test_jitters_says_what_is_wrong_with_a_set_and_what_is_allowed(digits_run):
    app = open_page("jitters", run=digits_run.id, set="digits-8x8")
    app.text_input(key="jitter_set").set_value("bax:1").run()
    said = app.error[0].value.replace("\\", "")
    assert "'bax:1' is unknown" in said
    assert "box:R" in said


def test_jitters_takes_the_set_to_the_form(digits_run):
    app = open_page("jitters", run=digits_run.id, set="digits-8x8")
    app.text_input(key="jitter_set").set_value("plus:1").run()
    app.button(key="to_train").click().run()
    assert not app.exception
    assert app.session_state["recipe_method"] == "vsv"
    assert app.session_state["recipe_jitters"] == "plus:1"
    assert app.session_state["recipe_dataset"] == "digits-8x8"


def test_methods_are_ordinary_runs_shown_side_by_side(digits_run, monkeypatch):
    app = open_page("methods", run=digits_run.id, set="digits-8x8", n="60")
    app.button(key="queue_methods").click().run()
    finish_all(app)
    table = app.dataframe[0].value
    assert set(table["State"]) == {"done"}
    by_method = {run.recipe.method: run for run in runs.newest_first() if run.recipe.n_train == 60 and run.group}
    row = table.set_index("Method").loc["Virtual SV"]
    assert row["Errors"] == by_method["vsv"].result["errors"]
    assert row["of"] == max(by_method["vsv"].result["n_virtual"])
    assert "trained on up to" in captions(app)
    assert "triangle inequality" in captions(app)
    assert "Where they disagree" in " ".join(text.value for text in app.markdown)

    by_method["jsv"].delete()
    monkeypatch.setattr(forecast, "free_mb", lambda: 1.0)
    app.run()
    states = app.dataframe[0].value.set_index("Method")["State"]
    assert {name for name, state in states.items() if state != "done"} == {"Jittering kernel"}  # what is stored stays
    assert states["Jittering kernel"] == study.UNFIT
    assert [box.proto.title for box in app.warning] == ["1 run left out: not enough memory"]
    assert "1 MB are free" in app.warning[0].value
    assert "queue_methods" not in [button.key for button in app.button]


def test_methods_show_tangents_of_colour_images_too(digits_run):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (60, 6, 5, 3), dtype=np.uint8)
    catalogue.keep("colours", Arrays.unsplit(images, np.arange(60) % 2))
    app = open_page("methods", run=digits_run.id, set="own:colours")
    assert "Each image is a direction in which the jitters change these examples most" in captions(app)


def test_tangents_of_large_pictures_are_refused_instead_of_asked_for(digits_run):
    """Their covariance has the square of as many numbers as a picture."""
    for side in (60, 240):
        images = np.random.default_rng(0).integers(0, 256, (12, side, side), dtype=np.uint8)
        catalogue.keep("large", Arrays.unsplit(images, np.arange(12) % 2), replace=True)
        app = open_page("methods", run=digits_run.id, set="own:large")
        assert not app.exception
        assert ("these images have 3,600" in captions(app)) == (side == 60)
        states = app.dataframe[0].value.set_index("Method")["State"]
        assert states.index[states == study.UNFIT].tolist() == ["Tangents, in pixels"] * (side == 240)
        assert ("Strength of the invariance: lambda" in [heading.value for heading in app.subheader]) == (side == 60)
    recipe = DIGITS.replace(dataset="own:large", n_train=8, n_test=4, method="tangent", jitters="plus:1")
    assert estimate(recipe).memory_mb > 3 * 8 * 57_600**2 / 2**20
    assert not estimate(recipe).fits
    assert estimate(recipe.replace(space="feature")).fits


def test_virtual_support_vectors_follow_their_parents(digits_run, monkeypatch):
    recipe = DIGITS.replace(method="vsv", jitters="box:1", classes=(3, 8), n_train=60)
    run_id = finished(recipe).id
    run, shown = runs.get(run_id), {}
    monkeypatch.setattr(parents, "gallery", lambda pictures, tiles, **how: shown.update(tiles=tiles, **how))
    machine = run.machine()
    parents.draw(run, machine, evidence.supports(run, machine, 0), 4, key="families")
    assert len(shown["tiles"]) == 4 * parents.LONGEST
    for start in range(0, len(shown["tiles"]), parents.LONGEST):
        parent, *children = shown["tiles"][start : start + parents.LONGEST]
        assert not parent.linked
        assert all(child.ref == parent.ref and child.ring.startswith("virtual") for child in children if child.label)


def test_a_finished_run_stands_for_its_recipe_and_is_not_queued_again(digits_run, monkeypatch):
    asked = []
    monkeypatch.setattr(sweeping, "submit", lambda recipe, **how: asked.append(recipe.name))
    other = DIGITS.replace(C=7.0, name="other")
    assert [run and run.id for run in runs.stored([DIGITS, other])] == [digits_run.id, None]
    stored.queue([DIGITS, other])
    assert asked == ["other"]


def test_run_all_queues_what_has_its_data_and_names_what_has_not(home, monkeypatch):
    asked = []
    monkeypatch.setattr(sweeping, "submit", lambda recipe, **how: asked.append(recipe))
    monkeypatch.setenv("SVMLAB_DATA", str(home / "no mirror"))
    app = open_page("paper", paper="bakir")
    app.button(key="queue_paper").click().run()
    assert asked
    assert all(stored.at_hand(recipe) for recipe in asked)
    assert not stored.at_hand(RECIPES["xtrain-forest-90000"])
    assert re.search(r"to be downloaded on \*Datasets\*: .*forest \(for [1-9]", captions(app))


def test_a_table_whose_data_are_not_here_says_what_it_needs(home, monkeypatch):
    monkeypatch.setenv("SVMLAB_DATA", str(home / "no mirror"))
    app = open_page("paper", show="osuna-sonar")
    cells = app.dataframe[0].value.iloc[:, 1:].to_numpy()
    assert (cells == "needs sonar").all()
    assert not [button.key for button in app.button if button.key and button.key.startswith("run_osuna")]
    link = next(link for link in app.get("page_link") if "sonar is not on this computer" in link.proto.label)
    assert "set=sonar" in link.proto.query_string
    assert "sonar (for 28 runs)" in captions(app)


def test_what_cannot_be_queued_is_said_when_the_others_are(home, monkeypatch):
    asked = []

    def submit(recipe, **how):
        if recipe.C == 7:
            raise RecipeError("experiment", "d", "a")
        asked.append(recipe.C)

    monkeypatch.setattr(sweeping, "submit", submit)
    stored.queue([DIGITS.replace(C=C) for C in (6.0, 7.0, 8.0)])
    assert asked == [6, 8]
    assert "Not all runs were queued. experiment = 'd'; allowed: a" in stored.st.session_state["told"].replace("\\", "")


def test_a_table_is_filled_by_the_runs_that_there_are(digits_run):
    table = TABLES["table10-3v8"]
    before = fill(table).rows[0][0]
    assert _text(before, {}).endswith("[61]")
    assert "about" in _text(before, {})
    assert _text(before, {"3v8-sv": "running"}) == "running [61]"
    run = runs.create(RECIPES["3v8-sv"])
    run.save_part(digits_run.machine(), digits_run.test())
    run.complete(digits_run.result)
    run.release()
    after = fill(table).rows[0][0]
    assert _text(after, {}).startswith(f"{digits_run.result['errors']} (")


def test_paper_queues_what_a_cell_lacks(digits_run, monkeypatch):
    asked = []
    monkeypatch.setattr(sweeping, "submit", lambda recipe, **how: asked.append(recipe.name))
    monkeypatch.setattr(stored, "at_hand", lambda recipe: recipe.task == "classify")
    app = open_page("paper", run=digits_run.id, show="table10-3v8-5x5-deslant")
    assert app.dataframe[0].value.shape == (4, 6)
    app.button(key="run_3v8-5x5-vsv").click().run()
    assert asked == ["3v8-5x5-vsv"]


def test_a_rival_is_measured_from_its_cell(home, monkeypatch):
    tiny = Rival("Neighbours", DIGITS.replace(preprocess=("scale01",)), KNeighborsClassifier)
    monkeypatch.setitem(RIVALS, "mnist-nearest", tiny)
    column = "10,000 digits, %"
    cells = open_page("paper", show="mnist-table3").dataframe[0].value.set_index("")[column]
    assert cells["3-nearest-neighbour"] == "click to measure [2.4]"
    with monkeypatch.context() as patched:
        patched.setattr(table, "st", SimpleNamespace(rerun=lambda: None))
        table._clicked(fill(TABLES["mnist-table3"]), list(cells.index).index("3-nearest-neighbour"), column)
    assert MEASURED.wait("mnist-nearest", timeout=SECONDS).state == "done"
    cells = open_page("paper", show="mnist-table3").dataframe[0].value.set_index("")[column]
    assert re.fullmatch(r"[\d.]+ % \(.*\) \[2.4\]", cells["3-nearest-neighbour"])


def test_rivals_of_table_3_see_deslanted_digits_as_published():
    steps = {name: RIVALS[name].examples.preprocess for name in ("mnist-nearest", "mnist-mlp", "mnist-tangent")}
    assert steps == {
        "mnist-nearest": ("deslant", "scale01"), "mnist-mlp": ("deslant", "scale01"), "mnist-tangent": ("scale01",),
    }  # fmt: skip


def test_figure_1_is_nearer_the_truth_with_virtual_examples(digits_run):
    app = open_page("paper", run=digits_run.id, show="figure1")
    assert "Only one line has the largest margin. It leans by" in captions(app)
    assert "shifted copies of its support vectors as well, the line leans by 0 degrees" in captions(app)


def test_the_definiteness_of_kernels_is_drawn_by_the_size_of_their_sets():
    plain, shifted = (figures.examined(Linear(), 300, text) for text in ("none", "plus:1"))
    assert plain.negative == plain.violations == 0
    assert shifted.negative > 0.1
    figure = comparison.definiteness({1: plain, 5: shifted})
    assert figure.data[1].y == (0, 100 * shifted.negative)
    assert figure.data[2].y == pytest.approx((0, 100 * shifted.smallest / -shifted.largest), abs=1e-9)


def test_a_map_of_pairs_and_jitters_is_filled_from_runs(home, monkeypatch):
    few = {
        pair: {text: of[text] for text in ("none", "flip:h")} for pair, of in HURT.items() if pair in ((0, 1), (6, 9))
    }
    monkeypatch.setattr(figures, "HURT", few)
    monkeypatch.setattr(figures, "HURTS", ("none", "flip:h"))
    app = open_page("paper", show="hurt")
    assert "0 of 4 runs are stored" in captions(app)
    app.button(key="queue_hurt").click().run()
    finish_all(app)
    found = runs.stored([recipe for of in few.values() for recipe in of.values()])
    test, seen = (figures.changes(found, judge) for judge in figures.JUDGES)
    wrong = [[run.result["errors"] for run in found], [run.result["validation"]["errors"] for run in found]]
    assert test.ravel().tolist() == pytest.approx([(wrong[0][k + 1] - wrong[0][k]) / 8 for k in (0, 2)])
    assert seen.ravel().tolist() == pytest.approx([(wrong[1][k + 1] - wrong[1][k]) / 2 for k in (0, 2)])
    assert f"of 2 combinations of a pair and a jitter set, {np.sum(test <= -1)} lower".lower() in captions(app).lower()
    half = figures.changes([*found[:2], None, None], "test")
    assert np.isnan(half).tolist() == [[False], [True]]


def test_an_unknown_table_is_said_aloud(digits_run):
    app = open_page("paper", run=digits_run.id, show="table99")
    assert any("show=table99" in warning.value for warning in app.warning)


def saved(app):
    """The share of the kernel values that digestion spares, as the page says; what it costs is less than none."""
    until = time.monotonic() + SECONDS
    while not app.dataframe and time.monotonic() < until:  # what never ran on this computer is compiled first
        app.run()
    said = " ".join(text.value for text in app.markdown)
    if "Here digestion **changes nothing**" in said:
        return 0.0
    word, share = re.search(r"Here digestion \*\*(saves|costs) (\d+)", said).groups()
    joined, time_too = re.search(r", (and|but) takes (less|more|as long)", said).groups()
    against = (word, time_too) in (("saves", "more"), ("costs", "less"))
    assert joined == ("but" if against else "and")  # what speaks against the kernel values is said so
    return int(share) / 100 * (1 if word == "saves" else -1)


def test_digestion_opens_on_a_case_that_it_wins_and_its_gain_dies_with_the_cache(digits_run):
    app = open_page("digestion", run=digits_run.id)
    assert saved(app) > 0.33
    assert not app.button(key="digestion_sizes").disabled
    assert saved(open_page("digestion", run=digits_run.id, rows="10")) < 0.05
    assert saved(open_page("digestion", run=digits_run.id, rows="1000")) < 0.25
    table = app.dataframe[0].value
    assert table["Solver"].tolist() == ["With digestion", "Without digestion"]
    assert table["Peak SVs"][1] > 1.8 * table["Peak SVs"][0]
    np.testing.assert_allclose(*table["Dual objective"].astype(float), rtol=1e-3)


def test_a_single_pass_is_shown_beside_the_two(digits_run):
    app = open_page("digestion", run=digits_run.id, one_pass="true")
    assert saved(app) > 0.33
    table = app.dataframe[0].value
    assert table["Solver"].tolist() == ["With digestion", "Without digestion", "One pass"]
    exact, _, once = table["Dual objective"].astype(float)
    assert 0.9 * exact < once < exact
    (said,) = (text.value for text in app.markdown if "A single pass takes" in text.value)
    share, svs = re.search(r"takes (\d+) % .* with (\d+) support vectors", said).groups()
    assert int(share) < 100
    assert int(svs) == table["SVs"][2]


def test_digestion_where_there_is_nothing_to_digest_says_so(digits_run):
    app = open_page("digestion", run=digits_run.id, set="toy-moons")
    assert saved(app) == 0.0
    assert "changes nothing" in " ".join(text.value for text in app.markdown)


def test_digestion_of_many_examples_is_two_runs(digits_run, monkeypatch):
    monkeypatch.setattr(race, "AT_ONCE", 100)
    app = open_page("digestion", run=digits_run.id, set="digits-8x8", copies="none", rows="40")
    app.number_input(key="n_digits-8x8_none").set_value(300).run()
    assert not app.error, app.error[0].value
    app.button(key="queue_all").click().run()
    finish_all(app)
    table = app.dataframe[0].value
    assert (table["Peak SVs"] >= table["SVs"]).all()
    np.testing.assert_allclose(*table["Dual objective"].astype(float), rtol=1e-3)
    assert abs(saved(app)) < 0.5


def test_a_link_to_digestion_has_its_class_and_its_rules(digits_run):
    asked = {"set": "digits-8x8", "copies": "none", "n": "60", "against": "3", "patience": "3.5", "wait": "500"}
    app = open_page("digestion", run=digits_run.id, **asked)
    assert not app.warning, app.warning[0].value
    assert app.selectbox(key="class_digits-8x8_none").value == "3"
    assert (app.number_input(key="rule_patience").value, app.number_input(key="rule_wait").value) == (3.5, 500)
    app.selectbox(key="class_digits-8x8_none").set_value("5").run()
    app.number_input(key="rule_wait").set_value(Digestion().wait).run()
    assert app.query_params["against"] == "5"
    assert "wait" not in app.query_params  # the usual one
    for name, value in (("against", "twelve"), ("patience", "never")):
        app = open_page("digestion", run=digits_run.id, set="digits-8x8", copies="none", n="60", **{name: value})
        assert any(f"{name}={value}" in warning.value for warning in app.warning)


def test_every_size_of_the_cache_is_measured_on_a_click(digits_run):
    app = open_page("digestion", run=digits_run.id, copies="none")
    app.number_input(key="n_digits-8x8_none").set_value(100).run()
    saved(app)
    app.button(key="digestion_sizes").click().run()
    assert "digestion_sizes" not in [button.key for button in app.button]
    assert "The ratio is highest, " in captions(app)


def test_the_study_of_digestion_opens_on_its_samples_and_says_what_the_rest_needs(home):
    app = open_page("paper", show="digestion")
    assert app.session_state["paper_name"] == "decoste"
    assert len(app.get("plotly_chart")) == 1
    two = "Cache rows for recently changed examples", "Digestion by the paper's rules"
    told = r"The largest difference is at a cache of [\d,]+ MB: \S+ for “{}” and \S+ for “{}”, a factor of"
    assert re.search(told.format(*two), captions(app))
    assert len(app.dataframe[0].value) == 24
    assert "runs to train, about" in captions(app)
    app.selectbox(key="measure").set_value("sv_most").run()
    assert "most svs at once" in captions(app)
    app.selectbox(key="problem").set_value("8").run()
    assert not app.get("plotly_chart")
    assert not app.exception
    assert app.button(key="queue_digested")
