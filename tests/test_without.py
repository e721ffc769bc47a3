"""A run without some of its examples: as training anew, found again by its key, stopped, refused with a reason."""

import threading

import numpy as np
import pytest

from svmcore import SVC
from svmcore.kernels import Poly
from svmcore.lab.analyses import without
from svmcore.lab.analyses.without import Change
from svmcore.lab.jobs import queue as queues
from svmcore.lab.jobs.analyses import RETRAINED, STANDS, VALUED
from svmcore.lab.jobs.background import ENDED, MAX_WAITING, Analysis, Busy
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.train import Cancelled, prepare
from svmcore.memory import BudgetError
from tests import damage
from tests.gate import until

RECIPE = Recipe(dataset="digits-8x8", n_train=300, n_test=200, kernel=Poly(3, 1, 1), C=3.0)
ROOM = 500.0  # MB


@pytest.fixture
def run(home):
    STANDS._values.clear()
    RETRAINED._tasks.clear()  # the run has the same id in every test
    VALUED._tasks.clear()
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
    with pytest.raises(BudgetError, match="300 training and 200 other examples need 1 MB, but only 0 MB may be used"):
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
    assert not STANDS.has(run.id)
    for i in run.machine().support[:3].tolist():
        change = Change((i,))
        RETRAINED.start(run.id, change)
        latest = RETRAINED.wait(run.id, change, timeout=60)
        assert latest.state == "done"
        assert RETRAINED.status(run.id, change).result is latest.result
    assert len(made) == 1
    assert STANDS.has(run.id)


def test_a_change_that_leaves_no_class_fails_with_words(run):
    label = prepare(RECIPE).y_train
    change = Change(tuple(np.flatnonzero(label == 4).tolist()))
    RETRAINED.start(run.id, change)
    latest = RETRAINED.wait(run.id, change, timeout=60)
    assert (latest.state, latest.message[:32]) == ("failed", "no example of class 4 would be l")


def test_values_are_found_beside_the_runs(run):
    VALUED.start(run.id, 8)
    latest = VALUED.wait(run.id, 8, timeout=120)
    assert latest.state == "done"
    expected = without.worth(run, 8, ROOM)
    for ours, theirs in zip(latest.result.values, expected.values):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
    assert VALUED.status(run.id, None).state == "none"


def analysis(works, **how):
    return Analysis("test", lambda task, *key: works[key[-1]](task), queue=queues.Queue(), **how)


def test_work_is_watched_stopped_and_dropped():
    begun, go_on = threading.Event(), threading.Event()

    def work(task):
        task.publish("half")
        begun.set()
        go_on.wait(20)
        task.check("more")
        return "whole"

    made = analysis({"a": work, "b": work, "c": lambda task: "at once"}, latest_only=True)
    made.start("run", "a")
    assert begun.wait(20)
    made.start("run", "b")
    assert (made.status("run", "a").result, made.status("run", "b").state) == ("half", "waiting")
    made.start("run", "c")
    assert made.status("run", "a").at_work  # it has begun
    assert made.status("run", "b").state == "none"
    made.stop("run", "a")
    go_on.set()
    assert made.wait("run", "a", timeout=20)[:2] == ("stopped", "half")
    assert made.wait("run", "c", timeout=20)[:2] == ("done", "at once")
    made.start("run", "a")  # once more
    assert made.wait("run", "a", timeout=20)[:2] == ("done", "whole")


def test_too_much_work_is_refused_and_errors_are_told():
    held = threading.Event()

    def fail(task):
        raise ValueError("no room")

    made = analysis({key: lambda task: held.wait(20) for key in range(MAX_WAITING + 1)} | {"fails": fail})
    for key in range(MAX_WAITING):
        made.start(key)
    with pytest.raises(Busy, match=f"{MAX_WAITING} analyses are already waiting"):
        made.start(MAX_WAITING)
    held.set()
    for key in range(MAX_WAITING):
        assert made.wait(key, timeout=20).state in ENDED
    made.start("fails")
    assert made.wait("fails", timeout=20)[::2] == ("failed", "no room")


def test_only_patient_work_stands_aside_for_runs():
    quick, patient = (analysis({"a": lambda task: "done"}, patient=patient) for patient in (False, True))
    for made in (quick, patient):
        made.queue._jobs["x"] = type("Job", (), {"state": "running", "at_work": True})()
        made.start("a")
    assert quick.wait("a", timeout=20).state == "done"
    until(lambda: patient.status("a").message.startswith("Waiting while"))
    assert patient.status("a").state == "waiting"
    del patient.queue._jobs["x"]
    patient.queue.look_again()
    assert patient.wait("a", timeout=20).state == "done"


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
        with pytest.raises(RecipeError, match="'digits-8x8'; allowed: the dataset that the run was trained on"):
            ask()
