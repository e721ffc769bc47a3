"""The queue: one at a time, whose turn it is, places lent and given back."""

import threading
import time

import numpy as np
import pytest

from svmcore.lab.jobs import queue as jobs
from svmcore.lab.jobs.queue import submit
from svmcore.lab.store import runs
from tests.gate import AT_ONCE, MOONS, state, until

SOON = 300.0  # seconds that a busy machine may take from one click to the next


def test_one_at_a_time_in_order(gate):
    ids = [submit(MOONS) for _ in range(3)]
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


def test_of_many_that_are_cancelled_together_those_that_never_began_leave_nothing(gate):
    group = runs.Group.of("sweep", "C", "some")
    alone, *ids = submit(MOONS), *(submit(MOONS, group=group) for _ in range(3))
    until(lambda: gate.bursts > 0)
    jobs.cancel(alone, *ids)
    assert [jobs.wait(i, 1).state for i in ids] == ["cancelled"] * 3
    assert [run.id for run in runs.everything()] == [alone]  # none of the others began in its place
    assert jobs.active() == []


def test_the_queue_is_bounded(gate, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_QUEUED", 1)
    submit(MOONS)
    until(lambda: gate.bursts > 0)
    submit(MOONS)
    with pytest.raises(jobs.QueueFull, match="already waiting"):
        submit(MOONS)
    assert len(runs.newest_first()) == 2


def test_a_paused_run_lends_its_place_and_gets_the_next_free_one(gate):
    first, second, third = (submit(MOONS) for _ in range(3))
    until(lambda: gate.bursts > 0)
    jobs.pause(first)
    until(lambda: state(second) == "running")
    jobs.resume(first)
    assert state(first) == "queued"
    jobs.cancel(second)
    until(lambda: state(first) == "running")
    assert state(third) == "queued"


def test_a_queued_run_may_be_paused(gate):
    first, second = submit(MOONS), submit(MOONS)
    until(lambda: gate.bursts > 0)
    jobs.pause(second)
    assert state(second) == "paused"
    jobs.cancel(first)
    jobs.wait(first, 10)
    assert state(second) == "paused"
    jobs.resume(second)
    until(lambda: state(second) == "running")


def test_a_pause_lends_the_place_to_a_run_that_resumed_before(gate):
    first, second = submit(MOONS), submit(MOONS)
    until(lambda: gate.bursts > 0)
    jobs.pause(first)
    until(lambda: state(second) == "running")
    third = submit(MOONS)
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
    first, second = submit(MOONS), submit(MOONS)
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


def test_rests_of_slow_motion_make_no_long_run(gate):
    watched = submit(MOONS.replace(slow_motion=True))
    until(lambda: gate.bursts > 0)
    other, bursts = submit(MOONS), gate.bursts
    until(lambda: gate.bursts > bursts + 5)
    assert [state(watched), state(other)] == ["running", "queued"]
    assert jobs.status(other).ahead == (watched,)
    jobs.cancel(watched)
    until(lambda: state(other) == "running", 10)
    gate.open.set()


def test_a_run_of_seconds_goes_before_longer_ones_also_before_one_at_work(gate, monkeypatch):
    known = jobs.estimate
    monkeypatch.setattr(jobs, "estimate", lambda recipe: known(recipe)._replace(at_rest=100 * recipe.C))
    at_work, long = (submit(MOONS.replace(C=c)) for c in (2.0, 3.0))
    until(lambda: gate.bursts > 0)
    together = submit(MOONS.replace(C=0.02), group=runs.Group("sweep", "C"))
    threading.Event().wait(0.05)
    assert state(at_work) == "running"  # many together would hold it up for long
    quick, other = (submit(MOONS.replace(C=c)) for c in (0.01, 0.02))
    until(lambda: state(quick) == "running", 10)
    assert jobs.waiting() == [other, at_work, long, together]
    assert jobs.status(at_work).ahead == (quick, other)
    assert runs.get(at_work).state == "running"  # for whoever reads the store: this process goes on with it
    jobs.cancel(quick)
    until(lambda: state(other) == "running", 10)
    jobs.pause(at_work)
    jobs.cancel(other)
    until(lambda: state(long) == "running", 10)
    jobs.resume(at_work)
    assert jobs.waiting() == [at_work, together]
    gate.open.set()
    assert [jobs.wait(run_id, 60).state for run_id in (long, at_work, together)] == ["done"] * 3


def test_no_job_changes_its_state_against_the_rules(gate):
    run_id = submit(MOONS)
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
    ids = [submit(MOONS) for _ in range(5)]
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


def test_asked_for_twice_in_a_click_is_one_run(gate):
    """Also by two tabs at once; a run that was stopped, another recipe or a later click is another run."""
    asked = []
    tabs = [threading.Thread(target=lambda: asked.append(submit(MOONS, once_in=SOON))) for _ in range(4)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    (first,) = set(asked)
    assert len(runs.newest_first()) == 1
    until(lambda: gate.bursts > 0)
    other = submit(MOONS.replace(C=3.0), once_in=SOON)
    assert other != first
    assert submit(MOONS, once_in=SOON) == first
    jobs.cancel(first)
    again = submit(MOONS, once_in=SOON)
    assert again != first
    assert submit(MOONS, once_in=1e-3) != again


def test_a_run_that_waits_says_what_is_ahead_and_may_change_its_turn(gate):
    at_work, *ids = (submit(MOONS) for _ in range(4))
    until(lambda: gate.bursts > 0)
    status = jobs.status(ids[1])
    assert status.ahead == (at_work, ids[0])
    assert status.wait_seconds > 0
    a, b, c = ids
    for run_id, to, order in (
        (c, "sooner", [a, c, b]),
        (b, "first", [b, a, c]),
        (b, "later", [a, b, c]),
        (c, "later", [a, b, c]),
        (a, "sooner", [a, b, c]),
        (at_work, "later", [a, b, c]),
        ("20260101-000000-000-abcdef", "first", [a, b, c]),
        (c, "first", [c, a, b]),
    ):
        jobs.move(run_id, to)
        assert jobs.waiting() == order
    jobs.cancel(a)
    assert jobs.waiting() == [c, b]
    gate.real = lambda *args: None
    jobs.cancel(at_work)
    until(lambda: state(c) == "running")
    jobs.pause(c)
    until(lambda: state(b) == "running")
    jobs.resume(c)
    d = submit(MOONS)
    jobs.move(d, "first")
    assert jobs.waiting() == [c, d]  # one that has begun stays ahead
