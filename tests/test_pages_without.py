"""Support vectors and Why: examples are ticked, and the machines retrained without them, driven from app.py."""

import threading
import time

import numpy as np
import pytest

from data import load
from pages.ui.why.ticks import MOST, Ticks
from svmcore.lab.analyses import without
from svmcore.lab.jobs import analyses as jobs
from svmcore.lab.presets import RECIPES
from tests.driven import SECONDS, captions, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

DIGITS = RECIPES["digits-8x8-sv"].replace(n_train=200, n_test=150)


@pytest.fixture(scope="module")
def run():
    return finished(DIGITS)


def words(app):
    return " ".join(text.value for text in app.markdown).replace("\\", "")


def until(app, sign):
    """The page looked at again and again until it says so, as its fragment does."""
    end = time.monotonic() + SECONDS
    while sign not in words(app):
        assert time.monotonic() < end, words(app)
        app.run()
    return app


def test_nothing_ticked_says_what_may_be_done(run):
    app = open_page("support_vectors", run=run.id)
    assert "Which predictions depend on these examples?" in captions(app)
    assert "Retrained in" not in captions(app)
    assert not any(box.key == "ticks_clear" for box in app.button)


def test_what_is_ticked_on_other_pages_is_something_else(run):
    app = open_page("runs", run=run.id)
    app.switch_page("pages/support_vectors.py").run()
    assert not app.exception
    assert "Which predictions depend on these examples?" in captions(app)


def test_what_is_ticked_is_taken_out_and_put_back(run):
    rows = run.train_index()[run.machine().support[:30]]
    app = open_page("support_vectors", run=run.id, take_out=",".join(map(str, rows)))
    until(app, "fixed, ")
    at = without.stand(run, 500)
    positions = np.flatnonzero(np.isin(run.train_index(), rows))
    found = without.effect(at, without.Change(tuple(positions.tolist())))
    assert f"**{len(found.fixed)} fixed, {len(found.broken)} broken** of 150 test predictions" in words(app)
    assert "30 examples excluded" in words(app)
    assert "Retrained in" in captions(app)
    assert "**Largest changes of alpha** in *0 against the rest*" in captions(app)
    assert ("**Broken**" in captions(app)) == bool(len(found.broken))
    app.button(key="ticks_clear").click().run()
    assert "take_out" not in app.query_params
    assert "Which predictions depend on these examples?" in captions(app)


def test_another_label_is_in_the_address_and_named(run):
    row = int(run.train_index()[run.machine().support[0]])
    other = "3" if load(run.recipe.dataset).y_train[row] != 3 else "5"
    app = open_page("support_vectors", run=run.id, another=f"{row}:{other}", click="label", given="7")
    until(app, "fixed, ")
    assert "1 example relabelled" in words(app)
    assert app.query_params["another"] == f"{row}:{other}"
    assert app.selectbox(key="given").value == "7"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"take_out": "x"}, "take_out=x in the address is ignored: it must be a training example of this run"),
        ({"take_out": "99999"}, "take_out=99999"),
        ({"take_out": "{row},{row}"}, "take_out={row}"),
        (
            {"another": "{row}:cat"},
            "another={row}:cat in the address is ignored: it must be a training example of this run that",
        ),
        ({"another": "{row}"}, "another={row}"),
    ],
)
def test_an_address_that_ticks_what_is_not_there_says_so(run, query, said):
    row = int(run.train_index()[0])
    app = open_page("support_vectors", run=run.id, **{name: text.format(row=row) for name, text in query.items()})
    assert any(said.format(row=row) in warning.value.replace("\\", "") for warning in app.warning)


def test_a_tick_is_set_changed_and_taken_back():
    ticks = Ticks().toggled([5]).toggled([7]).toggled([5, 7, 9], "3")
    assert ticks == Ticks((), ((5, "3"), (7, "3"), (9, "3")))
    assert [ticks.note(row) for row in (5, 6)] == ["→ 3", ""]
    ticks = ticks.toggled([5]).toggled([9], "3").toggled([7], "4")
    assert ticks == Ticks((5,), ((7, "4"),))
    assert ticks.note(5) == "out"
    assert ticks.rows == [5, 7]
    assert ticks.toggled([5]).toggled([7], "4") == Ticks()


def test_an_address_may_tick_so_many(run):
    rows = run.train_index().tolist() * 2
    app = open_page("support_vectors", run=run.id, take_out=",".join(map(str, rows[: MOST + 3])))
    assert f"{MOST} examples excluded" in words(app)


def test_what_cannot_be_is_told_and_may_be_asked_again(run):
    gone = run.train_index()[load(run.recipe.dataset).y_train[run.train_index()] == 4]
    app = open_page("support_vectors", run=run.id, take_out=",".join(map(str, gone)))
    assert any("no example of class 4 would be left" in error.value for error in app.error)
    assert app.button(key="without_begin").label == "Retrain"


def test_while_it_is_at_work_it_can_be_stopped(run, monkeypatch):
    held, stand = threading.Event(), without.stand

    def slow(run, ceiling, check, monitor):
        check("kernel values")
        held.wait(SECONDS)
        return stand(run, ceiling, check, monitor)

    monkeypatch.setattr(without, "stand", slow)
    jobs.STANDS._values.clear()
    app = open_page("support_vectors", run=run.id, take_out=str(run.train_index()[-1]))
    assert "Step 4 of 5: Kernel values" in app.get("progress")[0].text.replace("\\", "")
    assert not any(box.key == "without_begin" for box in app.button)
    app.button(key="without_stop").click()
    app.run()
    held.set()
    end = time.monotonic() + SECONDS
    while not any(box.key == "without_begin" for box in app.button):
        assert time.monotonic() < end
        app.run()
    app.button(key="without_begin").click().run()
    until(app, "fixed, ")


def test_what_an_example_is_worth_is_found_out(run):
    app = open_page("support_vectors", run=run.id)
    app.button(key="worth_begin").click().run()
    until(app, "**Removal harms**")
    assert jobs.VALUED.wait(run.id, 0, timeout=SECONDS).state == "done"
    app.run()
    values = jobs.VALUED.status(run.id, 0).result.values
    assert (
        f"**Removal helps**: {len(values.helps())} support vectors, measured on 1,447 validation examples not used by "
        "the run"
    ) in words(app)
    assert "do not add up" in captions(app)
    app.button(key="worth_tick").click().run()
    first = run.train_index()[values.helps()[:10]]
    assert app.query_params["take_out"] == ",".join(map(str, first))
    until(app, "fixed, ")


def test_a_run_that_cannot_be_retrained_so_says_why():
    other = finished(DIGITS.replace(method="vsv", jitters="plus:1", n_train=60))
    app = open_page("support_vectors", run=other.id)
    assert "No example can be excluded here. Virtual support vectors: with other training examples, the" in captions(
        app
    )
    assert not any(button.key == "worth_begin" for button in app.button)


def test_why_tells_what_goes_with_one_example(run):
    row = int(run.train_index()[run.machine().support[0]])
    app = open_page("errors", run=run.id, digit=f"digits-8x8/train/{row}", why="without")
    until(app, "fixed, ")
    names = [box for box in app.selectbox if str(box.key).startswith("why_instead")]
    assert len(names[0].options) == 10  # taken out, or one of nine other labels
    names[0].set_value("3").run()
    until(app, "fixed, ")
    assert app.query_params["instead"] == "3"
    left = np.setdiff1d(np.arange(1797), run.train_index())[0]
    app = open_page("errors", run=run.id, digit=f"digits-8x8/train/{left}", why="without")
    assert "*Exclude or relabel* is for training examples" in captions(app)
