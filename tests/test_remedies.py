"""Counting which invariance would help: on validation examples, in the background, kept, stopped, found again."""

import json
import threading

import numpy as np
import pytest

from data import catalogue, load
from data.dataset import Arrays
from svmcore.explain import remedy
from svmcore.jitter import JitterSet
from svmcore.kernels import RBF, Poly
from svmcore.lab.analyses import remedies
from svmcore.lab.jobs import queue as queues
from svmcore.lab.jobs.analyses import COUNTS
from svmcore.lab.jobs.background import ENDED, Analysis
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import runs
from svmcore.lab.tasks import task_of
from svmcore.lab.train import Cancelled, fit, unchecked
from tests import damage
from tests.gate import until

RECIPE = Recipe(dataset="digits-8x8", n_train=400, n_test=100, kernel=Poly(3, 1, 1))


@pytest.fixture
def run(home):
    return damage.finished(RECIPE, "Small")


@pytest.fixture
def counts(home):
    made = anew()
    yield made
    for key in list(made._tasks):
        made.stop(*key)


def anew():
    """The analysis as a process has it that has just begun."""
    return Analysis("test", COUNTS.compute, COUNTS.stages, stored=COUNTS.stored, queue=queues.Queue())


def done(counts, run_id):
    counts.start(run_id)
    return counts.wait(run_id, timeout=120)


def test_totals_by_hand(home):
    """All of it again, slowly: the twin's errors one by one under each change."""
    totals = remedies.measure(RECIPE, unchecked)
    twin = RECIPE.replace(folds=5)
    task = task_of(twin)
    problem = task.fold(twin, 0, unchecked)
    machine = fit(twin, problem).estimator.machine_
    judged, data = task.judge(machine, problem, unchecked), load(RECIPE.dataset)
    wrong = np.flatnonzero(judged.y_true != judged.y_pred)
    assert (totals.n_wrong, totals.n_right) == (len(wrong), 80 - len(wrong))
    assert totals.n_wrong > 0
    assert set(judged.index) <= set(damage.finished(RECIPE, "x").train_index())  # none of the test set
    for s, text in enumerate(totals.ladder.texts):
        some = mended = 0
        for i in wrong:
            forms = JitterSet.parse(text, data.image_shape).apply(data.X_train[judged.index[i]][None])[:, 0]
            f = machine.decision_values(problem.prepare.transform(forms))
            said = machine.classes[f.argmax(axis=1)]
            some += (said == judged.y_true[i]).any()
            mended += machine.classes[f.max(axis=0).argmax()] == judged.y_true[i]
        assert totals.tally.some_right[s] == some
        assert totals.tally.mended[s] == mended
    assert totals.tally.drawn == totals.n_right  # fewer than are drawn at most
    assert totals.complete
    assert totals.looked == (totals.looked[1],) * 2


def test_what_is_advised_is_the_largest_net_that_the_run_does_not_know(home):
    ladder = remedy.Ladder((28, 28))
    blank = remedy.empty(ladder)
    mended = np.zeros(len(ladder.texts), int)
    box, thick = ladder.texts.index("box:1"), ladder.texts.index("thick:0.5")
    mended[[box, thick]] = 40, 20
    totals = remedies.Totals((28, 28), 50, 500, blank._replace(wrong=50, close=50, mended=mended))
    plain = Recipe(dataset="mnist-5k")
    assert remedies.advice(totals, plain)[:3] == (box, "box:1", "box:1")
    virtual = plain.replace(method="vsv", jitters="box:1@edge")
    assert remedies.advice(totals, virtual)[:3] == (thick, "thick:0.5", "box:1+thick:0.5@edge")
    assert remedies.known(totals, virtual).tolist() == [text in ("plus:1", "box:1") for text in ladder.texts]
    mended[:] = 0
    assert remedies.advice(totals, plain) is None
    advised = remedies.advised(plain.replace(solver="smo", C=7.0), "rot:-6,6")
    assert (advised.method, advised.jitters, advised.C, advised.solver) == ("vsv", "rot:-6,6", 7.0, "auto")
    assert remedies.advised(virtual.replace(options={"rounds": 2}), "box:2").option("rounds") == 2


