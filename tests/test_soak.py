"""The attack of tests/bench/soak, a few tries of its cheap parts: the program works, and can fail."""

import json

import numpy as np
import pytest

from svmcore.lab import train
from svmcore.lab.store import runs
from tests import damage
from tests.bench.soak import Budget, __main__, addresses, commands, draw, forks, homes, models, names, reports, told
from tests.bench.soak.paged import Visitor
from tests.driven import whole_app  # noqa: F401  (pages run from app.py)


@pytest.fixture
def run(home):
    return damage.finished(homes.DIGITS.replace(n_train=40, n_test=20))


@pytest.mark.parametrize("number", range(12))
def test_hostile_command_lines(home, number):
    how, _, fell = commands.attempt(1, number).partition("|")
    assert how in ("refused", "answered", "accepted", "failed")
    assert fell == ""


def test_a_command_line_that_breaks_down_is_seen(home, monkeypatch):
    monkeypatch.setattr(commands, "_of_svmcore", lambda rng: ["recipes"])
    monkeypatch.setattr(
        commands.cli, "_list", lambda named, as_json: print("KeyError: 'x'", file=commands.cli.sys.stderr)
    )
    said = [commands.attempt(1, number) for number in range(3)]
    assert any("KeyError" in each for each in said)


@pytest.mark.parametrize("number", [1, 3])
def test_hostile_addresses(run, number):
    assert addresses.attempt(Visitor(), addresses.parameters(), [run.id], 1, number) == ""


@pytest.mark.parametrize("number", [1, 2, 3])
def test_hostile_names(home, number):
    assert names.attempt(Visitor(), 1, number).endswith("|")


def test_a_name_that_is_not_kept_is_seen(home, monkeypatch):
    monkeypatch.setattr(runs.Run, "rename", lambda self, title: None)
    assert "a run" in names.attempt(Visitor(), 1, 1)


@pytest.mark.parametrize("number", range(3))
def test_reports_and_scripts_of_hostile_names(home, number):
    assert reports.attempt(1, number) in ("", "refused")


def test_a_text_that_is_not_escaped_is_seen(home, monkeypatch):
    monkeypatch.setattr(reports.exports.marks, "text", str)
    monkeypatch.setattr(reports, "_text", lambda rng: "<script>1")
    assert "script" in reports.attempt(1, 1)


def test_machines_tampered_with(run, tmp_path):
    said = {models.attempt([run.path / "model.npz"], tmp_path, 1, number) for number in range(60)}
    assert said == {"refused", "decides"}


def test_a_machine_that_decides_nothing_is_seen(run, tmp_path, monkeypatch):
    monkeypatch.setattr(models, "load", lambda path: train.execute(run.recipe).machine)
    monkeypatch.setattr("svmcore.model.Machine.decision_values", lambda self, X, *_: np.full((len(X), 10), np.nan))
    assert "decides [nan" in models.attempt([run.path / "model.npz"], tmp_path, 1, 1)


def test_a_process_that_dies_or_raises_costs_its_own_try():
    def work(number):
        if number == 2:
            forks.os._exit(3)
        return 1 / (number - 1) and ""

    said = dict(forks.shared(work, range(5), workers=2))
    assert {number for number in said if not said[number]} == {0, 3, 4}
    assert "ZeroDivisionError" in said[1]
    assert said[2] == "the process died, 3"


def test_what_was_found_is_told_and_a_try_can_be_seen_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(__main__.measured, "FOLDER", tmp_path)
    monkeypatch.setattr(
        __main__, "attack", lambda name, budget, seed: [{"what": "x", "tries": 3, "failures": ["a `b`\u202e"]}]
    )
    assert __main__.main(["--parts", "models", "--count", "3", "--write"]) == 1
    found = json.loads((tmp_path / "soak.json").read_text())
    text = told.part(found, lambda columns, rows: str(rows), lambda entries: "")
    assert "- `a 'b'\\u202e`" in text
    assert "FELL" in capsys.readouterr().out
    assert list(Budget(2, 60, 7).numbers()) == [7, 8]
    assert draw(1, 2).random() == draw(1, 2).random() != draw(1, 3).random()
    assert told.number(["a", "and 7 more"]) == 8
