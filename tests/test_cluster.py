"""Runs on a cluster: a real scheduler and two real worker processes, one of which is killed in the end.

A run in slow motion stays at work for as long as a test needs it, at no cost to the processors.
"""

import json
import os
import platform
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import make_blobs
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier

from data import load, revisions
from data.dataset import Dataset
from data.verdicts import Verdict
from svmcore import SVC, Jittered, Poly
from svmcore import __main__ as cli
from svmcore.lab import execute
from svmcore.lab.forecast import estimate
from svmcore.lab.jobs import afar
from svmcore.lab.jobs import queue as jobs
from svmcore.lab.jobs.cluster import CLUSTER, ClusterError, Worker
from svmcore.lab.jobs.job import Job
from svmcore.lab.jobs.live import Live, Top, packed, unpacked
from svmcore.lab.jobs.queue import submit
from svmcore.lab.jobs.relay import Relay
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.solvers.progress import Snapshot
from tests.clusters import HERE, ROOT, Machines, free_port
from tests.driven import open_page, whole_app  # noqa: F401
from tests.gate import state, until

pytest.importorskip("distributed", reason="needs dask.distributed: pip install -r requirements-cluster.txt")

MOONS = RECIPES["moons"]
SLOW = MOONS.replace(slow_motion=True)
SECONDS = 120  # that anything may take on a busy machine


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    """A scheduler with two workers, which come to be while the first test does its part here."""
    made = Machines(tmp_path_factory.mktemp("cluster"))
    try:
        made.start()
        made.add("one")
        made.add("two")
        yield made
    finally:
        made.stop()


@pytest.fixture
def cluster(machines, home):
    """This process's runs go to the two workers, of which a test before may have killed one; at the end nothing is left
    at work."""
    for name in {"one", "two"} - machines.processes.keys():
        machines.add(name)
    until(lambda: connected(machines.address), SECONDS)
    until(lambda: CLUSTER.places() == 2, SECONDS)
    until(lambda: not any(one.tasks for one in CLUSTER.workers()), SECONDS)  # of an app that a test before has killed
    yield machines
    for run_id in jobs.active():
        jobs.cancel(run_id)
    until(lambda: all(job.gone or job.thread is None for job in jobs.QUEUE._jobs.values()))
    jobs.QUEUE._jobs.clear()
    CLUSTER.use("")


def connected(address):
    try:
        CLUSTER.use(address)
    except ClusterError:
        return False
    return True


def at_work(run_id):
    return state(run_id) == "running" and jobs.status(run_id).progress is not None


def ended(ids):
    return [jobs.wait(run_id, SECONDS).state for run_id in ids]


@pytest.mark.ci
def test_six_runs_on_two_workers_are_those_made_here_bit_for_bit(machines, home, request):
    features = RECIPES["digits-8x8-sv"].replace(preprocess=("gradients:2", "unit-norm"), n_train=200, n_test=100)
    sweep = [*(MOONS.replace(C=2.0**k, folds=2) for k in range(-3, 2)), features.replace(folds=2)]
    here = [submit(recipe) for recipe in sweep]
    assert ended(here) == 6 * ["done"]
    request.getfixturevalue("cluster")
    there = [submit(recipe, group=runs.Group("sweep", "C")) for recipe in sweep]
    most = 0
    while any(jobs.wait(run_id, 0.01).state != "done" for run_id in there):
        with jobs.QUEUE.changed:  # or one might end while the others are asked, and the next begin
            most = max(most, sum(state(run_id) == "running" for run_id in there))
        assert not any(state(run_id) == "failed" for run_id in there), [jobs.status(r).message for r in there]
    assert most == 2
    for one, other in zip(map(runs.get, here), map(runs.get, there), strict=True):
        for name in ("model.npz", "test.npz", "split.npz", "folded.npz"):
            assert (one.path / name).read_bytes() == (other.path / name).read_bytes(), name
        other.check()
        assert figures(one.result) == figures(other.result)
    assert len(runs.everything()) == 12


def figures(result):
    """A result, without what a clock or a machine says."""
    if isinstance(result, dict):
        beside = ("seconds", "_mb", "_share", "made_with")
        return {name: figures(each) for name, each in result.items() if not any(part in name for part in beside)}
    return [figures(each) for each in result] if isinstance(result, list) else result


