"""The page Choose, driven in process: a sweep starts, is told as it comes, found again, and says what goes wrong."""

import threading

import numpy as np
import pytest

from pages.ui.figures import validation
from pages.ui.kit import words
from pages.ui.studies import study
from svmcore.kernels import RBF
from svmcore.lab import jobs
from svmcore.lab.analyses.sweep import Sweep
from svmcore.lab.jobs import queue
from svmcore.lab.presets.sweeps import EXAMPLES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.tasks import task_of
from tests.driven import captions, finish_all, finished, open_page, whole_app  # noqa: F401

MOONS = {"dataset": "toy-moons", "preprocess": "", "kernel": "rbf:gamma=2", "folds": "3", "over": "C"}
BASE = Recipe(dataset="toy-moons", preprocess=(), kernel=RBF(2.0), folds=3)


@pytest.fixture
def ran(home):
    """A home with a run, so that no preset starts."""
    finished(Recipe(dataset="toy-moons", preprocess=(), kernel=RBF(2.0)))


def buttons(app):
    return [button.key for button in app.button]


def test_a_sweep_runs_and_is_found_again(ran):
    app = open_page("sweep", **MOONS, value=["0.1", "1", "10"])
    assert app.info[0].value.startswith("Start queues ordinary runs")
    app.button(key="queue_sweep").click().run()
    finish_all()
    sweep = Sweep(BASE, "C", ("0.1", "1", "10"))
    found = runs.stored(sweep.recipes().values())
    assert [run.state for run in found] == ["done"] * 3
    app = open_page("sweep", **MOONS, value=["0.1", "1", "10"])
    assert "queue_sweep" not in buttons(app)
    assert "1 run to train, about" in captions(open_page("sweep", **MOONS, value=["0.1", "1", "10", "20"]))
    table = app.dataframe[0].value
    assert list(table["Value"]) == ["0.1", "1", "10"]
    assert table["Validation (95 %)"].tolist() == [words.rate(run.result["validation"]) for run in found]
    assert "Cross-validation chooses C" in captions(app)
    wrong = [set(run.folded().index[run.folded().y_true != run.folded().y_pred]) for run in found]
    best = min(range(3), key=lambda at: len(wrong[at]))
    n = found[0].result["validation"]["n_test"]
    for at in range(3):
        d, h = (len(wrong[at]) - len(wrong[best])) / n, 196 / n * np.sqrt(len(wrong[at] ^ wrong[best]) + 1)
        said = (
            ""
            if at == best
            else f"{100 * d:+.2f} ({100 * d - h:.2f} to {100 * d + h:.2f})".replace("-", "\N{MINUS SIGN}")
        )
        assert table["Above the lowest"].fillna("")[at] == said
    assert "of the 2 other values tested on the same examples do not differ significantly" in captions(app)
    assert app.query_params["value"] == ["0.1", "1", "10"]


def test_halving_goes_on_without_a_page_and_chooses_among_those_that_saw_all_examples(ran):
    values = ["0.0001", "0.01", "0.1", "1", "10", "100"]
    app = open_page("sweep", **MOONS, value=values, halving="2")
    assert "6 runs to train" in captions(app)
    assert "Later steps of halving: 2 runs with the best values, about" in captions(app)
    app.button(key="queue_sweep").click().run()
    first, runs_of = Sweep(BASE, "C", tuple(values), rungs=2), []
    for thread in threading.enumerate():  # no page looks on
        if thread.name == "sweep":
            thread.join(60)
    fewer, whole = first.steps()
    assert fewer["n_train"] == len(task_of(BASE).examples(BASE).y_train) // 3
    for fields, many in ((fewer, 6), (whole, 2)):
        found = runs.stored(one.replace(**fields) for one in first.recipes().values())
        there = {value: run for value, run in zip(values, found) if run}
        assert len(there) >= many
        assert {run.state for run in there.values()} == {"done"}
        runs_of.append({value: run.result["validation"]["error_rate"] for value, run in there.items()})
    assert not jobs.active()
    app.run()
    kept = sorted(runs_of[0].values())[1]
    assert set(runs_of[1]) == {value for value, rate in runs_of[0].items() if rate <= kept}
    best = min(runs_of[1], key=lambda value: (runs_of[1][value], float(value)))
    assert f"Cross-validation chooses C = {best}, with" in captions(app)
    assert f"Halving dropped {6 - len(runs_of[1])} values early" in captions(app)
    table = app.dataframe[0].value
    assert list(table["State"]) == ["done" if value in runs_of[1] else "dropped early" for value in table["Value"]]
    assert list(table["Test (95 %)"].notna()) == [value in runs_of[1] for value in table["Value"]]


