"""What pages/README.md says of adding a page is done to a copy of the app, and works."""

import shutil
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.kit import words
from svmcore.lab.jobs import welcome
from svmcore.lab.store import runs
from tests.driven import captions, finish_all, whole_app  # noqa: F401
from tests.readme import ROOT, lines


@pytest.fixture
def added(home):
    """(source of a page, its entry in the menu) -> a copy of the app that has it, at that page."""
    return partial(_added, home)


def _added(home, page, entry):
    welcome.WELCOME.homes.add(runs.home())  # no preset is trained
    name = entry.split()[0]
    shutil.copytree(ROOT / "pages", home / "pages", ignore=shutil.ignore_patterns("__pycache__"))
    (home / "pages" / f"{name}.py").write_text(page, "utf-8")
    shutil.copy(ROOT / "app.py", home)
    menu = (ROOT / "pages" / "menu.toml").read_text("utf-8")
    (home / "pages" / "menu.toml").write_text(menu.replace("[menu.Look]", f"[menu.Look]\n{entry.strip()}", 1), "utf-8")
    app = AppTest.from_file(str(home / "app.py"), default_timeout=60).run()
    app.query_params["gamma"] = "3"
    app.switch_page(f"pages/{name}.py").run()
    assert not app.exception
    return app


def test_the_lines_that_add_a_page_add_it(added):
    app = added(*lines("pages/README.md", "How to add a page"))
    assert app.title[0].value == "Widths"
    assert app.number_input(key="gamma").value == 3
    app.query_params["gamma"] = "300"
    app.run()
    assert "gamma=300 in the address" in app.warning[0].value.replace("\\", "")


def test_the_lines_that_add_a_study_add_it(added):
    _, entry = lines("pages/README.md", "How to add a page")
    app = added(*lines("pages/README.md", "How to add a study"), entry)
    assert app.title[0].value == "Widths"
    assert "0 of 3 runs are stored; 3 runs to train" in captions(app)
    assert not list(runs.newest_first())  # nothing starts without a click
    app.button(key="queue_widths").click().run()
    finish_all()
    app.run()
    assert app.dataframe[0].value["State"].tolist() == ["done"] * 3
    assert (
        app.dataframe[0].value["Error (95 %)"].tolist() == [words.rate(run.result) for run in runs.newest_first()][::-1]
    )
