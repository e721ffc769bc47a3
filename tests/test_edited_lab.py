"""Cross-training in the lab: label noise, sets of known overlap, what an edited run keeps, tables that are means."""

import numpy as np
import pytest

from data import UnknownDataset, catalogue, drawn, load
from svmcore.kernels import RBF, Linear
from svmcore.lab import Recipe, RecipeError, execute, prepare, split
from svmcore.lab.analyses import splits
from svmcore.lab.forecast import estimate
from svmcore.lab.methods import METHODS
from svmcore.lab.papers import TABLES, asked, fill
from svmcore.lab.papers.numbers import Number, mean
from svmcore.lab.presets import RECIPES, xtrain
from svmcore.lab.store import runs
from svmcore.methods.editing.roles import EASY, KEPT, REINSERTED, TITLES, WRONG_SIDE
from tests.trained import finished

PLAIN = Recipe(dataset="toy-gaussians", n_train=200, n_test=200, preprocess=(), kernel=RBF(0.5), C=1.0)
EDITED = PLAIN.replace(method="cross-training")


@pytest.mark.parametrize("share", [0.0, 0.05, 0.15, 0.5])
def test_noise_swaps_just_its_share_and_more_noise_swaps_the_same_ones_too(share):
    y = np.arange(300) % 3
    changed = split.swapped(y, share, seed=4) != y
    assert changed.sum() == round(share * 300)
    assert (changed == split.flipped(300, share, 4)).all()
    assert (split.flipped(300, share, 4) <= split.flipped(300, 0.5, 4)).all()
    assert (changed != split.flipped(300, share, 5)).any() == (share > 0)


def test_training_sees_noise_and_the_test_is_judged_by_both():
    noisy = PLAIN.replace(noise=0.2)
    clean, problem = prepare(PLAIN), prepare(noisy)
    assert (clean.y_train != problem.y_train).sum() == 40
    assert (clean.y_test == problem.y_test).all()
    assert (problem.y_noisy != problem.y_test).sum() == 40
    result = execute(noisy).result
    assert result["noisy"]["errors"] > result["errors"]
    assert "noisy" not in execute(PLAIN).result
    assert PLAIN.replace(noise=0).digest() == PLAIN.digest() != noisy.digest()
    with pytest.raises(RecipeError, match=r"noise = 0\.6"):
        PLAIN.replace(noise=0.6)


@pytest.mark.parametrize(("name", "error"), [("squares:0", 0), ("squares:0.25", 0.125), ("clouds:2", 0.1318)])
def test_a_drawn_set_has_the_bayes_error_that_it_says(name, error):
    data = load(name)
    assert drawn.bayes_error(name) == pytest.approx(error, abs=1e-4)
    at_best = np.sign(data.X_test[:, : drawn.APART].astype(float).sum(axis=1))  # of the squares x2 tells nothing
    if name.startswith("squares"):
        at_best = np.sign(data.X_test[:, 0])
    assert np.mean(at_best != data.y_test) == pytest.approx(error, abs=0.15 if name.startswith("squares") else 0.012)
    assert data.entry.synthetic
    assert "synthetic" in data.entry.title


@pytest.mark.parametrize("name", ["squares:1.01", "squares:", "squares:00.1", "clouds:0", "clouds:1e3", "clouds:-1"])
def test_an_amount_that_cannot_be_is_refused(name):
    with pytest.raises(UnknownDataset, match=name.partition(":")[0]):
        catalogue.entry(name)


def test_fields_of_cross_training_are_checked():
    for wrong, about in (
        ({"subset_size": 21}, "even"),
        ({"final_grid": "1,10"}, "validation"),
        ({"grid": "1,1"}, "different"),
        ({"grid": "one"}, "numbers"),
        ({"nu": 1.5}, "nu"),
    ):
        with pytest.raises(RecipeError, match=about):
            EDITED.replace(**wrong)
    ten = Recipe(method="cross-training")
    for refuse in (estimate, prepare):
        with pytest.raises(RecipeError, match="two of the 10 classes"):
            refuse(ten)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"answer": "bagged"},
        {"nu": 0.5},
        {"subset_size": 60, "validation": True, "grid": "0.1,1", "final_grid": "10,1", "slack": 1.0},
    ],
)
def test_cross_training_tells_what_it_threw_away_and_what_it_chose(options):
    outcome = execute(EDITED.replace(**options))
    result, kept = outcome.result, outcome.kept["edited"]
    assert sum(result["roles"]) == 200
    assert result["roles"][WRONG_SIDE] > 0
    assert (np.bincount(kept["role"], minlength=len(TITLES)) == result["roles"]).all()
    used = kept["role"][outcome.machine.support]
    if options.get("answer") != "bagged":
        assert set(used.tolist()) <= {KEPT, REINSERTED}
    assert "on the wrong side" in METHODS["cross-training"].words(result)
    if "grid" in options:
        assert result["chosen"][0] in (0.1, 1.0)
        assert result["chosen"][1] in (1.0, 10.0)
        assert 0 < result["search_seconds"] <= result["fit_seconds"]
    assert result["errors"] < 60


def test_every_rule_runs_and_only_condense_finds_easy_ones():
    for rule in ("edited-nn", "multiedit-svm", "trimmed", "condense"):
        result = execute(PLAIN.replace(method="editing", rule=rule)).result
        assert (result["roles"][EASY] > 0) == (rule == "condense")
        assert (result["roles"][WRONG_SIDE] > 0) == (rule != "condense")


