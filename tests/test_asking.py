"""The next label: what is asked for, by a slow account; courses beside machines trained one by one; jobs; the study."""

import json

import numpy as np
import pytest

from data import catalogue, load, revisions
from data.dataset import Arrays
from data.verdicts import LABEL, OUT, UNLABELLED, Verdict
from pages.labels import ask
from svmcore.__main__ import main
from svmcore.explain.asking import REACH, WAYS, lead, next_ones
from svmcore.kernels import RBF, Poly
from svmcore.lab import Recipe
from svmcore.lab.analyses import asking
from svmcore.lab.analyses.without import require_room, roomy
from svmcore.lab.jobs import analyses as beside
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store import runs
from svmcore.lab.train import execute, prepare
from svmcore.memory import BudgetError
from tests import naive
from tests.cases import all_cases
from tests.trained import finished

DIGITS = Recipe(dataset="digits-8x8", n_train=200, n_test=300, kernel=Poly(3, 1.0, 1.0))
MOONS = Recipe(dataset="toy-moons", n_train=150, preprocess=(), kernel=RBF(2.0), C=1.0)
MB = 500.0


def squared(X):
    return lambda i, others: ((X[others] - X[i]) ** 2).sum(axis=1)


@all_cases("seed", range(6))
@all_cases("k", [1, 3, 10])
@all_cases("way", ["nearest", "spread"])
def test_what_is_asked_for_is_that_of_a_slow_account(way, k, seed):
    rng = np.random.default_rng(seed)
    X, f = rng.normal(size=(40, 3)), rng.normal(size=(40, k)) * 10.0 ** rng.integers(-3, 4)
    X[7], f[7] = X[3], f[3]  # a copy
    for m in (1, 2, 6, 19, 40, 60):
        found = next_ones(way, f, m, squared(X), rng).tolist()
        assert found == naive.next_ones(f, m, X if way == "spread" else None, REACH)
        assert len(set(found)) == min(m, 40)


def test_copies_are_spread_last():
    X = np.repeat([[0.0], [1.0]], 3, axis=0)
    f = np.array([[0.0], [0.0], [0.0], [0.1], [0.1], [0.1]])
    assert next_ones("nearest", f, 2, squared(X), None).tolist() == [0, 1]
    assert next_ones("spread", f, 2, squared(X), None).tolist() == [0, 3]
    assert sorted(next_ones("spread", np.zeros((6, 1)), 3, squared(np.zeros((6, 1))), None).tolist()) == [0, 1, 2]


def test_random_is_drawn_by_its_seed_and_another_way_is_refused():
    f = np.zeros((30, 1))
    one, again, other = (next_ones("random", f, 5, None, np.random.default_rng(s)).tolist() for s in (0, 0, 1))
    assert one == again != other
    assert lead(np.array([[3.0, 3.0, 1.0]])).tolist() == [0]
    with pytest.raises(ValueError, match="way = 'best'; allowed: nearest, spread, random"):
        next_ones("best", f, 1, None, None)


WEIGHED = DIGITS.replace(class_weight="balanced")


@all_cases("recipe", [DIGITS, MOONS, DIGITS.replace(classes=(8,)), WEIGHED])
@all_cases("way", WAYS)
def test_a_course_is_that_of_machines_trained_one_by_one(recipe, way):
    at = asking.of_recipe(recipe, MB)
    given = np.array([20, 25, 30, 40])
    wrong = asking.course(at, way, given, seed=3)
    problem = prepare(recipe)
    positions = asking.begun(at.y, 20, 3)
    rng = np.random.default_rng([3, 1])
    assert set(at.y[positions].tolist()) == set(at.y.tolist())
    for n, expected in zip(given, wrong.tolist(), strict=True):
        assert len(positions) == n == len(set(positions.tolist()))
        machine = naive.machine_of(recipe, problem, positions)
        assert abs((machine.predict(problem.X_test) != problem.y_test).sum() - expected) <= 1  # f near 0, rounded
        left = np.setdiff1d(np.arange(len(at.y)), positions)
        now = asking.taught(at, positions, at.y[positions])
        f = machine.decision_function(problem.X_train).reshape(len(at.y), -1)
        assert np.abs(now.decision - f).max() < 2e-3
        step = {20: 5, 25: 5, 30: 10}.get(int(n))
        if step:
            positions = np.concatenate([positions, asking.asked(at, now, way, left, step, rng)])


