"""Machines on features of pictures in the lab: each thing that works on machines works with them or refuses by name."""

import io
import re
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from data import load
from svmcore import RBF, SVC, Answers, JitterSet, Preprocessor, ReducedSet, VirtualSVC, query_jittered, to_onnx
from svmcore import __main__ as cli
from svmcore.detection.scan import Scorer, cut
from svmcore.gram.orbit import Orbit
from svmcore.lab.analyses import advice, remedies
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import pipeline
from svmcore.lab.tasks import task_of
from svmcore.lab.train import execute, prepare, unchecked
from svmcore.preprocess import STEPS as STEPS_KNOWN
from svmcore.preprocess import as_images, usage

STEPS = ("gradients:4,margin=1", "unit-norm")
DIGITS = Recipe(dataset="digits-8x8", n_train=200, n_test=100, preprocess=STEPS, kernel=RBF(2.0), C=10.0)


@pytest.fixture(scope="module")
def features():
    """The features of what `prepare` gives a method, and the pictures."""
    problem = prepare(DIGITS)
    data = load("digits-8x8")
    return problem, data.X_train[problem.train_index], data


def test_features_of_a_run_are_those_of_its_examples(features):
    problem, pictures, _ = features
    made = Preprocessor(*STEPS).transform(pictures)
    np.testing.assert_array_equal(problem.X_train, made)
    assert (problem.image_shape, problem.images_shape) == (None, (8, 8))
    np.testing.assert_array_equal(problem.last.transform(problem.images), made)


def test_features_beat_pixels_on_a_few_digits():
    ours, pixels = (execute(DIGITS.replace(preprocess=steps)) for steps in (STEPS, ("unit-norm",)))
    assert len(ours.machine.support_vectors[0]) == 4 * 4 * 8
    assert ours.result["errors"] < pixels.result["errors"]


MADE = [
    ("gradients:4", "pca:20", "unit-norm"),
    ("patterns:2", "unit-norm"),
    ("pca:15", "unit-norm"),
    ("deslant", "gradients:4+0.5*patterns:2", "unit-norm"),
]


@pytest.mark.parametrize("steps", MADE)
@pytest.mark.parametrize("method", ["sv", "vsv", "nu-sv", "cross-training"])
def test_methods_train_on_features(steps, method):
    ended = execute(DIGITS.replace(preprocess=steps, method=method, classes=(3, 5), n_train=150))
    assert ended.result["error_rate"] < (0.35 if steps == MADE[1] else 0.12)
    assert ended.result["converged"]


def test_what_steps_learn_comes_from_training_examples_alone(features):
    _, _, data = features
    recipe = DIGITS.replace(preprocess=("gradients:4", "pca:9"))
    problem = prepare(recipe)
    alone = Preprocessor(*recipe.preprocess).fit(data.X_train[problem.train_index])
    np.testing.assert_allclose(
        problem.prepare.transform(data.X_train[:5]), alone.transform(data.X_train[:5]), atol=1e-5
    )


def test_no_relative_shift_is_taken_for_features(features, monkeypatch):
    """64 features of 64 pixels: only that they are no shifted pictures tells them apart."""
    _, pictures, data = features
    made = []
    monkeypatch.setattr("svmcore.methods.virtual.retraining.Orbit", lambda *a: made.append(a) or Orbit(*a))
    prepared = Preprocessor("gradients:2,directions=16", "unit-norm")
    y = data.y_train[prepare(DIGITS).train_index]
    fitted = VirtualSVC(SVC(RBF(2.0), C=10), jitters="box:1", prepare=prepared).fit(pictures, y)
    assert fitted.machine_.support_vectors.shape[1] == 64
    assert not made
    VirtualSVC(SVC(RBF(2.0), C=10), jitters="box:1@zero", prepare=Preprocessor("unit-norm")).fit(
        np.pad(pictures, ((0, 0), (2, 2), (2, 2))), y
    )
    assert made


def test_query_jitter_compares_features_of_every_form(features):
    problem, pictures, data = features
    machine = SVC(RBF(2.0), C=10).fit(problem.X_train, problem.y_train).machine_
    ended = execute(DIGITS.replace(method="query-jitter", jitters="plus:1"))
    assert ended.machine.support_vectors.shape[1] == 64
    jitters, test = JitterSet.parse("plus:1", (8, 8)), data.X_train[problem.test_index[:20]]
    prepared = Preprocessor(*STEPS, image_shape=(8, 8))

    def nearest(some, vectors):
        """K of the form of each picture that is nearest to each vector (m, d)."""
        forms = jitters.apply(some.reshape(len(some), -1).astype(np.float32))
        values = [RBF(2.0).block(prepared.transform(form), vectors) for form in forms]
        return np.max(values, axis=0)

    kept = pictures[machine.support]
    K = nearest(test, machine.support_vectors) / 2 + nearest(kept, prepared.transform(test.reshape(20, -1))).T / 2
    expected = K @ machine.coef.T + machine.bias
    np.testing.assert_allclose(ended.machine.decision_function(test), expected, atol=2e-4)
    with pytest.raises(RecipeError, match="method query-jitter can repeat after a jitter, so not pca:9"):
        DIGITS.replace(method="query-jitter", preprocess=("gradients:4", "pca:9"))


