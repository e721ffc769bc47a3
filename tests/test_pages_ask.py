"""The next label without a browser: nothing to ask for, labels by button, at work, failed, stopped, and the study."""

import numpy as np
import pytest

from data import catalogue, load, revisions
from data.dataset import Arrays
from pages.labels import ask
from svmcore.kernels import RBF, Poly
from svmcore.lab import Recipe
from svmcore.lab.jobs.analyses import NEXT, STUDIED, study_key
from svmcore.lab.jobs.background import Busy, TaskStatus
from tests.driven import captions, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

HALF = Recipe(dataset="own:half", split="given", kernel=Poly(3, 1.0, 1.0), title="half")
SMALL = {"begin": "12", "upto": "40", "times": "2", "goal": "20"}


@pytest.fixture
def run(home, monkeypatch):
    monkeypatch.setattr(ask, "PATIENCE", 120)  # a page drawn beside a busy core says how far it is, and no more
    digits = load("digits-8x8")
    arrays = Arrays(digits.X_train[:300], digits.y_train[:60], digits.X_train[300:500], digits.y_train[300:500])
    catalogue.keep("half", arrays)
    return finished(HALF)


def texts(app):
    return " ".join([captions(app), *(m.value for m in app.markdown)]).replace("\\", "")


def shown(app):
    """The row that is asked for."""
    return next(int(one.key.rsplit("_", 1)[1]) for one in app.button if one.key.startswith("label_unsure_"))


def press(app, begins):
    (button,) = [one for one in app.button if one.key.startswith(f"label_{begins}_")]
    button.click().run()
    assert not app.exception
    return app


def test_a_few_are_labelled_and_the_curve_moves(run):
    digits, base = load("digits-8x8"), load("own:half")
    app = open_page("labels", run=run.id, doubted="next")
    assert not [one for one in app.button if one.key.startswith("label_keep_")], "there is nothing to keep"
    assert "0 of 240 reviewed" in app.get("progress")[0].proto.text
    seen, errors = [], []
    for n in range(1, 5):
        seen.append(shown(app))
        press(app, f"is_{digits.y_train[seen[-1]]}")
        assert f"{n} of 240 reviewed** · this is number {n + 1}" in app.get("progress")[0].proto.text
        key = run.id, "own:half", ask.given(ask.Target("own:half@checked", base)), "nearest", ask.COMING
        found = NEXT.status(*key).result
        assert shown(app) == found.rows[0]
        errors.append(list(found.curve.values()))
    assert len(set(seen)) == 4
    assert errors[-1][:2] == errors[0]
    stands = revisions.standing("own:half@checked", base.entry)
    assert [(row, one.label) for (_, row), one in stands.items()] == [(r, digits.y_train[r]) for r in seen]
    press(app, "unsure")
    assert "4 labelled for the first time, 1 unsure" in texts(app)
    press(app, "undo")
    press(app, "undo")
    assert "3 of 240 reviewed" in app.get("progress")[0].proto.text
    press(app, "previous")
    assert shown(app) == seen[2]
    assert "This was query number 3." in texts(app)
    app.button(key="label_train").click().run()
    assert not app.exception


def opened(run, way: str):
    """The page, with what it asks for there."""
    app = open_page("labels", run=run.id, doubted="next", ask=way)
    given = ask.given(ask.Target("own:half@checked", load("own:half")))
    assert NEXT.wait(run.id, "own:half", given, way, ask.COMING, timeout=60).state == "done"
    return app.run()


def test_it_is_asked_in_other_ways_and_from_the_address(run):
    firsts = {way: shown(opened(run, way)) for way in ("nearest", "random")}
    assert firsts["nearest"] != firsts["random"]
    assert not open_page("labels", run=run.id, doubted="next", ask="spread").exception
    app = open_page("labels", run=run.id, doubted="next", ask="best")
    assert not app.exception
    datasets = open_page("datasets", set="own:half")
    assert "240 of 300 have no label yet" in captions(datasets)
    assert datasets.get("page_link")
    for view in ("First hundred", "By class", "Preprocessing", "About"):
        assert not open_page("datasets", set="own:half", view=view).exception
    last = open_page("errors", run=run.id, digit="own:half/train/299")
    assert "no label yet" in texts(last)