def test_many_values_without_a_result_are_counted_and_names_of_many_cells_are_plain(ran, monkeypatch):
    both = {"value": [f"{2.0**k:g}" for k in range(-2, 4)], "and": "kernel.gamma", "and_value": ["0.5", "1", "2", "4"]}
    app = open_page("sweep", **MOONS, **both)
    with monkeypatch.context() as patched:
        patched.setattr(queue, "_places", lambda small: 0)  # nothing begins
        app.button(key="queue_sweep").click().run()
        stopped = [runs.get(run_id).recipe for run_id in jobs.active()]
        jobs.cancel(*jobs.active())
    assert len(stopped) > study.NAMED
    assert not any(runs.stored(stopped))  # what never began leaves nothing
    app = open_page("sweep", **MOONS, **both)
    assert not app.warning
    for recipe in stopped:
        run = runs.create(recipe)
        run.set_state("cancelled")
        run.release()
    app = open_page("sweep", **MOONS, **both)
    assert f"No result for {len(stopped)} runs." in app.warning[0].value
    app.button(key="queue_sweep").click().run()
    finish_all()
    app = open_page("sweep", **MOONS, **both)
    (cells,) = [box for box in app.selectbox if box.label == "Alphas of"]
    assert cells.options[0] == "0.25 × 0.5"


def test_a_value_that_does_not_fit_is_left_out_and_said_but_where_all_are_needed(ran, monkeypatch):
    real = study.estimates

    def without_memory_for_10(recipes):
        return [need._replace(free_mb=1.0) if r.C == 10 else need for r, need in zip(recipes, real(recipes))]

    monkeypatch.setattr(study, "estimates", without_memory_for_10)
    app = open_page("sweep", **MOONS, value=["0.3", "3", "10"])
    assert [box.proto.title for box in app.warning] == ["C = 10 left out: not enough memory"]
    assert "1 MB are free" in app.warning[0].value
    assert "2 runs to train" in captions(app)
    app.button(key="queue_sweep").click().run()
    finish_all()
    assert {run.recipe.C for run in runs.newest_first() if run.recipe.folds} == {0.3, 3.0}
    table = open_page("sweep", **MOONS, value=["0.3", "3", "10"]).dataframe[0].value
    assert table["State"].tolist() == ["done", "done", study.UNFIT]
    app = open_page("sweep", **MOONS, value=["0.3", "3", "10"], halving="2")
    assert app.warning[0].proto.title.replace("\\", "").startswith("C = 0.3, 3, 10 left out")
    assert "queue_sweep" not in buttons(app)


@pytest.mark.parametrize(("value", "says"), [(["-1", "2"], "C = -1"), (["1"], "two or more"), (["two", "3"], "two")])
def test_a_value_that_cannot_be_is_named(ran, value, says):
    app = open_page("sweep", **MOONS, value=value)
    assert says in app.error[0].value.replace("\\", "")
    assert "queue_sweep" not in buttons(app)


def test_a_field_that_cannot_be_swept_is_said(ran):
    app = open_page("sweep", **MOONS | {"over": "seed"})
    assert "over = 'seed'" in app.warning[0].value.replace("\\", "")


def test_a_method_is_swept_over_its_own_numbers(ran):
    address = {"dataset": "digits-8x8", "classes": "3,8", "n_train": "60", "method": "tangent", "folds": "2"}
    app = open_page("sweep", **address, over="lam", value=["0.1", "0.5"])
    assert app.selectbox(key="sweep_over").value == "lam"
    assert "lambda" in app.selectbox(key="sweep_over").options
    app.button(key="queue_sweep").click().run()
    finish_all()
    assert {run.recipe.option("lam") for run in runs.newest_first() if run.recipe.folds} == {0.1, 0.5}


