"""A run's machine for other programs: on its page, from a shell, and said before the click where it cannot be."""

import io
import zipfile

import numpy as np
import onnxruntime
import pytest

from data import load as load_data
from svmcore import __main__ as cli
from svmcore import load
from svmcore.exchange import file, obstacle
from svmcore.kernels import RBF
from svmcore.lab import train
from svmcore.lab.methods.reduced import reduction_of
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import export, pipeline
from tests import damage
from tests.driven import captions, open_page, whole_app  # noqa: F401  (a fixture for every test here)
from tests.readme import lines

DIGITS = Recipe(dataset="digits-8x8", n_train=80, n_test=120, classes=(3, 8), kernel=RBF(1.0), C=10.0)
MOVED = DIGITS.replace(jitters="plus:1")
METHODS = {
    "sv": DIGITS,
    "vsv": MOVED.replace(method="vsv"),
    "jsv": MOVED.replace(method="jsv"),
    "query-jitter": MOVED.replace(method="query-jitter"),
    "tangent": MOVED.replace(method="tangent"),
    "reduced": reduction_of(DIGITS, n_vectors=6, sizes=1),
    "reduced of jsv": reduction_of(MOVED.replace(method="jsv"), n_vectors=6, sizes=1),
}


def downloads(app):
    """Label -> whether it is greyed out, and its help."""
    return {
        button.proto.label: (button.proto.disabled, button.proto.help.replace("\\", ""))
        for button in app.get("download_button")
    }


@pytest.mark.parametrize("method", METHODS)
def test_what_is_said_of_a_recipe_is_true_of_its_machine(method):
    recipe = METHODS[method]
    if method != "reduced of jsv":  # such a kernel has no gradient: there is no such machine
        machine = train.execute(recipe).machine
        assert bool(export.onnx_obstacle(recipe)) == bool(obstacle(machine.kernel, machine.prepare.steps))
    assert bool(export.onnx_obstacle(recipe)) == (recipe.origin.method in ("jsv", "query-jitter", "tangent"))


def test_detectors_are_not_offered():
    assert "objects in pictures" in export.onnx_obstacle(RECIPES["volcano-synthetic"])


def test_a_page_offers_what_can_be_had(home):
    run = damage.finished(METHODS["vsv"])
    app = open_page("runs", run=run.id)
    told = downloads(app)
    assert not told["Machine (ONNX)"][0]
    assert "label and decision" in told["Machine (ONNX)"][1]
    greyed, why = told["scikit-learn (zip)"]
    assert greyed
    assert "methods sv, nu-sv" in why
    assert "scikit-learn (zip): scikit-learn trains only on the examples themselves" in captions(app)


def test_a_page_says_what_cannot_be_had_and_why(home, monkeypatch):
    run = damage.finished(DIGITS.replace(preprocess=("deslant", "unit-norm")))
    greyed, why = downloads(open_page("runs", run=run.id))["Machine (ONNX)"]
    assert greyed
    assert "step 'deslant'" in why
    monkeypatch.setattr(file, "find_spec", lambda name: None)
    app = open_page("runs", run=run.id)
    assert "Machine (ONNX): ONNX needs onnx and onnxruntime, which are not installed here" in captions(app)


def test_every_form_is_written_from_a_shell(home, tmp_path, capsys):
    run = damage.finished(DIGITS)
    for form in cli.FORMS:
        assert cli.main(["export", run.id, str(tmp_path / f"away{form}")]) == 0
    data, index = load_data("digits-8x8"), run.test().index
    X = data.X_train[index].reshape(len(index), -1).astype(np.float32)
    session = onnxruntime.InferenceSession(tmp_path / "away.onnx", providers=["CPUExecutionProvider"])
    label, decision = session.run(["label", "decision"], {"X": X})
    assert (label == run.test().y_pred).all()
    np.testing.assert_allclose(decision, run.test().decision, atol=1e-6)
    assert (load(tmp_path / "away.npz").predict(data.X_train[index]) == label).all()
    assert (tmp_path / "away.py").read_text(encoding="utf-8") == run.export_snippet()
    assert zipfile.ZipFile(io.BytesIO((tmp_path / "away.zip").read_bytes())).testzip() is None
    assert capsys.readouterr().out.count("bytes") == len(cli.FORMS)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["20260101-000000-000-abcdef", "a.onnx"], "is unknown"),
        (["../../etc", "a.onnx"], "is unknown"),
        (["RUN", "a.pmml"], "*.onnx (the machine for onnxruntime)"),
        (["RUN", "none/such/folder.onnx"], "No such file"),
    ],
)
def test_a_shell_is_told_what_is_wrong(home, tmp_path, monkeypatch, capsys, asked, words):
    run = damage.finished(DIGITS)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["export", *(run.id if word == "RUN" else word for word in asked)]) == 2
    assert words in capsys.readouterr().err
    (run.path / "model.npz").write_bytes(b"")
    assert cli.main(["export", run.id, "a.onnx"]) == 2
    assert "damaged" in capsys.readouterr().err
    assert list(tmp_path.glob("a.*")) == []


def test_the_readme_shows_it_as_it_is_done(tmp_path, monkeypatch):
    """The blocks of its sections, one after the other, in a folder of their own."""
    (made,) = lines("svmcore/README.md", "In another project")
    asked, trained = lines("svmcore/README.md", "ONNX and scikit-learn")
    monkeypatch.chdir(tmp_path)
    space = {}
    exec(made, space)
    exec(asked, space)
    machine, images = space["machine"], space["digits"].images[1000:]
    assert (space["label"] == machine.predict(images)).all()
    np.testing.assert_allclose(space["decision"], machine.decision_function(images), atol=1e-6)
    recipe = DIGITS.replace(n_train=40)
    zipfile.ZipFile(io.BytesIO(pipeline.archive(recipe, {}))).extractall(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    exec(trained, space)
    assert space["pipeline"].predict(space["pixels"]).shape == (797,)
