"""Runs that fail, by whatever, free their place, say why and leave the others alone."""

import errno
import re
import threading

import pytest

from svmcore.lab.jobs import queue as jobs
from svmcore.lab.jobs.job import Status
from svmcore.lab.jobs.queue import submit
from svmcore.lab.methods import METHODS
from svmcore.lab.store import runs
from tests.gate import MOONS, state, until


@pytest.mark.parametrize("name", ["release", "set_state"])
def test_whatever_fails_at_the_end_of_a_run_frees_its_place(gate, monkeypatch, name):
    first = submit(MOONS)
    until(lambda: gate.bursts > 0)
    second, real = submit(MOONS), getattr(runs.Run, name)

    def broken(run, *arguments):
        if run.id == first and (not arguments or arguments[0] == "cancelled"):
            raise RuntimeError("no such file descriptor")
        return real(run, *arguments)

    monkeypatch.setattr(runs.Run, name, broken)
    jobs.cancel(first)
    assert jobs.wait(first, 10).state == "cancelled"
    until(lambda: state(second) == "running", 10)


def test_a_worker_that_dies_frees_its_place(gate, monkeypatch):
    def dies(*_):
        raise SystemExit(3)

    real = jobs.worker.carry_out
    monkeypatch.setattr(jobs.worker, "carry_out", dies)
    assert jobs.wait(submit(MOONS), 10) == Status("failed", message="SystemExit: 3")
    monkeypatch.setattr(jobs.worker, "carry_out", real)
    gate.open.set()
    assert jobs.wait(submit(MOONS), 60).state == "done"


def test_a_system_without_more_threads_fails_the_run_and_no_other(gate, monkeypatch):
    def no_threads(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", no_threads)
        failed = submit(MOONS)
    assert jobs.status(failed) == Status("failed", message="can't start new thread")
    gate.open.set()
    assert jobs.wait(submit(MOONS), 60).state == "done"


def failing(error):
    def train_and_fail(recipe, problem, monitor):
        raise error

    return train_and_fail


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "x"), "is full"),
        (MemoryError(), "Memory ran out"),
        (ValueError("y has one class"), "^y has one class$"),
        (ZeroDivisionError("oops"), "^ZeroDivisionError: oops$"),
    ],
)
def test_failures_are_told_in_words(home, monkeypatch, error, words):
    monkeypatch.setattr(METHODS["sv"], "train", failing(error))
    run_id = submit(MOONS)
    status = jobs.wait(run_id, 60)
    assert status.state == "failed"
    assert runs.get(run_id).state == "failed"
    assert re.search(words, runs.get(run_id).message)
    monkeypatch.undo()


def test_a_full_disk_during_training_fails_the_run_and_keeps_the_others(gate, monkeypatch):
    gate.open.set()
    kept = submit(MOONS)
    jobs.wait(kept, 60)
    gate.open.clear()
    bursts = gate.bursts

    def no_space(self, line):
        raise OSError(errno.ENOSPC, "No space left on device")

    run_id = submit(MOONS)
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
    before = jobs.active()
    with pytest.raises(OSError, match="is full"):
        submit(MOONS)
    assert not set(jobs.active()) - set(before)
    assert list((home / "runs").iterdir()) == []


def test_a_last_word_that_cannot_be_written_is_kept_in_memory(gate, monkeypatch):
    run_id = submit(MOONS)
    until(lambda: gate.bursts > 0)

    def no_space(self, *args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(runs.Run, "save_part", no_space)
    monkeypatch.setattr(runs.Run, "set_state", no_space)
    gate.open.set()
    assert jobs.wait(run_id, 60).state == "failed"
    assert "is full" in jobs.status(run_id).message
