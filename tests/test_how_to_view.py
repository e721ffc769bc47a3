"""The lines by which pages/README.md adds a view, taken from there and run."""

import sys
from types import ModuleType

from pages.ui import views
from pages.ui.kit import view
from pages.ui.run import exports
from svmcore.lab import Recipe, jobs
from tests.driven import finished, open_page, whole_app  # noqa: F401
from tests.readme import lines

MOONS = Recipe(dataset="toy-moons", preprocess=(), n_train=80, n_test=40)


def test_a_view_is_a_file_and_a_line(home, monkeypatch):
    monkeypatch.setattr(jobs, "ensure_preset", lambda: None)
    monkeypatch.setattr(view, "METHODS", dict(view.METHODS))
    file, line = lines("pages/README.md", "How to add a view")
    module = ModuleType("pages.ui.views.nu_sv")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(file, module.__dict__)
    exec(line, vars(views) | {"METHODS": view.METHODS, "nu_sv": module})
    one, other = finished(MOONS.replace(method="nu-sv", title="By nu")), finished(MOONS.replace(title="By C"))
    share = one.result["n_sv"][0] / one.result["n_train"]
    assert share >= 0.5
    table = open_page("runs", run=one.id).dataframe[0].value.set_index("Run")
    assert table.loc["By nu", "SV share"] == share
    assert str(table.loc["By C", "SV share"]) == "nan"
    assert f"{share:.0%} are support vectors." in exports.report(one)
    assert "are support vectors." not in exports.report(other)
    ways = {run.title: [n.proto.label for n in open_page("train", run=run.id).get("page_link")] for run in (one, other)}
    assert [way for way in ways["By nu"] if way not in ways["By C"]] == ["Choose nu by cross-validation"]
