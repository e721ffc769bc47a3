"""What the process does for its runs: the preset and compiling at its start, cancelling at its end."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from svmcore.lab.jobs import queue, welcome
from svmcore.lab.jobs import queue as jobs
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.store import runs

ROOT = Path(__file__).parent.parent
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


def test_the_preset_is_trained_once_in_an_empty_store(gate):
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


@pytest.mark.ci
def test_two_processes_train_one_preset(home):
    code = (
        "import os, sys; from svmcore.lab.jobs import welcome, worker; os.environ['SVMLAB_HOME'] = sys.argv[1];"
        "worker.carry_out = lambda *_: ('done', ''); welcome.warm_up = lambda *_, **__: None; welcome.ensure_preset()"
    )
    command = [sys.executable, "-c", code, str(home)]
    started = [subprocess.Popen(command, env=ENVIRONMENT) for _ in range(2)]
    assert [process.wait(120) for process in started] == [0, 0]
    assert len(runs.newest_first()) == 1


@pytest.mark.parametrize("command", ["status", pytest.param("pause", marks=pytest.mark.ci)])
def test_the_end_of_the_process_cancels_its_runs(home, command):
    code = (
        "import os, sys, time; from svmcore.lab import jobs; os.environ['SVMLAB_HOME'] = sys.argv[1];"
        "from svmcore.lab.presets import RECIPES;"
        "run = jobs.submit(RECIPES['mnist-5k-sv'].replace(slow_motion=True)); jobs.submit(RECIPES['digits-8x8-sv']);"
        "wait = time.sleep;"
        "[wait(0.05) for _ in range(2000) if not (p := jobs.status(run).progress) or not p['iterations']];"
        "getattr(jobs, sys.argv[2])(run); wait(0.3)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(home), command], env=ENVIRONMENT, timeout=120)
    assert done.returncode == 0
    second, first = (run.state for run in runs.newest_first())
    assert first == "cancelled"
    assert "app" in runs.newest_first()[1].message  # nobody pressed Cancel
    assert second == "cancelled" or (second == "done" and command == "pause")  # which lends its place


def test_python_still_has_the_private_call_that_the_end_of_the_process_needs():
    """When this fails, read `before_threads_are_joined` and look for what has taken its place."""
    assert callable(getattr(threading, "_register_atexit", None))


def test_without_the_private_call_the_end_of_the_process_is_told_by_atexit(monkeypatch):
    told = []
    monkeypatch.delattr(threading, "_register_atexit")
    monkeypatch.setattr("atexit.register", told.append)
    queue.before_threads_are_joined(len)
    assert told == [len]
