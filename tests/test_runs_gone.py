"""Runs that go: deleted while they are looked at, named by no date, refused by a full disk, or killed at work."""

import contextlib
import errno
import os
import shutil
import time

import pytest

from data import places
from svmcore import files
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import contents, folders, runs
from tests import damage

MOONS = RECIPES["moons"].replace(n_train=60)
ASKED = {
    name: lambda run, name=name: getattr(run, name)
    for name in ("recipe", "damage", "title", "parent", "group", "tags", "oddity", "state", "message", "result")
} | {
    "grant": lambda run: run.grant_mb,
    "progress": lambda run: run.progress(),
    "machine": lambda run: run.machine(),
    "test": lambda run: run.test(),
    "split": lambda run: run.train_index(),
    "edited": lambda run: run.edited(),
    "check": lambda run: run.check(),
    "table": lambda run: run.table("predictions"),
    "script": lambda run: run.export_snippet(),
    "onnx": lambda run: run.export_onnx(),
    "pipeline": lambda run: run.export_pipeline(),
    "rename": lambda run: run.rename("x"),
    "tag": lambda run: run.tag(["x"]),
    "delete": lambda run: run.delete(),
}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(tmp_path_factory.mktemp("done")))
        return damage.finished(MOONS).path


@pytest.fixture
def run(home, done):
    shutil.copytree(done, home / "runs" / done.name)
    return runs.get(done.name)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("before", ["nothing", "its contents"])
def test_whatever_is_asked_of_a_deleted_run_says_that_it_is_gone(run, asked, before):
    with runs.one_look():
        seen = run.damage if before == "its contents" else None
        os.rename(run.path, away := run.path.with_name("away"))
        if seen is None or asked in (
            "progress",
            "machine",
            "test",
            "split",
            "edited",
            "check",
            "table",
            "onnx",
            "delete",
        ):
            with pytest.raises(runs.UnknownRun, match="deleted meanwhile"):
                ASKED[asked](run)
    away.rename(run.path)
    assert run.state == "done", "nothing of it is remembered"


def test_a_run_that_goes_between_its_stamps_and_its_files_is_not_remembered_as_damaged(run, monkeypatch):
    stamps, away = contents._stamps, run.path.with_name("away")

    def then_gone(folder):
        found = stamps(folder)
        if run.path.exists():
            os.rename(run.path, away)
        return found

    os.utime(run.path / "recipe.json")  # so that it is read anew
    with monkeypatch.context() as patched:
        patched.setattr(contents, "_stamps", then_gone)
        with pytest.raises(runs.UnknownRun):
            run.title  # noqa: B018
        away.rename(run.path)
        assert runs.newest_first() == []
    away.rename(run.path)
    assert (run.damage, run.state) == ("", "done")


@pytest.mark.parametrize("name", ["20269999-120000", "20260230-120000", "20260101-250000", "00000101-000000"])
def test_a_folder_named_by_a_date_that_cannot_be_is_no_run(run, name):
    shutil.copytree(run.path, run.path.with_name(f"{name}-000-abcdef"))
    assert [each.created[:4] for each in runs.everything()] == [run.id[:4]]
    with pytest.raises(runs.UnknownRun):
        runs.get(f"{name}-000-abcdef")


def open_below(folder) -> list[str]:
    """Files of this process that are open in a folder; what other tests' threads have open is not there."""
    paths = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # closed meanwhile
            paths.append(os.readlink(f"/proc/self/fd/{number}"))
    return [path for path in paths if path.startswith(str(folder))]


@pytest.mark.parametrize("refused", ["write", "fsync", "mkdir", "replace"])
@pytest.mark.parametrize("calls", [0, 1, 3])
def test_a_full_disk_leaves_no_folder_and_no_open_file(home, monkeypatch, refused, calls):
    folders.place("runs")
    at_first = getattr(os, refused)
    left = iter([None] * calls)

    def full(*args, **kwargs):
        if next(left, "none") == "none":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return at_first(*args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(os, refused, full)
        with pytest.raises(OSError, match="No space"):
            several(calls + 1)
    assert not [path for path in (home / "runs").iterdir() if path.name.startswith(".")]
    assert not open_below(home)


def several(n):
    for _ in range(n):
        runs.create(MOONS).release()


def killed(folder):
    """What a kill leaves in a folder: a half-written file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{files.PART}abc").write_bytes(b"half")
    os.utime(folder / f"{files.PART}abc", (time.time() - 3600,) * 2)


def test_what_a_kill_leaves_of_a_data_set_is_known_by_the_name_that_data_gives_it(home, monkeypatch):
    monkeypatch.setattr(places, "PART", ".half-")
    with places.replacing(home / "own" / "set.npz"):
        (filling,) = (home / "own").iterdir()
        shutil.copytree(filling, home / "own" / ".half-killed")
    os.utime(home / "own" / ".half-killed" / "set.npz", (1, 1))
    os.utime(home / "own" / ".half-killed", (1, 1))
    runs.everything()
    assert [path.name for path in (home / "own").iterdir()] == ["set.npz"]


def test_what_kills_have_left_is_cleared_away_at_the_next_start(home):
    recipe = MOONS
    stopped, at_work = runs.create(recipe), runs.create(recipe)
    for run in (stopped, at_work):
        run.set_state("running")
        run.add_progress({"stage": "train"})
        killed(run.path)
    os.close(runs_claim(stopped))
    for folder in (home, home / "own", home / "own" / "pictures", home / "downloads" / "tiny"):
        killed(folder)
    young, filling = home / "own" / f"{files.PART}young", home / "downloads" / "tiny" / f"{files.PART}filling"
    young.write_bytes(b"")
    for folder in (filling, home / "own" / f"{files.PART}folder"):  # datasets are filled within one of their own
        folder.mkdir()
        killed(folder)
        os.utime(folder, (1, 1))
    (filling / "set.npz").write_bytes(b"")
    assert {run.state for run in runs.everything()} == {"running", "interrupted"}
    assert {path.name for path in stopped.path.iterdir()} == {
        "owner.json",
        "recipe.json",
        "state.json",
        "progress.jsonl",
    }
    assert (at_work.path / "ballast").exists()
    assert (at_work.path / f"{files.PART}abc").exists()
    left = {path for path in home.rglob(f"{files.PART}*") if not {at_work.path, filling} & set(path.parents)}
    assert left == {young, filling}
    at_work.release()


def runs_claim(run):
    """The open file by which this process holds a run."""
    from svmcore.lab.store import run as module

    return module._claims.pop(run.id)
