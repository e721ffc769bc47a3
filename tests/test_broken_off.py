"""A fit that is broken off goes on from its last round: with the same machine, bit for bit; what is damaged is said."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pages.ui.recipe import starting
from svmcore import __main__ as cli
from svmcore.files import Checkpoint
from svmcore.kernels import RBF
from svmcore.lab import jobs
from svmcore.lab.store import runs
from svmcore.saved import load
from tests.drawing import digits, fitted, virtual
from tests.driven import open_page, whole_app  # noqa: F401  (a fixture for every test here)
from tests.test_virtual_draws import SMALL

ROOT = Path(__file__).parent.parent
SHORT = 2000  # draws
FITS = """
import sys
from svmcore.saved import save
from tests.drawing import fitted
kind, seed, path, until = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])

def monitor(progress):
    if progress.stage.endswith("violate a margin"):
        drawn = int(progress.stage.split()[1].replace(",", ""))
        if drawn > until:
            print("in a round", drawn, flush=True)
            sys.stdin.read()  # to be killed here
    return True

fitted(kind, seed, path, monitor)
"""


def killed(*command, until: str):
    """A process that says `until`, killed then and there."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    told = process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdin.close(), process.stdout.close()
    assert told.startswith(until)


def same(a, b):
    """Machines that are equal to the last bit."""
    for name in ("support", "support_vectors", "coef", "bias", "bound", "parent", "jitter"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


@pytest.mark.ci
@pytest.mark.parametrize(("kind", "seed", "kills"), [("ten", 0, (1, 2)), ("two", 1, (2,)), ("dark", 2, (2,))])
def test_a_fit_killed_in_a_round_ends_as_one_that_was_not(kind, seed, kills, tmp_path):
    """Killed once or twice, in the round after these; and once more from what was left when it had ended."""
    whole = fitted(kind, seed)
    assert len(whole.drawn_) >= 3
    path = tmp_path / "round.npz"
    for rounds in kills:
        until = str(whole.drawn_[rounds - 1, 0])
        killed(sys.executable, "-c", FITS, kind, str(seed), str(path), until, until="in a round")
    seen = []
    for after in ("training continued from a checkpoint (2 rounds", "training continued"):
        again = fitted(kind, seed, path, lambda progress: seen.append(progress.stage) or True)
        same(again.machine_, whole.machine_)
        same(again.base_.machine_, whole.base_.machine_)
        assert np.array_equal(again.drawn_, whole.drawn_)
        assert again.went_on_.startswith(after)
        assert not any(stage.startswith("base") for stage in seen)
        assert (again.n_iter_.tolist(), again.gap_) == (whole.n_iter_.tolist(), whole.gap_)
    assert whole.went_on_ == ""


def _spoil(path: Path, how: str) -> None:
    with np.load(path) as held:
        arrays = dict(held)
    if how == "cut short":
        path.write_bytes(path.read_bytes()[:-200])
    elif how == "a bit":
        content = bytearray(path.read_bytes())
        content[content.index(b"alpha.npy") + 1000] ^= 4
        path.write_bytes(content)
    elif how == "no alpha":
        del arrays["alpha"]
    elif how == "a pickle":
        arrays["alpha"] = np.array([{}], object)
    elif how == "a parent too many":
        arrays["parent"] = arrays["parent"] + 10**6
    elif how == "alpha beyond C":
        arrays["alpha"] = arrays["alpha"] + 5
    elif how == "no number":
        arrays["f"] = arrays["f"] * np.nan
    elif how == "two lengths":
        arrays["idle"] = arrays["idle"][:-1]
    elif how == "another fit":
        arrays["key"] = np.array("0" * 32)
    if how not in ("cut short", "a bit"):
        with path.open("wb") as file:
            np.savez(file, **arrays)


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """A checkpoint of the fit "two" with three short rounds, and its machine."""
    path = tmp_path_factory.mktemp("left") / "round.npz"
    fit = fitted("two", 0, path, draws=SHORT)
    assert len(fit.drawn_) >= 3
    return path, fit.machine_


SPOILT = {
    "cut short": "not a zip",
    "a bit": "CRC",
    "no alpha": "it has no array alpha",
    "a pickle": "allow_pickle",
    "a parent too many": "parent has invalid values",
    "alpha beyond C": "alpha has invalid values",
    "no number": "f has missing",
    "two lengths": "idle has the shape",
    "another fit": "other examples",
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_damaged_checkpoint_is_said(how, left, tmp_path):
    path = tmp_path / "round.npz"
    shutil.copy(left[0], path)
    _spoil(path, how)
    again = fitted("two", 0, path, lambda _: False, draws=SHORT)
    assert again.went_on_.startswith("training started again, because the checkpoint round.npz cannot be used: ")
    assert SPOILT[how] in again.went_on_


@pytest.mark.parametrize("how", ["a bit", "alpha beyond C"])  # of the file, and of what it says
def test_a_fit_with_a_damaged_checkpoint_begins_anew(how, left, tmp_path):
    path = tmp_path / "round.npz"
    shutil.copy(left[0], path)
    _spoil(path, how)
    same(fitted("two", 0, path, draws=SHORT).machine_, left[1])


def test_what_decides_the_fit_decides_whether_it_goes_on(left, tmp_path):
    X, y, _ = digits(2, 150)
    path = tmp_path / "round.npz"

    def went_on(**change):
        """What a fit that is changed so says of what was left; how it would end is not asked."""
        shutil.copy(left[0], path)
        how = {"jitters": "random:300", "draws": SHORT, "kernel": RBF(0.5), "seed": 0} | change
        return virtual(how.pop("jitters"), **how).fit(X, y, monitor=lambda _: False, checkpoint=path).went_on_

    for change in ({"seed": 5}, {"C": 3.0}, {"draws": 1900}, {"kernel": RBF(0.6)}, {"jitters": "random:299"}):
        assert "other examples or settings" in went_on(**change)
    X[3, 0, 0] += 1
    assert "other examples" in went_on()
    X[3, 0, 0] -= 1
    assert went_on(cache_mb=500).startswith("training continued"), "memory decides how, not what"


def test_a_disk_that_is_full_ends_the_fit_with_the_reason(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        fitted("two", 0, tmp_path / "nowhere" / "round.npz")


# Runs

RUNS = """
import json, sys
from svmcore.files import Checkpoint
from svmcore.lab import Recipe, jobs

count, write = 0, Checkpoint.write

def counted(self, key, arrays):
    global count
    write(self, key, arrays)
    count += 1
    if count == 4:  # before the first round, and after three of them
        print("in a round", flush=True)
        sys.stdin.read()

Checkpoint.write = counted
jobs.wait(jobs.submit(Recipe.from_dict(json.loads(sys.argv[1]))))
"""
LONG = SMALL.replace(title="Broken off", jitters="random:24", options={"scope": "union", "draws": 20_000})


@pytest.fixture(scope="module")
def interrupted():
    """A run whose process was killed in its fourth round, and one of the same recipe that was not."""
    killed(sys.executable, "-c", RUNS, json.dumps(LONG.to_dict()), until="in a round")
    run = next(run for run in runs.newest_first() if run.title == "Broken off")  # others may be of an earlier test
    whole = jobs.submit(LONG)
    assert jobs.wait(whole, 300).state == "done"
    return run, runs.get(whole)


def test_a_run_that_was_killed_goes_on_as_a_new_one_and_keeps_the_same(interrupted):
    run, whole = interrupted
    assert (run.state, run.broken_off, run.damage) == ("interrupted", True, "")
    assert not whole.broken_off
    assert not whole.checkpoints(), "what is done needs none"
    on = runs.get(jobs.submit(run.recipe, broken_off=run.id))
    assert jobs.wait(on.id, 300).state == "done"
    same(on.machine(), whole.machine())
    assert on.result["drawn"] == whole.result["drawn"]
    assert on.result["kernel_evals"] == whole.result["kernel_evals"]
    assert "training continued from a checkpoint (3 rounds" in on.result["went_on"]
    assert "went_on" not in whole.result
    assert not on.checkpoints()
    assert run.broken_off, "it may be taken up again"


def test_what_cannot_go_on_is_refused_by_name(interrupted):
    run, whole = interrupted
    with pytest.raises(ValueError, match="has no checkpoint to continue from"):
        jobs.submit(LONG, broken_off=whole.id)
    with pytest.raises(ValueError, match="has another recipe"):
        jobs.submit(LONG.replace(C=3.0), broken_off=run.id)
    with pytest.raises(runs.UnknownRun):
        jobs.submit(LONG, broken_off="../../etc")


def test_a_damaged_checkpoint_leaves_the_run_as_it_was_and_says_so(interrupted, tmp_path):
    run, whole = interrupted
    path = run.path / "checkpoint.npz"
    content = path.read_bytes()
    try:
        path.write_bytes(content[:1000])
        assert run.state == "interrupted"
        assert run.oddity.startswith("checkpoint.npz is damaged")
        on = runs.get(jobs.submit(run.recipe, broken_off=run.id))
        assert jobs.wait(on.id, 300).state == "done"
        why = "the checkpoint checkpoint.npz cannot be used"
        assert on.result["went_on"].startswith(f"training started again, because {why}")
        same(on.machine(), whole.machine())
    finally:
        path.write_bytes(content)


def test_a_cancelled_run_can_be_gone_on_with_and_writes_no_more():
    run_id = jobs.submit(LONG.replace(jitters="random:4000", draws=5_000_000))
    run, checkpoint = runs.get(run_id), None
    while checkpoint is None and jobs.status(run_id).state in runs.ACTIVE:
        jobs.wait(run_id, 0.05)
        checkpoint = next(iter(run.checkpoints()), None)
    jobs.cancel(run_id)
    assert jobs.wait(run_id, 60).state == "cancelled"
    assert run.broken_off


def test_the_page_offers_to_go_on(interrupted, monkeypatch):
    monkeypatch.setattr(starting, "CLICK", 0.0)  # a run of this recipe may have been asked for a moment ago
    run, _ = interrupted
    app = open_page("train", run=run.id)
    assert app.button(key="go_on").label == "Go on"
    app.button(key="go_on").click().run()
    new = app.session_state["run"]
    assert new != run.id
    assert jobs.wait(new, 300).state == "done"
    assert "training continued" in runs.get(new).result["went_on"]


@pytest.mark.ci
def test_the_command_line_goes_on(interrupted, capsys):
    run, whole = interrupted
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "svmcore", "go-on", run.id, "--json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["errors"] == whole.result["errors"]
    same(load(runs.get(told["run"]).path / "model.npz"), whole.machine())
    assert cli.main(["go-on", whole.id]) == 2
    assert "no checkpoint to continue from" in capsys.readouterr().err


def test_a_checkpoint_is_whole_or_the_one_before(tmp_path):
    left = Checkpoint(tmp_path / "c.npz")
    assert left.read("a") is None
    left.write("a", {"x": np.arange(3)})
    with pytest.raises(TypeError):
        left.write("a", {"x": np.arange(4), "file": np.arange(2)})
    assert left.read("a")["x"].tolist() == [0, 1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["c.npz"]
