"""What a run costs beside its training: compiling and memory, each counted for the run alone."""

import threading

import numpy as np
import pytest
from numba import njit

from svmcore.lab.experiment import train
from svmcore.lab.experiment.meter import Compiling, Meter
from svmcore.lab.jobs import pace
from svmcore.lab.jobs import queue as jobs
from svmcore.lab.store import runs
from tests.gate import MOONS

MB = 2**20


def compiled():
    """A function that no one has compiled yet."""

    def add(a, b):
        return a + b

    return njit(add)


def test_compiling_is_counted_where_it_is_the_runs_own():
    told = []
    with Compiling(lambda: told.append(1)) as own:
        assert own.seconds == 0
        stranger = threading.Thread(target=lambda: compiled()(1, 2))
        stranger.start()
        stranger.join()
        assert own.seconds == 0
        compiled()(1, 2)
        machine = threading.Thread(target=lambda: compiled()(1, 2), name="machine_0")
        once = own.seconds
        machine.start()
        machine.join()
    assert 0 < once < own.seconds
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
    before = np.ones(20 * MB, np.uint8)
    with Meter() as meter:
        meter.sample()
        taken = np.ones(60 * MB, np.uint8)
        meter.sample()
        del taken
        figures = meter.figures()
    assert 55 < figures["memory_mb"] < 75
    assert len(before) == 20 * MB


def test_time_leaves_slow_motion_and_compiling_out(home, monkeypatch):
    """Of the lines of progress, as of the result."""
    monkeypatch.setattr(pace, "SLOW", 3.0)
    run_id = jobs.submit(MOONS.replace(slow_motion=True, n_train=60))
    assert jobs.wait(run_id, 60).state == "done"
    run = runs.get(run_id)
    last = run.progress()[-1]
    assert last["rest_seconds"] > 1.5
    assert 0 <= last["seconds"] < 1
    assert run.result["fit_seconds"] - run.result["compile_seconds"] < 1
    assert run.result["compile_all_seconds"] >= run.result["compile_seconds"]
    assert 0 <= run.result["memory_mb"] < run.result["peak_rss_mb"]


def test_work_without_a_store_is_measured_alike():
    result = train.execute(MOONS).result
    assert result["memory_mb"] >= 0
    assert result["compile_all_seconds"] == pytest.approx(result["compile_seconds"], abs=60)