def test_a_failed_value_says_why_and_a_cancelled_one_can_be_run_again(ran):
    sweep = Sweep(BASE.replace(n_train=6, folds=5), "C", ("1", "2"))
    for recipe in sweep.recipes().values():
        jobs.submit(recipe)
    finish_all("done", "failed")
    address = MOONS | {"n_train": "6", "folds": "5"}
    app = open_page("sweep", **address, value=["1", "2"])
    assert "folds = 5; allowed: 2 to 3" in app.error[0].value.replace("\\", "")
    assert "queue_sweep" in buttons(app)
    run = runs.create(BASE.replace(C=7.0))
    run.set_state("cancelled")
    run.release()
    app = open_page("sweep", **MOONS, value=["7", "8"])
    assert "C = 7" in app.warning[0].value
    assert "queue_sweep" in buttons(app)


def test_the_open_question_of_the_paper_is_a_click_away(ran):
    app = open_page("sweep")
    app.button(key="example_turned").click().run()
    assert not app.exception
    assert app.query_params["classes"] == "6,9"
    assert app.query_params["value"][-1] == "rot:-120,-60,60,120,180"
    assert "5 runs to train, about" in captions(app)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_can_be_run(name):
    sweep = EXAMPLES[name][2]
    assert len(sweep.recipes()) == len(sweep.values) * max(1, len(sweep.seconds))
    assert all(recipe.folds for recipe in sweep.recipes().values())


def test_values_that_mean_the_same_are_run_once():
    assert list(Sweep(BASE, "C", ("1", "1.0", "2")).recipes()) == ["1", "2"]
    both = Sweep(BASE, "C", ("1", "1.0", "2"), "kernel.gamma", ("3", "3.0"))
    assert list(both.recipes()) == ["1 × 3", "2 × 3"]


def test_a_map_of_two_fields_fills_and_hides_its_test_errors_until_they_are_asked_for(ran):
    asked = MOONS | {"value": ["0.1", "10"], "and": "kernel.gamma", "and_value": ["0.5", "2", "8"]}
    app = open_page("sweep", **asked)
    assert app.selectbox(key="sweep_and").value == "kernel.gamma"
    app.button(key="queue_sweep").click().run()
    finish_all()
    sweep = Sweep(BASE, "C", ("0.1", "10"), "kernel.gamma", ("0.5", "2", "8"))
    found = {name: run.result for name, run in zip(sweep.recipes(), runs.stored(sweep.recipes().values()))}
    app = open_page("sweep", **asked)
    assert not app.exception
    assert app.query_params["and_value"] == ["0.5", "2", "8"]
    table = app.dataframe[0].value
    assert "Test (95 %)" not in table
    rates = [found[f"{C} × {gamma}"]["validation"]["error_rate"] for C, gamma in zip(table["C"], table["gamma"])]
    assert rates == sorted(rates)
    assert len(rates) == 6
    checks = {name: result["validation"] for name, result in found.items()}
    best = min(checks, key=lambda name: checks[name]["errors"])
    spread = np.std(checks[best]["folds"], ddof=1) / np.sqrt(3) * 3 / 300
    plain = next(n for n in checks if checks[n]["error_rate"] <= checks[best]["error_rate"] + spread + 1e-12)
    circle = "Circle: the simplest cell within one standard error of that error, "
    assert f"at C × gamma = {best}. {circle}" in captions(app)
    at_plain = f"{100 * checks[plain]['error_rate']:.2f} % at {plain}." if plain != best else "the same cell."
    assert at_plain in captions(app)
    assert {f"Train with C × gamma = {name}" for name in (best, plain)} <= links(app)
    assert "The test errors have been seen" not in captions(app)
    app.toggle(key="test").set_value(True).run()
    assert "Test (95 %)" in app.dataframe[0].value
    assert "The test errors have been seen" in captions(app)
    app = open_page("sweep", **asked)  # hidden again, but recorded for whoever comes later
    assert "Test (95 %)" not in app.dataframe[0].value
    assert "The test errors have been seen" in captions(app)
    tagged = [name for name, run in zip(sweep.recipes(), runs.stored(sweep.recipes().values())) if run.tags]
    assert tagged == [best]


def links(app):
    return {link.proto.label.replace("\\", "") for link in app.get("page_link")}


