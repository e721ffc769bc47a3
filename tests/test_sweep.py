"""Laws of svmcore.lab.analyses.sweep: every training example is judged once, by a machine that has not seen it."""

import itertools
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn import svm as libsvm
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from data import DataError
from svmcore.__main__ import main
from svmcore.kernels import RBF, Poly
from svmcore.lab import Recipe, RecipeError, execute, jobs, prepare
from svmcore.lab.analyses.amounts import rounded
from svmcore.lab.analyses.sweep import PowerLaw, Sweep, apart, chosen, simplest, standard_error
from svmcore.lab.forecast import estimate
from svmcore.lab.jobs import queue, sweeping, worker
from svmcore.lab.jobs.sweeping import submit_missing, sweep
from svmcore.lab.presets import RECIPES
from svmcore.lab.solvers import share
from svmcore.lab.store import runs
from svmcore.lab.train import fit
from svmcore.memory import BudgetError
from svmcore.methods.virtual.stages import Stages
from svmcore.svc import SVC

DIGITS = Recipe(dataset="digits-8x8", classes=(3, 8), n_train=90, n_test=100, kernel=Poly(5, 1.0, 1.0))


def test_errors_are_those_of_machines_that_have_not_seen_the_fold():
    problem = prepare(DIGITS)
    X, y = problem.X_train, problem.y_train
    (point,) = sweep(DIGITS, "C", ["0.05"], folds=3)
    folds = StratifiedKFold(3, shuffle=True, random_state=DIGITS.seed).split(X, y)
    expected = [int(np.sum(SVC(DIGITS.kernel, C=0.05).fit(X[a], y[a]).predict(X[b]) != y[b])) for a, b in folds]
    assert list(point.fold_errors) == expected
    assert min(expected) > 0
    assert point.test_errors == execute(DIGITS.replace(C=0.05)).result["errors"]
    assert point.n_train == 90
    assert point.validation[0] == sum(expected) / 90


def test_a_map_is_that_of_a_search_over_a_grid():
    """The same folds, fitted by scikit-learn."""
    recipe = DIGITS.replace(kernel=RBF(1.0))
    problem = prepare(recipe)
    X, y = problem.X_train, problem.y_train
    folds = StratifiedKFold(3, shuffle=True, random_state=DIGITS.seed)
    grid = {"C": [0.05, 1.0], "gamma": [0.01, 1.0, 30.0]}
    search = GridSearchCV(libsvm.SVC(tol=1e-6), grid, cv=folds).fit(X, y)
    found = search.cv_results_
    held = [len(b) for _, b in folds.split(X, y)]
    expected = {
        f"{one['C']:g} × {one['gamma']:g}": tuple(
            round(n * (1 - found[f"split{k}_test_score"][i])) for k, n in enumerate(held)
        )
        for i, one in enumerate(found["params"])
    }
    points = sweep(recipe, "C", ["0.05", "1"], 3, second="kernel.gamma", seconds=["0.01", "1", "30"])
    assert {point.value: point.fold_errors for point in points} == expected
    assert len(set(expected.values())) > 2
    errors = {point.value: sum(point.fold_errors) for point in points}
    assert errors[chosen(errors)] == round(90 * (1 - search.best_score_))


def test_halving_ends_with_the_cells_that_were_among_the_best_third_on_fewer_examples():
    recipe = DIGITS.replace(classes=(), n_train=270, kernel=RBF(1.0))
    Cs, gammas = ["0.05", "1", "20"], ["0.01", "1", "30"]
    whole = {p.value: p for p in sweep(recipe, "C", Cs, 3, second="kernel.gamma", seconds=gammas)}
    halved = sweep(recipe, "C", Cs, 3, second="kernel.gamma", seconds=gammas, rungs=3)
    fewer = sweep(recipe.replace(n_train=90), "C", Cs, 3, second="kernel.gamma", seconds=gammas)
    few = {p.value: p for p in fewer}
    kept = sorted(sum(p.fold_errors) for p in few.values())[2]
    first = [p for p in halved if p.n_test is None]
    assert {p.value for p in first} == {value for value, p in few.items() if sum(p.fold_errors) > kept}
    assert {p.n_train for p in first} == {90}  # 30 are three of each class, one a fold: fewer would not do
    assert all(p == whole[p.value] for p in halved if p.n_test is not None)
    with pytest.raises(RecipeError, match="n_train"):
        sweep(recipe, "n_train", ["100", "200"], rungs=2)