def test_a_plain_machine_chooses_from_a_grid_by_folds_of_its_training_set():
    result = execute(PLAIN.replace(grid="0.01,1")).result
    assert result["chosen"] in ([0.01], [1.0])
    assert result["search_seconds"] > 0
    by_nu = execute(PLAIN.replace(method="nu-sv", nu=0.4)).result
    assert sum(by_nu["n_bound"]) <= 0.4 * 200 <= sum(by_nu["n_sv"])
    with pytest.raises(RecipeError, match="solver"):
        execute(PLAIN.replace(method="nu-sv", solver="smo-digestion"))


def test_an_edited_run_keeps_its_margins_and_damage_is_named(home):
    run_id = finished(EDITED).id
    run, path = runs.get(run_id), runs.get(run_id).path / "edited.npz"
    found = run.edited()
    assert (found.index == run.train_index()).all()
    assert len(found.role) == len(found.mean) == len(found.variance) == 200
    assert ((found.role == WRONG_SIDE) <= (found.mean + found.variance < 0)).all()
    run.check()
    arrays = dict(np.load(path))
    for wrong, why in (
        ({"role": arrays["role"][:5]}, "5, 200 and 200"),
        ({"role": arrays["role"] + 7}, "roles range from 7"),
        ({"variance": -arrays["variance"]}, "negative"),
        ({"mean": np.full(200, np.nan)}, "missing or infinite"),
    ):
        np.savez(path, **arrays | wrong)
        with pytest.raises(runs.Damaged, match=why):
            runs.get(run_id).edited()
    plain = finished(PLAIN).id
    with pytest.raises(FileNotFoundError):
        runs.get(plain).edited()
    before, after = splits.points([runs.get(plain), run])
    assert (before.machine, after.machine) == ("plain", "cross-trained")
    assert before.svs > after.svs
    assert len(splits.text([before, after]).splitlines()) == 3


def test_a_figure_over_splits_is_their_mean():
    assert mean("svs", [Number(3.0, 1.0, 5.0)]) == Number(3.0, 1.0, 5.0)
    assert mean("svs", [Number(1.0), Number(3.0)])[:2] == pytest.approx((2.0, 2 - 1.96))
    assert mean("train_s", [Number(1.0), Number(3.0)]) == Number(2.0)
    table = TABLES["xtrain-table1"]
    splits = asked(table)["xtrain-banana"]
    assert [recipe.seed for recipe in splits] == list(range(10))
    assert splits[0] == RECIPES["xtrain-banana"]
    filled = fill(table)
    assert len(filled.lacking["xtrain-banana-svm"]) == 10
    assert filled.seconds > 0


def test_table_1_shows_what_is_published_without_the_file_and_keeps_a_part_apart_from_the_whole(monkeypatch, tmp_path):
    monkeypatch.setenv("SVMLAB_DATA", str(tmp_path))
    table = TABLES["xtrain-table1"]
    whole = {row.label: [cell and cell.published for cell in row.cells] for row in table.rows if "Forest" in row.label}
    assert whole["Forest, 50,000 examples, 5 subsets of 10,000"][:6] == [90.3, 12476, None, None, 89.2, 7967]
    assert whole["Forest, 90,000 examples, 5 subsets of 18,000"][4:6] == [90.7, 13023]
    assert whole["Forest, 200,000 examples, 8 subsets of 30,000"][:6] == [None, None, None, None, 92.1, 19526]
    assert not any(whole["Part of Forest, 50,000 examples, 5 subsets of 10,000"])
    assert {RECIPES[name].dataset for name in table.recipes if "forest" in name} == {"forest", "forest-part"}
    filled = fill(table)
    assert [value.seconds > 0 for value in filled.rows[-1] if value] == [True] * 4, "a forecast needs no file"


def test_a_form_begins_with_a_search_and_an_unsaid_recipe_means_none():
    method = METHODS["cross-training"]
    usual = method.usual(PLAIN)
    assert usual.option("validation")
    assert usual.option("grid").count(",") >= 2 <= usual.option("final_grid").count(",")
    assert not Recipe(method="cross-training").option("validation")
    assert usual.digest() != PLAIN.replace(method="cross-training").digest()
    assert METHODS["sv"].usual(PLAIN).digest() == PLAIN.digest()
    for name, values in (("grid", "0.1,1"), ("final_grid", "2")):
        with pytest.raises(RecipeError, match="nu"):
            EDITED.replace(**{"nu": 0.2, "validation": True, name: values})


def test_a_rule_takes_the_c_that_the_plain_machine_chooses():
    found = execute(PLAIN.replace(method="editing", rule="trimmed", below=0.0, grid="0.01,1")).result
    assert found["chosen"] == execute(PLAIN.replace(grid="0.01,1")).result["chosen"]
    assert found["roles"][WRONG_SIDE] > 0


def test_the_studies_have_their_points():
    for name in xtrain.STUDIES:
        points = xtrain.study(name)
        machines = {splits.machine_of(recipe).partition(",")[0] for recipe in points}
        assert machines >= {"plain", "cross-trained"}
        assert ("trimmed" in machines) == (name in ("xtrain-fig3", "xtrain-fig4"))
        assert len({recipe.digest() for recipe in points}) == len(points)
    assert {recipe.n_train for recipe in xtrain.study("xtrain-fig3")} == set(xtrain.SIZES)
    assert isinstance(xtrain.study("xtrain-fig1")[0].kernel, Linear)
