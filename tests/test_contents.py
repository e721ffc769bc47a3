"""The files of a run: what a method keeps beside the machine, and tells while it trains, is declared by the method."""

import json

import numpy as np
import pytest

from svmcore.allowed import amount
from svmcore.lab.method import METHODS, Method, MethodFile
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import contents, runs
from svmcore.lab.store.folders import append_line
from tests.trained import finished

MOONS = RECIPES["moons"].replace(n_train=60)


def weights(index, arrays):
    if len(arrays["w"]) != len(index):
        raise ValueError(f"it has {len(arrays['w'])} weights of {len(index)} examples")
    return dict(zip(index.tolist(), arrays["w"].tolist(), strict=True))


class Weighed(Method):
    """A machine whose run keeps a number of each training example, and says one while it trains."""

    name = "weighed"
    title = short = "Weighed"
    help, source = "One machine, and weights.", "this test"
    files = (MethodFile("weights", {"w": ("f", 1)}, weights),)
    line_fields = {"heaviest": amount}  # noqa: RUF012

    def train(self, recipe, problem, monitor):
        self.n, self.told = len(problem.y_train), set()

        def heaviest(progress):
            self.told.add(int(progress.iterations))
            return monitor(progress._replace(facts={"heaviest": 1.5}))

        heaviest.burst = 1
        return super().train(recipe, problem, heaviest)

    def points(self, line):
        return line["iterations"]  # so that every line is kept

    def arrays(self, estimator):
        return {"weights": {"w": np.arange(self.n) / self.n}}


@pytest.fixture
def run(home, monkeypatch):
    monkeypatch.setitem(METHODS, "weighed", Weighed())
    yield finished(MOONS.replace(method="weighed"))
    contents._states.clear()  # of a method that is no more


def test_what_a_method_keeps_is_written_read_and_checked_by_what_it_declares(run):
    kept = run.method_file("weights")
    assert list(kept) == run.train_index().tolist()
    assert max(kept.values()) == 59 / 60
    run.check()
    np.savez(run.path / "weights.npz", w=np.zeros(3))
    assert run.state == "done", "its header says nothing wrong"
    with pytest.raises(runs.Damaged, match=r"weights\.npz is damaged: it has 3 weights of 60"):
        run.check()
    assert run.state == "damaged"
    np.savez(run.path / "weights.npz", w=np.zeros(60, int))
    assert run.damage.startswith("weights.npz is damaged: its array w has the type int64 and the shape")
    assert run not in runs.newest_first()
    (run.path / "weights.npz").unlink()
    assert run.state == "done"
    with pytest.raises(FileNotFoundError):
        run.method_file("weights")


def test_it_is_no_file_of_a_run_of_another_method(run):
    plain = finished(MOONS)
    (plain.path / "weights.npz").write_bytes(b"whatever")
    assert plain.state == "done"
    with pytest.raises(FileNotFoundError, match="store no"):
        plain.method_file("weights")


def test_a_line_with_another_point_is_kept_however_soon_it_comes(run):
    told = METHODS["weighed"].told - {0}
    assert len(told) > 5
    assert told <= {line["iterations"] for line in run.progress()}
    assert len(finished(MOONS).progress()) < len(told)


def test_lines_of_progress_are_checked_by_what_the_method_declares(run):
    lines = run.progress()
    assert lines
    assert all(line["heaviest"] == 1.5 for line in lines)
    plain = finished(MOONS)
    for one in (run, plain):
        with open(one.path / "progress.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(lines[0] | {"heaviest": -1}) + "\n")
    assert run.progress() == lines
    assert plain.progress()[-1]["heaviest"] == -1, "it means nothing there"


def test_of_a_run_at_work_its_last_state_alone_stays_in_memory(run, monkeypatch):
    folder, looked = run.path, []
    monkeypatch.setattr(contents, "_states", {})
    see = contents._see
    monkeypatch.setattr(contents, "_see", lambda path, *how: looked.append(path.name) or see(path, *how))
    run.state  # noqa: B018  (a look)
    assert "result.json" in looked
    looked.clear()
    for line in range(5):
        append_line(folder / "progress.jsonl", {"iterations": line})
        assert run.state == "done"
    assert looked == ["progress.jsonl"] * 5
    assert list(contents._states) == [str(folder)]


def test_no_more_runs_are_remembered_than_may_be(home, monkeypatch):
    monkeypatch.setattr(contents, "_states", {})
    monkeypatch.setattr(contents, "MAX_STATES", 3)
    created = [runs.create(MOONS) for _ in range(5)]
    assert len(runs.newest_first()) == len(created)
    assert len(contents._states) == 3
    assert all(run.recipe == MOONS for run in created)