def test_query_jitter_with_the_identity_alone_is_the_plain_machine(features):
    problem, pictures, _ = features
    machine = SVC(RBF(2.0), C=10).fit(problem.X_train, problem.y_train).machine_
    rows = pictures.reshape(len(pictures), -1).astype(np.float32)
    images = query_jittered(machine, "none", (8, 8), STEPS)
    images = replace(images, support_vectors=rows[machine.support])
    np.testing.assert_allclose(images.decision_values(rows), machine.decision_values(problem.X_train), atol=2e-4)


def test_a_reduced_set_deforms_pictures_before_their_features(features):
    problem, pictures, _ = features
    rows = pictures.reshape(len(pictures), -1).astype(np.float32)
    machine = SVC(RBF(2.0), C=10).fit(problem.X_train, problem.y_train).machine_
    seen = []

    class Watched(Preprocessor):
        def transform(self, X):
            seen.append(np.asarray(X))
            return super().transform(X)

    def reduced(deform, X, **how):
        answers = Answers(epochs=3, deform=deform)
        return ReducedSet(
            30, method="answers", answers=answers, image_shape=(8, 8) if how else None, random_state=0
        ).fit(machine, X, problem.y_train, **how)

    prepared = Watched(*STEPS, image_shape=(8, 8))
    still = reduced(0, rows, prepare=prepared)
    assert len(seen) == 1
    plain = reduced(0, problem.X_train)
    np.testing.assert_array_equal(still.machine_.support_vectors, plain.machine_.support_vectors)
    moved = reduced(1.0, rows, prepare=prepared)
    assert len(seen) > 3
    assert {X.shape[1] for X in seen} == {64}
    assert not any((rows[:1] == X).all(axis=1).any() for X in seen[2:]), "each is deformed"
    assert np.abs(moved.machine_.support_vectors - plain.machine_.support_vectors).max() > 1e-3


def test_a_reduced_set_of_as_many_features_as_pixels_is_not_deformed_as_a_picture(features):
    _, pictures, data = features
    prepared = Preprocessor("gradients:2,directions=16", "unit-norm")
    y = data.y_train[prepare(DIGITS).train_index]
    fitted = VirtualSVC(SVC(RBF(2.0), C=10), jitters="plus:1", prepare=prepared).fit(pictures, y)
    X = fitted.machine_.prepare.transform(pictures)
    made = [
        ReducedSet(20, method="answers", answers=Answers(epochs=2, deform=deform), random_state=0).fit(
            fitted.machine_, X, y
        )
        for deform in (0.0, 1.2)
    ]
    np.testing.assert_array_equal(*(one.machine_.support_vectors for one in made))


@pytest.mark.parametrize("of", ["sv", "vsv"])
def test_a_reduction_of_a_run_on_features(of):
    options = {"of": of, "n_vectors": 60, "reduction": "answers", "epochs": 30, "sizes": 1}
    ended = execute(DIGITS.replace(method="reduced", jitters="plus:1" if of == "vsv" else "", options=options))
    assert ended.machine.support_vectors.shape == (60, 128)
    assert ended.result["errors"] < 20


def test_which_invariance_would_help_is_counted_on_forms_of_pictures():
    totals = remedies.measure(DIGITS, unchecked)
    assert totals.complete
    assert totals.tally.drawn > 0


def test_onnx_and_scikit_learn_refuse_features_by_name(features):
    problem, pictures, _ = features
    fitted = VirtualSVC(SVC(RBF(2.0), C=10), jitters="none", prepare=Preprocessor(*STEPS)).fit(
        pictures, problem.y_train
    )
    refused = re.escape("preprocessing step 'gradients:4,margin=1' is not plain arithmetic")
    with pytest.raises(ValueError, match=refused):
        to_onnx(fitted, pictures)
    assert "no preprocessing step 'gradients:4,margin=1'" in pipeline.obstacle(DIGITS)


def test_components_train_alike_in_scikit_learn():
    recipe = DIGITS.replace(preprocess=("pca:12,whiten=1", "unit-norm"))
    ended = execute(recipe)
    file = zipfile.ZipFile(io.BytesIO(pipeline.archive(recipe, ended.result | {"data_hash": None})))
    space = {"__file__": "train.py"}
    examples = np.load(io.BytesIO(file.read("examples.npz")))
    code = file.read("train.py").decode().replace('np.load(Path(__file__).with_name("examples.npz"))', "EXAMPLES")
    exec(compile(code, "train.py", "exec"), space | {"EXAMPLES": examples})
    assert task_of(recipe).headline(ended.result)