@pytest.mark.parametrize(("second", "says"), [("C", "and = 'C'"), ("seed", "and = 'seed'")])
def test_a_second_field_that_cannot_be_is_said(ran, second, says):
    app = open_page("sweep", **MOONS | {"and": second})
    assert says in app.warning[0].value.replace("\\", "")


def test_the_map_has_each_layer_of_each_cell_and_marks_none_before_the_end():
    def result(errors, folds):
        check = {"n_test": 100, "interval": [0, 1], "errors": sum(folds), "error_rate": sum(folds) / 100}
        more = {"folds": folds, "seconds": 2.0}
        whole = {"errors": errors, "n_test": 50, "error_rate": errors / 50, "n_union": 7, "seconds": 1.0}
        return whole | {"validation": check | more}

    sweep = Sweep(BASE, "C", ("1", "2"), "kernel.gamma", ("3", "4"))
    found = {"1 × 3": [9, 9], "1 × 4": [3, 5], "2 × 3": [2, 4], "2 × 4": [8, 1]}
    points = [(name, result(5, folds)) for name, folds in found.items()]
    figure = validation.sweep_map(sweep, ("C", "gamma"), points, "validation", "Validation error", 4)
    cells, places = figure.data
    assert cells.z.tolist() == [[18, 8], [6, 9]]
    # the standard error of 2 and 4 errors of 50 is 2 points: 8 % is within it
    middles = [(mark.type, (mark.x0 + mark.x1) / 2, (mark.y0 + mark.y1) / 2) for mark in figure.layout.shapes]
    assert middles == [("circle", 1, 0), ("rect", 0, 1)]  # by positions of their cells
    assert all(0.9 < mark.x1 - mark.x0 < 1 for mark in figure.layout.shapes)
    for at, called in enumerate(sweep.cells()):  # a click gives the position of its cell
        assert (places.y[at], places.x[at]) == sweep.cells()[called]
        assert places.customdata[at][0] == at
        assert f"{cells.z.ravel()[at]:.2f} ± " in places.customdata[at][1]
    early = validation.sweep_map(sweep, ("C", "gamma"), points[:1], "spread", "Standard error", 4)
    assert not early.layout.shapes
    assert [row[1] for row in early.data[1].customdata[1:]] == ["not finished"] * 3
    assert np.isnan(early.data[0].z).sum() == 3
    assert early.layout.meta["see"].startswith("1 of 4 cells have finished; nothing is chosen yet.")


def test_values_whose_names_are_cut_alike_keep_rows_of_their_own():
    check = {"n_test": 100, "errors": 3, "error_rate": 0.03, "folds": [1, 2], "interval": [0, 1], "seconds": 1.0}
    sets = ("rot:-120,-60,60", "rot:-120,-60,60,120", "rot:-120,-60,60,120,180")
    sweep = Sweep(BASE, "jitters", sets, "C", ("1", "2"))
    points = [(name, {"n_union": 7, "error_rate": 0.1, "validation": check}) for name in sweep.cells()]
    figure = validation.sweep_map(sweep, ("jitter set", "C"), points, "validation", "Validation error", 6)
    assert list(figure.data[0].y) == list(figure.layout.yaxis.categoryarray) == list(sets)
    assert len(set(figure.layout.yaxis.ticktext)) == 1


@pytest.mark.parametrize(("field", "values"), [("C", "0.1 1 10"), ("kernel.degree", "1 2 3"), ("jitters", "a b c")])
def test_the_chart_shows_both_errors_and_marks_the_choice(field, values):
    def result(errors, check):
        rate = {"n_test": 100, "interval": [0.0, 0.5]}
        validation = rate | {"errors": check, "error_rate": check / 100}
        return rate | {"errors": errors, "error_rate": errors / 100, "validation": validation}

    points = list(zip(values.split(), [result(5, 9), result(6, 3), result(4, 3)]))
    figure = validation.sweep_chart(field, "it", points)
    assert [list(trace.y) for trace in figure.data] == [[5, 6, 4], [9, 3, 3]]
    assert validation.choice(points) == values.split()[1]
    assert len(figure.layout.shapes) == 1
    one = validation.sweep_chart(field, "it", points[:1], 3)
    assert one.layout.meta["see"].startswith("1 of 3 values have finished; nothing is chosen yet.")
    assert not one.layout.shapes
    assert "The best value on the test set is it = " + values.split()[2] in figure.layout.meta["see"]