def test_looks_and_progress_come_as_from_a_thread(cluster):
    run_id = submit(SLOW)
    until(lambda: at_work(run_id), SECONDS)
    seen = set()
    until(lambda: seen.add((live := jobs.status(run_id).live) and live.version) or len(seen) > 4, 30)
    live = jobs.status(run_id).live
    assert live.whole.coef.shape == live.whole.bound.shape == (1, len(live.whole.support))
    assert live.n_errors == len(live.y_true) <= live.n_sample
    assert runs.get(run_id).train_index().max() >= live.support.max()  # as the page finds the examples
    assert len(runs.get(run_id).progress()) > 1
    assert jobs.status(run_id).message == "Training"
    assert runs.get(run_id).state == "running"  # for whoever reads the store
    assert len(CLUSTER.doing()) == 1


def test_a_cancelled_run_ends_on_its_worker_at_once_and_leaves_nothing(cluster):
    run_id = submit(SLOW)
    until(lambda: at_work(run_id), SECONDS)
    started = time.monotonic()
    jobs.cancel(run_id)
    assert state(run_id) == "cancelled"
    until(lambda: jobs.QUEUE._jobs[run_id].gone)
    assert time.monotonic() - started < 1  # the worker has said its last word
    assert runs.get(run_id).state == "cancelled"
    until(lambda: not list(cluster.folder.rglob(run_id)))
    until(lambda: not any(one.tasks for one in CLUSTER.workers()), 10)


@pytest.mark.ci
def test_a_paused_run_stands_still_lends_its_place_and_goes_on(cluster):
    first, second = submit(SLOW), submit(SLOW)
    until(lambda: at_work(first) and at_work(second), SECONDS)
    third = submit(SLOW)
    assert state(third) == "queued"
    jobs.pause(first)
    until(lambda: state(first) == "paused" and at_work(third), 30)
    seen = jobs.status(first).progress
    threading.Event().wait(0.5)
    assert jobs.status(first).progress == seen
    jobs.resume(first)
    assert state(first) == "queued"
    jobs.cancel(second)
    until(lambda: state(first) == "running" and jobs.status(first).progress != seen, 30)


@pytest.mark.ci
def test_a_run_waits_for_the_machine_that_it_begins_with(cluster):
    base = SLOW.replace(C=7.0)
    first = submit(base)
    until(lambda: at_work(first), SECONDS)
    second = submit(base.replace(method="reduced", n_vectors=5))
    threading.Event().wait(0.3)
    assert state(second) == "queued"  # though there is a free worker
    jobs.cancel(first)
    until(lambda: state(second) == "running", 30)


def test_what_a_worker_has_not_got_it_says(cluster, monkeypatch):
    base = load("digits-8x8")
    revisions.add("digits-8x8@checked", base, [Verdict("train", 0, base.y_train[0].item(), "keep")])
    only_here = submit(Recipe(dataset="digits-8x8@checked", n_train=100, n_test=50))
    assert jobs.wait(only_here, SECONDS).state == "failed"
    said = "The worker (one|two) cannot load the data: "
    assert re.match(said + "There is no dataset 'digits-8x8@checked.1'", jobs.status(only_here).message)
    monkeypatch.setattr(Dataset, "content_hash", property(lambda self: "0" * 64))
    unlike = submit(MOONS)
    assert jobs.wait(unlike, SECONDS).state == "failed"
    assert re.match(said + "toy-moons on the worker is not that of the app", jobs.status(unlike).message)


def test_a_look_comes_back_whole():
    kernel = Jittered(Poly(2), jitters="box:1", image_shape=(3, 3))
    vectors = np.arange(18, dtype=np.float32).reshape(2, 9)
    machines = np.array([0, 4]), np.array([[1.5, -2.0]]), np.zeros(1), np.zeros((1, 2), bool)
    top = Top(np.array([4]), np.array([0.5]), np.array([True]), np.array([2]), np.array([False]))
    look = Live(3, (top, top), np.array([8]), np.array(["six"]), np.array(["nine"]), 1, 5, "test", None, 1)
    for whole in (None, Snapshot(*machines), Snapshot(*machines, vectors, kernel, np.zeros(2, np.int32))):
        back = unpacked(packed(look._replace(whole=whole)))
        assert repr(back) == repr(look._replace(whole=whole))
        assert back.top[1].bound.dtype == bool
        assert type(back.whole) is type(whole)