def test_errors_on_folds_are_told_apart_example_by_example():
    points = sweep(DIGITS.replace(classes=(), n_train=200), "C", ["0.001", "5"], folds=3)
    problem = prepare(DIGITS.replace(classes=(), n_train=200))
    X, y, rows = problem.X_train, problem.y_train, problem.train_index
    for point, C in zip(points, (0.001, 5.0)):
        folds = StratifiedKFold(3, shuffle=True, random_state=DIGITS.seed).split(X, y)
        wrong = [rows[b[SVC(DIGITS.kernel, C=C).fit(X[a], y[a]).predict(X[b]) != y[b]]] for a, b in folds]
        assert list(point.wrong) == sorted(np.concatenate(wrong).tolist())
    d, h = apart(*(np.isin(rows, point.wrong) for point in points))
    assert d == pytest.approx(points[0].validation[0] - points[1].validation[0])
    assert d - h > 0  # C = 0.001 is no machine for ten digits
    of_100 = np.arange(100)
    few = apart(np.isin(of_100, [1, 2, 3]), np.isin(of_100, [2, 3, 4, 5]))
    assert few == (pytest.approx(-0.01), pytest.approx(1.959964 * 2 / 100))


@pytest.mark.parametrize("differ", [0.0, 0.002, 0.05])
def test_the_interval_of_a_difference_covers_it_also_where_settings_hardly_differ(differ):
    rng, n, hits = np.random.default_rng(0), 300, 0
    for _ in range(500):  # of 300 examples some are wrong by both; one of both is wrong alone with this probability
        both, more, fewer = (rng.random(n) < share for share in (0.1, 1.5 * differ, 0.5 * differ))
        d, h = apart(both | more, both | (fewer & ~more))
        expected = 0.9 * (1.5 * differ - 0.5 * differ * (1 - 1.5 * differ))
        hits += d - h <= expected <= d + h
    assert hits / 500 >= 0.93


def test_the_interval_of_a_difference_counts_groups():
    """Of G groups with M, 1 or 2 rows: the deviation of the sum under all signs of the groups, and rows that are only
    copies make no difference surer."""
    rng, G, M = np.random.default_rng(1), 60, 7
    a, b = rng.random(G) < 0.3, rng.random(G) < 0.2
    copies, groups = np.repeat([a, b], M, axis=1), np.repeat(np.arange(G), M) + 1000
    order = rng.permutation(G * M)
    assert apart(*copies[:, order], groups[order]) == pytest.approx(apart(a, b))
    assert apart(*copies)[1] == pytest.approx(apart(a, b)[1] / np.sqrt(M), rel=0.1)  # what counting rows would claim
    groups = rng.integers(0, 12, G)
    d = np.array([np.sum(a[groups == g]) - np.sum(b[groups == g]) for g in np.unique(groups)])
    sums = np.array(list(itertools.product([-1, 1], repeat=len(d)))) @ d
    root = np.sqrt(sums.var() + (G / len(d)) ** 2)
    assert apart(a, b, groups) == (pytest.approx(d.sum() / G), pytest.approx(1.959964 * root / G))


def test_finer_values_lie_between_those_beside_the_best():
    whole = Sweep(DIGITS.replace(kernel=RBF(1.0)), "C", ("1", "4", "16", "64"), "kernel.gamma", ("0", "0.5", "2"), 3)
    finer = whole.finer("4 × 2")
    assert finer == whole._replace(values=("1", "2", "4", "8", "16"), seconds=("0.5", "1", "2"))
    written = ("4096", "8192", "16384", "32768.5")
    assert Sweep(DIGITS, "C", written).finer("16384").values == ("8192", "1.159e+04", "16384", "2.317e+04", "32768.5")
    assert Sweep(DIGITS, "kernel.degree", ("2", "3", "5")).finer("3").values == ("2", "3", "5")  # no degree 2.449
    assert Sweep(DIGITS, "jitters", ("none", "plus:1")).finer("none").values == ("none", "plus:1")


