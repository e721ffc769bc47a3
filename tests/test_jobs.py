"""Runs in the background: queue, pause, resume, cancel, failures, looks, and what the end of the process leaves."""

import errno
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from svmcore.lab.experiment import train
from svmcore.lab.forecast import estimate
from svmcore.lab.jobs import process, welcome
from svmcore.lab.jobs import queue as jobs
from svmcore.lab.jobs.job import Status
from svmcore.lab.jobs.warm import warm_up
from svmcore.lab.recipes import PRESET, RECIPES
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.store import runs
from svmcore.solvers.progress import Progress, Snapshot

ROOT = Path(__file__).parent.parent
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
MOONS = RECIPES["moons"]
AT_ONCE = 0.2  # seconds in which a run must have stopped when asked


class Gate:
    """A method that trains in bursts of 5 ms for as long as the test likes."""

    def __init__(self, monkeypatch):
        self.open = threading.Event()
        self.bursts = 0
        self.real = METHODS["sv"].train
        monkeypatch.setattr(METHODS["sv"], "train", self)

    def __call__(self, recipe, problem, monitor):
        look = Snapshot(np.arange(5), np.linspace(-1, 1, 5)[None, :], np.zeros(1), bound=np.eye(1, 5, dtype=bool))
        while not self.open.is_set():
            self.bursts += 1
            self.open.wait(0.005)
            gap = 1 / self.bursts
            if not monitor(Progress("train", self.bursts, gap, (gap,), 0.0, 5, 0, 0, 0, 0, 0.0, lambda: look)):
                break
        return self.real(recipe, problem, None)


@pytest.fixture
def gate(home, monkeypatch):
    gate = Gate(monkeypatch)
    yield gate
    for run_id in jobs.active():
        jobs.cancel(run_id)
    gate.open.set()
    for run_id in list(jobs.QUEUE._jobs):
        jobs.wait(run_id, 10)
    jobs.QUEUE._jobs.clear()


