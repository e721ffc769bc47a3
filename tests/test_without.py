"""A run without some of its examples: as training anew, found again by its key, stopped, refused with a reason."""

import threading

import numpy as np
import pytest

from svmcore import SVC
from svmcore.kernels import Poly
from svmcore.lab.experiment import without
from svmcore.lab.experiment.train import Cancelled, prepare
from svmcore.lab.experiment.without import Change
from svmcore.lab.jobs import queue as queues
from svmcore.lab.jobs import without as jobs
from svmcore.lab.jobs.beside import ENDED, MAX_WAITING, Beside, Busy
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.lab.registry.methods import METHODS
from svmcore.memory import BudgetError
from tests import damage
from tests.gate import until

RECIPE = Recipe(dataset="digits-8x8", n_train=300, n_test=200, kernel=Poly(3, 1, 1), C=3.0)
ROOM = 500.0  # MB


@pytest.fixture
def run(home):
    jobs.STANDS._values.clear()
    jobs.RETRAINED._known.clear()  # the run has the same id in every test
    jobs.VALUED._known.clear()
    return damage.finished(RECIPE, "Small")


def anew(recipe, change):
    """Answers and multipliers of a machine that is trained from nothing on the changed examples."""
    problem = prepare(recipe)
    y = problem.y_train.copy()
    for i, c in change.labels:
        y[i] = np.unique(y)[c]
    kept = np.setdiff1d(np.arange(len(y)), change.take_out)
    machine = SVC(recipe.kernel, C=recipe.C, tol=1e-6).fit(problem.X_train[kept], y[kept]).machine_
    alpha = np.zeros((len(machine.bias), len(y)))
    alpha[:, kept[machine.support]] = machine.alpha
    return machine.decision_values(problem.X_test), alpha


@pytest.mark.parametrize("recipe", [RECIPE, RECIPE.replace(classes=(8,)), RECIPE.replace(classes=(3, 8), C=0.3)])
def test_an_effect_is_that_of_training_anew(home, recipe):
    run, rng = damage.finished(recipe), np.random.default_rng(0)
    at = without.stand(run, ROOM)
    k = len(at.retraining.targets.classes)
    for change in (
        Change(),
        Change((int(run.machine().support[0]),)),
        Change(tuple(sorted(rng.choice(len(at.K.T), 20, replace=False).tolist()))),
        Change((1, 2), tuple((i, (int(at.retraining.targets.label[i]) + 1) % k) for i in (5, 7, 11))),
    ):
        found, (f, alpha) = without.effect(at, change), anew(recipe, change)
        top = np.sort(f, axis=1)
        sure = (np.abs(f[:, 0]) if f.shape[1] == 1 else top[:, -1] - top[:, -2]) > 5e-3
        said = (f[:, 0] > 0).astype(int) if f.shape[1] == 1 else f.argmax(1)
        assert (found.after == said)[sure].all()
        np.testing.assert_allclose(found.alpha_after, alpha[:, found.support], atol=2e-2)
        np.testing.assert_array_equal(found.true, np.searchsorted(at.retraining.targets.classes, run.test().y_true))
        kinds = np.concatenate([found.fixed, found.broken, found.otherwise])
        np.testing.assert_array_equal(np.sort(kinds), np.flatnonzero(found.before != found.after))
    assert (without.effect(at, Change()).before == without.effect(at, Change()).after).all()


def test_values_are_told_by_what_was_left_over_or_by_folds(run):
    told = []
    found = without.worth(run, None, ROOM, publish=told.append)
    assert (found.asked, found.parts, found.share) == (1797 - 500, 1, 1.0)
    assert (found.values.asked == found.asked).all()
    assert [one.share for one in told] == sorted(one.share for one in told)
    whole = damage.finished(RECIPE.replace(n_train=200, n_test=1597))
    found = without.worth(whole, 3, ROOM)
    assert (found.asked, found.parts) == (200, 5)
    assert set(found.values.asked) <= {158, 159, 160, 161, 162}  # all folds but its own
    assert not (found.values.margin[found.values.asked == 0]).any()


def test_what_cannot_be_retrained_says_why(run, monkeypatch):
    assert without.why_not(run) == ""
    assert {name for name, method in METHODS.items() if not method.unlike} == {"sv"}
    with pytest.raises(BudgetError, match="300 training and 200 other examples need 1 MB, and 0 MB may be taken"):
        without.stand(run, 0.1)
    monkeypatch.setattr(without, "HELD", 299)
    assert "300 training examples; allowed: up to 299" in without.why_not(run)
    with pytest.raises(RecipeError, match="allowed: up to 299"):
        without.worth(run, None, ROOM)


