"""Damaged files: each is named with its reason, left out of every list, can be deleted, and nobody else notices."""

import json
import shutil

import numpy as np
import pytest

from data import DataError, catalogue
from data.dataset import Arrays
from svmcore import files
from svmcore.lab import jobs
from svmcore.lab.analyses import rivals
from svmcore.lab.forecast import estimate
from svmcore.lab.papers import TABLES, fill
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from tests import damage

MOONS = RECIPES["moons"]
WAYS = [(file, way) for file, ways in damage.FILES.items() for way in ways]
INSIDE = [(file, way) for file, ways in damage.INSIDE.items() for way in ways]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A home with one finished run, to be copied: fits are made once."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(folder))
        damage.finished(MOONS)
    return folder


@pytest.fixture
def run(home, made):
    shutil.copytree(made / "runs", home / "runs")
    (run,) = runs.newest_first()
    return run


def expect_damaged(run, file):
    assert run.damage.startswith(f"{file} is damaged: ")
    assert len(run.damage) < 300
    assert (run.state, run.message) == ("damaged", run.damage)
    assert runs.newest_first() == []
    assert runs.everything() == [run]
    assert run.title
    assert jobs.status(run.id).message == run.damage
    assert estimate(MOONS).fits
    assert fill(TABLES["table10-3v8"]).missing
    run.delete()
    assert runs.everything() == []
    runs.restore(run.id).delete()


@pytest.mark.parametrize(("file", "way"), WAYS)
def test_a_damaged_file_of_a_run(run, file, way):
    damage.FILES[file][way](run.path / file)
    expect_damaged(run, file)


@pytest.mark.parametrize(("file", "way"), INSIDE)
def test_what_only_reading_all_of_a_file_shows(run, file, way):
    before = estimate(MOONS)
    damage.INSIDE[file][way](run.path / file)
    assert run.state == "done"
    with pytest.raises(runs.Damaged):
        run.check()
    assert estimate(MOONS).cache_mb == pytest.approx(before.cache_mb, rel=0.2)
    expect_damaged(run, run.damage.partition(" ")[0])


@pytest.mark.parametrize("file", ["model.npz", "test.npz", "split.npz"])
def test_a_file_that_a_finished_run_lacks(run, file):
    (run.path / file).unlink()
    with pytest.raises(runs.Damaged, match=f"{file} is damaged: it is missing"):
        run.check()
    assert run.state == "damaged"


def test_a_file_put_right_makes_the_run_whole(run):
    whole = (run.path / "state.json").read_text()
    (run.path / "state.json").write_text("[1]")
    assert run.state == "damaged"
    (run.path / "state.json").write_text(whole)
    assert run.state == "done"
    run.check()


def test_a_damaged_run_at_work_is_not_deleted(home):
    run = runs.create(MOONS)
    (run.path / "state.json").write_text("[1]")
    with pytest.raises(runs.RunBusy):
        run.delete()
    run.release()
    run.delete()


def test_what_older_versions_kept_is_read(run):
    """The first versions kept neither compile_seconds nor grants, and no mean gap in a line of progress."""
    damage.without("compile_seconds")(run.path / "result.json")
    (run.path / "grant.json").unlink()
    assert run.state == "done"
    assert run.result["compile_seconds"] == 0
    assert len(run.progress()) == 1
    run.check()


def test_lines_of_progress_that_are_none_are_left_out(run):
    (line,) = run.progress()
    wrong = [[1], 3, line | {"gap": "x"}, line | {"n_sv": -1}, line | {"seconds": 10**400}, line | {"gaps": [{}]}]
    wrong += [line | {"machines": "x"}]
    with open(run.path / "progress.jsonl", "ab") as file:
        file.write("\n".join(map(json.dumps, wrong)).encode() + b'\n{"stage": NaN}\n{"iterat')
    assert run.progress() == [line]


@pytest.mark.parametrize("way", damage.JSON)
def test_a_damaged_figure_of_a_rival_is_as_good_as_none(home, monkeypatch, way):
    path = home / "rivals" / "x.json"
    path.parent.mkdir()
    path.write_text('{"errors": 3, "n_test": 10, "fit_seconds": 1.0, "predict_seconds": 1}')
    monkeypatch.setattr(rivals, "_path", lambda name: path)
    assert rivals.measured("usps-nearest")["errors"] == 3
    damage.JSON[way](path)
    assert rivals.measured("usps-nearest") is None


def test_an_archive_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, zeros=np.zeros((3, 1)))
    damage.bomb("zeros")(path)
    with pytest.raises(ValueError, match="would unpack to 134,"):
        files.read_arrays(path)
    with pytest.raises(ValueError, match="allowed: up to 10"):
        files.read_arrays(path, 10)


# The reader's own data


@pytest.fixture
def own(home):
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 5), np.float32), np.arange(40) % 2
    catalogue.keep("Mine", Arrays(X, y, X[:4], y[:4]))
    return home / "own" / "mine.npz"


@pytest.mark.parametrize("way", damage.OWN)
def test_a_damaged_set_of_the_reader(own, way):
    damage.OWN[way](own)
    assert "own:mine" not in [entry.name for entry in catalogue.entries()]
    (found,) = catalogue.damaged()
    assert found.name == "own:mine"
    assert len(found.reason) < 400
    with pytest.raises(DataError):
        catalogue.load("own:mine")
    catalogue.forget("own:mine")
    assert catalogue.damaged() == []


@pytest.mark.parametrize("way", damage.OWN_INSIDE)
def test_a_set_whose_numbers_are_damaged_is_known_once_it_was_read(own, way):
    damage.OWN_INSIDE[way](own)
    assert catalogue.damaged() == []
    with pytest.raises(DataError, match=r"mine\.npz is damaged"):
        catalogue.load("own:mine")
    assert [found.name for found in catalogue.damaged()] == ["own:mine"]
    assert "own:mine" not in [entry.name for entry in catalogue.entries()]


def test_a_file_of_a_strange_name_can_be_removed(own):
    own.rename(own.with_name("![x](http:).npz"))
    (found,) = catalogue.damaged()
    catalogue.forget(found.name)
    assert catalogue.damaged() == []