def test_a_power_law_is_found_and_its_interval_covers_what_twice_the_examples_bring():
    n = np.array([100, 200, 400, 800, 1600])
    exact = PowerLaw.fitted(n, 2.0 * n**0.5, n)  # a rate of 2 / sqrt(n)
    assert (exact.slope, exact.level) == (pytest.approx(-0.5), pytest.approx(np.log(2)))
    assert exact.at(3200)[0] == pytest.approx(2 / np.sqrt(3200))
    rng, covered, slopes = np.random.default_rng(0), 0, []
    for _ in range(400):
        law = PowerLaw.fitted(n, rng.binomial(n, 1.5 / np.sqrt(n)), n)
        _, low, high = law.at(3200)
        covered += low <= 1.5 / np.sqrt(3200) <= high
        slopes.append(law.slope)
    assert 0.93 <= covered / 400 <= 1  # wider where the points lie off the line
    assert np.mean(slopes) == pytest.approx(-0.5, abs=0.01)
    assert PowerLaw.fitted([1, 2, 4], [3, 0, 1], [9, 9, 9]) is None


def test_the_simplest_cell_is_at_most_one_standard_error_above_the_best():
    folds = {"a": (9, 9, 9), "b": (6, 4, 5), "c": (3, 5, 4), "d": (4, 4, 4)}
    rates = np.array(folds["c"]) / 30
    assert standard_error(folds["c"], 90) == pytest.approx(rates.std(ddof=1) / np.sqrt(3))
    n = dict.fromkeys(folds, 90)
    assert simplest(folds, n) == "c"  # 15 errors are more than 12 + 1.7
    assert simplest(folds | {"b": (6, 3, 4)}, n) == "b"
    assert simplest({"a": (1, 1), "b": (1, 1)}, {"a": 10, "b": 10}) == "a"
    assert simplest({"a": (9, 9), "b": (5, 5)}, {"a": 1000, "b": 100}) == "a"  # by rates


@pytest.mark.parametrize(("method", "solver"), [("jsv", "auto"), ("jsv", "decomposition"), ("vsv", "auto")])
def test_values_of_the_box_are_judged_alike_together_and_alone(method, solver):
    recipe = DIGITS.replace(method=method, solver=solver, jitters="plus:1")
    together = sweep(recipe, "C", ["0.05", "2"], folds=2)
    assert together[0].fold_errors != together[1].fold_errors  # so that it shows which value was meant
    assert together == [sweep(recipe, "C", [value], folds=2)[0] for value in ("0.05", "2")]


@pytest.mark.parametrize("solver", ["auto", "decomposition"])
def test_one_jittered_cache_serves_several_boxes(solver):
    recipe = DIGITS.replace(method="jsv", jitters="box:1", solver=solver)
    problem = share(recipe, prepare(recipe))
    first = fit(recipe, problem).estimator
    second = fit(recipe.replace(C=0.05), problem).estimator
    assert second.kernel_evals_ == first.kernel_evals_ <= 90 * 91 / 2  # no value twice
    alone = fit(recipe.replace(C=0.05), prepare(recipe)).estimator
    np.testing.assert_allclose(
        second.decision_function(problem.X_test), alone.decision_function(problem.X_test), atol=1e-6
    )


@pytest.mark.parametrize("method", ["sv", "vsv"])
def test_a_run_with_folds_finds_what_the_sweep_finds(home, method):
    recipe = DIGITS.replace(method=method, folds=3)
    (point,) = sweep(recipe, "C", ["2"], folds=3)
    run_id = jobs.submit(recipe)
    assert jobs.wait(run_id, 60).state == "done"
    run = runs.get(run_id)
    found = run.result["validation"]
    assert found["folds"] == list(point.fold_errors)
    assert (found["error_rate"], *found["interval"]) == point.validation
    assert run.result["errors"] == point.test_errors
    folds = {"3 folds"} if method == "sv" else {"fold 1 of 3", "fold 3 of 3"}
    assert folds < {line["stage"] for line in run.progress()}
    assert run.recipe.digest() != recipe.replace(folds=None).digest()