def test_bounds_stand_beside_both_errors(ran):
    app = open_page("sweep", **MOONS, n_train="60", bounds="true", value=["0.1", "1"])
    app.button(key="queue_sweep").click().run()
    finish_all()
    app = open_page("sweep", **MOONS, n_train="60", bounds="true", value=["0.1", "1"])
    results = [
        run.result
        for run in runs.stored(Sweep(BASE.replace(n_train=60, bounds=True), "C", ("0.1", "1")).recipes().values())
    ]
    points = list(zip(("0.1", "1"), results))
    named = {trace.name: trace for trace in validation.sweep_chart("C", "C", points).data}
    assert named.keys() == {"test", "validation", *validation.BOUNDS.values()}
    expected = [100 * max(result["bounds"]["xi_alpha"]["errors"], 0.5) / 60 for result in results]
    assert list(named["xi-alpha"].y) == expected
    table = app.dataframe[0].value
    assert table["leave-one-out"].tolist() == [result["bounds"]["leave_one_out"]["errors"] for result in results]
    said = captions(app)
    assert f"{validation.choices(points)['span']} by span" in said
    assert "cross-validation, " in said.partition("Total time")[2]
    assert "is learned from all training examples" not in said
    app.checkbox(key="sweep_bounds").uncheck().run()
    assert "bounds" not in app.query_params
    both = MOONS | {"n_train": "60", "bounds": "true", "value": ["0.1", "1"], "and": "noise", "and_value": ["0", "0.1"]}
    open_page("sweep", **both).button(key="queue_sweep").click().run()
    finish_all()
    app = open_page("sweep", **both)
    assert " by span" in captions(app)
    assert "by the test set" not in captions(app)
    app.toggle(key="test").set_value(True).run()
    assert "by the test set" in captions(app)


def test_what_leave_one_out_keeps_of_the_example_is_said(ran):
    """A scaling that it was a part of: without it the scaling would be another."""
    asked = MOONS | {"preprocess": "zscore", "n_train": "40", "bounds": "true", "value": ["0.1", "1"]}
    open_page("sweep", **asked).button(key="queue_sweep").click().run()
    finish_all()
    assert "Preprocessing (zscore) is learned" in captions(open_page("sweep", **asked))


@pytest.mark.parametrize(
    ("over", "values"),
    [("n_train", ["40", "80", "160"]), ("preprocess", ["zscore", "zscore,unit-norm", "unit-norm"])],
)
def test_amounts_of_examples_and_preprocessing_are_swept(ran, over, values):
    app = open_page("sweep", **MOONS | {"over": over, "value": values})
    app.button(key="queue_sweep").click().run()
    finish_all()
    app = open_page("sweep", **MOONS | {"over": over, "value": values})
    assert not app.exception
    assert list(app.dataframe[0].value["Value"]) == values
    asked = {run.recipe.n_train if over == "n_train" else ",".join(run.recipe.preprocess) for run in runs.everything()
             if run.recipe.folds}  # fmt: skip
    assert asked == ({40, 80, 160} if over == "n_train" else set(values))
    assert ("A power law predicts" if over == "n_train" else "Cross-validation chooses ") in captions(app)
    assert ("differ significantly" in captions(app)) == (over != "n_train")  # of which nothing is chosen


def test_a_learning_curve_ends_where_the_examples_do(ran):
    asked = MOONS | {"over": "n_train", "value": ["40", "80", "1000000"]}
    open_page("sweep", **asked).button(key="queue_sweep").click().run()
    finish_all()
    n = len(task_of(BASE).examples(BASE).y_train)
    said = captions(open_page("sweep", **asked))
    assert f"with {n:,}. A power law predicts" in said
    assert f"with {2 * n:,}." in said


