"""Cross-training's page without a browser: points thrown away in the plane, by every rule, and what that costs."""

import numpy as np
import pytest

from data import catalogue
from data.dataset import Arrays
from pages.cross_training import planar, setting, studies
from pages.cross_training.setting import Setting
from pages.ui.figures import crossing, edited
from svmcore.kernels import RBF
from svmcore.lab import jobs
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.methods.editing import RULES, roles
from tests.driven import captions, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

BANANA = Setting("toy-banana", 200, 0.1, 3.0, 1.0, 5, 80, 0)
QUICK = {"set": "toy-banana", "examples": "100", "each": "40"}


def texts(app):
    return " ".join([captions(app), *(m.value for m in app.markdown)]).replace("\\", "")


def test_the_plane_answers_what_was_thrown_away_why_and_what_it_cost():
    app = open_page("cross_training", **QUICK, flipped="10", point="7")
    said = texts(app)
    assert "Point 7, labelled" in said
    assert "What was discarded, and why?" in said
    assert "What did the editing cost?" in said
    assert "Of 10 flipped labels" in said
    assert "Synthetic points" in said
    table = app.table[0].value
    assert list(table.columns) == ["", "plain", "edited"]
    assert [b.label for b in app.button if b.key.startswith("look_")][1:] == [rule.title for rule in RULES.values()]
    app.button(key="look_condense").click().run()
    assert not app.exception
    assert app.segmented_control(key="rule").value == "CONDENSE"
    assert RULES["condense"].why in texts(app)
    assert "Point 7" not in texts(app)  # a verdict of cross-training's machines
    assert "Steinwart" not in texts(app)  # not computed before it is asked for


@pytest.mark.parametrize(
    ("part", "says"),
    [("Margins", "of 5 machines classify this point correctly"), ("As noise and examples grow", "Steinwart")],
)
def test_the_tab_that_the_address_names_is_drawn(part, says):
    app = open_page("cross_training", **QUICK, part=part, point="7")
    assert says in texts(app)
    assert not [b for b in app.button if b.key.startswith("look_")]


@pytest.mark.parametrize(
    "query",
    [
        {"flipped": "41", "examples": "49", "rule": "![p](x)", "edit_C": "7", "point": "100000", "subsets": "1"},
        {"flipped": "nan", "examples": "1e999", "set": "mnist-5k", "part": "nothing", "sample_seed": "-1"},
    ],
)
def test_what_an_address_cannot_ask_for_is_said(query):
    app = open_page("cross_training", **QUICK | query)
    said = [warning.value.replace("\\", "") for warning in app.warning]
    assert not [name for name in query if not any(text.startswith(f"{name}=") for text in said)]
    assert "What did the editing cost?" in texts(app)


def test_a_subset_larger_than_a_class_is_an_error_that_names_it():
    app = open_page("cross_training", **QUICK | {"each": QUICK["examples"]})
    assert "subset_size" in app.error[0].value.replace("\\", "")
    assert app.button(key="look_condense")


def test_a_small_set_begins_with_subsets_that_it_has(home):
    y = np.arange(160) % 2
    points = np.random.default_rng(0).normal(size=(160, 2)) + 4 * y[:, None]
    catalogue.keep("few", Arrays.unsplit(points.astype(np.float32), y))
    app = open_page("cross_training", set="own:few")
    assert (app.number_input(key="examples").value, app.number_input(key="each").value) == (50, 24)
    assert not app.error


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_machine_that_was_ended_early_is_said(monkeypatch):
    monkeypatch.setattr(planar, "MAX_PAIRS", 100)
    app = open_page("cross_training", **QUICK, sample_seed="77")
    assert [text for warning in app.warning if "max_iter = 100" in (text := warning.value.replace("\\", ""))]
    planar._trained.cache_clear()


def test_less_noise_is_part_of_more():
    less, more = (setting.sample(BANANA._replace(noise=noise)) for noise in (0.1, 0.2))
    assert less.flipped.sum() == 20
    assert (more.flipped >= less.flipped).all()
    assert ((less.y != more.y) == (more.flipped & ~less.flipped)).all()


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_leaves_a_machine_of_what_it_kept(rule):
    found = planar.trained(BANANA, rule)
    assert np.isin(found.support, edited.left(found.role)).all()
    assert found.right.sum() > 0.7 * len(found.right)


def test_multiedit_takes_the_overlap_and_condense_keeps_the_boundary():
    """MULTIEDIT leaves points that their neighbours agree with; CONDENSE, of these, those nearest to another class."""
    given = setting.sample(Setting("toy-gaussians", 400, 0.0, 3.0, 1.0, 5, 80, 0))
    both = planar.trained(Setting("toy-gaussians", 400, 0.0, 3.0, 1.0, 5, 80, 0), "multiedit+condense")
    across = given.y * given.X[:, 0]  # the law is the sign of x1
    wrong, easy, kept = (both.role == code for code in (roles.WRONG_SIDE, roles.EASY, roles.KEPT))
    assert across[wrong].mean() < 0.3 < across[easy].mean()
    assert (across[easy | kept] < 0).mean() < 0.05 < (across < 0).mean()
    assert np.abs(across[kept]).mean() < across[easy].mean()


