"""Label noise: every picture of a training example says the class that training saw, and the dataset's beside it."""

import numpy as np
import pytest

from data import catalogue, load
from data.dataset import Arrays
from pages.ui.example import evidence
from pages.ui.run import snapshots
from pages.ui.why import waterfall
from svmcore.kernels import RBF
from svmcore.lab import Recipe, split
from svmcore.lab.store import runs
from tests import damage
from tests.driven import captions, open_page, whole_app  # noqa: F401  (a fixture for every test here)

DIGITS = Recipe(dataset="digits-8x8", n_train=80, n_test=20, kernel=RBF(0.02), C=10.0, seed=5)
RECIPES = {
    "ten": DIGITS,
    "two": DIGITS.replace(classes=(3, 8)),
    "one against the rest": DIGITS.replace(classes=(8,)),
    "virtual": DIGITS.replace(classes=(3, 8), method="vsv", jitters="plus:1"),
    "cross-training": DIGITS.replace(classes=(3, 8), method="cross-training"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of each recipe, of which a fifth of the labels is swapped; the home folder."""
    home = tmp_path_factory.mktemp("noisy")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(home))
        return home, {kind: damage.finished(recipe.replace(noise=0.2)).id for kind, recipe in RECIPES.items()}


@pytest.fixture
def noisy(made, monkeypatch):
    monkeypatch.setenv("SVMLAB_HOME", str(made[0]))
    return lambda kind: runs.get(made[1][kind])


@pytest.mark.parametrize("kind", RECIPES)
def test_a_support_vector_stands_for_the_class_that_it_is_said_to_have(noisy, kind):
    run = noisy(kind)
    machine, index = run.machine(), run.train_index()
    names, y = evidence.class_names(run, machine), load(run.recipe.dataset).y_train
    swapped = set(index[split.flipped(len(index), 0.2, run.recipe.seed)])
    for c in range(len(machine.bias)):
        found = evidence.supports(run, machine, c)
        own = names[c] if len(machine.bias) > 1 else names[1]
        assert ((found.label.astype(str) == own) == (found.sign > 0)).all()
        assert {row for row, given in zip(found.row, found.given) if given} == swapped & set(found.row) != set()
        for tile, row, given in zip(evidence.support_tiles("digits-8x8", found, found.alpha), found.row, found.given):
            assert given in ("", str(y[row]))
            assert (f"({y[row]} in the dataset, swapped by noise)" in tile.label) == bool(given)
            assert tile.upper.endswith(f" ({y[row]})") == bool(given)


def test_tiny_alphas_are_not_told_as_nothing(home):
    run = damage.finished(DIGITS)
    found = evidence.supports(run, run.machine(), 0)
    scaled = found._replace(alpha=np.geomspace(4e-8, 2.0, len(found.alpha)))
    lower = [tile.lower for tile in evidence.support_tiles("digits-8x8", scaled, scaled.alpha)]
    assert (lower[0], lower[-1]) == ("4e−08", "2.00")
    assert not {"0.00", "-0.00"} & set(lower)
    assert evidence.support_tiles("digits-8x8", scaled, -scaled.alpha)[0].lower == "−4e−08"


def test_without_noise_nothing_is_said_of_it(home):
    run = damage.finished(DIGITS)
    found = evidence.supports(run, run.machine(), 0)
    assert not any(found.given)
    assert (found.label == load("digits-8x8").y_train[found.row]).all()


def test_the_live_look_and_the_bill_say_so_too(noisy):
    run = noisy("two")
    machine = run.machine()
    found, n = evidence.supports(run, machine, 0), 9
    position = machine.support[found.position[:n]]
    top = (position, found.alpha[:n], np.zeros(n, bool), np.ones(n), np.zeros(n, bool))

    class Live:
        pass

    Live.top = [top]
    live = snapshots.at_work(run, Live, 0)
    assert (live.sign == found.sign[:n]).all()
    assert (live.label == found.label[:n]).all()
    assert (live.given == found.given[:n]).all()
    view = waterfall.View(run, machine, None, None, "class", None, evidence.dataset_rows(run, machine), ())
    assert [waterfall._class(view, np.array([p])) for p in found.position] == found.label.astype(str).tolist()


def test_pages_say_what_training_saw(noisy):
    run = noisy("two")
    index = run.train_index()
    row = index[split.flipped(len(index), 0.2, run.recipe.seed)][0]
    seen = 11 - int(load("digits-8x8").y_train[row])
    app = open_page("support_vectors", run=run.id, digit=f"digits-8x8/train/{row}")
    assert evidence.SWAPPED in captions(app)
    assert f"trained on with the label {seen}, swapped by label noise" in captions(app)


def test_classes_cut_alike_are_told_apart_in_every_tile(home):
    y = np.array([f"species {k:02d}" for k in range(12)] * 2)
    dataset = catalogue.draft("many", Arrays.unsplit(np.eye(24, dtype=np.float32), y))
    assert len({evidence.brief(dataset, label) for label in dataset.classes}) == 12
    assert evidence.brief(dataset, "species 03").startswith("3: ")
    assert evidence.brief(dataset, "rest") == "rest"
