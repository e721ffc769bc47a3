"""The page Reduced sets, driven in process: a machine is chosen and reduced, the outcome read, nonsense said aloud."""

import pytest

from pages.ui import reduction as shown
from pages.ui.figures import reduction as figures
from pages.ui.reduction import is_reduction as reduces
from svmcore.kernels import RBF
from svmcore.lab import jobs
from svmcore.lab.methods.reduced import reduction_of
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import export, runs
from tests.driven import captions, finished, open_page, whole_app  # noqa: F401

MOONS = Recipe(name="moons", title="Moons", dataset="toy-moons", preprocess=(), kernel=RBF(2.0), n_train=150, n_test=60)
FEW = {"n_vectors": 8, "sizes": 2, "reduction": "rho"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reduced")


@pytest.fixture
def kept(folder, monkeypatch):
    """A home with a machine and a reduction of it."""
    monkeypatch.setenv("SVMLAB_HOME", str(folder))
    known = runs.newest_first()
    if not known:
        of = finished(MOONS)
        finished(reduction_of(MOONS, **FEW).replace(title="Few"))
        known = runs.newest_first()
        assert known[0].parent == of.id
    return known[-1], next(run for run in known if run.title == "Few")


def texts(app):
    return " ".join(element.value for element in (*app.markdown, *app.info, *app.warning, *app.error)).replace("\\", "")


def leaves(block, above=()):
    """The elements of a block, each with the blocks around it."""
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from leaves(child, (*above, child))
        else:
            yield child, above


def test_without_a_run_the_page_says_what_is_missing(home):
    (home / "preset.lock").touch()
    app = open_page("reduced")
    assert not app.button or "reduce_start" not in [button.key for button in app.button]


def test_a_machine_is_reduced_from_the_form(kept):
    of, _ = kept
    app = open_page("reduced", run=of.id)
    assert "Reductions of this machine" in texts(app)
    app.number_input(key="reduction_n_vectors").set_value(4).run()
    app.number_input(key="reduction_sizes").set_value(1).run()
    assert app.query_params["n_vectors"] == "4"
    app.button(key="reduce_start").click().run()
    run = runs.newest_first()[0]
    assert jobs.wait(run.id, 60).state == "done"
    assert run.parent == of.id
    assert run.recipe.option("n_vectors") == 4
    assert run.title == "Moons, reduced to 4 vectors"
    assert run.result["n_union"] == 4


def test_the_mean_of_the_machines_distances_and_that_of_all_as_one_are_told_apart():
    found = {"rho": [0.01, 0.09], "rho_start": [0.16, 0.36], "n_after": 8, "path": [[8, 0.04, 1, 0, 0.1, 1.0]]}
    said = shown.distance(found)
    assert "On average it is 20.0 % of the original's length |Ψ|; initially it was 50.0 %" in said
    assert "For all machines taken together, as in the figure, the distance is 20.0 %" in said
    assert "all machines together" in figures.nearness(found["path"]).layout.meta["see"]
    one = shown.distance(found | {"rho": [0.01], "rho_start": [0.16]})
    assert one == f" {shown.RHO} It is 10.0 % of the original's length |Ψ|; initially it was 40.0 %."


def test_what_became_of_it_is_told(kept):
    of, run = kept
    app = open_page("reduced", run=run.id)
    table = app.dataframe[0].value
    assert table["Vectors"].tolist() == [of.result["n_union"], 8]
    assert "times fewer vectors" in texts(app)
    assert "in neither the training nor the test set" in captions(app)
    assert "predictions changed" in texts(app)
    app.selectbox(key="reduce_other").select(4).run()
    app.button(key="reduce_keep").click().run()
    made = runs.newest_first()[0]
    assert jobs.wait(made.id, 60).state == "done"
    assert (made.recipe.option("n_vectors"), made.recipe.option("sizes")) == (4, 1)


def test_an_address_that_cannot_be_is_said(kept):
    of, _ = kept
    assert "n_vectors = 999; allowed: 1 to" in texts(open_page("reduced", run=of.id, n_vectors="999"))
    app = open_page("reduced", run=of.id, n_vectors="-3", reduction="magic", sizes="2", allowed="0", deformed="0")
    said = texts(app)
    assert "n_vectors = -3" in said
    assert "allowed =" not in said
    assert "deformed =" not in said
    assert "magic" in said
    assert app.number_input(key="reduction_sizes").value == 2
    assert app.number_input(key="reduction_allowed").value == app.number_input(key="reduction_deformed").value == 0


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"n_vectors": "5000"}, "n_vectors = 5000; allowed: 1 to"),
        ({"reduction": "quadratic"}, "allowed: only with Poly of degree 2"),
    ],
)
def test_what_the_machine_does_not_allow_is_said_before_the_start(kept, asked, words):
    app = open_page("reduced", run=kept[0].id, **asked)
    assert words in texts(app)
    assert ("reduce_start" in [button.key for button in app.button]) == ("n_vectors" in asked)  # a number left out


