"""Runs in the background: from start to result, paused, resumed, cancelled, looked at."""

import gc
import threading
import time
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core import event

from pages.ui.kit import words
from svmcore.gram import threads
from svmcore.lab import forecast, train
from svmcore.lab.jobs import console, worker
from svmcore.lab.jobs import queue as jobs
from svmcore.lab.jobs.job import Job, Status
from svmcore.lab.jobs.queue import submit
from svmcore.lab.meter import KIND
from svmcore.lab.methods import METHODS
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from svmcore.solvers.progress import Progress
from tests.gate import AT_ONCE, MOONS, state, until


def test_a_run_from_queue_to_result(home):
    run_id = submit(MOONS)
    status = jobs.wait(run_id, 60)
    assert (status.state, status.message) == ("done", "")
    run = runs.get(run_id)
    plain = train.execute(MOONS)
    assert run.result["errors"] == plain.result["errors"]
    assert run.result["n_sv"] == plain.result["n_sv"]
    assert (run.test().decision == plain.test.decision).all()
    assert run.progress()[-1]["gap"] <= MOONS.tol
    assert run_id not in jobs.active()


@pytest.mark.parametrize("large", [True, False])
def test_what_a_large_run_leaves_goes_with_its_end(home, monkeypatch, large):
    """Reference cycles, such as trainings make by their callbacks, which Python would not collect for a while."""
    left, judge = [], train.judge

    def judged(*given):
        circle = threading.Event()  # which a weak reference can be to
        circle.own = circle
        left.append(weakref.ref(circle))
        return judge(*given)

    monkeypatch.setattr(train, "judge", judged)
    monkeypatch.setattr(jobs, "NOTICED_MB", -1 if large else 1e6)
    gc.disable()
    try:
        run_id = submit(MOONS)
        assert jobs.wait(run_id, 60).state == "done"
        jobs.QUEUE._jobs[run_id].thread.join(60)
        assert (left[0]() is None) == large
    finally:
        gc.enable()


def test_pause_stops_the_solver_and_resume_goes_on(gate):
    run_id = submit(MOONS)
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


@pytest.mark.parametrize("at", ["training", "saving"])
def test_a_cancelled_run_ends_for_its_reader_and_whatever_its_thread_still_does_changes_nothing(gate, monkeypatch, at):
    """The thread may be in the compiler, or in a native call. It used to be waited for: up to 12 s."""
    reached, go_on, known = threading.Event(), threading.Event(), runs.Run.save_part

    def busy(*arguments):
        reached.set()
        assert go_on.wait(30)
        return known(*arguments) if at == "saving" else gate.real(*arguments[:2], None)

    if at == "saving":
        gate.open.set()
        monkeypatch.setattr(runs.Run, "save_part", busy)
    else:
        monkeypatch.setattr(METHODS["sv"], "train", busy)
    first = submit(MOONS)
    assert reached.wait(60)
    second = submit(MOONS)
    jobs.cancel(first)
    ended = jobs.status(first)
    assert (ended.state, ended.message, ended.eta_seconds) == ("cancelled", "", None)
    assert runs.get(first).state == "cancelled"
    waits = jobs.status(second)  # for the thread, which holds cores and memory
    assert (waits.state, waits.ahead) == ("queued", ())
    assert "cancelled run" in waits.message
    job, before = jobs.QUEUE._jobs[first], files_of(first)
    go_on.set()
    job.thread.join(30)
    assert jobs.status(first) == ended
    late = {"model.npz", "test.npz"} if at == "saving" else set()  # what was being written may come to be, whole
    assert {name: text for name, text in files_of(first).items() if name not in late} == before
    gate.open.set()
    assert jobs.wait(second, 60).state == "done"


