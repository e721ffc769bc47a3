"""The pages for looking: datasets, support vectors, errors, and the view of one example, driven from app.py."""

import io
import time
from functools import partial

import numpy as np
import pytest

from data import catalogue, fetch, load, transfers
from pages.ui.example import decision_plane, evidence
from pages.ui.kit.words import plain
from pages.ui.run import snapshots
from svmcore.kernels import RBF
from svmcore.lab.jobs.live import Live, Top
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.solvers.progress import Snapshot
from tests.driven import captions, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

DIGITS = RECIPES["digits-8x8-sv"].replace(n_train=200, n_test=150)
SECONDS = 60


@pytest.fixture(scope="module")
def digits_run():
    """A finished run on 8 x 8 digits, small enough for a test and with some errors."""
    return finished(DIGITS)


@pytest.fixture(scope="module")
def moons_run():
    """A finished run with one machine, on points of the plane."""
    return finished(RECIPES["moons"])


def test_errors_counts_what_the_run_counted(digits_run):
    app = open_page("errors", run=digits_run.id)
    wrong = digits_run.result["errors"]
    assert wrong > 0
    assert app.subheader[0].value.startswith(f"{wrong} of 150 wrong")
    assert f"{wrong} examples. Upper right" in captions(app)
    table = app.dataframe[0].value
    assert table["errors"].sum() == wrong
    assert table["svs"].tolist() == digits_run.result["n_sv"]


def test_a_cell_of_the_confusion_matrix_filters_the_errors_and_can_be_removed(digits_run):
    test = digits_run.test()
    i = np.flatnonzero(test.y_true != test.y_pred)[0]
    cell = f"{test.y_true[i]} → {test.y_pred[i]}"
    n = int(np.sum((test.y_true == test.y_true[i]) & (test.y_pred == test.y_pred[i])))
    app = open_page("errors", run=digits_run.id)
    app.multiselect(key="cells").select(cell).run()
    assert f"{n} example{'s' * (n > 1)}. Upper right" in captions(app)
    app.multiselect(key="cells").unselect(cell).run()
    assert f"{digits_run.result['errors']} examples. Upper right" in captions(app)


def test_a_bad_parameter_of_the_address_is_said_aloud(digits_run):
    app = open_page("errors", run=digits_run.id, errors_by="colour")
    assert any("colour" in warning.value for warning in app.warning)


def test_the_number_of_a_gallerys_page_is_in_the_address(digits_run):
    app = open_page("datasets", dataset="mnist-5k", page="3")
    assert "Examples 200 to 299" in captions(app)
    app.pagination[0].set_value(5).run()
    assert "Examples 400 to 499" in captions(app)
    assert app.query_params["page"] == "5"
    said = [warning.value for warning in open_page("datasets", dataset="mnist-5k", page="99").warning]
    assert any("allowed: 1 to 50" in text and "Showing 1" in text for text in said)
    said = [warning.value for warning in open_page("errors", run=digits_run.id, cells="99").warning]
    assert any("cells=99" in text and text.endswith("It is ignored.") for text in said)


def test_support_vectors_of_one_machine_are_counted_and_filtered(digits_run):
    app = open_page("support_vectors", run=digits_run.id)
    machine = digits_run.machine()
    assert app.metric[0].value == str(machine.n_sv[0])
    app.selectbox(key="machine").select("8 against the rest").run()
    assert app.metric[0].value == str(machine.n_sv[8])
    app.multiselect(key="classes_shown").select("3").run()
    rows = evidence.supports(digits_run, machine, 8)
    assert f"{np.sum(rows.label == 3)} support vectors of *8 against the rest*" in captions(app)


def test_a_binary_machine_has_its_own_words_and_a_plane(moons_run):
    app = open_page("support_vectors", run=moons_run.id)
    assert app.selectbox(key="machine").options == ["1 against -1"]
    assert "Rings are support vectors" in captions(app)
    app = open_page("errors", run=moons_run.id)
    assert len(app.dataframe[0].value) == 2
    assert f"Crosses mark the {moons_run.result['errors']} errors" in captions(app)


def test_the_view_of_a_support_vector_tells_alpha_margin_and_reasons(digits_run):
    machine = digits_run.machine()
    row = int(evidence.dataset_rows(digits_run, machine)[0])
    app = open_page("errors", run=digits_run.id, digit=f"digits-8x8/train/{row}", why="family")
    words = " ".join(text.value for text in app.markdown)
    assert f"Training example {row:,}: true" in words
    assert "This example is a support vector of" in captions(app)
    assert "trained on" in captions(app)
    margins = next(frame.value for frame in app.dataframe if "alpha" in frame.value)
    held = machine.coef[:, 0][machine.coef[:, 0] != 0]
    np.testing.assert_allclose(margins["alpha"], np.abs(held), rtol=1e-6)
    free = margins[margins["kind"] == "free"]
    np.testing.assert_allclose(free["margin y f(x)"], 1, atol=5 * DIGITS.tol)


