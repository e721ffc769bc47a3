"""A method that trains for as long as a test likes, and waiting for what its run does; the fixture `gate` gives it."""

import threading
import time

import numpy as np

from svmcore.lab.jobs import queue as jobs
from svmcore.lab.methods import METHODS
from svmcore.lab.presets import RECIPES
from svmcore.solvers.progress import Progress, Snapshot

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


def opened(monkeypatch):
    """A Gate in the place of the method "sv", for a fixture; at its end nothing is left at work."""
    gate = Gate(monkeypatch)
    yield gate
    for run_id in jobs.active():
        jobs.cancel(run_id)
    gate.open.set()
    for run_id, job in list(jobs.QUEUE._jobs.items()):
        jobs.wait(run_id, 10)
        if job.thread is not None:
            job.thread.join(10)
    jobs.QUEUE._jobs.clear()


def until(true, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        threading.Event().wait(0.002)


def state(run_id):
    return jobs.status(run_id).state