def test_a_detector_takes_features():
    recipe = RECIPES["volcano-synthetic"].replace(preprocess=("gradients:5", "unit-norm"), kernel=RBF(2.0), C=10.0)
    ended = execute(recipe)
    assert ended.machine.support_vectors.shape[1] == 200
    assert ended.result["machines"]["machine"]["score"] > 0.3


def test_a_scan_decides_about_windows_by_their_features():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 256, (30, 40)).astype(np.uint8)
    ys, xs = rng.integers(0, 20, 50), rng.integers(0, 30, 50)
    windows = cut(level, ys, xs, 10)
    prepared = Preprocessor("gradients:3", "unit-norm", image_shape=(10, 10))
    machine = SVC(RBF(2.0), C=10).fit(prepared.transform(windows), np.arange(50) < 25).machine_
    scorer = Scorer(replace(machine, prepare=prepared), 10)
    expected = machine.decision_values(prepared.transform(windows))[:, 0]
    np.testing.assert_allclose(scorer.scores(scorer.windows(level)(ys, xs)), expected, atol=1e-5)


def test_components_that_a_fold_has_too_few_examples_for_are_refused_before_there_is_a_run():
    recipe = DIGITS.replace(n_train=50, folds=5)
    most = recipe.replace(preprocess=("pca:40",))
    task_of(most).size(most)
    assert len(execute(most).result["validation"]["folds"]) == 5
    more = recipe.replace(preprocess=("pca:41",))
    said = "at most 40 components, as there are 40 training examples"
    with pytest.raises(RecipeError, match=f"{said} when one of 5 folds is held out"):
        task_of(more).size(more)
    with pytest.raises(RecipeError, match=said):
        execute(more)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"preprocess": ("gradients:9",)}, "allowed: cells of 1 to 8"),
        ({"preprocess": ("pca:201",)}, "'pca:201'; allowed: 1 to 64"),
        (
            {"preprocess": ("pca:60",), "n_train": 50},
            "allowed: at most 50 components, as there are 50 training examples",
        ),
        ({"preprocess": ("scale01", "colours")}, "allowed: colour pictures (height, width, 3)"),
        (
            {"preprocess": ("gradients",), "dataset": "clouds:2"},
            "allowed: steps without gradients, because the examples of",
        ),
    ],
)
def test_what_does_not_fit_the_data_is_refused_before_training(changes, says):
    recipe = DIGITS.replace(**changes)
    for ask in (task_of(recipe).size, prepare):
        with pytest.raises(RecipeError, match=re.escape(says)) as raised:
            ask(recipe)
        assert raised.value.field == "preprocess"


def test_cells_that_do_not_fit_a_window_are_refused_before_a_search():
    recipe = RECIPES["volcano-synthetic"].replace(preprocess=("gradients:64",))
    with pytest.raises(RecipeError, match="cells = 64 per side, but the shorter side of images of"):
        task_of(recipe).size(recipe)


def test_the_command_line_lists_every_step_with_its_fields(capsys):
    assert cli.main(["fields"]) == 0
    listed = capsys.readouterr().out
    for name, step in STEPS_KNOWN.items():
        (own,) = [part for part in listed.split("\n\n") if part.startswith(f"preprocess={usage(name)}  ")]
        assert [line.split()[0] for line in own.splitlines()[1:] if len(step.parameters) > 1] == [
            wanted.name for wanted in step.parameters if len(step.parameters) > 1
        ]


def test_a_local_kernel_refuses_features():
    said = "'local-poly'; allowed: one without image neighbourhoods, such as rbf or poly"
    with pytest.raises(RecipeError, match=said):
        DIGITS.replace(kernel={"name": "local-poly", "image_shape": [8, 8]})


def test_a_usual_width_is_found_after_more_components_than_its_sample_has_examples():
    dataset = load("clouds:2")
    more = replace(dataset, X_train=np.random.default_rng(0).random((1500, 900)).astype(np.float32))
    assert advice.usual_gamma(more, ("pca:800",)) > 0
    with pytest.raises(ValueError, match="components = 901"):
        advice.usual_gamma(more, ("pca:901",))


@pytest.mark.parametrize(
    "steps", [("colours",), ("gradients:2+0.5*colours:2",), ("colours:2", "scale01"), ("smooth", "colours")]
)
def test_a_recipe_with_colours_has_scale01_before_them(steps):
    with pytest.raises(RecipeError, match="allowed: 'scale01' before it"):
        DIGITS.replace(preprocess=steps)
    assert DIGITS.replace(preprocess=("scale01", "smooth", *steps[:1])).preprocess[0] == "scale01"


def test_colours_of_pictures_train(tmp_path):
    rng = np.random.default_rng(0)
    pictures = rng.random((40, 6, 6, 3)).astype(np.float32) * 120
    pictures[:20, ..., 0] += 100
    prepared = Preprocessor("scale01", "colours:1,levels=3").fit(pictures)
    machine = SVC(RBF(2.0), C=10).fit(prepared.transform(pictures), np.arange(40) < 20)
    assert machine.score(prepared.transform(pictures), np.arange(40) < 20) == 1
    assert as_images(pictures).shape[-1] == 3