def test_why_a_machine_cannot_be_had_in_onnx_has_the_width_of_the_page(kept, monkeypatch):
    _, few = kept
    monkeypatch.setattr(export, "onnx_obstacle", lambda recipe: "the kernel turns examples")
    placed = list(leaves(open_page("reduced", run=few.id).main))
    (why,) = (above for leaf, above in placed if "the kernel turns examples" in str(getattr(leaf, "value", "")))
    (button,) = (above for leaf, above in placed if getattr(leaf.proto, "label", "") == "Machine (ONNX)")
    row = button[-2]
    assert row.proto.flex_container.direction == row.proto.FlexContainer.HORIZONTAL
    assert all(block is not row for block in why), "a column beside the buttons is narrow on a small screen"


def test_a_talk_about_a_machine_shows_what_its_newest_reduction_came_to(kept):
    of, _ = kept
    app = open_page("reduced", run=of.id, present="true")
    assert not app.exception
    assert [tab.label for tab in app.tabs][:2] == ["Errors by size", "Approximation"]


def test_a_talk_about_a_machine_that_is_not_reduced_shows_the_newest_reduction_of_another(kept):
    app = open_page("reduced", run=finished(MOONS.replace(C=3.0)).id, present="true")
    assert not app.exception
    assert [tab.label for tab in app.tabs][:2] == ["Errors by size", "Approximation"]
    newest = next(run for run in runs.newest_first() if run.state == "done" and reduces(run))
    assert newest.title in [heading.value for heading in app.subheader]


def test_the_machine_of_a_reduction_may_be_gone(kept):
    of, run = kept
    of.delete()
    try:
        app = open_page("reduced", run=run.id)
        assert "was deleted" in captions(app)
        assert "reduce_start" not in [button.key for button in app.button]
    finally:
        runs.restore(of.id)


def test_a_run_without_a_machine_is_none_to_reduce(kept):
    run_id = jobs.submit(reduction_of(MOONS, n_vectors=5000))
    assert jobs.wait(run_id, 60).state == "failed"
    app = open_page("reduced", run=run_id)
    assert "n_vectors = 5000" in texts(app)
    failed = runs.create(MOONS)
    failed.set_state("failed", "no room")
    failed.release()
    app = open_page("reduced", run=failed.id)
    assert "no room" in texts(app)
    assert "Runs with a machine" in captions(app)


@pytest.mark.parametrize("page", ["support_vectors", "errors", "train", "runs", "compare", "draw"])
def test_pages_show_a_reduced_machine(kept, page):
    app = open_page(page, run=kept[1].id)
    assert not app.exception
    if page == "support_vectors":
        assert "constructed" in captions(app)


def test_less_time_is_told_beside_fewer_multiply_adds_and_why():
    found = {"n_before": 2653, "n_after": 265, "multiply_adds": [2_080_000, 208_000], "take": [0.4, 0.1]}
    said = shown.savings(found | {"products": ["whole", "dense"]})
    assert "**10.0 times fewer vectors**, 10.0 times fewer multiply-adds, 4.0 times as fast." in said
    assert "whole numbers" in said
    assert "single precision" in said
    assert "whole numbers" not in shown.savings(found | {"products": ["dense", "dense"]})
    del found["take"]  # as runs had it before decisions were timed
    assert shown.savings(found).endswith("multiply-adds.")