def test_a_run_tells_bounds_on_its_error(home):
    recipe = DIGITS.replace(bounds=True, n_train=60)
    run_id = jobs.submit(recipe)
    assert jobs.wait(run_id, 60).state == "done"
    found, problem = runs.get(run_id).result["bounds"], prepare(recipe)
    X, y, wrong = problem.X_train, problem.y_train, 0
    for i in range(60):
        keep = np.arange(60) != i
        wrong += SVC(recipe.kernel, C=recipe.C).fit(X[keep], y[keep]).predict(X[i : i + 1])[0] != y[i]
    assert found["leave_one_out"]["errors"] == wrong <= found["xi_alpha"]["errors"]
    assert all(bound["n"] == 60 and bound["seconds"] >= 0 for bound in found.values())
    assert recipe.outcome == recipe.replace(bounds=False).digest() != recipe.digest()
    assert "bounds" not in execute(recipe.replace(bounds=False)).result


def test_bounds_that_cannot_be_are_refused():
    said = "bounds = True; allowed: false for method vsv; only sv, jsv, tangent have bounds"
    with pytest.raises(RecipeError, match=said):
        DIGITS.replace(method="vsv", bounds=True)
    with pytest.raises(RecipeError, match="bounds = True; allowed: false, or n_train up to 10,000"):
        estimate(Recipe(dataset="mnist", n_train=20_000, bounds=True))
    plain, bounded = (estimate(DIGITS.replace(bounds=asked)) for asked in (False, True))
    assert bounded.seconds > plain.seconds


def test_a_run_is_cancelled_between_two_folds(home):
    run_id = jobs.submit(DIGITS.replace(folds=80, n_train=400, preprocess=("zscore",)))
    while not jobs.status(run_id).message.endswith("of 80"):
        assert jobs.wait(run_id, 0.02).state != "done"
    jobs.cancel(run_id)
    assert jobs.wait(run_id, 10).state == "cancelled"


def test_a_cancelled_run_puts_no_machine_together(home, monkeypatch):
    made = []
    assemble = Stages.assemble
    monkeypatch.setattr(worker, "RESTS", 4.0)
    monkeypatch.setattr(Stages, "assemble", lambda *arguments: made.append(1) or assemble(*arguments))
    run_id = jobs.submit(DIGITS.replace(method="vsv", classes=(), n_train=900, slow_motion=True), looks=False)
    while "virtual" not in jobs.status(run_id).message:
        assert jobs.wait(run_id, 0.02).state != "done"
    jobs.cancel(run_id)
    assert jobs.wait(run_id, 10).state == "cancelled"
    assert not made


@pytest.mark.parametrize("method", ["vsv", "jsv"])
def test_jitters_pushed_too_far_are_told_by_the_folds(method):
    recipe = DIGITS.replace(method=method, classes=(6, 9), n_train=200)
    near, far = sweep(recipe, "jitters", ["none", "rot:180"], folds=3)
    assert sum(near.fold_errors) + 2 <= sum(far.fold_errors)
    assert far.value == "rot:180"


def test_the_command_line_prints_what_the_library_finds(capsys):
    arguments = ["sweep", "digits-8x8-sv", "kernel.degree", "2", "4", "--folds", "2", "--set", "n_train=120"]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "validation error  " in said
    assert main([*arguments, "--json"]) == 0
    points = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [point["value"] for point in points] == ["2", "4"]
    assert all(len(point["fold_errors"]) == 2 for point in points)
    (best,) = (point["value"] for point in points if point["chosen"])
    assert best == chosen({point["value"]: sum(point["fold_errors"]) for point in points})
    assert f"chosen: kernel.degree = {best} (the lowest" in said
    assert main([*arguments, "--and", "C", "0.1", "1"]) == 0
    said = capsys.readouterr().out
    assert "kernel.degree × C  validation" in said
    assert [line.split("  ")[0] for line in said.splitlines()[1:5]] == ["2 × 0.1", "2 × 1", "4 × 0.1", "4 × 1"]
    assert "simplest within one standard error of the lowest: kernel.degree × C = " in said
    turned = ["sweep", "digits-8x8-sv", "kernel.degree", "4", "2", *arguments[5:], "--and", "C", "1", "0.1"]
    assert main(turned) == 0
    assert capsys.readouterr().out == said  # the smallest of equal values, whatever their order
    assert main([*arguments, "--and", "C"]) == 2
    assert "--and = 'C'; allowed: a field and its values" in capsys.readouterr().err


def test_one_rule_chooses_whatever_the_order_of_the_values():
    assert chosen({"10": 3, "2": 3, "0.5": 4}) == "2"
    assert chosen({"none": 3, "box:1": 3}) == "none"