def test_the_study_publishes_what_it_finds_and_counts_labels_until_the_target():
    seen = []
    settings = {"known": 12, "batch": 20, "most": 100, "seeds": 2, "target": 0.2}
    found = asking.study(DIGITS, MB, publish=seen.append, **settings)
    assert found.given.tolist() == [12, 32, 52, 72, 92, 100]
    assert [round(one.share, 3) for one in seen] == [0.167, 0.333, 0.5, 0.667, 0.833, 1.0]
    assert (seen[2].done, found.done) == (1, 2)
    for way in WAYS:
        starts = {found.wrong[other][:, 0].tobytes() for other in WAYS}
        assert len(starts) == 1, "every way begins with the same labels"
        for wrong, reached in zip(found.wrong[way], found.reached(way), strict=True):
            down = [n for n, errors in zip(found.given, wrong, strict=True) if errors / 300 <= 0.2]
            assert reached == (down[0] if down else np.inf)
    assert execute(DIGITS).result["errors"] == found.all_wrong[0]
    partial, whole = (ask.ways(one) for one in (seen[0], found))
    assert [len(figure.data) for figure in (partial, whole)] == [3, 7], "lines, and bands of two edges"
    assert np.allclose(whole.data[2].y, found.wrong["nearest"].mean(axis=0) / 3)
    assert "over 0 seeds" in partial.layout.meta["alt"]
    never = found._replace(target=1e-9)
    assert np.isinf(never.reached("nearest")).all()
    assert np.isnan(never.factor("nearest"))
    assert asking.text(never).count("> 100") == 3
    assert asking.text(found).count("\n") == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"known": 1}, "known"),
        ({"batch": 0}, "batch"),
        ({"seeds": 0}, "seeds"),
        ({"target": 1.0}, "target"),
        ({"most": 20}, "more than 20, the labels known"),
    ],
)
def test_settings_that_cannot_be_are_named(changes, words):
    with pytest.raises(RecipeError, match=words):
        asking.study(DIGITS, MB, **changes)


def test_recipes_whose_machines_cannot_ask_are_named():
    with pytest.raises(RecipeError, match="Virtual"):
        asking.of_recipe(DIGITS.replace(method="vsv", jitters="plus:1"), MB)
    with pytest.raises(RecipeError, match=r"up to 10,000"):
        asking.of_recipe(Recipe(dataset="clouds:2", n_train=10_001, n_test=100, preprocess=(), kernel=RBF(1.0)), MB)
    with pytest.raises(BudgetError, match="kernel values"):
        asking.of_recipe(DIGITS, 0.1)


def test_the_command_line_tells_the_figures(capsys, home):
    asked = ["asking", "moons", "--seeds", "1", "--most", "40", "--known", "6", "--target", "0.2"]
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["given"] == [6, 16, 26, 36, 40]
    assert {len(wrong[0]) for wrong in told["wrong"].values()} == {5}
    assert main(asked) == 0
    assert "labels until the error is 20 %" in capsys.readouterr().out
    assert main([*asked, "--target", "7"]) == 2


# ---------------------------------------------------------------------------------------------------- the reader's own


@pytest.fixture
def run(home):
    """A run on 60 digits that have a label; 240 have none."""
    digits = load("digits-8x8")
    arrays = Arrays(digits.X_train[:300], digits.y_train[:60], digits.X_train[300:500], digits.y_train[300:500])
    catalogue.keep("half", arrays)
    return finished(Recipe(dataset="own:half", split="given", kernel=Poly(3, 1.0, 1.0)))


def after(run, labels, way="nearest", m=5):
    beside.NEXT.start(run.id, "own:half", labels, way, m)
    now = beside.NEXT.wait(run.id, "own:half", labels, way, m, timeout=60)
    assert now.state == "done", now.message
    return now.result