@pytest.mark.parametrize("ref", ["nowhere/train/1", "digits-8x8/train/99999", "digits-8x8", "digits-8x8/spare/1"])
def test_an_address_that_names_no_example_is_answered_with_words(digits_run, ref):
    app = open_page("errors", run=digits_run.id, digit=ref)
    assert any("does not name an example" in warning.value for warning in app.warning)


def test_support_vectors_come_largest_alpha_first_and_lead_to_their_example(digits_run):
    machine, dataset = digits_run.machine(), load("digits-8x8")
    chosen = evidence.supports(digits_run, machine, 4)
    assert (np.diff(chosen.alpha) <= 0).all()
    np.testing.assert_array_equal(chosen.sign > 0, chosen.label == 4)
    prepared = evidence.prepared(digits_run, dataset.X_train[chosen.row])
    np.testing.assert_allclose(prepared, machine.support_vectors[chosen.position], atol=1e-6)


def test_virtual_support_vectors_are_traced_to_the_example_they_were_made_from():
    run = finished(DIGITS.replace(method="vsv", jitters="plus:1", n_train=100))
    machine, dataset = run.machine(), load("digits-8x8")
    chosen = evidence.supports(run, machine, 3)
    virtual = chosen.kind == "virtual"
    assert virtual.any()
    original = evidence.prepared(run, dataset.X_train[chosen.row])
    same = (original == machine.support_vectors[chosen.position]).all(axis=1)
    np.testing.assert_array_equal(same, machine.jitter[chosen.position] == 0)
    np.testing.assert_array_equal(chosen.sign > 0, chosen.label == 3)
    row = chosen.row[np.flatnonzero(virtual)[0]]
    app = open_page("support_vectors", run=run.id, sv="Virtual", digit=f"digits-8x8/train/{row}", why="family")
    table = next(frame.value for frame in app.dataframe if "jitter" in frame.value)
    assert set(table["jitter"]) <= set(evidence.jitter_names(machine))


def test_one_class_against_the_rest_keeps_its_name():
    run = finished(DIGITS.replace(classes=(8,)))
    assert evidence.machine_names(run, run.machine()) == ["8 against the rest"]
    assert [evidence.class_of(run, run.machine(), label) for label in (8, 3)] == ["8", "rest"]
    open_page("errors", run=run.id)


def test_a_run_without_a_machine_says_why_and_leads_to_train():
    run = runs.create(DIGITS)
    run.set_state("failed", "The disk is full.")
    run.release()
    for page in ("errors", "support_vectors"):
        app = open_page(page, run=run.id)
        assert any("The disk is full" in error.value for error in app.error)


@pytest.mark.parametrize("name", ["mnist-5k", "toy-moons"])
@pytest.mark.parametrize("view", ["First hundred", "By class", "Preprocessing", "About"])
def test_every_view_of_a_data_set_draws(digits_run, name, view):
    app = open_page("datasets", set=name, view=view)
    assert plain(catalogue.entry(name).title) in [heading.value for heading in app.subheader]
    assert app.segmented_control(key="view").value == view
    assert not app.warning


def test_a_wrong_step_is_refused_with_the_allowed_ones(digits_run):
    app = open_page("datasets", set="digits-8x8", view="Preprocessing")
    app.multiselect(key="steps_image").set_value(["sharpen"]).run()
    assert "sharpen" in app.error[0].value
    assert "deslant" in app.error[0].value


def test_own_data_is_previewed_named_and_kept(digits_run, home):
    rng = np.random.default_rng(0)
    file = io.BytesIO()
    np.savez(file, X=rng.integers(0, 256, (40, 12, 9, 3), dtype=np.uint8), y=np.array(["cat", "dog"] * 20))
    app = open_page("datasets", set="new")
    app.file_uploader(key="own_files").upload("pets.npz", file.getvalue()).run()
    assert "40 examples · 12 × 9 × 3 · 2 classes" in captions(app)
    app.text_input(key="own_title").set_value("My pets")
    app.button(key="FormSubmitter:own_keep-Save").click().run()
    assert not app.exception
    assert catalogue.entry("own:my-pets").classes == ("cat", "dog")
    assert app.subheader[0].value == "My pets"


def test_a_broken_file_is_refused_with_what_would_be_accepted(digits_run):
    app = open_page("datasets", set="new")
    app.file_uploader(key="own_files").upload("model.pkl", b"\x80\x04not numbers").run()
    assert "pickle" in app.error[0].value
    assert "Accepted" in app.error[0].value


