"""The command line: figures on stdout, progress on stderr, and a clean stop."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from data import __main__ as data_cli
from data import load
from svmcore import __main__ as cli
from svmcore.lab.presets import LISTED, RECIPES, digestion, osuna
from svmcore.lab.store import runs
from tests import uploads

ROOT = Path(__file__).parent.parent
SHARED = os.environ["SVMLAB_HOME"]  # the home folder, and so the JIT cache, of all tests
PROMISED = {
    "recipe", "dataset", "n_train", "n_test", "errors", "error_rate", "n_sv", "n_bound", "fit_seconds",
    "predict_seconds", "peak_rss_mb", "converged", "interval", "run",
}  # fmt: skip


def test_recipes_are_listed(capsys):
    assert cli.main(["recipes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(LISTED)
    points = {recipe.name for recipe in (*osuna.RECIPES, *digestion.RECIPES)}
    assert set(RECIPES) - set(LISTED) == points - {"osuna-scaling"}
    assert cli.main(["recipes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["moons"] == RECIPES["moons"].to_dict()


def test_a_run_ends_with_one_json_object(home, capsys):
    assert cli.main(["run", "moons", "--set", "C=5", "--set", "kernel.gamma=1", "--json"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out.splitlines()[-1])
    assert result.keys() >= PROMISED
    assert (result["recipe"], result["dataset"], result["converged"]) == ("moons", "toy-moons", True)
    assert result["errors"] / result["n_test"] == result["error_rate"]
    run = runs.get(result["run"])
    assert (run.recipe.C, run.recipe.kernel.gamma, run.state) == (5, 1, "done")
    assert run.title == "Two moons (synthetic) · rbf 1 · C 5"
    assert "about" in err


def test_a_run_for_the_eye(home, capsys):
    assert cli.main(["run", "gaussians"]) == 0
    assert "support vectors" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "machines"), [("moons", 1), ("digits-8x8-sv", 2)])
def test_why_lists_what_decides_an_error_and_sums_to_its_decision_value(home, capsys, name, machines):
    assert cli.main(["run", name, "--set", "n_train=90", "--set", "n_test=150", "--set", "C=1", "--json"]) == 0
    run = runs.get(json.loads(capsys.readouterr().out.splitlines()[-1])["run"])
    assert cli.main(["why", run.id, "--most", "3"]) == 0
    out, err = capsys.readouterr()
    test, lines = run.test(), list(csv.DictReader(out.splitlines()))
    at = np.flatnonzero(test.y_true != test.y_pred)[0]
    said = f"example {test.index[at]}: true {test.y_true[at]}, predicted {test.y_pred[at]}"
    assert said in err
    sums = {name: sum(float(line["contribution"]) for line in lines if line["machine"] == name)
            for name in dict.fromkeys(line["machine"] for line in lines)}  # fmt: skip
    of_class = dict(zip(map(str, run.machine().classes), test.decision[at], strict=machines > 1))
    of_class = of_class if machines > 1 else {str(run.machine().classes[1]): test.decision[at, 0]}
    assert len(sums) == machines
    assert sums == pytest.approx({name: of_class[name] for name in sums}, abs=1e-4)
    examples = [line for line in lines if line["example"].isdigit()]
    assert len(examples) == 3 * machines
    labels = load(run.recipe.dataset).y_train
    assert all(str(labels[int(line["example"])]) == line["class"] for line in examples)
    right = test.index[test.y_true == test.y_pred][0]
    assert cli.main(["why", run.id, "--example", str(right)]) == 0
    assert f"example {right}:" in capsys.readouterr().err
    assert cli.main(["why", run.id, "--example", "987654"]) == 2
    assert "does not test example 987654; allowed: one of its 150" in capsys.readouterr().err


@pytest.mark.parametrize("beside", [False, True], ids=["pictures", "features"])
def test_pictures_of_one_s_own_are_named_by_their_files(home, tmp_path, capsys, beside):
    """Each picture has a grey of its own, by which its file is told here."""
    rng, greys = np.random.default_rng(4), np.arange(40, 140, 2)
    kinds = rng.choice(["cat", "dog"], len(greys))
    names = [f"{kind}/{grey}.png" for kind, grey in zip(kinds, greys)]
    files = {name: uploads.image(np.full((9, 12 + k % 3), grey, np.uint8)) for k, (name, grey) in
             enumerate(zip(names, greys))}  # fmt: skip
    if beside:
        X = greys[:, None] / 255 + rng.normal(size=(len(greys), 3)) * [0, 1, 1]
        npz = io.BytesIO()
        np.savez(npz, X=X, y=kinds, paths=np.array(names))
        files["table.npz"] = npz.getvalue()
    (tmp_path / "pets.zip").write_bytes(uploads.archive(files))
    assert data_cli.main(["keep", str(tmp_path / "pets.zip"), "--name", "Pets"]) == 0
    dataset = load("own:pets")
    grey = {name: round(255 * value) if beside else value for name, value in zip(
        dataset.files, (dataset.X_train[:, 0] if beside else dataset.X_train[:, 4, 4]).tolist())}  # fmt: skip
    assert {name.removeprefix("pets.zip/"): value for name, value in grey.items()} == dict(zip(names, greys))
    capsys.readouterr()
    assert cli.main(["run", "moons", "--set", "dataset=own:pets", "--set", "n_test=10", "--set", "n_train=null",
                     "--set", "split=stratified", "--json"]) == 0  # fmt: skip
    run = runs.get(json.loads(capsys.readouterr().out.splitlines()[-1])["run"])
    index = int(run.test().index[0])
    assert cli.main(["why", run.id, "--example", str(index)]) == 0
    out, err = capsys.readouterr()
    assert f"example {index} ({dataset.files[index]}): true" in err
    examples = [line for line in csv.DictReader(out.splitlines()) if line["example"].isdigit()]
    assert examples
    for line in examples:
        assert line["file"] == dataset.files[int(line["example"])]
        assert line["file"].rsplit("/", 2)[-2] == line["class"]
    assert cli.main(["suspects", run.id, "--way", "test"]) == 0
    for line in csv.DictReader(capsys.readouterr().out.splitlines()):
        assert line["file"] == dataset.files[int(line["index"])]


def test_a_recipe_of_more_test_examples_than_there_are_names_the_option_that_fits(home, tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(60, 3))
    (tmp_path / "small.npz").write_bytes(uploads.npz(X=X, y=(X[:, 0] > 0).astype(int)))
    assert data_cli.main(["keep", str(tmp_path / "small.npz")]) == 0
    asked = ["run", "mnist-5k-sv", "--set", "dataset=own:small", "--set", "preprocess=zscore", "--json"]
    assert cli.main(asked) == 2
    said = capsys.readouterr().err
    assert "fewer than the 60 examples of own:small" in said
    option = said.strip().rpartition("Add ")[2].split()
    assert option == ["--set", "n_test=12"]
    assert cli.main([*asked, *option]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (result["n_train"], result["n_test"]) == (48, 12)


def test_classes_that_a_dataset_does_not_have_are_refused_before_there_is_a_run(home, capsys):
    for classes, strange in (("3,x8", "x8"), ("17", "17")):
        assert cli.main(["run", "mnist-5k-sv", "--set", f"classes={classes}"]) == 2
        assert f"classes = '{strange}'; allowed: labels of mnist-5k: 0, 1, 2" in capsys.readouterr().err
    assert runs.newest_first() == []


def test_suspects_are_listed_of_a_recipe_and_of_its_run(home, capsys):
    asked = ["--set", "noise=0.1", "--set", "n_train=120"]
    assert cli.main(["suspects", "moons", *asked, "--most", "5"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "part,index,given,said,score,why"
    assert len(lines) == 6
    assert "of the labels are wrong" in err
    (run,) = runs.newest_first()
    assert (run.recipe.folds, run.recipe.option("refold")) == (10, True)
    assert cli.main(["suspects", run.id, "--most", "5"]) == 0
    assert capsys.readouterr().out == out
    assert cli.main(["suspects", run.id, "--way", "crossed"]) == 2
    assert "allowed for this run: folds, bound, test" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words", "status"),
    [
        (["suspects", "20260101-000000-000-abcdef"], "unknown", 2),
        (["why", "20260101-000000-000-abcdef"], "unknown", 2),
        (
            ["suspects", "20260101-000000-000-abcdef", "--set", "C=1"],
            "allowed: no changes, because this run is already stored",
            2,
        ),
        (["suspects", "moons", "--most", "0"], "1 or more", 2),
        (["suspects", "no-such"], "any name listed by `recipes` or `tables`", 2),
        (["run", "mnist-6k"], "mnist-5k-sv", 2),
        (["run", "moons", "--set", "C"], "FIELD=VALUE", 2),
        (["run", "moons", "--set", "C=-1"], "above 0", 2),
        (["run", "moons", "--set", "colour=1"], "dataset", 2),
        (["run", "moons", "--set", "dataset=none-such"], "none-such", 2),
        (["run", "digits-8x8-sv", "--set", "split=given"], "stratified", 1),  # only its dataset tells
    ],
)
def test_what_cannot_be_is_refused_with_what_is_allowed(home, capsys, arguments, words, status):
    assert cli.main(arguments) == status
    out, err = capsys.readouterr()
    assert words in err
    assert out == ""
    assert all(run.state == "failed" for run in runs.newest_first())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (signal.SIGTERM, 143),
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.ci),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.ci),
    ],
)
def test_a_signal_stops_a_run_cleanly(home, sent, status):
    code = (
        f"import os, signal, sys; signal.signal({sent:d}, signal.SIG_DFL); from svmcore import __main__ as cli;"
        "os.environ['SVMLAB_HOME'] = sys.argv.pop(); sys.exit(cli.main(sys.argv[1:]))"
    )
    asked = ["run", "mnist-5k-sv", "--set", "slow_motion=true", "--json", str(home)]
    command = [sys.executable, "-c", code, *asked]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SVMLAB_HOME": SHARED}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "gap" not in (line := process.stderr.readline()):
        assert line, "ended before it trained"
    started = time.monotonic()
    process.send_signal(sent)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - started < 15  # of which the end of the process takes the most
    assert (process.returncode, out) == (status, ""), err
    assert "cancelled" in err
    assert [run.state for run in runs.newest_first()] == ["cancelled"]


WHILE_IMPORTING = """
import os, runpy, signal, sys

class Finder:
    def find_spec(self, name, *_):
        if name == sys.argv_of_test:
            os.kill(os.getpid(), signal.SIGINT)

package, sys.argv_of_test = sys.argv[1:]
sys.argv[:] = ["-m"]  # as it is for `python -m package` while the package is imported
sys.meta_path.insert(0, Finder())
runpy.run_module(package, run_name="__main__")
"""


@pytest.mark.parametrize(
    ("package", "at"),
    [
        ("svmcore", "svmcore.svc"),
        *(
            pytest.param(*where, marks=pytest.mark.ci)
            for where in (("svmcore", "numba"), ("svmcore", "svmcore.lab.jobs"), ("data", "numpy"))
        ),
    ],
)
def test_ctrl_c_while_a_command_imports_is_one_line(package, at):
    command = [sys.executable, "-c", WHILE_IMPORTING, package, at]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "stopped")


@pytest.mark.ci
def test_an_import_alone_leaves_ctrl_c_as_it_was():
    code = "import signal, svmcore, data; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_a_signal_that_is_ignored_stays_so():
    """Under nohup a command goes on when its terminal is closed."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert cli.main(["tables"]) == 0
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
