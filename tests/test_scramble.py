"""Laws of the step `scramble`: one order of the pixels for all images, which plain machines cannot notice."""

import numpy as np
import pytest

from data import load as load_set
from svmcore import SVC, load, save
from svmcore.kernels import RBF, Linear, Poly
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import export
from svmcore.lab.train import execute
from svmcore.methods.local import LocalPoly
from svmcore.preprocess import Preprocessor, permutation

DIGITS = RECIPES["digits-8x8-sv"].replace(n_train=600, n_test=500)
FEW = RECIPES["mnist-5k-sv"].replace(n_train=1000)


def scrambled(recipe, seed=0):
    return recipe.replace(preprocess=(f"scramble:{seed}", *recipe.preprocess))


def both(recipe):
    """What machines say of the same examples, as they are and scrambled."""
    return execute(recipe), execute(scrambled(recipe))


def test_every_image_takes_the_same_order_and_channels_stay_together():
    images = np.arange(2 * 3 * 4 * 2).reshape(2, 3, 4, 2).astype(np.uint8)
    order = permutation(12, 7)
    assert sorted(order) == list(range(12))
    moved = Preprocessor("scramble:7").transform(images).reshape(2, 12, 2)
    for before, after in zip(images.reshape(2, 12, 2), moved):
        for p in range(12):
            assert after[p].tolist() == before[order[p]].tolist()


def test_a_seed_names_one_order_for_good():
    """Machines in files know their order by its seed alone."""
    assert permutation(8, 0).tolist() == [3, 2, 1, 6, 0, 7, 4, 5]
    assert permutation(8, 1).tolist() != permutation(8, 0).tolist()
    assert len({tuple(permutation(64, seed)) for seed in range(50)}) == 50


@pytest.mark.parametrize("step", ["scramble:1.5", "scramble:-1", "scramble:4294967296", "scramble:nan", "scramble:x"])
def test_a_seed_is_a_whole_number(step):
    with pytest.raises(ValueError, match="must be a whole number from 0 to 4294967295"):
        Preprocessor(step)


def test_it_comes_first_before_anything_that_jitters():
    with pytest.raises(ValueError, match="must be the first step"):
        Preprocessor("deslant", "scramble:3")
    with pytest.raises(RecipeError, match="must be the first step"):
        DIGITS.replace(preprocess=("unit-norm", "scramble"))
    with pytest.raises(ValueError, match="needs images"):
        Preprocessor("scramble").transform(np.zeros((3, 16)))
    before, after = Preprocessor("scramble:3", "deslant", "unit-norm").split()
    assert (before.steps, after.steps) == (("scramble:3", "deslant"), ("unit-norm",))


@pytest.mark.parametrize("kernel", [Poly(5, 1.0, 1.0), RBF(2.0), Linear()], ids=["poly", "rbf", "linear"])
def test_plain_machines_cannot_notice(kernel):
    straight, moved = both(DIGITS.replace(kernel=kernel))
    assert straight.result["errors"] > 0
    assert straight.test.y_pred.tolist() == moved.test.y_pred.tolist()
    np.testing.assert_allclose(straight.test.decision, moved.test.decision, rtol=0, atol=1e-9)
    assert straight.machine.support.tolist() == moved.machine.support.tolist()


def test_a_solver_that_rounds_inner_products_notices_no_more_than_tol():
    """Sums of floating-point numbers depend on their order; what a solver then finds differs by less than its tol."""
    straight, moved = both(DIGITS.replace(solver="smo-digestion", tol=1e-5))
    np.testing.assert_allclose(straight.test.decision, moved.test.decision, rtol=0, atol=1e-4)


@pytest.mark.parametrize("kernel", [Poly(9, 1.0, 1.0), RBF(2.0)], ids=["poly", "rbf"])
def test_nor_those_of_larger_digits_by_whole_number_tiles(kernel):
    straight, moved = both(FEW.replace(kernel=kernel))
    assert (straight.test.y_true != straight.test.y_pred).any()
    assert straight.test.y_pred.tolist() == moved.test.y_pred.tolist()
    np.testing.assert_allclose(straight.test.decision, moved.test.decision, rtol=0, atol=1e-9)


@pytest.mark.ci
@pytest.mark.parametrize(
    "changes",
    [
        {"method": "vsv", "jitters": "plus:1"},
        {"method": "jsv", "jitters": "plus:1"},
        {"kernel": LocalPoly((28, 28), inner=2, outer=2, width=9)},
    ],
    ids=["vsv", "jsv", "local"],
)
def test_machines_that_know_neighbours_lose_what_they_knew(changes):
    straight, moved = both(FEW.replace(n_train=500, **changes))
    assert abs(straight.test.decision - moved.test.decision).max() > 0.1
    assert moved.result["errors"] > straight.result["errors"]


def test_shifts_act_on_the_scrambled_pixels():
    """The forms that a virtual machine is trained on are shifted scrambled digits, not scrambled shifted ones."""
    machine = execute(scrambled(DIGITS.replace(method="vsv", jitters="plus:1", n_train=200))).machine
    assert machine.prepare.steps == ("scramble:0", "unit-norm")
    is_original = machine.jitter == 0
    one = int(np.flatnonzero(~is_original & np.isin(machine.parent, machine.parent[is_original]))[0])
    original = int(np.flatnonzero((machine.parent == machine.parent[one]) & is_original)[0])
    flat = machine.support_vectors[[one, original]].reshape(2, 8, 8)
    offsets = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if abs(dy) + abs(dx) == 1]
    inner = [(flat[0][1 + dy : 7 + dy, 1 + dx : 7 + dx], flat[1][1:7, 1:7]) for dy, dx in offsets]
    assert any(np.corrcoef(a.ravel(), b.ravel())[0, 1] > 1 - 1e-6 for a, b in inner)


def test_a_machine_keeps_its_order_in_its_file(tmp_path):
    outcome = execute(scrambled(DIGITS.replace(n_train=200), seed=2**32 - 1))
    save(outcome.machine, tmp_path / "machine.npz")
    data = load_set("digits-8x8")
    again = load(tmp_path / "machine.npz")
    seen = data.X_train[outcome.test.index]
    np.testing.assert_array_equal(again.decision_function(seen), outcome.machine.decision_function(seen))
    np.testing.assert_allclose(again.decision_function(seen), outcome.test.decision, atol=1e-9)
    order = permutation(64, 2**32 - 1)
    moved = seen.reshape(-1, 64)[:, order]
    unit = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    np.testing.assert_allclose(again.decision_values(unit.astype(np.float32)), outcome.test.decision, atol=1e-5)


def test_the_step_goes_through_address_json_and_script():
    recipe = scrambled(DIGITS, seed=12)
    assert Recipe().with_texts(recipe.to_query()) == recipe
    assert Recipe.from_dict(recipe.to_dict()) == recipe
    assert recipe.digest() != DIGITS.digest()
    assert "preprocess=('scramble:12', 'unit-norm')" in export.script(recipe)


def test_lengths_do_not_depend_on_the_order_of_the_pixels():
    """What the identity of plain machines rests on: grey images add up exactly, whatever comes first."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (200, 28, 28)).astype(np.uint8)  # bright ones: their squares exceed 2^24
    straight = Preprocessor("unit-norm").transform(images)
    moved = Preprocessor("scramble:5", "unit-norm").transform(images)
    np.testing.assert_array_equal(moved, straight[:, permutation(784, 5)])
    y = np.arange(200) % 2
    a, b = (SVC(RBF(2.0), C=1.0).fit(X, y).machine_.coef for X in (straight, moved))
    np.testing.assert_allclose(a, b, atol=1e-12)
