"""What pages/README.md says of adding a page is done to a copy of the app, and works."""

import re
import shutil

from streamlit.testing.v1 import AppTest

from svmcore.lab.jobs import welcome
from svmcore.lab.store import runs
from tests.driven import whole_app  # noqa: F401
from tests.readme import ROOT, lines


def test_the_lines_that_add_a_page_add_it(home):
    welcome.WELCOME.homes.add(runs.home())  # no preset is trained
    page, entry = lines("pages/README.md", "How to add a page")
    name = re.match(r'entry\("\w", "(\w+)"', entry)[1]
    shutil.copytree(ROOT / "pages", home / "pages", ignore=shutil.ignore_patterns("__pycache__"))
    (home / "pages" / f"{name}.py").write_text(page, "utf-8")
    app = (ROOT / "app.py").read_text("utf-8")
    (home / "app.py").write_text(app.replace('"Look": [', f'"Look": [{entry.strip()},', 1), "utf-8")

    app = AppTest.from_file(str(home / "app.py"), default_timeout=60)
    app.query_params["gamma"] = "3"
    app.run()
    app.query_params["gamma"] = "3"
    app.switch_page(f"pages/{name}.py").run()
    assert not app.exception
    assert app.title[0].value == "Widths"
    assert app.number_input(key="gamma").value == 3
    app.query_params["gamma"] = "300"
    app.run()
    assert "gamma=300 in the address" in app.warning[0].value.replace("\\", "")