def ended(transfer):
    for _ in range(200):
        if transfer.state.phase != "running":
            return transfer.state
        time.sleep(0.01)
    raise AssertionError("the transfer did not end")


def test_a_transfer_reports_and_ends(monkeypatch):
    seen = []

    def slow(name, report):
        report(1, 2, "half of it")
        seen.append(transfers.current("mnist").state)

    monkeypatch.setattr(fetch, "fetch", slow)
    assert ended(transfers.start("mnist", partial(fetch.fetch, "mnist"))).phase == "done"
    assert seen == [transfers.State("running", 1, 2, "half of it")]


def test_a_transfer_that_fails_says_why(monkeypatch):
    def broken(name, report):
        raise OSError("no connection")

    monkeypatch.setattr(fetch, "fetch", broken)
    transfer = transfers.start("mnist", partial(fetch.fetch, "mnist"))
    assert ended(transfer) == transfers.State("failed", message="no connection")


def test_a_transfer_stops_when_asked_and_is_not_started_twice(monkeypatch):
    def endless(name, report):
        while True:
            time.sleep(0.005)
            report(0, 0, "on and on")

    monkeypatch.setattr(fetch, "fetch", endless)
    transfer = transfers.start("mnist", partial(fetch.fetch, "mnist"))
    assert transfers.start("mnist", partial(fetch.fetch, "mnist")) is transfer
    transfer.stop()
    assert ended(transfer).phase == "stopped"


@pytest.mark.parametrize(("weight", "line"), [(None, "C = 1"), ({"1": 0.3}, "their bounds, which differ by class")])
def test_the_histogram_names_one_bound_only_where_it_is_everybodys(digits_run, weight, line):
    run = finished(RECIPES["moons"].replace(C=1.0, class_weight=weight))
    app = open_page("support_vectors", run=run.id)
    n_bound, n_sv = run.result["n_bound"][0], run.result["n_sv"][0]
    assert n_bound
    assert f"{n_bound} of {n_sv} alphas above 0 reach {line}. If only a few" in captions(app)
    assert app.metric[1].value == str(n_bound)


def test_machines_by_nu_have_no_common_bound(home):
    recipe = Recipe(dataset="digits-8x8", n_train=200, n_test=60, kernel=RBF(0.01), method="nu-sv", options={"nu": 0.1})
    run = finished(recipe.replace(title="By nu"))
    machine = run.machine()
    highest = [
        np.abs(coef[bound]).max() for coef, bound in zip(machine.coef, machine.bound, strict=True) if bound.any()
    ]
    assert max(highest) > 1.1 * min(highest)  # the bounds of the ten machines
    assert "their bounds, which differ by class" in captions(open_page("support_vectors", run=run.id))


def test_the_histogram_of_squared_slack_names_no_bound(digits_run):
    run_id = finished(RECIPES["moons"].replace(options={"loss": "squared_hinge"})).id
    app = open_page("support_vectors", run=run_id)
    assert "so alpha has no upper bound" in captions(app)
    assert "alphas above 0 reach" not in captions(app)
    assert app.metric[1].value == "0"


def test_rings_of_a_run_at_work_are_those_of_the_look(digits_run):
    look = Top(
        np.array([3, 1]), np.array([0.2, 0.1]), np.array([False, True]), np.ones(2, int), np.array([False, False])
    )
    live = Live(1, (look,) * 10, np.zeros(0, int), np.zeros(0), np.zeros(0), 0, 150, "train")
    assert snapshots.at_work(digits_run, live, 4).kind.tolist() == ["free", "bound"]
    families = look._replace(virtual=np.array([True, True]), forms=np.array([9, 1]))
    live = live._replace(top=(families,) * 10)
    assert snapshots.at_work(digits_run, live, 4).kind.tolist() == ["virtual", "virtual-bound"]


def test_a_machine_in_the_plane_that_has_no_support_vectors_yet_is_none(moons_run):
    """A look at a busy machine's first burst ended in an exception."""
    now = Snapshot(np.array([], int), np.zeros((1, 0)), np.zeros(1), np.zeros((1, 0), bool))
    assert decision_plane.machine_of(moons_run, now) is None
    one = Snapshot(np.array([4]), np.ones((1, 1)), np.zeros(1), np.zeros((1, 1), bool))
    assert decision_plane.machine_of(moons_run, one).support_vectors.shape == (1, 2)


def test_present_mode_shows_one_figure_at_a_time_and_folds_the_form(digits_run):
    usual = open_page("errors", run=digits_run.id)
    assert not usual.tabs
    app = open_page("errors", run=digits_run.id, present="true")
    assert [tab.label for tab in app.tabs] == [
        "Confusion",
        "Misclassified",
        "Helpful invariances",
        "By class",
        "Abstain",
    ]
    assert any(box.label == "Which errors" for box in app.expander)
    assert app.query_params["present"] == "true"