def test_the_cut_lines_stand_where_the_rule_is():
    mean, variance = np.array([-1.0, 0.5, 2.0]), np.array([0.1, 0.1, 0.1])
    role, sign = np.array([roles.WRONG_SIDE, roles.KEPT, roles.EASY]), np.array([1, -1, 1])
    figure = crossing.margins(mean, variance, role, sign, ["a", "b"], 1)
    for name, at in (("m + v = 0", 0), ("m − v = 1", 1)):
        assert any(note.text == name for note in figure.layout.annotations)
        line = next(line for line in figure.data if line.mode == "lines" and line.x[0] == at)
        assert abs(line.x[1] - line.x[0]) == pytest.approx(line.y[1])
    assert "1 wrong side" not in figure.layout.meta["see"]
    assert "1 on the wrong side, 1 easy" in figure.layout.meta["alt"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("edited")


@pytest.fixture
def edited_run(home, monkeypatch):
    """A cross-trained run of points in the plane and the plain one beside it, made once."""
    monkeypatch.setenv("SVMLAB_HOME", str(home))
    recipe = Recipe(dataset="toy-banana", preprocess=("zscore",), kernel=RBF(0.5), C=2.0).replace(
        noise=0.1, method="cross-training"
    )
    return next((run for run in runs.newest_first() if run.recipe == recipe), None) or finished(recipe)


RUN = "A run"


def test_a_run_shows_what_it_threw_away_and_the_plain_machine_is_trained_from_there(edited_run):
    runs.delete([run for run in runs.newest_first() if run.recipe.method == "sv"])
    app = open_page("cross_training", cross_view=RUN, run=edited_run.id)
    said = texts(app)
    assert "What was discarded, and why?" in said
    assert "Examples with a flipped label: 30" in said
    assert "10 % of the labels swapped" in said
    assert "5 machines, each trained on" in said
    assert list(app.table[1].value.columns) == ["", "edited"]
    app.button(key="queue_plain").click().run()
    assert not app.exception
    jobs.wait(runs.newest_first()[0].id, 60)
    app.run()
    assert list(app.table[1].value.columns) == ["", "plain", "edited"]
    assert "McNemar" in texts(app)


def test_kinds_of_examples_are_in_the_address(edited_run):
    counts = edited_run.result["roles"]
    app = open_page("cross_training", cross_view=RUN, run=edited_run.id, thrown="Easy")
    assert app.segmented_control(key="left_kind").value == "Easy"
    assert f"Easy ({counts[roles.EASY]})" in app.segmented_control(key="left_kind").options
    app = open_page("cross_training", cross_view=RUN, run=edited_run.id, thrown="nothing")
    assert "thrown" in app.warning[0].value


def test_a_run_that_throws_nothing_away_leads_to_those_that_do(edited_run):
    plain = finished(edited_run.recipe.replace(method="sv"))
    app = open_page("cross_training", cross_view=RUN, run=plain.id)
    assert "discards no examples" in texts(app)
    app.button(key=f"see_{edited_run.id}").click().run()
    assert app.session_state["run"] == edited_run.id
    assert "What did the editing cost?" in texts(app)


def test_two_classes_are_asked_for_and_both_runs_start(edited_run):
    app = open_page("cross_training", cross_view=RUN, set="digits-8x8", pair=[])
    app.multiselect(key="pair").set_value([]).run()
    assert "choose two" in app.info[0].value
    app.multiselect(key="pair").set_value(["3", "8"]).run()
    app.button(key="edit_start").click().run()
    assert not app.exception
    both = runs.newest_first()[:2]
    assert [run.recipe.method for run in both] == ["cross-training", "sv"]
    assert both[0].group == both[1].group
    assert app.session_state["run"] == both[0].id
    for run in both:
        assert jobs.wait(run.id, 60).state == "done"
    app.run()
    assert "What did the editing cost?" in texts(app)


def test_a_damaged_keep_is_said(edited_run):
    path = edited_run.path / "edited.npz"
    kept = path.read_bytes()
    path.write_bytes(b"none")
    app = open_page("cross_training", cross_view=RUN, run=edited_run.id)
    assert "edited" in " ".join(error.value for error in app.error).replace("\\", "")
    path.write_bytes(kept)


def test_a_course_over_noise_fills_from_runs(edited_run):
    app = open_page(
        "cross_training", cross_view="As noise and n grow", course="Your own data, by noise", set="toy-banana"
    )
    assert "of 10 runs are stored" in texts(app)
    assert app.button(key="queue_course")
    app = open_page("cross_training", cross_view="As noise and n grow", course="Your own data, by n", set="mnist-5k")
    assert "0 of 10 runs are stored" in texts(app)
    app.multiselect(key="pair").set_value([]).run()
    assert "choose two" in app.info[0].value


def test_the_papers_figures_are_read_off_their_recipes(edited_run, monkeypatch):
    base = edited_run.recipe.replace(method="sv", noise=0.0)
    squares = base.replace(dataset="squares:0.2", noise=0.1)
    made = {
        f"xtrain-fig4-{method}-{100 * noise:g}": edited_run.recipe.replace(
            method=method, noise=noise, name=f"xtrain-fig4-{method}-{100 * noise:g}"
        )
        for method in ("sv", "cross-training")
        for noise in (0.0, 0.1)
    }
    monkeypatch.setattr(studies.xtrain, "POINTS", made)
    (course,) = studies.courses().values()
    assert [point.x for point in course.points] == [0, 10]
    assert course.names == ["plain", "cross-trained"]
    assert studies.bayes(squares) == pytest.approx(0.9 * 0.1 + 0.1 * 0.9)
    assert studies.bayes(base) is None
    found = {edited_run.recipe.digest(): edited_run}
    line = studies.line(course, found, "cross-trained", "support vectors")
    assert (line.xs, line.ys) == ([10], [edited_run.result["n_union"]])
    assert studies.line(course, found, "plain", "support vectors") is None
    smallest = edited_run.result["noisy"]["error_rate"]
    assert studies.law(course, found).ys == [pytest.approx(2 * smallest * 300)]
    app = open_page("cross_training", cross_view="As noise and n grow")
    assert app.segmented_control(key="course").value == "Figure 4"
    assert "of 4 runs are stored" in texts(app)
    assert "cross-trained" in texts(app).lower()