def test_each_label_given_trains_and_the_curve_is_that_of_the_revision(run):
    digits, labels, asked = load("digits-8x8"), (), []
    for _ in range(6):
        now = after(run, labels)
        assert (now.known, now.t, now.left, now.aside) == (60, 200, 240 - len(labels), 0)
        asked.append(now.rows[0])
        labels += ((now.rows[0], digits.y_train[now.rows[0]].item()),)
    labels += ((next(row for row in now.rows if row not in asked), None),)
    now = after(run, labels)
    assert now.left == 240 - 7
    assert list(now.curve) == list(range(7)), "who is unsure gives no label"
    assert now.curve[0] == run.result["errors"]
    base = load("own:half")
    given = [Verdict("train", r, UNLABELLED, OUT if c is None else LABEL, c) for r, c in labels]
    revisions.add("own:half@checked", base, given)
    trained = execute(run.recipe.replace(dataset="own:half@checked")).result
    assert trained["n_train"] == 66
    assert abs(trained["errors"] - now.curve[6]) <= 1


def test_of_a_large_pool_as_many_are_looked_at_as_memory_has_room_for(run):
    base = load("own:half")
    for ceiling in (0.7, 0.5, 0.3):
        at = asking.of_run(run, base, ceiling)
        n = len(at.rows)
        assert n == len(at.K) == roomy(200, ceiling)
        require_room(n, 200, ceiling)
        with pytest.raises(BudgetError):
            require_room(n + 1, 200, ceiling)
        assert at.rows[:60].tolist() == run.train_index().tolist()
        assert len(set(at.rows.tolist())) == n
        assert at.rows[60:].min() >= 60
    with pytest.raises(BudgetError, match="kernel values"):
        asking.of_run(run, base, 0.05)


def test_a_label_taken_back_or_changed_begins_the_curve_anew_from_there(run):
    digits = load("digits-8x8")
    rows = after(run, ()).rows
    labels = tuple((row, digits.y_train[row].item()) for row in rows)
    whole = after(run, labels).curve
    assert list(whole) == list(range(6))
    back = after(run, labels[:2])
    assert list(back.curve) == [0, 1, 2]
    assert back.curve == {n: whole[n] for n in back.curve}
    wrong = ((labels[0][0], (labels[0][1] + 1) % 10), *labels[1:])
    other = after(run, wrong).curve
    beside.CURVES._values.clear()
    assert after(run, wrong).curve == other, "as computed from nothing"
    assert after(run, labels).curve == whole


def test_a_long_curve_is_drawn_through_few_points():
    curve = beside.Curve(None, [], {0: 9, 1: 8, 2: 7})
    labels = [(row, 1) for row in range(500)]
    curve.labels[:] = labels[:2]
    curve.begin(labels)
    points = curve.unknown()
    assert points[0] == 3
    assert points[-1] == 500
    assert len(points) == beside.MAX_POINTS
    curve.wrong.update(dict.fromkeys(points, 5))
    curve.begin(labels)
    assert curve.unknown() == [500], "what it asks next is by the last machine, trained once more"
    curve.begin(labels[:1])
    assert set(curve.wrong) == {0, 1}


def test_a_run_on_the_revision_asks_as_one_on_the_base_and_one_class_has_labels_of_its_own(run):
    base, digits = load("own:half"), load("digits-8x8")
    revisions.add("own:half@checked", base, [Verdict("train", 70, UNLABELLED, LABEL, digits.y_train[70].item())])
    run_id = finished(run.recipe.replace(dataset="own:half@checked.1")).id
    labels = ((70, digits.y_train[70].item()),)
    assert after(runs.get(run_id), labels) == after(run, labels)
    run_id = finished(run.recipe.replace(classes=(8,))).id
    now = after(runs.get(run_id), labels)
    assert set(now.said) <= {-1, 1}
    pair = finished(run.recipe.replace(classes=(3, 8))).id
    assert list(after(runs.get(pair), ((70, 5), (71, 3))).curve) == [0, 1], "a 5 is none of its classes"


def test_a_study_beside_the_runs_is_stopped_and_leaves_what_it_found(home):
    settings = {"known": 20, "batch": 1, "most": 190, "seeds": 20, "target": 0.1}
    key = beside.study_key(DIGITS, **settings)
    assert key != beside.study_key(DIGITS, **settings | {"seeds": 3})
    beside.STUDIED.start(*key)
    while beside.STUDIED.status(*key).result is None:
        assert beside.STUDIED.wait(*key, timeout=0.2).at_work
    beside.STUDIED.stop(*key)
    now = beside.STUDIED.wait(*key, timeout=20)
    assert now.state == "stopped"
    assert 0 < now.result.share < 1