def test_there_is_nothing_to_ask_for_where_all_have_a_label(home):
    run = finished(Recipe(dataset="digits-8x8", n_train=100, n_test=100, kernel=Poly(3, 1.0, 1.0)))
    app = open_page("labels", run=run.id, doubted="next")
    assert "Every example of Optical digits, 8 x 8 has a label" in app.info[0].value.replace("\\", "")
    assert app.button(key="asked_begin")


def test_a_machine_that_cannot_ask_says_so(run):
    other = finished(HALF.replace(method="vsv", jitters="plus:1"))
    app = open_page("labels", run=other.id, doubted="next")
    assert "Virtual support vectors" in app.warning[0].value
    assert "Use a run of the method *Support vectors*" in captions(app)


def test_at_work_stopped_and_failed_are_said(run, monkeypatch):
    now = TaskStatus("working", None, "Kernel values")
    monkeypatch.setattr(NEXT, "status", lambda *key: now)
    monkeypatch.setattr(NEXT, "wait", lambda *key, timeout: now)
    app = open_page("labels", run=run.id, doubted="next")
    assert "Kernel values" in app.get("progress")[0].proto.text
    assert app.button(key="ask_stop")
    now = TaskStatus("failed", None, "It needs 9 GB")
    started = []
    monkeypatch.setattr(NEXT, "start", lambda *key: started.append(key))
    app.run()
    assert "It needs 9 GB" in app.error[0].value
    app.button(key="ask_begin").click().run()
    assert len(started) == 1

    def busy(*key):
        raise Busy("8 others are waiting")

    now = TaskStatus("none")
    monkeypatch.setattr(NEXT, "start", busy)
    app.run()
    assert "8 others are waiting" in app.warning[0].value
    assert not app.exception


def test_all_have_been_asked_for(home):
    digits = load("digits-8x8")
    X, y = digits.X_train, digits.y_train
    catalogue.keep("half", Arrays(X[:62], y[:60], X[300:400], y[300:400]))
    run = finished(HALF)
    app = open_page("labels", run=run.id, doubted="next")
    for begins in ("out", "is_3"):
        press(app, begins)
    assert "Every example has been labelled" in app.success[0].value


def test_the_study_starts_is_watched_and_drawn(run):
    app = open_page("labels", run=run.id, doubted="next", **SMALL)
    app.button(key="asked_begin").click().run()
    recipe = ask.studied(run.recipe, run.result["n_train"])
    settings = {"known": 12, "batch": 10, "most": 40, "seeds": 2, "target": 0.2}
    assert STUDIED.wait(*study_key(recipe, **settings), timeout=60).state == "done"
    app.run()
    assert "Labels needed for an error of 20 %" in texts(app)
    assert "With all 60 labels" in captions(app)
    assert not app.exception


def test_a_study_that_breaks_off_or_is_stopped_says_so(run, monkeypatch):
    for now, words in ((TaskStatus("failed", None, "No room"), "No room"), (TaskStatus("stopped"), "Stopped")):
        monkeypatch.setattr(STUDIED, "status", lambda *key, now=now: now)
        app = open_page("labels", run=run.id, doubted="next", **SMALL)
        assert words in " ".join([texts(app), *(one.value for one in app.error)])
        assert app.button(key="asked_begin")
    monkeypatch.setattr(STUDIED, "status", lambda *key: TaskStatus("working", None, "seed 0"))
    app = open_page("labels", run=run.id, doubted="next", **SMALL)
    assert app.button(key="asked_stop")


def test_points_of_two_classes_are_asked_for_by_name(home):
    moons = load("toy-moons")
    names = np.where(moons.y_train > 0, "=ant*", "[bee](x)")
    catalogue.keep("points", Arrays(moons.X_train[:150], names[:30], moons.X_train[150:], names[150:]))
    run = finished(Recipe(dataset="own:points", split="given", preprocess=(), kernel=RBF(2.0), C=1.0))
    app = open_page("labels", run=run.id, doubted="next")
    row = shown(app)
    assert "from the separating plane. On the other side is class" in texts(app)
    press(app, "said")
    ((key, verdict),) = revisions.standing("own:points@checked", load("own:points").entry).items()
    assert key == ("train", row)
    assert verdict.label in ("=ant*", "[bee](x)")
