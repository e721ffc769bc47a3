"""What a run costs beside its training: compiling and memory, each counted for the run alone."""

import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from numba import njit

from svmcore.gram.threads import side_by_side
from svmcore.lab import train
from svmcore.lab.jobs import queue as jobs
from svmcore.lab.jobs import worker
from svmcore.lab.jobs.queue import submit
from svmcore.lab.meter import Compiling, Meter
from svmcore.lab.store import runs
from svmcore.solvers.progress import Progress
from svmcore.solvers.session import Session
from tests.gate import MOONS

ROOT = Path(__file__).parents[1]


def compiled():
    """A function that no one has compiled yet."""

    def add(a, b):
        return a + b

    return njit(add)


def on_the_pool(function):
    side_by_side(function, [(1, 2), (3, 4)])


def on_machines(function):
    Session().side_by_side(function, [(1, 2), (3, 4)], 2)


def test_compiling_is_counted_where_it_is_the_runs_own():
    told = []
    with Compiling(lambda: told.append(1)) as own:
        assert own.seconds == 0
        for theirs in (lambda: compiled()(1, 2), lambda: on_the_pool(compiled()), lambda: on_machines(compiled())):
            stranger = threading.Thread(target=theirs)
            stranger.start()
            stranger.join()
        assert own.seconds == 0
        compiled()(1, 2)
        once = own.seconds
        on_the_pool(compiled())
        twice = own.seconds
        on_machines(compiled())
    assert 0 < once < twice < own.seconds
    n = len(told)
    assert n >= 2
    compiled()(1, 2)
    assert len(told) == n


def test_one_that_comes_while_another_compiles_loses_no_count():
    with Compiling() as own:
        own.on_end(None)  # of one that began before
        compiled()(1, 2)
        assert own.seconds > 0


def test_compiling_can_be_broken_off_between_two_functions_and_begun_again():
    inner = compiled()
    outer = njit(lambda a: inner(a, a))
    begun = []

    def second_stops():
        begun.append(1)
        if len(begun) == 2:
            raise train.Cancelled

    with Compiling(second_stops), pytest.raises(train.Cancelled):
        outer(2)
    assert len(begun) == 2
    assert outer(2) == 4


def test_memory_is_what_the_run_takes_beyond_what_the_process_had():
    """In a process of its own: in this one the threads of other tests take memory and give it back."""
    code = """
import numpy as np
from svmcore.lab.meter import Meter
before = np.ones(20 * 2**20, np.uint8)
with Meter() as meter:
    meter.sample()
    taken = np.ones(60 * 2**20, np.uint8)
    meter.sample()
    del taken
    print(meter.figures()["memory_mb"])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert 55 < float(done.stdout) < 75


def test_time_leaves_slow_motion_and_compiling_out(home, monkeypatch):
    """Of the lines of progress, as of the result."""
    monkeypatch.setattr(worker, "RESTS", 3.0)
    run_id = submit(MOONS.replace(slow_motion=True, n_train=60))
    assert jobs.wait(run_id, 60).state == "done"
    run = runs.get(run_id)
    last = run.progress()[-1]
    assert last["rest_seconds"] > 1.5
    assert 0 <= last["seconds"] < 1
    assert run.result["fit_seconds"] - run.result["compile_seconds"] < 1
    assert run.result["compile_all_seconds"] >= run.result["compile_seconds"]
    assert 0 <= run.result["memory_mb"] < run.result["peak_rss_mb"]


def test_what_is_compiled_while_a_run_rests_or_stands_still_is_taken_off_once():
    """One of its machines may compile while another one's report waits."""
    clock = SimpleNamespace(now=0.0, compiled=0.0)

    def wait(seconds=0.0):
        clock.now += 0.5
        clock.compiled += 0.5
        return True

    lines = []
    run = SimpleNamespace(recipe=MOONS.replace(slow_motion=True), add_progress=lines.append)
    control = SimpleNamespace(
        stop=SimpleNamespace(wait=wait, is_set=lambda: False),
        checkpoint=wait,
        publish=lambda **news: None,
        write=lambda save, *what: save(*what),
    )

    class Own(Meter):
        seconds = property(lambda self: clock.compiled)

        def sample(self):
            pass

    watch = worker._Watch(run, SimpleNamespace(parts=[(1.0, 0.1)]), control, Own(), clock=lambda: clock.now)
    for n in range(4):
        clock.now += 1.0  # at work
        watch(Progress("train", n + 1, 1.0 / (n + 1), (1.0,), 0.0, 5, 0, 0, 0, 0, 0.0, None))
    assert [line["seconds"] for line in lines] == [0, 1, 2, 3]
    assert lines[-1]["compile_seconds"] == 3.0


def test_work_without_a_store_is_measured_alike():
    result = train.execute(MOONS).result
    assert result["memory_mb"] >= 0
    assert result["compile_all_seconds"] == pytest.approx(result["compile_seconds"], abs=60)


def test_others_are_what_all_processes_took_but_for_this_one(home):
    """Measured beside a process that counts for a second, by its own clock."""
    code = "import time; print(flush=True); input()\nwhile time.process_time() < 1: pass\nprint(time.process_time())"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as other:
        other.stdout.readline()
        with Meter() as meter:
            started, own = time.perf_counter(), time.process_time()
            took = float(other.communicate("\n")[0])
            hashlib.sha256(bytes(200 << 20))
            figures = meter.figures()
            seconds, own = time.perf_counter() - started, time.process_time() - own
    assert figures["processor_seconds"] == pytest.approx(own, abs=0.02)
    if "others_share" in figures:  # the system tells
        assert 0.8 * took / seconds / os.cpu_count() <= figures["others_share"] <= 1


def test_a_run_keeps_its_seconds_and_those_of_the_processors(home):
    run_id = submit(MOONS)
    assert jobs.wait(run_id, 60).state == "done"
    result = runs.get(run_id).result
    parts = result["fit_seconds"] - result["compile_seconds"] + result["predict_seconds"]
    assert parts <= result["all_seconds"] + 0.05
    assert result["processor_seconds"] > 0
