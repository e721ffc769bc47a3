"""The Train page around Start: clicks that come twice, what is cancelled has ended, the queue, presets, ways back."""

import threading
from datetime import timedelta

import pytest

from pages.ui.recipe import presets as menu
from pages.ui.run import watch
from svmcore.lab import jobs
from svmcore.lab.jobs import queue, welcome
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import presets, runs
from tests.driven import captions, open_page, whole_app  # noqa: F401
from tests.gate import MOONS, until


@pytest.fixture
def alone(gate, monkeypatch):
    """The gate, without the preset beside it, and with orders taken from a run's first moment on."""
    monkeypatch.setattr(watch, "YOUNG", timedelta(0))
    welcome.WELCOME.homes.add(runs.home())
    return gate


def opened(app):
    app.session_state["presets"] = True
    app.run()


def has(app, key):
    return key in [button.key for button in app.button]


def test_a_run_that_is_cancelled_has_ended_whatever_its_thread_still_does(alone):
    run_id = jobs.submit(MOONS.replace(C=3.0, title="Mine"))
    until(lambda: alone.bursts > 0)
    job, reached, go_on = queue.QUEUE._jobs[run_id], threading.Event(), threading.Event()

    def slow_checkpoint():
        reached.set()
        go_on.wait(30)
        return not job.stop.is_set()

    job.checkpoint = slow_checkpoint
    assert reached.wait(10)
    app = open_page("train", run=run_id)
    app.button(key="cancel").click().run()
    assert "cancelled" in " ".join(badge.value for badge in app.main.get("markdown"))
    assert not has(app, "cancel")
    assert job.thread.is_alive()
    app.button(key="change").click().run()
    assert app.number_input(key="recipe_C").value == 3
    second = jobs.submit(MOONS.replace(C=4.0))
    app = open_page("train", run=second)
    assert "as soon as the cores are free" in " ".join(info.value for info in app.info)
    go_on.set()
    alone.real = lambda *args: None
    until(lambda: jobs.status(second).state == "running", 30)


def test_what_failed_can_be_changed_also_after_a_reload(alone, monkeypatch):
    def fails(recipe, problem, monitor):
        raise ValueError("no such luck")

    alone.open.set()
    alone.real = fails
    run_id = jobs.submit(MOONS.replace(C=7.0))
    assert jobs.wait(run_id, 30).state == "failed"
    app = open_page("train", run=run_id)  # a session that has seen nothing else
    assert app.number_input(key="recipe_C").value == 7
    assert "no such luck" in " ".join(e.value for e in app.error)
    assert has(app, "change")


def test_the_queue_is_seen_and_changed(alone):
    at_work, a, b = (jobs.submit(MOONS.replace(C=c, title=f"C is {c}")) for c in (1.0, 2.0, 3.0))
    until(lambda: alone.bursts > 0)
    app = open_page("train", run=b)
    said = " ".join(info.value for info in app.info).replace("\\", "")
    assert "Second in the queue" in said
    assert "C is 1.0, then C is 2.0" in said
    assert not app.get("skeleton")
    assert app.button(key=f"queue_sooner_{a}").disabled
    app.button(key=f"queue_first_{b}").click().run()
    assert jobs.waiting() == [b, a]
    app.button(key=f"queue_out_{a}").click().run()
    assert jobs.waiting() == [b]
    assert runs.get(a).state == "cancelled"
    assert runs.get(at_work).state == "running"
    app.run()
    assert not app.exception
    assert not has(app, f"queue_out_{a}")


def test_what_is_at_work_is_paused_resumed_and_cancelled_from_the_list_of_runs(alone):
    at_work, waits = (jobs.submit(MOONS.replace(C=c)) for c in (1.0, 2.0))
    until(lambda: alone.bursts > 0)
    app = open_page("runs")
    assert "Queue: 1 running, 1 waiting" in [box.label for box in app.expander]
    app.button(key=f"queue_hold_{at_work}").click().run()
    until(lambda: jobs.status(at_work).state == "paused")
    app.run()
    app.button(key=f"queue_hold_{at_work}").click().run()
    assert jobs.waiting() == [at_work]
    app.button(key=f"queue_cancel_{waits}").click().run()
    until(lambda: jobs.status(at_work).state == "running")
    app.run()
    app.button(key=f"queue_cancel_{at_work}").click().run()
    app.run()
    assert not app.exception
    assert not jobs.active()
    assert not any(box.label.startswith("Queue") for box in app.expander)


def test_presets_fill_the_form_and_can_be_ones_own(alone):
    before = jobs.submit(MOONS)
    jobs.cancel(before)
    app = open_page("train", run=before)
    assert "Two moons" in captions(app)
    assert not has(app, "preset_moons")  # they take time; only while the list is open
    opened(app)
    app.button(key="preset_digits-8x8-sv").click().run()
    assert app.selectbox(key="recipe_dataset").value == "digits-8x8"
    app.number_input(key="recipe_C").set_value(5.0).run()
    assert "Changed from 8x8 digits: ten machines of degree 5: C 2 → 5" in captions(app)
    opened(app)
    app.text_input(key="preset_name").set_value("**x** <b>").run()
    app.button(key="preset_keep").click().run()
    assert presets.own_recipes()["**x** <b>"].C == 5
    app.button(key="recipe_undo").click().run()
    assert app.number_input(key="recipe_C").value == 2
    opened(app)
    app.button(key="preset_own_0").click().run()
    assert app.number_input(key="recipe_C").value == 5
    opened(app)
    app.button(key="preset_remove_0").click().run()
    assert not presets.own_recipes()
    assert not app.exception


def test_what_changed_is_told_field_by_field():
    base = RECIPES["mnist-5k-vsv"]
    assert menu.changes(base, base.replace(name="custom", title="x")) == []
    assert menu.changes(base, base.replace(C=3.0, n_train=None)) == ["Training examples 4000 → all", "C 2 → 3"]
    assert menu.changes(base, base.replace(method="sv"))[0] == "Method Virtual support vectors → Support vectors"
