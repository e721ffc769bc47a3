"""The run store: whole or absent, honest about runs that were killed, and closed to ids that are none."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from data import own
from data.dataset import Arrays
from svmcore import files
from svmcore.lab import train
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store import export, folders, runs
from svmcore.lab.store.run import _claims
from svmcore.lab.task import csv_text
from svmcore.lab.tasks import TASKS, classify
from svmcore.saved import load
from tests.cases import all_cases

ROOT = Path(__file__).parent.parent
MOONS = RECIPES["moons"]
COUNTS = ("iterations", "n_sv", "n_bound", "kernel_evals", "cache_hits", "cache_misses")
LINE = {"stage": "train", "gap": 0.5, "dual": 1.0, "seconds": 0.1} | dict.fromkeys(COUNTS, 1)


@pytest.fixture(scope="module")
def outcome():
    return train.execute(MOONS)


def finished(outcome, recipe=MOONS):
    run = runs.create(recipe)
    run.set_state("running")
    run.save_split(outcome.train_index, outcome.test.index)
    run.add_progress(LINE)
    run.save_part(outcome.machine, outcome.test)
    run.complete(outcome.result)
    run.release()
    return run


def test_a_finished_run_comes_back_whole(home, outcome):
    run = runs.get(finished(outcome).id)
    assert (run.state, run.recipe, run.title) == ("done", MOONS, MOONS.title)
    assert run.result == outcome.result
    assert run.progress() == [LINE]
    assert (run.train_index() == outcome.train_index).all()
    for ours, theirs in zip(run.test(), outcome.test):
        assert np.array_equal(ours, theirs)
    X = outcome.machine.support_vectors
    assert (run.machine().decision_values(X) == outcome.machine.decision_values(X)).all()
    assert not list(run.path.glob("ballast"))


def test_states_while_owned_and_after(home):
    run = runs.create(MOONS)
    assert run.state == "queued"
    for state in ("running", "paused"):
        run.set_state(state)
        assert run.state == state
    run.release()
    assert run.state == "interrupted"
    for state in ("failed", "cancelled"):
        run.set_state(state, "why")
        assert (run.state, run.message) == (state, "why")


def test_a_run_remembers_what_it_grew_out_of(home):
    first = runs.create(MOONS)
    assert first.parent is None
    assert runs.create(MOONS, first.id).parent == first.id
    (first.path / "parent.json").write_text('"../elsewhere"')
    assert "parent.json" in first.damage


def test_newest_first_and_created(home):
    ids = [runs.create(MOONS).id for _ in range(3)]
    assert {run.id for run in runs.newest_first()} == set(ids)
    listed = [run.created for run in runs.newest_first()]
    assert listed == sorted(listed, reverse=True)
    assert all(time.strptime(created[:19], "%Y-%m-%dT%H:%M:%S") for created in listed)


@pytest.mark.parametrize("run_id", ["", "..", "../x", "x/y", "20260101-000000-000-zzzzzz", None, 7, "a" * 500])
def test_what_is_no_id_never_reaches_the_disk(home, run_id):
    for call in (runs.get, runs.restore):
        with pytest.raises(runs.UnknownRun):
            call(run_id)


def test_unknown_run_reads_like_a_sentence(home):
    with pytest.raises(runs.UnknownRun) as caught:
        runs.get("20260101-000000-000-abcdef")
    assert str(caught.value).startswith("run '20260101-000000-000-abcdef' is unknown")


def test_rename(home, outcome):
    run = finished(outcome)
    run.rename("  My moons ")
    assert runs.get(run.id).title == "My moons"
    with pytest.raises(RecipeError, match="120"):
        run.rename("x" * 121)
    run.rename("")
    assert run.title == MOONS.title


def test_delete_restore_and_prune(home, outcome, monkeypatch):
    monkeypatch.setattr(folders, "TRASHED", 2)
    made = [finished(outcome) for _ in range(3)]
    for age, run in zip((300, 200, 100), made):
        run.delete()
        os.utime(home / "trash" / run.id, (time.time() - age,) * 2)
    assert runs.newest_first() == []
    extra = finished(outcome)
    extra.delete()
    assert set(runs.deleted()) == {made[2].id, extra.id}
    assert runs.restore(extra.id).result == outcome.result
    with pytest.raises(runs.UnknownRun):
        runs.restore(made[0].id)


def test_a_run_at_work_is_not_deleted(home):
    run = runs.create(MOONS)
    with pytest.raises(runs.RunBusy, match="cancel"):
        run.delete()
    run.release()
    run.delete()


def test_torn_and_foreign_content_does_not_close_the_store(home, outcome):
    run = finished(outcome)
    with open(run.path / "progress.jsonl", "ab") as file:
        file.write(b'[1]\n{"iterations": 2}\n' + json.dumps(LINE | {"iterations": 2}).encode() + b'\n{"iterat')
    assert run.progress()[1:] == [LINE | {"iterations": 2}]
    folder = home / "runs"
    (folder / "notes.txt").write_text("hello")
    (folder / "20260101-000000-000-abcdef").mkdir()
    damaged = folder / "20260101-000000-000-abcde0"
    damaged.mkdir()
    (damaged / "recipe.json").write_text('{"C": -1}')
    (folder / "20260101-000000-000-abcde1").write_text("a file")
    assert [r.id for r in runs.newest_first()] == [run.id]
    assert [r.id[-1] for r in runs.everything()] == [run.id[-1], "f", "0"]
    for letter, why in (("f", "it is missing"), ("0", "it has no name")):
        broken = runs.get(f"20260101-000000-000-abcde{letter}")
        assert (broken.state, broken.title) == ("damaged", f"run {broken.id}")
        assert broken.message == f"recipe.json is damaged: {why}"
    with pytest.raises(runs.UnknownRun):
        runs.get("20260101-000000-000-abcde1")


def test_of_many_that_a_killed_process_had_queued_those_that_never_began_are_cleared_away(home, monkeypatch):
    many = runs.Group.of("sweep", "C", "some")
    made = {name: runs.create(MOONS, group=group) for name, group in (("alone", None), ("one", many), ("begun", many))}
    made["begun"].set_state("running")
    made["begun"].save_grant(7.0)
    monkeypatch.setattr(runs, "_cleared", set())
    assert len(runs.everything()) == 3  # their process lives
    assert [run.grant_mb for run in runs.at_work()] == [7.0]
    for run in made.values():
        os.close(_claims.pop(run.id))  # as a kill does
    monkeypatch.setattr(runs, "_cleared", set())
    assert {run.id for run in runs.everything()} == {made["alone"].id, made["begun"].id}
    assert runs.at_work() == []


def test_half_made_runs_are_cleared_away_once_old(home):
    live, old = home / "runs" / ".new-a", home / "runs" / ".new-b"
    for folder in (live, old):
        folder.mkdir(parents=True)
        os.utime(folder, (time.time() - 3600,) * 2)
    handle = folders.claim(live)
    os.utime(live, (time.time() - 3600,) * 2)
    runs.newest_first()
    assert (live.exists(), old.exists()) == (True, False)
    os.close(handle)


def test_owner_without_locks_is_told_by_process_and_start(home, tmp_path):
    owner = {"pid": os.getpid(), "started": folders._started(os.getpid()), "locked": False}
    folders.write_json(tmp_path / folders.OWNER, owner)
    assert folders.is_owned(tmp_path)
    folders.write_json(tmp_path / folders.OWNER, owner | {"started": "1"})
    assert not folders.is_owned(tmp_path)
    folders.write_json(tmp_path / folders.OWNER, ["nonsense"])
    assert not folders.is_owned(tmp_path)


def no_space(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_keeps_the_older_file(home, tmp_path, monkeypatch):
    folders.write_json(tmp_path / "x.json", 1)
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        folders.write_json(tmp_path / "x.json", 2)
    assert json.loads((tmp_path / "x.json").read_text()) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]


def test_the_ballast_makes_room_for_the_last_word(home, monkeypatch):
    run, write = runs.create(MOONS), files.write

    def only_without_ballast(path, fill):
        if (run.path / "ballast").exists():
            no_space()
        write(path, fill)

    monkeypatch.setattr(files, "write", only_without_ballast)
    run.set_state("failed", "the disk is full")
    run.release()
    assert (run.state, run.message) == ("failed", "the disk is full")


def test_a_failed_create_leaves_nothing(home, monkeypatch):
    monkeypatch.setattr(files, "write", no_space)
    with pytest.raises(OSError, match="No space"):
        runs.create(MOONS)
    assert list((home / "runs").iterdir()) == []


def test_a_line_that_does_not_fit_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "write", lambda handle, data: len(data) - 1)
    with pytest.raises(OSError, match="No space"):
        folders.append_line(tmp_path / "p.jsonl", {"a": 1})
    monkeypatch.undo()
    (tmp_path / "p.jsonl").write_bytes(b'{"a":1}\n{"a":')  # as a full disk has left it
    for value in (3, 4):
        folders.append_line(tmp_path / "p.jsonl", {"a": value})
    assert (tmp_path / "p.jsonl").read_text().splitlines() == ['{"a":1}', '{"a":', '{"a":3}', '{"a":4}']


def test_errors_as_a_table(home, outcome):
    run = finished(outcome)
    lines = run.table("errors").splitlines()
    wrong = np.flatnonzero(outcome.test.y_true != outcome.test.y_pred)
    assert lines[0] == "part,of,index,true,predicted,f_1"
    assert len(lines) == 1 + len(wrong)
    first = lines[1].split(",")
    assert first[:3] == ["test", outcome.test.split, str(outcome.test.index[wrong[0]])]
    assert float(first[5]) == pytest.approx(outcome.test.decision[wrong[0], 0], rel=1e-4)


def test_all_predictions_as_a_table(home, outcome):
    lines = finished(outcome).table("predictions").splitlines()
    assert len(lines) == 1 + len(outcome.test.index)
    cells = [line.split(",") for line in lines[1:]]
    assert [int(row[2]) for row in cells] == outcome.test.index.tolist()
    assert [row[4] for row in cells] == list(map(str, outcome.test.y_pred))
    np.testing.assert_allclose([float(row[5]) for row in cells], outcome.test.decision[:, 0], rtol=1e-4)


def test_labels_cannot_pose_as_formulas():
    test = classify.TestSet(np.arange(1), np.array(["=1+1"]), np.array(["b"]), np.array([[0.5]]), "test")
    machine = SimpleNamespace(classes=np.array(["=1+1", "b"]))
    assert "'=1+1" in TASKS["classify"].table("errors", [test], [machine])
    assert csv_text(["=1+1"], [["@x"]]) == "'=1+1\n'@x\n"


@all_cases("recipe", RECIPES.values(), ids=RECIPES)
def test_every_script_names_the_same_experiment(recipe):
    space = {}
    exec(export.script(recipe).partition("outcome =")[0], space)
    assert space["recipe"].replace(title=recipe.title) == recipe


@pytest.mark.slow
@pytest.mark.parametrize("whose", ["published", pytest.param("own", marks=pytest.mark.ci)])
def test_the_exported_script_repeats_the_run_from_an_empty_folder(home, outcome, tmp_path, whose):
    recipe = MOONS
    if whose == "own":
        X = np.random.default_rng(0).standard_normal((60, 3)).astype(np.float32)
        entry = own.keep('Of "mine" =1+1', Arrays.unsplit(X, (X[:, 0] > 0).astype(int)))
        recipe = MOONS.replace(dataset=entry.name, title='"quoted" \\ """ name')
    found = outcome if whose == "published" else train.execute(recipe)
    text = finished(found, recipe).export_snippet()
    assert f"numpy {np.__version__}" in text
    assert "SVMLAB_HOME" in text
    assert whose == "own" or "SVMLAB_DATA" in text
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "again.py").write_text(text, encoding="utf-8")
    kept = ("PATH", "HOME", "SVMLAB_HOME", "NUMBA_CACHE_DIR")  # nothing else of this process
    done = subprocess.run(
        [sys.executable, "again.py"],
        cwd=folder,
        env={name: os.environ[name] for name in kept if name in os.environ} | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == TASKS["classify"].headline(found.result)
    again = load(folder / "machine.npz")
    X = found.machine.support_vectors
    np.testing.assert_allclose(again.decision_values(X), found.machine.decision_values(X), rtol=1e-6)


KILLED = """
import sys
from svmcore.lab.store import runs
from svmcore.lab.presets import RECIPES
from svmcore.lab.train import execute
outcome = execute(RECIPES["moons"])
print("ready", flush=True)
while True:
    run = runs.create(RECIPES["moons"])
    run.set_state("running")
    run.save_split(outcome.train_index, outcome.test.index)
    for i in range(20):
        run.add_progress({"iterations": i, "filler": "x" * 200})
    run.save_part(outcome.machine, outcome.test)
    run.complete(outcome.result)
    run.release()
"""


@pytest.mark.ci
@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_store_that_opens(home, tmp_path):
    rng = np.random.default_rng(0)
    for _ in range(2):
        env = os.environ | {"PYTHONPATH": str(ROOT), "SVMLAB_HOME": str(home)}
        process = subprocess.Popen([sys.executable, "-c", KILLED], env=env, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline().strip() == "ready"
        time.sleep(rng.uniform(0.01, 0.2))
        assert all(run.state in ("done", "running", "queued") for run in runs.newest_first())
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        states = [run.state for run in runs.newest_first()]
        assert set(states) <= {"done", "interrupted"}
        assert states.count("interrupted") <= 1
        for run in runs.newest_first():
            assert isinstance(run.progress(), list)
            if run.state == "done":
                assert run.machine().n_sv.sum() > 0
                assert json.loads(json.dumps(run.result)) == run.result
            run.delete()


def test_a_folder_that_another_process_renames_meanwhile_is_no_obstacle(home, monkeypatch):
    half_made = runs.home() / "runs" / ".new-20260101-000000-000-abcdef"
    half_made.mkdir(parents=True)
    monkeypatch.setattr(runs.folders, "is_owned", lambda path: path.rmdir())
    assert runs.newest_first() == []