@pytest.mark.parametrize("method", ["nu-sv", "query-jitter", "vsv"])
def test_other_methods_say_why(home, method):
    run = damage.finished(RECIPE.replace(method=method, n_train=60, n_test=20, classes=(3, 8)))
    assert without.why_not(run).startswith(f"{METHODS[method].title}: ")
    with pytest.raises(RecipeError, match="method = "):
        without.stand(run, ROOM)


def test_the_stand_is_made_once_and_kept_between_clicks(run, monkeypatch):
    made, stand = [], without.stand
    monkeypatch.setattr(without, "stand", lambda *args: made.append(1) or stand(*args))
    assert not jobs.STANDS.has(run.id)
    for i in run.machine().support[:3].tolist():
        change = Change((i,))
        jobs.start(run.id, change)
        latest = jobs.RETRAINED.wait((run.id, change), 60)
        assert latest.state == "done"
        assert jobs.status(run.id, change).result is latest.result
    assert len(made) == 1
    assert jobs.STANDS.has(run.id)


def test_a_change_that_leaves_no_class_fails_with_words(run):
    label = prepare(RECIPE).y_train
    change = Change(tuple(np.flatnonzero(label == 4).tolist()))
    jobs.start(run.id, change)
    latest = jobs.RETRAINED.wait((run.id, change), 60)
    assert (latest.state, latest.message[:32]) == ("failed", "no example of class 4 would be l")


def test_values_are_found_beside_the_runs(run):
    jobs.start_values(run.id, 8)
    latest = jobs.VALUED.wait((run.id, 8), 120)
    assert latest.state == "done"
    expected = without.worth(run, 8, ROOM)
    for ours, theirs in zip(latest.result.values, expected.values):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
    assert jobs.VALUED.status((run.id, None)).state == "none"


@pytest.fixture
def beside():
    return Beside(queues.Queue(), "test")


def test_work_is_watched_stopped_and_dropped(beside):
    begun, go_on = threading.Event(), threading.Event()

    def work(errand):
        errand.publish("half")
        begun.set()
        go_on.wait(20)
        errand.check("more")
        return "whole"

    beside.start("a", work)
    assert begun.wait(20)
    beside.start("b", work)
    beside.start("c", lambda errand: "at once")
    assert (beside.status("a").result, beside.status("b").state) == ("half", "waiting")
    beside.drop_waiting(lambda key: key in "ab")
    assert beside.status("a").at_work  # it has begun
    assert beside.status("b").state == "none"
    beside.stop("a")
    go_on.set()
    assert beside.wait("a", 20)[:2] == ("stopped", "half")
    assert beside.wait("c", 20)[:2] == ("done", "at once")
    beside.start("a", work)  # once more
    assert beside.wait("a", 20)[:2] == ("done", "whole")


def test_too_much_work_is_refused_and_errors_are_told(beside):
    held = threading.Event()
    for key in range(MAX_WAITING):
        beside.start(key, lambda errand: held.wait(20))
    with pytest.raises(Busy, match=f"{MAX_WAITING} others are waiting"):
        beside.start("one more", lambda errand: 0)
    held.set()
    for key in range(MAX_WAITING):
        assert beside.wait(key, 20).state in ENDED

    def fail(errand):
        raise ValueError("no room")

    beside.start("fails", fail)
    assert beside.wait("fails", 20)[::2] == ("failed", "no room")


def test_only_patient_work_stands_aside_for_runs():
    queue = queues.Queue()
    queue._jobs["x"] = type("Job", (), {"state": "running", "at_work": True})()
    quick, patient = Beside(queue, "quick", patient=False), Beside(queue, "patient")
    quick.start("a", lambda errand: "done")
    assert quick.wait("a", 20).state == "done"
    patient.start("a", lambda errand: "done")
    until(lambda: patient.status("a").message.startswith("Waits while"))
    assert patient.status("a").state == "waiting"
    del queue._jobs["x"]
    queue.look_again()
    assert patient.wait("a", 20).state == "done"


def test_it_stops_when_it_is_told_to(run):
    def stop(stage):
        raise Cancelled

    with pytest.raises(Cancelled):
        without.stand(run, ROOM, stop)
    with pytest.raises(Cancelled):
        without.stand(run, ROOM, monitor=stop)
    with pytest.raises(Cancelled):
        without.worth(run, None, ROOM, stop)
    at = without.stand(run, ROOM)
    at.retraining.monitor = stop
    with pytest.raises(Cancelled):
        without.effect(at, Change((0,)))


def test_data_that_were_replaced_since_are_refused(run):
    run.complete(run.result | {"data_hash": "another"})
    for ask in (lambda: without.stand(run, ROOM), lambda: without.worth(run, None, ROOM)):
        with pytest.raises(RecipeError, match="dataset = 'digits-8x8'; allowed: the set that the run was trained on"):
            ask()