def amounts(rates):
    """A sweep over training examples, and points of it; rates: value of the other field -> error rate by n."""
    n, base = (100, 200, 400, 800), BASE
    sweep = Sweep(base, "n_train", tuple(map(str, n)), "kernel.gamma", tuple(rates))
    if len(rates) == 1:
        sweep = sweep._replace(second="", seconds=())
    points = []
    for size in n:
        for name, rate in rates.items():
            check = {"n_test": size, "errors": rate(size) * size, "error_rate": rate(size), "interval": [0, 1]}
            more = {"n_union": size // 2, "fit_seconds": size**2 / 1e4, "memory_mb": size / 10}
            called = str(size) if len(rates) == 1 else f"{size} × {name}"
            points.append((called, check | more | {"validation": check | {"seconds": 0.0}}))
    return sweep, points


def test_a_power_law_says_what_twice_the_examples_would_bring():
    sweep, points = amounts({"1": lambda n: 0.8 / np.sqrt(n)})
    names = ["training examples"]
    figure = validation.amount_chart(sweep, names, points, "validation", "Validation error", 4)
    said = figure.layout.meta["see"]
    assert "error is 8.00 % with 100 training examples, 2.83 % with 800." in said
    assert f"multiplies the error by {2**-0.5:.2f}" in said
    assert f"predicts {80 / np.sqrt(1600):.2f} % (" in said
    assert ") with 1,600." in said
    for layer, power in (("vectors", "1.00"), ("seconds", "2.00"), ("memory", "1.00")):
        figure = validation.amount_chart(sweep, names, points, layer, layer, 4)
        assert f"n^{power}" in figure.layout.meta["see"]


def test_two_learning_curves_say_how_many_examples_the_better_recipe_is_worth():
    sweep, points = amounts({"1": lambda n: 2.0 / np.sqrt(n), "5": lambda n: 1.0 / np.sqrt(n)})
    names = ["training examples", "gamma"]
    figure = validation.amount_chart(sweep, names, points, "validation", "Validation error", 8)
    said = figure.layout.meta["see"]
    assert "800 examples with gamma = 5 are worth as much as 3,200 (" in said  # four times as many
    assert "noise" not in said
    lines = [trace for trace in figure.data if trace.customdata is not None]
    assert [row[0] for row in lines[1].customdata] == [1, 3, 5, 7]  # its cells, for a click
    turned = sweep._replace(field=sweep.second, values=sweep.seconds, second="n_train", seconds=sweep.values)
    points = [(" × ".join(reversed(called.split(" × "))), result) for called, result in points]
    figure = validation.amount_chart(turned, names[::-1], points, "validation", "Validation error", 8)
    assert figure.layout.meta["see"] == said


def test_a_recipe_that_is_not_surely_better_is_said_to_be_within_the_noise():
    sweep, points = amounts({"1": lambda n: 1.01 / np.sqrt(n), "5": lambda n: 1.0 / np.sqrt(n)})
    figure = validation.amount_chart(sweep, ["training examples", "gamma"], points, "validation", "error", 8)
    assert "within the noise" in figure.layout.meta["see"]


def test_the_fields_of_the_task_and_the_choices_of_the_method_are_offered_with_their_values(ran):
    app = open_page("sweep", **MOONS | {"over": "noise"})
    assert app.multiselect(key="sweep_values_noise").value == ["0", "0.05", "0.1", "0.2"]
    app = open_page("sweep", **MOONS | {"over": "loss"})
    assert app.multiselect(key="sweep_values_loss").value == ["hinge", "squared_hinge"]
    assert not app.error


def test_a_cell_that_is_chosen_opens_its_ways(ran):
    query = MOONS | {"over": "C", "value": ["1", "2"], "and": "noise", "and_value": ["0", "0.1"]}
    app = open_page("sweep", **query)
    app.button(key="queue_sweep").click().run()
    finish_all()
    app = open_page("sweep", **query)
    assert not app.exception
    assert app.selectbox(key="sweep_cell").value == ""
    app.selectbox(key="sweep_cell").set_value("2 × 0.1").run()
    assert "label noise = 2 × 0.1: " in captions(app).lower()
    assert not app.exception


def test_a_table_begins_with_steps_for_tables(ran):
    app = open_page("sweep", **MOONS | {"over": "preprocess"})
    assert app.multiselect(key="sweep_values_preprocess").value == ["zscore", "unit-norm", "zscore,unit-norm"]
    assert not app.error


def test_what_is_drawn_of_a_sweep_at_work_agrees_on_what_has_finished():
    class Ending:
        sample, asked = False, 0

        @property
        def state(self):
            self.asked += 1
            return "running" if self.asked == 1 else "done"

    run = Ending()
    results = study.Results(study.Plan({"1": BASE}), {"1": run})
    assert (results.done, results.active, results.done) == ({}, [run], {})