def test_only_files_that_a_run_has_are_taken_from_a_worker(home):
    run = runs.create(MOONS)
    job = Job(run, estimate(MOONS), threading.Condition(), lambda job: None)
    relay = Relay(job, Worker("tcp://there:1", "there", 0.0, 0.0, 0, {}, {}, ""), None)
    for name in ("../model.npz", "state.json", "owner.json", "recipe.json", "model.npz/x", "elsewhere.npz", "a.py"):
        with pytest.raises(ValueError, match="The worker there sent a file that does not belong to a run"):
            relay.file(name, b"", False)
    relay.file("model-3.npz", b"first, ", True)
    assert not (run.path / "model-3.npz").exists()
    relay.file("model-3.npz", b"last", False)
    assert (run.path / "model-3.npz").read_bytes() == b"first, last"
    run.release()


@pytest.mark.ci
def test_a_worker_without_this_lab_gets_no_runs_and_says_why(cluster, tmp_path, monkeypatch):
    known = [one.address for one in CLUSTER.workers()]
    cluster.add("elsewhere", folder=tmp_path)
    until(lambda: len(CLUSTER.workers()) == 3 and CLUSTER.workers()[-1].obstacle != "is starting", SECONDS)
    (new,) = [one for one in CLUSTER.workers() if one.address not in known]
    assert new.obstacle == "has no lab (No module named 'svmcore'); start it in the folder of the lab"
    assert CLUSTER.places() == 2
    cluster.kill("elsewhere")
    until(lambda: len(CLUSTER.workers()) == 2, SECONDS)
    monkeypatch.setattr(afar, "version", lambda: "another")
    CLUSTER.use(cluster.address)
    other = "has another version of the lab; start it with the same version"
    until(lambda: [one.obstacle for one in CLUSTER.workers()] == [other, other], SECONDS)
    monkeypatch.setattr(platform, "python_version_tuple", lambda: ("3", "10", "1"))
    CLUSTER.use(cluster.address)
    assert {one.obstacle[:11] for one in CLUSTER.workers()} == {"has Python "}


def test_without_a_scheduler_or_dask_it_says_so_at_once(home, monkeypatch):
    started = time.monotonic()
    with pytest.raises(
        ClusterError, match=r"No scheduler at tcp://127\.0\.0\.1:\d+: .*refused.*dask scheduler.*--cluster"
    ):
        CLUSTER.use(f"tcp://{HERE}:{free_port()}")
    assert time.monotonic() - started < 3
    with pytest.raises(ClusterError, match="allowed: tcp://host:port"):
        CLUSTER.use("http://elsewhere")
    assert CLUSTER.places() is None
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install -r requirements-cluster\.txt"):
        CLUSTER.use(f"tcp://{HERE}:8786")


def test_the_page_shows_the_workers_and_what_they_do(cluster, monkeypatch):
    monkeypatch.setattr(CLUSTER, "named", cluster.address)
    run_id = submit(SLOW)
    until(lambda: at_work(run_id), SECONDS)
    app = open_page("runs")
    assert app.expander[0].label == "Cluster: 2 workers"
    rows = app.dataframe[0].value.to_dict("records")
    assert {row["Worker"] for row in rows} == {"one", "two"}
    assert {row["Running"] for row in rows} == {"Two moons", "nothing"}
    assert {row["Differs"] for row in rows} == {"nothing"}
    asked = [one.key for one in app.text_input]
    assert "cluster_address" not in asked  # no page sends runs where nobody who started the app has said
    app.button(key="cluster_leave").click().run()
    assert app.expander[0].label == "Cluster: not in use"
    until(lambda: not CLUSTER.doing() and at_work(run_id), SECONDS)
    monkeypatch.setattr(CLUSTER, "named", "ask")
    app.run()
    app.text_input(key="cluster_address").set_value(f"tcp://{HERE}:{free_port()}").run()
    app.button(key="cluster_use").click().run()
    assert "No scheduler at tcp" in " ".join(toast.value for toast in app.toast)


