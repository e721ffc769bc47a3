"""A run that somebody else deletes while a page is drawn: no page breaks down, wherever in the drawing that happens."""

import builtins
import io
import os
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.kit import ways
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import contents
from tests import damage
from tests.driven import open_page, whole_app  # noqa: F401  (a fixture for every test here)

PAGES = (
    "compare",
    "cross_training",
    "detect",
    "draw",
    "errors",
    "lessons",
    "methods",
    "paper",
    "photograph",
    "playground",
    "reduced",
    "runs",
    "scramble",
    "support_vectors",
    "sweep",
    "train",
)
MOONS = RECIPES["moons"].replace(n_train=60)
DIGITS = RECIPES["digits-8x8-sv"].replace(n_train=60, n_test=40)


class Vanishing:
    """Notes from which lines of the pages the files of a run are looked at, and takes its folder away before one look
    from a given line."""

    def __init__(self, monkeypatch, folder, at=None, skip=0):
        self.folder, self.at, self.left, self.places = str(folder), at, skip, Counter()
        for module, name in ((os, "stat"), (os, "open"), (io, "open"), (builtins, "open")):
            monkeypatch.setattr(module, name, self.before(getattr(module, name)))

    def before(self, look):
        def looks(path, *args, **kwargs):
            if isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self.folder):
                self.places[place := asking()] += 1
                if place == self.at:
                    self.left -= 1
                    if self.left < 0:
                        self.at = None
                        os.rename(self.folder, f"{self.folder}-away")
            return look(path, *args, **kwargs)

        return looks


def asking():
    """The innermost line of a page, or of app.py, that is being drawn."""
    frame = sys._getframe(2)
    while frame and not re.search(r"/pages/|/app\.py$", frame.f_code.co_filename):
        frame = frame.f_back
    return frame and (os.path.basename(frame.f_code.co_filename), frame.f_lineno)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """The folder of a run that is done, which pages show, beside another one in the same home."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(home))
        damage.finished(DIGITS, "Stays")
        yield damage.finished(DIGITS.replace(C=3.0), "Goes").path


def drawn(app, monkeypatch, goes, at=None, skip=0):
    """Draw the page of the run anew, as if nothing of the run had been read yet; from where it was looked at."""
    contents._states.clear()
    contents.MACHINES._values.clear()
    app.query_params["run"], app.query_params["digit"] = goes.name, "digits-8x8/train/3"
    with monkeypatch.context() as patched:
        vanishing = Vanishing(patched, goes, at, skip)
        app.run()
    if (away := goes.with_name(f"{goes.name}-away")).exists():
        away.rename(goes)
    return vanishing.places


def breaks_none(monkeypatch, goes, page, places_of, skips_of):
    monkeypatch.setenv("SVMLAB_HOME", str(goes.parents[1]))
    monkeypatch.setattr("pages.ui.kit.parameters.address.LAG", 0.0)  # no reader comes back so soon
    app = open_page(page, run=goes.name)
    places = drawn(app, monkeypatch, goes)
    assert len(places) > 3
    for place in places_of(list(places)):
        for skip in skips_of(places[place]):
            drawn(app, monkeypatch, goes, place, skip)
            assert not app.exception, (place, skip)
            said = " ".join(element.value for element in (*app.warning, *app.toast, *app.error))
            assert "deleted" in said or app.session_state["run"] == goes.name, (place, skip)


@pytest.mark.parametrize("page", ["errors", "runs"])
def test_a_run_that_goes_while_a_page_is_drawn_breaks_none(two, monkeypatch, page):
    breaks_none(monkeypatch, two, page, lambda places: places[::5], lambda many: [0])


def page_over_runs_that_go():
    import streamlit as st

    from pages.ui.kit import state
    from svmcore.lab.store import runs

    def draw():
        if st.session_state["going"]:
            gone, *st.session_state["going"] = st.session_state["going"]
            raise runs.UnknownRun(f"run {gone} was deleted meanwhile")
        st.write("Drawn")

    state.keep_runs_in(runs)
    state.guarded(draw)
    state.tell()


@pytest.mark.parametrize(("going", "drawn"), [(range(20), True), ([1, 2, 1], False)])
def test_a_page_is_begun_anew_over_each_of_many_runs_that_go_and_over_none_twice(home, monkeypatch, going, drawn):
    monkeypatch.setattr(ways, "to", lambda *where: None)  # to a page of the whole app
    app = AppTest.from_function(page_over_runs_that_go)
    app.session_state["going"] = list(going)
    app.run(timeout=30)
    assert not app.exception
    assert [element.value for element in app.markdown if element.value == "Drawn"] == ["Drawn"] * drawn
    assert [element.value for element in app.error] == ["run 1 was deleted meanwhile"] * (not drawn)


@pytest.mark.full
@pytest.mark.timeout(1800)  # a page is drawn some hundred times
@pytest.mark.parametrize("page", PAGES)
def test_a_run_that_goes_before_any_look_breaks_no_page(two, monkeypatch, page):
    breaks_none(monkeypatch, two, page, lambda places: places, range)


@pytest.mark.parametrize("key", ["delete_", "title_", "tags_"])
def test_what_is_asked_of_a_run_that_is_gone_is_said(home, key):
    gone, kept = damage.finished(MOONS.replace(C=3.0), "Goes"), damage.finished(MOONS, "Stays")
    app = open_page("runs", run=gone.id)
    widgets = [*app.button, *app.text_input, *app.multiselect]
    asked = next(widget for widget in widgets if widget.key == f"{key}{gone.id}")
    gone.path.rename(home / "away")
    if asked.type == "button":
        asked.click()
    else:
        asked.set_value("another" if key == "title_" else ["new"])
    app.run()
    assert not app.exception
    assert "deleted meanwhile" in " ".join(element.value for element in (*app.warning, *app.toast))
    assert app.session_state["run"] == kept.id


def test_what_reads_the_store_by_itself_is_guarded():
    """A fragment or a dialog is drawn without the page around it, and so without its guard."""
    root = Path(__file__).parents[1]
    bare = {
        str(path.relative_to(root))
        for path in (root / "pages").rglob("*.py")
        if re.search(r"\bst\.(fragment|dialog)\(?", path.read_text("utf-8"))
    }
    assert bare == {
        "pages/ui/kit/state.py",  # where they are guarded
        "pages/playground/plot.py",  # before the library is there
        "pages/ui/play/opening.py",  # nor then
        "pages/datasets/keeping.py",  # reads no run
        "pages/ui/kit/short_links.py",  # nor does this
    }