def until(true, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        threading.Event().wait(0.002)


def state(run_id):
    return jobs.status(run_id).state


def test_a_run_from_queue_to_result(home):
    run_id = jobs.submit(MOONS)
    status = jobs.wait(run_id, 60)
    assert (status.state, status.message) == ("done", "")
    run = runs.get(run_id)
    plain = train.execute(MOONS)
    assert run.result["errors"] == plain.result["errors"]
    assert run.result["n_sv"] == plain.result["n_sv"]
    assert (run.test().decision == plain.test.decision).all()
    assert run.progress()[-1]["gap"] <= MOONS.tol
    assert run_id not in jobs.active()


def test_one_at_a_time_in_order(gate):
    ids = [jobs.submit(MOONS) for _ in range(3)]
    until(lambda: gate.bursts > 3)
    assert [state(i) for i in ids] == ["running", "queued", "queued"]
    assert jobs.active() == ids
    assert [jobs.status(i).message for i in ids[1:]] == ["Waits for 1 other run", "Waits for 2 other runs"]
    jobs.cancel(ids[1])
    assert state(ids[1]) == "cancelled"
    assert runs.get(ids[1]).state == "cancelled"
    jobs.cancel(ids[0])
    until(lambda: state(ids[2]) == "running")
    gate.open.set()
    assert jobs.wait(ids[2], 60).state == "done"


def test_the_queue_is_bounded(gate, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_QUEUED", 1)
    jobs.submit(MOONS)
    until(lambda: gate.bursts > 0)
    jobs.submit(MOONS)
    with pytest.raises(jobs.QueueFull, match="waiting already"):
        jobs.submit(MOONS)
    assert len(runs.newest_first()) == 2


def test_pause_stops_the_solver_and_resume_goes_on(gate):
    run_id = jobs.submit(MOONS)
    until(lambda: gate.bursts > 0)
    jobs.pause(run_id)
    until(lambda: state(run_id) == "paused")
    assert runs.get(run_id).state == "paused"
    bursts = gate.bursts
    threading.Event().wait(0.05)
    assert gate.bursts == bursts
    jobs.resume(run_id)
    until(lambda: gate.bursts > bursts)
    assert state(run_id) == "running"
    gate.open.set()
    assert jobs.wait(run_id, 60).state == "done"


def test_a_paused_run_lends_its_place_and_gets_the_next_free_one(gate):
    first, second, third = (jobs.submit(MOONS) for _ in range(3))
    until(lambda: gate.bursts > 0)
    jobs.pause(first)
    until(lambda: state(second) == "running")
    jobs.resume(first)
    assert state(first) == "queued"
    jobs.cancel(second)
    until(lambda: state(first) == "running")
    assert state(third) == "queued"


def test_a_queued_run_may_be_paused(gate):
    first, second = jobs.submit(MOONS), jobs.submit(MOONS)
    until(lambda: gate.bursts > 0)
    jobs.pause(second)
    assert state(second) == "paused"
    jobs.cancel(first)
    jobs.wait(first, 10)
    assert state(second) == "paused"
    jobs.resume(second)
    until(lambda: state(second) == "running")


def test_a_pause_lends_the_place_to_a_run_that_resumed_before(gate):
    first, second = jobs.submit(MOONS), jobs.submit(MOONS)
    until(lambda: gate.bursts > 0)
    jobs.pause(first)
    until(lambda: state(second) == "running")
    third = jobs.submit(MOONS)
    jobs.resume(first)
    assert jobs.status(first).message == "Waits for 1 other run"
    jobs.pause(second)
    until(lambda: state(first) == "running", 10)
    assert [state(second), state(third)] == ["paused", "queued"]
    jobs.pause(first)
    until(lambda: state(third) == "running", 10)
    gate.open.set()
    assert jobs.wait(third, 60).state == "done"
    for run_id in (second, first):
        jobs.resume(run_id)
        assert jobs.wait(run_id, 60).state == "done"


def test_a_run_that_waits_to_go_on_may_be_paused_again_and_cancelled(gate):
    first, second = jobs.submit(MOONS), jobs.submit(MOONS)
    until(lambda: gate.bursts > 0)
    jobs.pause(first)
    until(lambda: state(second) == "running")
    jobs.resume(first)
    jobs.pause(first)
    assert state(first) == "paused"
    jobs.resume(first)
    assert state(first) == "queued"
    gate.real = lambda *args: None
    started = time.perf_counter()
    jobs.cancel(first)
    assert jobs.wait(first, 10).state == "cancelled"
    assert time.perf_counter() - started < AT_ONCE
    assert state(second) == "running"


@pytest.mark.parametrize("name", ["release", "set_state"])
def test_whatever_fails_at_the_end_of_a_run_frees_its_place(gate, monkeypatch, name):
    first = jobs.submit(MOONS)
    until(lambda: gate.bursts > 0)
    second, real = jobs.submit(MOONS), getattr(runs.Run, name)

    def broken(run, *arguments):
        if run.id == first and (not arguments or arguments[0] == "cancelled"):
            raise RuntimeError("no such file descriptor")
        return real(run, *arguments)

    monkeypatch.setattr(runs.Run, name, broken)
    jobs.cancel(first)
    assert jobs.wait(first, 10).state == "cancelled"
    until(lambda: state(second) == "running", 10)


def test_a_worker_that_dies_frees_its_place(gate, monkeypatch):
    def dies(run, control):
        raise SystemExit(3)

    real = jobs.worker.carry_out
    monkeypatch.setattr(jobs.worker, "carry_out", dies)
    assert jobs.wait(jobs.submit(MOONS), 10) == Status("failed", message="SystemExit: 3")
    monkeypatch.setattr(jobs.worker, "carry_out", real)
    gate.open.set()
    assert jobs.wait(jobs.submit(MOONS), 60).state == "done"


def test_a_system_without_more_threads_fails_the_run_and_no_other(gate, monkeypatch):
    def no_threads(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", no_threads)
        failed = jobs.submit(MOONS)
    assert jobs.status(failed) == Status("failed", message="can't start new thread")
    gate.open.set()
    assert jobs.wait(jobs.submit(MOONS), 60).state == "done"


def test_a_run_that_is_being_cancelled_says_so(gate):
    run_id = jobs.submit(MOONS)
    until(lambda: gate.bursts > 0)
    job, at_checkpoint, go_on = jobs.QUEUE._jobs[run_id], threading.Event(), threading.Event()

    def slow_checkpoint():
        at_checkpoint.set()
        go_on.wait(10)
        job.publish(message="Training")
        return not job.stop.is_set()

    job.checkpoint = slow_checkpoint
    assert at_checkpoint.wait(10)
    jobs.cancel(run_id)
    assert jobs.status(run_id)[:1] + jobs.status(run_id)[3:4] == ("running", "Cancelling")
    go_on.set()
    gate.real = lambda *args: None
    assert jobs.wait(run_id, 10) == jobs.status(run_id)
    assert state_message(run_id) == ""


def test_no_job_changes_its_state_against_the_rules(gate):
    run_id = jobs.submit(MOONS)
    job = jobs.QUEUE._jobs[run_id]
    with jobs.QUEUE.changed:
        for state_, allowed in jobs.CHANGES.items():
            job.publish(state=state_)
            for other in jobs.CHANGES.keys() - set(allowed):
                with pytest.raises(RuntimeError, match=f"is {state_} and cannot become {other}"):
                    jobs.QUEUE._become(job, other)
        job.publish(state="running")


def test_random_orders_never_leave_the_queue_standing(gate):
    """Whatever is asked of five runs, at most one works; when all are resumed all of them end."""
    rng = np.random.default_rng(0)
    ids = [jobs.submit(MOONS) for _ in range(5)]
    for _ in range(200):
        getattr(jobs, str(rng.choice(["pause", "resume"])))(str(rng.choice(ids)))
        assert [state(i) for i in ids].count("running") <= 1
        if rng.random() < 0.2:
            bursts = gate.bursts
            until(lambda before=bursts: gate.bursts > before or "running" not in map(state, ids), 10)
    gate.open.set()
    for run_id in ids:
        jobs.resume(run_id)
    assert [jobs.wait(run_id, 60).state for run_id in ids] == ["done"] * 5


@pytest.mark.parametrize("at", ["running", "paused"])
def test_cancel_takes_effect_at_once(gate, at):
    run_id = jobs.submit(MOONS)
    until(lambda: gate.bursts > 0)
    if at == "paused":
        jobs.pause(run_id)
        until(lambda: state(run_id) == "paused")
    gate.real = lambda *args: None  # what the solver returns then is not looked at
    started = time.perf_counter()
    jobs.cancel(run_id)
    assert jobs.wait(run_id, 10).state == "cancelled"
    assert time.perf_counter() - started < AT_ONCE
    assert runs.get(run_id).state == "cancelled"


def test_cancel_wakes_slow_motion(gate):
    run_id = jobs.submit(MOONS.replace(slow_motion=True))
    until(lambda: gate.bursts > 0)
    gate.real = lambda *args: None
    started = time.perf_counter()
    jobs.cancel(run_id)
    assert jobs.wait(run_id, 10).state == "cancelled"
    assert time.perf_counter() - started < AT_ONCE


def test_commands_after_the_end_change_nothing(home):
    run_id = jobs.submit(MOONS)
    jobs.wait(run_id, 60)
    for command in (jobs.pause, jobs.resume, jobs.cancel):
        command(run_id)
    assert state(run_id) == "done"


def test_runs_of_the_store_have_a_status_but_take_no_commands(home):
    run = runs.create(MOONS)
    run.set_state("failed", "why")
    run.release()
    assert jobs.status(run.id) == Status("failed", None, None, "why", None)
    with pytest.raises(runs.RunBusy):
        jobs.cancel(run.id)
    with pytest.raises(runs.UnknownRun):
        jobs.status("20260101-000000-000-abcdef")


def failing(error):
    def train_and_fail(recipe, problem, monitor):
        raise error

    return train_and_fail


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "x"), "is full"),
        (MemoryError(), "memory ran out"),
        (ValueError("y has one class"), "^y has one class$"),
        (ZeroDivisionError("oops"), "^ZeroDivisionError: oops$"),
    ],
)
def test_failures_are_told_in_words(home, monkeypatch, error, words):
    monkeypatch.setattr(METHODS["sv"], "train", failing(error))
    run_id = jobs.submit(MOONS)
    status = jobs.wait(run_id, 60)
    assert status.state == "failed"
    assert runs.get(run_id).state == "failed"
    assert re.search(words, runs.get(run_id).message)
    monkeypatch.undo()