def test_what_is_not_allowed_is_named():
    with pytest.raises(RecipeError, match="folds = 1; allowed: a whole number from 2"):
        sweep(DIGITS, "C", ["1"], folds=1)
    with pytest.raises(ValueError, match="folds = 50; allowed: 2 to 4"):
        sweep(DIGITS, "C", ["1"], folds=50)
    with pytest.raises(RecipeError, match="C = "):
        sweep(DIGITS, "C", ["-1"])
    with pytest.raises(RecipeError, match="n_train = 'none'; allowed: numbers"):
        sweep(DIGITS, "n_train", ["20", "none"], folds=2)
    with pytest.raises(RecipeError, match="method = 'sv'; allowed: one that uses jitter sets"):
        sweep(DIGITS, "jitters", ["none", "box:1"])  # all would be one machine
    many = list(map(str, range(1, 1001)))
    with pytest.raises(RecipeError, match="values = 1000000; allowed: at most 1,000"):
        sweep(DIGITS, "C", many, 2, second="kernel.coef0", seconds=many)


def test_the_command_line_says_what_twice_the_examples_bring_and_what_the_better_recipe_is_worth(capsys):
    values = ["50", "100", "200", "400"]
    assert main(["sweep", "digits-8x8-sv", "kernel.degree", "1", "3", "--folds", "2", "--and", "n_train", *values]) == 0
    printed = capsys.readouterr().out
    points = {
        p.value: p
        for p in sweep(RECIPES["digits-8x8-sv"], "kernel.degree", ["1", "3"], 2, second="n_train", seconds=values)
    }
    laws = {d: PowerLaw.fitted([50, 100, 200, 400], *zip(*((sum(p.fold_errors), p.n_train) for p in points.values()
            if p.value.startswith(d)), strict=True)) for d in ("1", "3")}  # fmt: skip
    for degree, law in laws.items():
        rates = [100 * rate for rate in law.at(800)]
        assert f"kernel.degree = {degree}: " in printed
        assert "A power law predicts {:.2f} % ({:.2f} to {:.2f}) with 800.".format(*rates) in printed
    best = min(laws, key=lambda degree: laws[degree].at(400)[0])
    other = laws[{"1": "3", "3": "1"}[best]]
    examples = other.as_good_as(laws[best], 400)[0]
    assert other.at(examples)[0] == pytest.approx(laws[best].at(400)[0])
    assert f"400 examples with kernel.degree = {best} are worth as much as {rounded(examples)} (" in printed
    assert "chosen" not in printed  # more examples are better


def test_what_two_ask_for_at_the_same_time_is_queued_once(home, monkeypatch):
    monkeypatch.setattr(queue, "_places", lambda small: 0)  # nothing begins
    recipes = [DIGITS.replace(C=C, folds=3) for C in (1.0, 2.0, 4.0)]
    with ThreadPoolExecutor(4) as pool:
        asked = list(pool.map(submit_missing, [recipes, recipes[::-1], [*recipes, *recipes], recipes[:2]]))
    assert sorted(asked[0]) == sorted(asked[1]) == sorted(asked[2]) == sorted(jobs.active())
    assert len(asked[0]) == len(runs.everything()) == 3
    assert set(asked[3]) < set(asked[0])
    jobs.cancel(*jobs.active())


@pytest.mark.parametrize(
    ("what", "error", "says"),
    [({"dataset": "own:gone"}, DataError, "gone"), ({"C": 7.0}, BudgetError, "1 MB are free")],
)
def test_what_cannot_be_queued_is_said_when_the_others_are(home, monkeypatch, what, error, says):
    monkeypatch.setattr(queue, "_places", lambda small: 0)
    needs = lambda recipes: [estimate(one)._replace(free_mb=1.0 if one.C == 7 else 1e6) for one in recipes]  # noqa: E731
    monkeypatch.setattr(sweeping, "estimates", needs)
    recipes = [DIGITS.replace(**what), DIGITS.replace(folds=3)]
    with pytest.raises(error, match=says):
        submit_missing(recipes)
    assert [runs.get(run_id).recipe.folds for run_id in jobs.active()] == [3]
    jobs.cancel(*jobs.active())
