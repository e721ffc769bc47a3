"""Runs that come with the code: as they would be made now, seen by whom nothing of his own stands in the way, and left
as they are."""

import pytest

from svmcore.lab import samples
from svmcore.lab.store import folders, runs
from tests.driven import finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

PAGES = {"sweep": "sweep", "methods": "methods", "scramble": "scramble", "reduced": "reduction", "compare": "scramble",
         "detect": "detect"}  # fmt: skip
MAX_KB = 1500  # of all of them


def is_shown(app) -> bool:
    return any("Sample]" in one.value for one in app.markdown)


@pytest.mark.parametrize("name", samples.STUDIES)
def test_they_are_as_they_would_be_made_now(name):
    found = samples.of(name)
    assert len(found) == len(samples.STUDIES[name])
    for kept in found:
        kept.check()
        made = finished(kept.recipe)
        ours, its = kept.result, made.result
        assert ours["n_sv"] == pytest.approx(its["n_sv"], rel=0.05, abs=1)
        if "errors" in ours:
            assert (ours["errors"], ours["n_test"]) == (pytest.approx(its["errors"], abs=1), its["n_test"])
        else:
            score, again = (result["machines"]["machine"]["score"] for result in (ours, its))
            assert score == pytest.approx(again, abs=0.01)
        runs.delete([made])


def test_a_sample_is_opened_by_its_id_and_stands_in_no_list():
    run = samples.of("reduction")[1]
    assert runs.get(run.id) == run
    assert run.is_sample
    assert run.state == "done"
    assert run.id not in {other.id for other in runs.everything()}


def test_a_sample_is_neither_changed_nor_deleted():
    run = samples.of("detect")[0]
    before = {path: path.read_bytes() for path in run.path.iterdir()}
    for change in (lambda: run.rename("mine"), lambda: run.tag(["x"]), run.delete):
        with pytest.raises(runs.RunBusy, match="sample"):
            change()
    assert run.id in runs.delete([run]).refused
    assert before == {path: path.read_bytes() for path in run.path.iterdir()}


def test_they_are_small():
    assert sum(path.stat().st_size for path in folders.SAMPLES.rglob("*.*")) < 1000 * MAX_KB


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_its_sample_until_there_is_a_run_of_ones_own(page):
    app = open_page(page)
    assert not app.exception
    assert is_shown(app)