def test_a_cancel_beside_the_end_leaves_one_ending_for_the_reader_and_in_the_store(gate):
    """Done or cancelled, as it happens: never one here and the other there."""
    rng, found = np.random.default_rng(0), set()
    gate.open.set()
    jobs.wait(submit(MOONS), 60)  # compiled
    for _ in range(20):
        run_id = submit(MOONS)
        until(lambda run_id=run_id: "Testing" in jobs.status(run_id).message or state(run_id) == "done", 10)
        time.sleep(rng.uniform(0, 0.03))
        jobs.cancel(run_id)
        jobs.wait(run_id, 10)
        jobs.QUEUE._jobs[run_id].thread.join(10)
        assert state(run_id) == runs.get(run_id).state
        found.add(state(run_id))
    assert found <= {"done", "cancelled"}


def files_of(run_id):
    """What the files of a run hold, by name."""
    return {path.name: path.read_bytes() for path in runs.get(run_id).path.iterdir()}


@pytest.mark.parametrize("at", ["running", "paused"])
def test_cancel_takes_effect_at_once(gate, at):
    run_id = submit(MOONS)
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


def test_a_run_pauses_and_stops_between_any_two_pieces_of_its_work(home, monkeypatch):
    pieces = []

    def works(recipe, problem, monitor):
        while True:
            threads.side_by_side(lambda: (pieces.append(1), time.sleep(0.002)), [()])

    monkeypatch.setattr(METHODS["sv"], "train", works)
    run_id = submit(MOONS)
    until(lambda: pieces)
    jobs.pause(run_id)
    until(lambda: state(run_id) == "paused", 10)
    n = len(pieces)
    threading.Event().wait(0.05)
    assert len(pieces) == n
    jobs.resume(run_id)
    until(lambda: len(pieces) > n, 10)
    jobs.cancel(run_id)
    jobs.QUEUE._jobs[run_id].thread.join(10)
    assert not jobs.QUEUE._jobs[run_id].thread.is_alive()


def test_a_run_says_that_it_compiles_whatever_it_reports_meanwhile(home, monkeypatch):
    """Machines side by side: one is in the compiler, and the thread that reports used to say "Training"."""
    said = []

    def compiles(recipe, problem, monitor):
        progress = Progress("train", 1, 1.0, (1.0,), 0.0, 1, 0, 0, 0, 0, 0.0, None)
        for kind in ("other", KIND, "other"):
            with event.trigger_event(kind, data={}):
                monitor(progress)
                said.append(jobs.status(run_id).message)
        return real(recipe, problem, monitor)

    real, began = METHODS["sv"].train, threading.Event()
    monkeypatch.setattr(METHODS["sv"], "train", lambda *of: began.wait(10) and compiles(*of))
    run_id = submit(MOONS)
    began.set()
    assert jobs.wait(run_id, 60).message == ""
    assert said == ["Training", "Compiling, once", "Training"]


def test_a_pause_that_has_to_wait_says_so(gate):
    run_id = submit(MOONS)
    until(lambda: gate.bursts > 0)
    job, at_checkpoint, go_on = jobs.QUEUE._jobs[run_id], threading.Event(), threading.Event()
    real = job.checkpoint

    def slow_checkpoint():
        at_checkpoint.set()
        go_on.wait(10)
        job.publish(message="Training")
        return real()

    job.checkpoint = slow_checkpoint
    assert at_checkpoint.wait(10)
    jobs.pause(run_id)
    assert (state(run_id), jobs.status(run_id).message) == ("running", jobs.PAUSING)
    go_on.set()
    until(lambda: state(run_id) == "paused", 10)
    assert jobs.status(run_id).message == ""


def test_the_time_left_runs_down_between_reports_but_for_pauses_and_then_it_is_longer_than_forecast(monkeypatch):
    clock = SimpleNamespace(monotonic=lambda: clock.at, at=100.0)
    monkeypatch.setattr("svmcore.lab.jobs.job.time", clock)
    forecast = SimpleNamespace(seconds=9.0, at_rest=9.0, rests=0.0)
    job = Job(SimpleNamespace(recipe=MOONS, group=None), forecast, threading.Condition(), None)
    assert (job.left, job.now().late) == (9.0, 0.0)
    job.tell(state="running")
    job.publish(eta_seconds=5.0)
    clock.at += 2.0
    job.publish(message="Testing")  # says nothing of the time
    assert (job.now().eta_seconds, job.left) == (3.0, 3.0)
    job.tell(state="paused")
    clock.at += 50.0
    assert job.now().eta_seconds == 3.0
    job.tell(state="running")
    clock.at += 3.5
    assert (job.now().late, job.left) == (0.0, 0.0)
    clock.at += 60.0
    assert (job.now().late, job.left) == (60.5, 0.0)