@pytest.mark.ci
def test_an_app_that_is_killed_leaves_nothing_at_work(cluster, tmp_path):
    command = [sys.executable, "-m", "svmcore", "run", "moons", "--set", "slow_motion=true", "--cluster"]
    told = tmp_path / "told"
    with open(told, "wb") as log:
        app = subprocess.Popen([*command, cluster.address], cwd=ROOT, stderr=log, env=os.environ)
    try:
        until(lambda: "Training" in told.read_text(), SECONDS)
        assert list(cluster.folder.rglob("recipe.json"))
    finally:
        app.kill()
    app.wait()
    until(lambda: not list(cluster.folder.rglob("recipe.json")), 10)
    until(lambda: not any(one.tasks for one in CLUSTER.workers()), 10)


@pytest.mark.ci
def test_the_command_line_sends_runs_and_sweeps_there(cluster, capsys):
    assert cli.main(["run", "moons", "--repeats", "2", "--json", "--cluster", cluster.address]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert len({one["run"] for one in found}) == 2
    assert {one["made_with"]["Python"] for one in found} == {platform.python_version()}
    assert not jobs.active()
    assert cli.main(["sweep", "moons", "C", "1", "4", "--folds", "2", "--json"]) == 0  # as it goes there already
    assert [point["value"] for point in json.loads(capsys.readouterr().out.splitlines()[-1])] == ["1", "4"]
    assert cli.main(["run", "moons", "--cluster", "tcp://nowhere"]) == 2
    assert "SVMLAB_CLUSTER = 'tcp://nowhere'; allowed: tcp://host:port" in capsys.readouterr().err


@pytest.mark.ci
@pytest.mark.parametrize("backend", ["processes", "dask"])
def test_joblib_hands_folds_and_machines_to_any_backend(backend, request):
    """What is computed does not depend on where; recipes go out for a recipe's folds."""
    recipe = MOONS.replace(folds=3, C=3.0)
    X, y = make_blobs(120, centers=4, cluster_std=3.0, random_state=0)

    def all_of_it():
        one_vs_rest = OneVsRestClassifier(SVC("rbf", gamma=0.1), n_jobs=2).fit(X, y).decision_function(X)
        scores = cross_val_score(SVC("rbf", gamma=0.1), X, y, cv=3, n_jobs=2)
        validation = execute(recipe).result["validation"]["folds"]
        return one_vs_rest.tolist(), scores.tolist(), validation

    here = all_of_it()
    how = {"backend": "loky", "n_jobs": 2}
    if backend == "dask":
        request.getfixturevalue("cluster")
        how = CLUSTER.backend()
    with parallel_config(**how):
        assert all_of_it() == here


@pytest.mark.ci
def test_the_runs_of_a_killed_worker_are_repeated_once(cluster):
    ids = [submit(MOONS.replace(C=2.0**k, folds=60, preprocess=("zscore",))) for k in range(3)]
    until(lambda: len(CLUSTER.doing()) == 2, SECONDS)
    until(lambda: all(at_work(run_id) for (run_id,) in CLUSTER.doing().values()), SECONDS)
    (lost,) = next(those for address, those in CLUSTER.doing().items() if named(address) == "two")
    cluster.kill("two")
    until(lambda: "The worker two was lost; the run starts again" in jobs.status(lost).message, SECONDS)
    assert ended(ids) == 3 * ["done"]
    assert len(runs.everything()) == 3
    for run_id in ids:
        runs.get(run_id).check()
    seconds = [line["seconds"] for line in runs.get(lost).progress()]
    assert seconds == sorted(seconds)  # of the second time alone


@pytest.mark.ci
def test_a_run_waits_for_a_scheduler_that_is_gone_to_come_back(cluster):
    run_id = submit(MOONS.replace(folds=60, preprocess=("zscore",)))
    until(lambda: at_work(run_id), SECONDS)
    cluster.kill("scheduler")
    until(lambda: CLUSTER.trouble and state(run_id) == "queued", SECONDS)
    for name in ("one", "two"):  # they would end by themselves, as dask has it
        cluster.kill(name)
    cluster.start()
    cluster.add("one")
    assert ended([run_id]) == ["done"]
    assert not CLUSTER.trouble
    runs.get(run_id).check()


def named(address):
    return next(one.name for one in CLUSTER.workers() if one.address == address)
