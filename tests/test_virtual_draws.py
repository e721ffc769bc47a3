"""Virtual examples that are drawn: the machines are those of all forms, few are held, and every end says why."""

import numpy as np
import pytest

from pages.ui.run import exports
from svmcore.kernels import RBF, Poly
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import RecipeError
from svmcore.saved import load, save
from svmcore.svc import SVC
from tests.cases import all_cases
from tests.drawing import UNIT, digits, virtual
from tests.driven import finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)


@all_cases(
    ("classes", "seed", "kernel", "keep", "rank"),
    [
        (2, 0, Poly(5, 1, 1), 1.0, "margin"),
        (2, 0, RBF(0.5), 0.4, "random"),
        (3, 1, RBF(0.5), 1.0, "margin"),
        (3, 1, Poly(5, 1, 1), 0.2, "margin"),
        (10, 2, Poly(5, 1, 1), 0.4, "random"),
        (10, 2, RBF(0.5), 0.2, "margin"),
    ],
)
def test_enough_draws_give_the_machine_of_all_forms(classes, seed, kernel, keep, rank):
    X, y, T = digits(classes)
    every = virtual(kernel=kernel).fit(X, y)
    drawn = virtual(kernel=kernel, draws=round(40_000 / keep), seed=seed, keep=keep, rank=rank).fit(X, y)
    scale = np.abs(every.decision_function(T)).max()
    np.testing.assert_allclose(drawn.decision_function(T), every.decision_function(T), atol=0.03 * scale)
    assert drawn.converged_
    assert drawn.drawn_[-1, 2] == 0, "the last round found none that violates"
    assert drawn.drawn_[:, 0].tolist() == np.cumsum(drawn.drawn_[:, 1]).tolist()
    assert drawn.drawn_[-1, 3] < 5 * len(every.base_.support_), "fewer than all forms are held"


def test_the_seed_alone_decides_and_a_file_decides_alike(tmp_path):
    X, y, T = digits(3)
    first, again, other = (virtual("random:50", draws=6000, seed=seed).fit(X, y) for seed in (3, 3, 4))
    assert np.array_equal(first.decision_function(T), again.decision_function(T))
    assert not np.array_equal(first.decision_function(T), other.decision_function(T))
    machine = first.machine_
    again = UNIT.fit(X).transform(first.jitters_.pick(X.astype(np.float32)[machine.parent], machine.jitter))
    np.testing.assert_allclose(again, machine.support_vectors, atol=1e-6)
    save(first, tmp_path / "drawn.npz")
    np.testing.assert_allclose(load(tmp_path / "drawn.npz").decision_function(T), first.decision_function(T), atol=1e-6)


def test_a_share_of_the_violators_holds_less_and_prefers_the_least_sure():
    X, y, _ = digits(10)
    every, some, random = (
        virtual("random:400", draws=6000, keep=keep, rank=rank).fit(X, y)
        for keep, rank in ((1.0, "margin"), (0.1, "margin"), (0.1, "random"))
    )
    assert every.drawn_[-1, 0] == some.drawn_[-1, 0] == random.drawn_[-1, 0] == 6000
    assert every.drawn_[-1, 3] > 1.3 * some.drawn_[-1, 3]
    told = some.drawn_[0, 2]
    assert some.drawn_[0, 3] - len(some.base_.support_) == np.ceil(0.1 * told)
    assert some.drawn_[0].tolist()[:4] == random.drawn_[0].tolist()[:4], "the same draws"
    forms = some.jitters_.pick(np.tile(X, (100, 1, 1)).astype(np.float32), np.arange(100).repeat(len(X)))
    wrong = [np.mean(one.predict(forms) != np.tile(y, 100)) for one in (some, random)]
    assert wrong[0] < wrong[1], "the forms that it was least sure of are those that it gets wrong"