@pytest.mark.parametrize(
    ("eta", "page", "metric", "line"),
    [
        (None, "", {}, ""),
        (12.0, "12 s left", {"Time left": "12 s"}, ", 12 s left"),
        (-0.9, "0.1 s left", {"Time left": "0.1 s"}, ", 0 s left"),
        (-75.0, "1 min 15 s longer than forecast", {"Over forecast": "1 min 15 s"}, ", 75 s longer than forecast"),
    ],
)
def test_a_forecast_that_is_used_up_is_said_on_pages_and_on_the_command_line(eta, page, metric, line):
    status = Status("running", eta_seconds=eta)
    assert (words.left(status), words.left_metric(status), console.left(status)) == (page, metric, line)


def test_cancel_wakes_slow_motion(gate):
    run_id = submit(MOONS.replace(slow_motion=True))
    until(lambda: gate.bursts > 0)
    gate.real = lambda *args: None
    started = time.perf_counter()
    jobs.cancel(run_id)
    assert jobs.wait(run_id, 10).state == "cancelled"
    assert time.perf_counter() - started < AT_ONCE


def test_commands_after_the_end_change_nothing(home):
    run_id = submit(MOONS)
    jobs.wait(run_id, 60)
    for command in (jobs.pause, jobs.resume, jobs.cancel):
        command(run_id)
    assert state(run_id) == "done"


def test_a_run_that_is_said_to_be_done_has_its_result_also_within_one_look(home):
    run_id = submit(MOONS)
    with runs.one_look():
        assert runs.get(run_id).result is None
        until(lambda: jobs.status(run_id).state == "done")
        assert runs.get(run_id).result


def test_runs_of_the_store_have_a_status_but_take_no_commands(home):
    run = runs.create(MOONS)
    run.set_state("failed", "why")
    run.release()
    assert jobs.status(run.id) == Status("failed", None, None, "why", None)
    with pytest.raises(runs.RunBusy):
        jobs.cancel(run.id)
    with pytest.raises(runs.UnknownRun):
        jobs.status("20260101-000000-000-abcdef")


def test_looks_show_alphas_and_errors_of_the_moment(gate):
    run_id = submit(MOONS)
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
    run_id = submit(MOONS, looks=False)
    until(lambda: gate.bursts > 5)
    assert jobs.status(run_id).live is None


@pytest.mark.slow
@pytest.mark.parametrize("slow_motion", [False, True])
def test_a_short_run_has_five_looks_the_last_at_its_end(home, slow_motion, monkeypatch):
    monkeypatch.setattr(worker, "RESTS", 3.0)
    recipe = RECIPES["digits-8x8-sv"].replace(n_train=400, slow_motion=slow_motion)
    run_id = submit(recipe)
    status = jobs.wait(run_id, 240)
    assert status.state == "done"
    assert status.live.version >= 5
    for shown, alpha in zip(status.live.top, np.abs(runs.get(run_id).machine().coef), strict=True):
        np.testing.assert_allclose(shown.alpha, np.sort(alpha)[::-1][: len(shown.alpha)], rtol=1e-6)
    test = runs.get(run_id).test()
    assert status.live.n_sample == len(test.y_true)
    assert status.live.n_errors == (test.y_true != test.y_pred).sum()
    if slow_motion:
        assert runs.get(run_id).result["fit_seconds"] < 10


def test_runs_at_work_share_the_memory(gate, monkeypatch):
    monkeypatch.setattr(forecast, "free_mb", lambda: 1000.0)
    alone = forecast.estimate(MOONS)
    run_id = submit(MOONS)
    until(lambda: gate.bursts > 0)
    promised = runs.get(run_id).grant_mb
    assert promised > 0
    assert forecast.estimate(MOONS).cache_mb == pytest.approx(alone.cache_mb - promised / 3)