@pytest.mark.parametrize(
    ("own", "more", "both"),
    [("", "box:1", "box:1"), ("plus:1@zero", "box:1", "box:1@zero"), ("rot:-3,3", "box:1", "rot:-3,3+box:1")],
)
def test_sets_are_joined(own, more, both):
    assert remedies.joined(own, more) == both


def test_where_nothing_can_be_counted_it_says_why(home):
    with pytest.raises(RecipeError, match="images"):
        remedies.twin_of(Recipe(dataset="toy-moons", kernel=RBF(1.0), preprocess=()))
    X, y = np.arange(6 * 16, dtype=np.uint8).reshape(6, 4, 4), np.array([0, 0, 0, 0, 0, 1])
    entry = catalogue.keep("tiny", Arrays(X, y, X, y))
    with pytest.raises(RecipeError, match="held out"):
        remedies.twin_of(Recipe(dataset=entry.name, split="given"))


def test_a_count_is_kept_and_found_again_by_another_run_of_the_recipe(run, counts):
    assert counts.status(run.id).state == "none"
    first = done(counts, run.id)
    assert first.state == "done"
    again = anew().status(run.id)  # as after a restart
    assert again.state == "done"
    for a, b in zip(first.result.tally, again.result.tally):
        np.testing.assert_array_equal(a, b)
    assert again.result.looked == first.result.looked


@pytest.mark.parametrize("how", sorted(damage.JSON))
def test_a_damaged_file_is_counted_anew(run, counts, how):
    totals = done(counts, run.id).result
    (path,) = (runs.home() / "remedies").iterdir()
    damage.JSON[how](path)
    assert remedies.measured(run.recipe, run.result["data_hash"]) is None
    assert totals.complete


@pytest.mark.parametrize(
    "change",
    [{"mended": [1]}, {"wrong": 10**6}, {"mended": 3}, {"sets": ["box:1"]}, {"image_shape": [9, 9]}, {"n_right": 0}],
)
def test_counts_that_cannot_be_are_counted_anew(run, counts, change):
    done(counts, run.id)
    (path,) = (runs.home() / "remedies").iterdir()
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert remedies.measured(run.recipe, run.result["data_hash"]) is None


def test_stopped_it_leaves_what_was_found_and_says_so(run, counts, monkeypatch):
    seen, held = threading.Event(), threading.Event()
    add = remedy.add

    def slow(*args):
        tally = add(*args)
        seen.set()
        held.wait(20)
        return tally

    monkeypatch.setattr(remedy, "add", slow)
    counts.start(run.id)
    assert seen.wait(60)
    counts.stop(run.id)
    held.set()
    status = counts.wait(run.id, timeout=20)
    assert status.state == "stopped"
    assert 0 < status.result.looked[0] < status.result.looked[1]
    assert not status.result.complete
    assert not (runs.home() / "remedies").exists()
    monkeypatch.setattr(remedy, "add", add)
    assert counts.status(run.id) == status  # whoever asks
    assert done(counts, run.id).state == "done"


def test_it_stands_aside_while_a_run_is_at_work(run, counts):
    queue = counts.queue
    other = type("Job", (), {"state": "running", "at_work": True})()
    queue._jobs["x"] = other
    counts.start(run.id)
    until(lambda: counts.status(run.id).message.startswith("Waiting while"))
    assert counts.status(run.id).state == "waiting"
    del queue._jobs["x"]
    queue.look_again()
    assert counts.wait(run.id, timeout=120).state == "done"


def test_one_that_waits_can_be_stopped(run, counts):
    counts.queue._jobs["x"] = type("Job", (), {"state": "running", "at_work": True})()
    counts.start(run.id)
    counts.stop(run.id)
    assert counts.wait(run.id, timeout=20).state == "stopped"
    counts.queue._jobs.clear()


def test_a_twin_that_fails_says_why(run, counts, monkeypatch):
    def fail(*args):
        raise ValueError("no room for a twin")

    monkeypatch.setattr(remedies, "fit", fail)
    status = done(counts, run.id)
    assert (status.state, status.message) == ("failed", "no room for a twin")
    assert status.state in ENDED


def test_measuring_stops_when_it_is_told_to(home):
    def stop(stage):
        raise Cancelled

    with pytest.raises(Cancelled):
        remedies.measure(RECIPE, stop)