def test_a_full_disk_during_training_fails_the_run_and_keeps_the_others(gate, monkeypatch):
    gate.open.set()
    kept = jobs.submit(MOONS)
    jobs.wait(kept, 60)
    gate.open.clear()
    bursts = gate.bursts

    def no_space(self, line):
        raise OSError(errno.ENOSPC, "No space left on device")

    run_id = jobs.submit(MOONS)
    until(lambda: gate.bursts > bursts)
    monkeypatch.setattr(runs.Run, "add_progress", no_space)
    status = jobs.wait(run_id, 20)
    assert status.state == "failed"
    assert "is full" in status.message
    assert runs.get(kept).state == "done"


def test_a_full_disk_takes_no_new_run(home, monkeypatch):
    def no_space(self, *args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(runs.Run, "set_state", no_space)
    with pytest.raises(OSError, match="is full"):
        jobs.submit(MOONS)
    assert jobs.active() == []
    assert list((home / "runs").iterdir()) == []


def test_a_last_word_that_cannot_be_written_is_kept_in_memory(gate, monkeypatch):
    run_id = jobs.submit(MOONS)
    until(lambda: gate.bursts > 0)

    def no_space(self, *args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(runs.Run, "save_part", no_space)
    monkeypatch.setattr(runs.Run, "set_state", no_space)
    gate.open.set()
    assert jobs.wait(run_id, 60).state == "failed"
    assert "is full" in state_message(run_id)


def state_message(run_id):
    return jobs.status(run_id).message


def test_looks_show_alphas_and_errors_of_the_moment(gate):
    run_id = jobs.submit(MOONS)
    until(lambda: (live := jobs.status(run_id).live) and live.version >= 5)
    live = jobs.status(run_id).live
    assert (live.n_sample, live.of(0)) == (300, live)
    assert sorted(live.support) == [0, 1, 3, 4]  # row 2 has alpha 0
    assert (np.diff(live.alpha) <= 0).all()
    data = train.prepare(MOONS)
    f = MOONS.kernel.block(data.X_train[:5], data.X_test).T @ np.linspace(-1, 1, 5)
    wrong = np.flatnonzero((f > 0) != (data.y_test == data.y_test.max()))
    assert sorted(live.test_index) == sorted(data.test_index[wrong])
    assert (live.y_true != live.y_pred).all()


def test_nobody_looks_when_nobody_asked(gate):
    run_id = jobs.submit(MOONS, looks=False)
    until(lambda: gate.bursts > 5)
    assert jobs.status(run_id).live is None


@pytest.mark.slow
@pytest.mark.parametrize("slow_motion", [False, True])
def test_a_short_run_has_five_looks_the_last_at_its_end(home, slow_motion):
    recipe = RECIPES["digits-8x8-sv"].replace(n_train=400, slow_motion=slow_motion)
    run_id = jobs.submit(recipe)
    status = jobs.wait(run_id, 240)
    assert status.state == "done"
    assert status.live.version >= 5
    assert status.live.at_iteration == runs.get(run_id).result["iterations"]
    test = runs.get(run_id).test()
    assert status.live.n_sample == len(test.y_true)
    assert status.live.n_errors == (test.y_true != test.y_pred).sum()
    if slow_motion:
        assert runs.get(run_id).result["fit_seconds"] < 10


def test_the_preset_is_trained_once_in_an_empty_store(gate, monkeypatch):
    monkeypatch.setattr(welcome, "warm_up", lambda go_on: None)
    first = welcome.ensure_preset()
    assert runs.get(first).recipe == RECIPES[PRESET]
    for forget in (False, True):
        if forget:
            welcome.WELCOME.homes.clear()
        assert welcome.ensure_preset() is None
    jobs.cancel(first)
    jobs.wait(first, 60)
    runs.get(first).delete()
    welcome.WELCOME.homes.clear()
    assert welcome.ensure_preset() is None  # the trash still has it


@pytest.mark.slow
def test_after_the_warm_up_nothing_is_left_to_compile(home):
    warm_up(lambda: True)
    for recipe in (RECIPES["digits-8x8-sv"], RECIPES["digits-8x8-sv"].replace(solver="decomposition"), MOONS):
        assert train.execute(recipe).result["compile_seconds"] < 0.2


def test_two_processes_train_one_preset(home):
    code = (
        "import os, sys; from svmcore.lab.jobs import queue as jobs, welcome; os.environ['SVMLAB_HOME'] = sys.argv[1];"
        "jobs.worker.carry_out = lambda run, job: ('done', ''); welcome.warm_up = print; welcome.ensure_preset()"
    )
    command = [sys.executable, "-c", code, str(home)]
    started = [subprocess.Popen(command, env=ENVIRONMENT) for _ in range(2)]
    assert [process.wait(120) for process in started] == [0, 0]
    assert len(runs.newest_first()) == 1


@pytest.mark.parametrize("command", ["status", "pause"])
def test_the_end_of_the_process_cancels_its_runs(home, command):
    code = (
        "import os, sys, time; from svmcore.lab.jobs import queue as jobs; os.environ['SVMLAB_HOME'] = sys.argv[1];"
        "from svmcore.lab.recipes import RECIPES;"
        "run = jobs.submit(RECIPES['mnist-5k-sv'].replace(slow_motion=True)); jobs.submit(RECIPES['digits-8x8-sv']);"
        "wait = time.sleep;"
        "[wait(0.05) for _ in range(2000) if not (p := jobs.status(run).progress) or not p['iterations']];"
        "getattr(jobs, sys.argv[2])(run); wait(0.3)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(home), command], env=ENVIRONMENT, timeout=120)
    assert done.returncode == 0
    second, first = (run.state for run in runs.newest_first())
    assert first == "cancelled"
    assert second == "cancelled" or (second == "done" and command == "pause")  # which lends its place


def test_python_still_has_the_private_call_that_the_end_of_the_process_needs():
    """When this fails, read `before_threads_are_joined` and look for what has taken its place."""
    assert callable(getattr(threading, "_register_atexit", None))


def test_without_the_private_call_the_end_of_the_process_is_told_by_atexit(monkeypatch):
    told = []
    monkeypatch.delattr(threading, "_register_atexit")
    monkeypatch.setattr("atexit.register", told.append)
    process.before_threads_are_joined(len)
    assert told == [len]


def test_runs_at_work_share_the_memory(gate, monkeypatch):
    monkeypatch.setattr(estimate, "free_mb", lambda: 1000.0)
    alone = estimate.estimate(MOONS)
    run_id = jobs.submit(MOONS)
    until(lambda: gate.bursts > 0)
    promised = runs.get(run_id).grant_mb
    assert promised > 0
    assert estimate.estimate(MOONS).cache_mb == pytest.approx(alone.cache_mb - promised / 3)
