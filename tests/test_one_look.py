"""A page looks at each run once, however often it asks; what the page itself changes it sees at once."""

import os

import pytest
from streamlit.testing.v1 import AppTest

from svmcore.lab import jobs
from svmcore.lab.forecast import estimate
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import contents, runs
from tests import damage

MOONS = RECIPES["moons"]


def made(state="cancelled"):
    run = runs.create(MOONS)
    run.set_state(state)
    run.release()
    return run


@pytest.fixture
def looks(monkeypatch):
    """Every look at the files of a run."""
    found, stamps = [], contents._stamps
    monkeypatch.setattr(contents, "_stamps", lambda folder: found.append(folder) or stamps(folder))
    return found


def test_each_run_is_looked_at_once(home, looks):
    several = [made() for _ in range(3)]
    looks.clear()
    with runs.one_look():
        for _ in range(5):
            assert [run.state for run in runs.newest_first()] == ["cancelled"] * 3
            estimate(MOONS)
        assert len(looks) == len(several)
    assert [run.title for run in runs.everything()]
    assert len(looks) == 2 * len(several), "after it as before: one look for each question"


def test_what_is_changed_meanwhile_by_others_is_seen_next_time_and_by_oneself_at_once(home):
    run, other = made(), made()
    with runs.one_look():
        assert run.title == MOONS.title
        with open(run.path / "title.json", "w") as file:
            file.write('"theirs"')
        os.utime(run.path / "title.json", ns=(1, 1))
        assert run.title == MOONS.title
        run.rename("mine")
        assert run.title == "mine"
        other.delete()
        assert len(runs.everything()) == 1
        runs.restore(other.id)
        assert len(runs.everything()) == 2
        new = made("done")
        assert new.id in [run.id for run in runs.everything()]
        with runs.one_look():
            assert run.title == "mine"


def page_that_waits():
    """The run ends after the page has read that it is at work, and before the page begins to follow it."""
    import streamlit as st

    from pages.ui.kit import state
    from pages.ui.run import polling
    from svmcore.lab import jobs
    from svmcore.lab.store import runs

    state.keep_runs_in(runs)
    run = runs.newest_first()[0]
    with runs.one_look():
        st.write(run.state)
        if run.state not in runs.ACTIVE:
            return
        jobs.cancel(run.id)
        assert jobs.status(run.id).state == "cancelled"
        assert run.state == "cancelled"
        polling.poll(run.id, lambda status: st.write(f"followed: {status.state}"))


def test_a_run_that_ends_before_the_page_follows_it_lets_the_page_be_drawn_once_more(home):
    run_id = jobs.submit(MOONS)
    jobs.pause(run_id)
    page = AppTest.from_function(page_that_waits, default_timeout=60).run()
    assert not page.exception
    assert [text.value for text in page.markdown] == ["cancelled"]


def test_damage_that_is_found_while_drawing_is_known_at_once(home):
    run = damage.finished(MOONS.replace(n_train=60))
    with runs.one_look():
        assert not run.damage
        (run.path / "model.npz").write_bytes((run.path / "model.npz").read_bytes()[:-200] + b"x" * 200)
        with pytest.raises(runs.Damaged):
            run.machine()
        assert run.damage
