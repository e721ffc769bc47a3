"""Pages driven without a browser: AppTest from app.py on, for the test modules of the pages."""

from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import script_runner
from streamlit.testing.v1 import AppTest

from pages.ui.play import opening
from tests.trained import finish_all, finished

SECONDS = 120  # that a page may take beside other work
RUN_SECONDS = 120  # that a small run may take, compilation included
__all__ = [
    "RUN_SECONDS", "SECONDS", "captions", "finish_all", "finished", "open_page", "sent_with_a_look", "to_page",
    "whole_app",
]  # fmt: skip


@pytest.fixture(autouse=True)
def whole_app(monkeypatch):
    """Pages run from app.py (before each run AppTest turns on Streamlit's older page discovery, which runs a page
    alone), and no session searches the installed packages anew: half of the time that a page would take. The library is
    there: no fragment that waits for it is drawn again."""
    opening.load().result()
    for module, name, instead in WHOLE_APP:
        monkeypatch.setattr(module, name, instead)


def script_of_app(path):
    """Run app.py as a script."""
    exec(Path(path).read_text("utf-8"), {"__name__": "__main__", "__file__": path})


WHOLE_APP = (
    (script_runner, "_mpa_v1", script_of_app),
    (manifest_scanner, "scan_component_manifests", list),  # none
)


def open_page(page, /, **query):
    app = AppTest.from_file("../app.py", default_timeout=SECONDS)
    to_page(app, page)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def to_page(app, page):
    """Let the app be at a page when it runs next; a driven app begins at the first one, whose address is the app's."""
    if page != "playground":
        app.switch_page(f"pages/{page}.py")
    return app


def captions(app):
    """What the captions say, without the backslashes that keep texts of files and readers from being Markdown."""
    return " ".join(caption.value for caption in app.caption).replace("\\", "").replace("\u00a0", " ")


def sent_with_a_look(app):
    """What a browser that shows the page as it is now sends when it only looks again: values, and no click."""
    values = [one for one in app._tree.get_widget_states().widgets if not one.HasField("trigger_value")]
    return WidgetStates(widgets=values)