@pytest.mark.parametrize("after", [0, 3, 12, 40])
def test_a_stop_leaves_feasible_machines(after):
    X, y, T = digits(3)
    told = []
    stopped = virtual("random:300", draws=200_000).fit(
        X, y, monitor=lambda p: told.append(p.stage) or len(told) <= after
    )
    machine = stopped.machine_
    assert not stopped.converged_
    assert np.abs(machine.coef.sum(axis=1)).max() < 1e-6
    assert np.abs(machine.coef).max(initial=0) <= 2.0 * (1 + 1e-12)
    assert np.isfinite(stopped.decision_function(T)).all()
    if after == 40:
        assert "of 200,000 drawn" in told[-1]
        assert "of 1,000 violate" in told[-1]


@pytest.mark.parametrize("look", [1, 2, 3])
@pytest.mark.parametrize("how", [{"draws": 20_000}, {"keep": 0.5}, {"keep": 0.5, "rank": "random"}, {}])
def test_a_stop_between_two_stages_is_said_and_leaves_the_machine_of_the_first(how, look):
    X, y, T = digits(3)
    seen = []

    def monitor(progress):  # asked to go on until the base machine has converged, and some looks longer
        seen.append(progress.stage == "base" and max(progress.gaps) <= 1e-4)
        return sum(seen) < look

    stopped = virtual("random:30", **how).fit(X, y, monitor=monitor)
    assert sum(seen) <= look
    assert stopped.converged_ == (sum(seen) < look), "a fit may have fewer such looks"
    assert np.isfinite(stopped.decision_function(T)).all()
    if not stopped.converged_ and stopped.machine_.jitter.max(initial=0) == 0:
        alone = SVC(Poly(5, 1, 1), C=2.0, tol=1e-4).fit(UNIT.fit(X).transform(X), y)
        np.testing.assert_allclose(stopped.decision_function(T), alone.decision_function(UNIT.transform(T)), atol=1e-3)


@pytest.mark.ci
def test_what_memory_has_no_room_for_ends_the_draws_and_says_so():
    X, y, _ = digits(10, 400)
    with pytest.warns(match="memory was exhausted"):
        tight = virtual("random:2000", draws=100_000, cache_mb=12).fit(X, y)
    assert not tight.converged_
    assert "of 100,000 drawn copies" in tight.ending_
    assert tight.drawn_[-1, 0] < 100_000
    assert len(tight.support_) > len(tight.base_.support_)


def test_another_kernel_for_the_drawn_stage_begins_anew():
    X, y, T = digits(3)
    second = SVC(RBF(0.5), C=5.0, tol=1e-4)
    drawn, every = virtual(draws=40_000), virtual()
    drawn, every = (one.set_params(second=second).fit(X, y) for one in (drawn, every))
    np.testing.assert_allclose(drawn.decision_function(T), every.decision_function(T), atol=0.05)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"draws": -1}, "draws = -1"),
        ({"draws": 2.5}, "draws = 2.5"),
        ({"scope": "machine"}, "scope = 'machine'; allowed with draws: union"),
        ({"rounds": 2}, "rounds = 2; allowed with draws: 1"),
        ({"estimator": SVC(solver="smo-digestion")}, "solver = 'smo-digestion'; allowed with draws: auto"),
    ],
)
def test_what_does_not_go_with_draws_is_named(wrong, says):
    X, y, _ = digits(2)
    with pytest.raises(ValueError, match=says):
        virtual(draws=1000).set_params(**wrong).fit(X, y)


SMALL = RECIPES["digits-8x8-sv"].replace(
    name="custom", title="Drawn", n_train=100, n_test=100, method="vsv", jitters="random:40",
    options={"scope": "union", "draws": 3000},
)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"options": {"draws": 3000}}, "scope"),
        ({"rounds": 2}, "rounds"),
        ({"solver": "smo-digestion"}, "solver"),
    ],
)
def test_a_recipe_names_what_does_not_go_with_draws(change, field):
    with pytest.raises(RecipeError, match="if draws is above 0") as error:
        SMALL.replace(**change)
    assert error.value.field == field


def test_a_run_keeps_and_shows_its_rounds():
    run = finished(SMALL)
    rounds = run.result["drawn"]
    assert rounds[-1][0] == 3000 or rounds[-1][2] == 0
    assert f"of {rounds[-1][0]:,} drawn" in run.result["strategy"]
    app = open_page("train", run=run.id)
    assert any("violate the margin went from" in one.value for one in app.caption)
    assert "Copies drawn" in exports.report(run)
