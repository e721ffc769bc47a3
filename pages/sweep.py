"""Choose: cross-validation over one or two fields of a recipe, one ordinary run for each value or pair of values.

What a sweep goes over: a recipe in short form, one of its fields with the values of it, perhaps another.

address  ->  Sweep  ->  widgets  ->  Sweep  ->  address      (as in `Recipe.to_query`; over, value, and, and_value)
"""

from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from data import catalogue, permission
from pages.ui.example import evidence
from pages.ui.figures import decisions, validation
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, parameters, ways, words
from pages.ui.kit.parameters import Form
from pages.ui.kit.ways import button
from pages.ui.recipe import config, data_set
from pages.ui.studies import study
from pages.ui.studies.study import Plan, Results, Study
from svmcore.lab.analyses.sweep import AMOUNT, BY, JITTERING, Judged, Sweep, above_lowest, apart_text, judged, ordered
from svmcore.lab.fields import LABELS, Field, choice, numerals, numeric
from svmcore.lab.forecast import seconds_of
from svmcore.lab.jobs.sweeping import follow, followed
from svmcore.lab.methods import METHODS
from svmcore.lab.methods.searched import SearchedJitters
from svmcore.lab.presets.sweeps import EXAMPLES, FOLDS, STEPS_OF_TABLES, USUAL
from svmcore.lab.recipe import FIELDS, Recipe, RecipeError
from svmcore.lab.tasks import task_of
from svmcore.preprocess import parse_step

PARTS = replace(
    FIELDS["folds"],
    kind=numeric(2, 20, whole=True),
    default=FOLDS,
    help="Folds of the training set, each held out once. Usual: 5 or 10.",
)
OVER = Field("over", choice(USUAL), "C", "Setting", "The setting to vary.")
AND = Field(
    "and", choice(("", *USUAL)), "", "Second setting", "A second setting to vary. Every pair of values is then a run."
)
HALVING = Field(
    "halving", numeric(1, 5, whole=True), 1, "Halving",
    "Steps of successive halving. The first step trains all settings on few examples. Each later step trains the best "
    "third on three times as many, and the last step uses all. With 1 step, all settings train on all examples.",
)  # fmt: skip
SEEN = "test errors seen"  # a tag
LEFT = "dropped early"  # by halving
FEW = 9  # values that stand side by side


def fields_of(recipe: Recipe) -> dict[str, str]:
    """What can be swept over -> what it is called: C, the kernel's numbers, jitter sets, preprocessing, the number of
    training examples, label noise, the method's own numbers and choices."""
    numbers = [field for field in numerals(type(recipe.kernel)) if field.kind.widget == "number"]
    images = {"jitters": "jitter set"} if catalogue.entry(recipe.dataset).kind == "images" else {}
    of_kernel = {f"kernel.{field.name}": field.label for field in numbers}
    more = {"preprocess": "preprocessing", AMOUNT: "training examples"}
    return {"C": "C"} | of_kernel | images | more | {field.name: field.label for field in _own(recipe)}


def _own(recipe: Recipe) -> list[Field]:
    """The numbers and choices of its task and its method."""
    own = (*task_of(recipe).fields, *METHODS[recipe.method].fields)
    return [field for field in own if field.shown and field.kind.widget in ("number", "choice")]


def sweep_form() -> Sweep | None:
    """Draw the form; the Sweep that it shows, or None (and the reason on screen) when it shows an impossible one."""
    FORM.seed(lambda: EXAMPLES["C"][2])
    with st.container(horizontal=True):
        for name, (label, asks, example) in EXAMPLES.items():
            button(label, "lightbulb", f"example_{name}", FORM.fill, example, help=asks)
    FORM.warn()
    with st.container(border=True):
        sweep = config.drawn(FORM, _sweep)
        if sweep is not None:
            st.caption(f"Base: {words.summary(sweep.base)}")
    return sweep


def _sweep() -> Sweep:
    """The sweep that the widgets show. ValueError for an impossible one."""
    base = _base()
    with st.container(horizontal=True):
        names = fields_of(base)
        over = FORM.draw(OVER, widget="selectbox", options=list(names), format_func=names.get, width=200)
        values = _values(over, base)
    with st.container(horizontal=True):
        others = ["", *(name for name in names if name != over)]
        called = names | {"": "none"}
        second = FORM.draw(AND, widget="selectbox", options=others, format_func=called.get, width=200)
        seconds = _values(second, base) if second else ()
        rungs = FORM.draw(HALVING, width=75)
    if "jitters" in (over, second) and not METHODS[base.method].uses_jitters:
        base = base.replace(method=JITTERING)
    sweep = Sweep(base, over, values, second, seconds, rungs)
    sweep.recipes()
    return sweep


def _spread(sweep: Sweep) -> dict:
    base = sweep.base
    classes = [c for c in catalogue.entry(base.dataset).classes if str(c) in map(str, base.classes)]
    shown = {"n_train": base.n_train, "n_test": base.n_test, "folds": base.folds or FOLDS, "bounds": base.bounds}
    shown |= {"classes": classes, "over": sweep.field, f"values_{sweep.field}": list(sweep.values)}
    shown |= {"halving": sweep.rungs}
    return shown | {"and": sweep.second} | ({f"values_{sweep.second}": list(sweep.seconds)} if sweep.second else {})


def link(sweep: Sweep) -> dict[str, str | list[str]]:
    """The query parameters that open the form with this sweep."""
    second = {"and": sweep.second, "and_value": list(sweep.seconds)} if sweep.second else {}
    halving = {"halving": str(sweep.rungs)} if sweep.rungs > 1 else {}
    return config.link(sweep.base) | {"over": sweep.field, "value": list(sweep.values)} | second | halving


def _read(given: dict[str, list[str]]) -> tuple[Sweep, list[str]]:
    """The sweep of the address, and what was wrong with it."""
    recipe, wrong = config.read({name: texts for name, texts in given.items() if name in config.names()})
    over = given.get("over", ["C"])[-1]
    if over not in fields_of(recipe):
        wrong.append(str(RecipeError("over", over, ", ".join(fields_of(recipe)))))
        over = "C"
    second = given.get("and", [""])[-1]
    if second and (second == over or second not in fields_of(recipe)):
        wrong.append(str(RecipeError("and", second, ", ".join(name for name in fields_of(recipe) if name != over))))
        second = ""
    asked = ("value", over), ("and_value", second)
    values, seconds = (given.get(name) or usual_values(of, recipe) for name, of in asked)
    try:
        rungs = HALVING.check(HALVING.read(given.get("halving", ["1"])[-1]))
    except RecipeError as error:
        wrong.append(str(error))
        rungs = 1
    return Sweep(recipe, over, tuple(values), second, tuple(seconds) if second else (), rungs), wrong


FORM = Form("sweep", lambda: [*config.names(), "over", "value", "and", "and_value", "halving"], _read, link, _spread)


def _base() -> Recipe:
    """The recipe, of which dataset, classes and sizes can be changed here; the rest is as it came."""
    base = FORM.base.base
    st.session_state[FORM.key("dataset")] = base.dataset
    entries = {entry.name: entry for entry in catalogue.entries() if entry.at_hand}
    entries.setdefault(base.dataset, catalogue.entry(base.dataset))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        entry = data_set.of_form(
            FORM, entries, _usual, width=190, persist_state=None,
            help="Fills in the usual recipe of this dataset. For any other recipe, use the form of the Train page.",
        )  # fmt: skip
        chosen = {"classes": FORM.draw(FIELDS["classes"], options=list(entry.classes), placeholder="all", width=130)}
        chosen |= data_set.sizes(FORM, entry, st, st, width=145)
        chosen |= {"folds": FORM.draw(PARTS, width=75), "bounds": FORM.draw(FIELDS["bounds"])}
    return base.replace(name="custom", title="", slow_motion=False, **chosen)


def _usual(dataset: str) -> Sweep:
    usual = data_set.suggestion(dataset)
    size = min(usual.n_train or 1000, 1000)
    return Sweep(usual.replace(n_train=size, n_test=min(usual.n_test or 1000, 1000), folds=FOLDS), "C", USUAL["C"])


def usual_values(over: str, recipe: Recipe) -> tuple[str, ...]:
    """The values to begin with of a field, on the dataset of a recipe: of a choice all there are."""
    if over == "preprocess" and catalogue.entry(recipe.dataset).kind != "images":
        return STEPS_OF_TABLES
    words = next((tuple(f.kind.choices) for f in _own(recipe) if f.name == over and f.kind.widget == "choice"), ())
    return USUAL.get(over, words)


def _values(over: str, base: Recipe) -> tuple[str, ...]:
    usual = usual_values(over, base)
    help = (
        "To add a value, type it and press Enter. Write jitter sets as on the Jitters page, and separate steps of "
        "preprocessing by commas."
    )
    field = Field(f"values_{over}", LABELS, usual, "Values", help)
    wide = 660  # ten numbers; on a narrow page on a line of its own
    values = FORM.draw(field, options=list(usual), accept_new_options=True, width=wide)
    if len(values) < 2:
        raise RecipeError("values", ", ".join(values), "two or more values")
    return ordered(values)


def plan() -> Plan | None:
    """One run a value; for jitter sets also the way to a search that combines them."""
    sweep = sweep_form()
    if sweep is None:
        return None
    if sweep.field == "jitters":
        whole = sweep.base.replace(folds=None, bounds=False, method=SearchedJitters.name, jitters="", options={})
        help = "Adds jitter sets greedily by their validation errors, until none helps or the budget is spent."
        ways.to("train", "Search step by step", "route", config.link(whole), help=help)
    names, (recipes, later) = fields_of(sweep.base), sweep.reached()
    over = BY.join(names[field] for field in (sweep.field, sweep.second) if field)  # `C`, or `C × gamma`
    if later:
        took = words.duration(seconds_of(later, study.needs(later)))
        st.caption(f"Later steps of halving: {words.many(len(later), 'run')} with the best values, about {took} more.")
    group = sweep.group(over)
    how = {"then": partial(follow, sweep, group), "followed": partial(followed, group), "together": sweep.rungs > 1}
    return Plan(recipes, group, sweep, over=over, **how)


COLUMNS = {
    "Above the lowest": numbers.text(
        "Difference from the lowest validation error in percentage points, with its 95 % interval on the same "
        "examples. If the interval contains 0, the difference is not significant."
    ),
    "SVs": numbers.count("Distinct support vectors of all machines."),
    "Bounded": numbers.count("Bounded alphas (alpha = C) over all machines; an example may be bounded in several."),
    "Time": numbers.number(1, label="Time, s"),
}


def _apart(results: Results) -> dict[str, tuple[float, float]]:
    """Value -> its validation error above the lowest, and half its 95 % interval; on the same examples only."""
    return _differences(tuple((value, run.id) for value, run in results.done.items()), results) if results.done else {}


@st.cache_data(max_entries=16, show_spinner=False)
def _differences(finished: tuple[tuple[str, str], ...], _results: Results) -> dict[str, tuple[float, float]]:
    """The table asks with each look at the runs at work; what has finished stays. finished: values and ids of runs."""
    answered = {value: _judged(run.id, run) for value, run in _results.done.items()}
    return above_lowest(validation.choice(points_of(_results)), answered)


@st.cache_data(max_entries=1000, show_spinner=False)
def _judged(run_id: str, _run) -> Judged | None:
    """Read once: each cell of a map that finishes is compared with all before."""
    return judged(_run)


def rows(results: Results, states) -> list[dict]:
    sweep, told, above = results.plan.given, [], _apart(results)
    bounds = validation.BOUNDS if sweep.base.bounds else {}
    tests = _tests(sweep)
    columns = results.plan.over.split(BY) if sweep.second else ["Value"]
    order = _lowest_first(results) if sweep.second else results.runs
    early = results.done.keys() - dict(validation.last(points_of(results))) if sweep.rungs > 1 and results.done else ()
    for value in order:
        told.append(row := dict(zip(columns, sweep.cells()[value])) | {"State": states[value]})
        if value in results.done:
            result = results.done[value].result
            check = result["validation"]
            row |= {"State": LEFT} if value in early else {}
            row |= {
                "Validation (95 %)": words.rate(check),
                "Above the lowest": apart_text(*above[value]) if value in above else None,
                **({"Test (95 %)": None if value in early else words.rate(result)} if tests else {}),
                "SVs": result["n_union"],
                "Bounded": int(np.sum(result["n_bound"])),
                **{label: round(result["bounds"][name]["errors"]) for name, label in bounds.items()},
                "Time": words.training_seconds(result) + check["seconds"],
            }
    return told


def _tests(sweep: Sweep) -> bool:
    """Whether test errors are shown: those of a map only when asked for."""
    return not (sweep.second or sweep.of_amounts) or bool(st.session_state.get("test"))


def _seen(results: Results, asked: bool) -> bool:
    """Whether the test errors of a map are asked for, or were once: then its best run has the tag SEEN."""
    if asked and not any(SEEN in run.tags for run in results.done.values()) and permission.may("change"):
        best = results.done[validation.choice(points_of(results))]
        with suppress(ValueError, RuntimeError):  # it has as many tags as there can be, or is a sample
            best.tag([*best.tags, SEEN])
    return asked or any(SEEN in run.tags for run in results.done.values())


def _lowest_first(results: Results) -> list[str]:
    """The cells of a map that there are runs of; those that have finished by their validation errors."""
    done, runs = results.done, results.runs
    rates = {value: run.result["validation"]["error_rate"] for value, run in done.items()}
    return [*sorted(done, key=rates.get), *(value for value, run in runs.items() if run and value not in done)]


def points_of(results: Results) -> list[tuple[str, dict]]:
    """(value, result) of those that have finished."""
    return [(value, run.result) for value, run in results.done.items()]


LAYERS = {
    "validation": "Validation error", "spread": "Standard error", "vectors": "Support vectors", "seconds": "Seconds",
    "memory": "Memory", "test": "Test error",
}  # fmt: skip


def cells(results: Results) -> None:
    """The map of two fields, or learning curves if one is the number of examples; and links from a chosen cell."""
    sweep, points = results.plan.given, points_of(results)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        asked = parameters.flag("sweep.test")
        there = {"test": asked, "memory": all("memory_mb" in result for _, result in points)}
        layers = [name for name in LAYERS if there.get(name, True)]
        called = LAYERS | {name: f"{LAYERS[name]}, {unit}" for name, unit in validation.UNITS.items() if unit in "% MB"}
        called["vectors"] = validation.UNITS["vectors"]
        layer = parameters.choice("sweep.layer", layers, format_func=called.get)
    coming = len(results.runs) if results.active else len(points)
    chart = validation.amount_chart if sweep.of_amounts else validation.sweep_map
    figure = chart(sweep, results.plan.over.split(BY), points, layer, LAYERS[layer], coming)
    show(figure, "sweep_map", on_click=partial(_open_cell, list(sweep.cells()), list(results.done)))
    _cell(results)
    if _seen(results, asked):
        st.caption("The test errors have been seen. A setting chosen by them needs a new test set.")


def _open_cell(cells: list[str], done: list[str], at: int) -> None:
    """Callback: a cell of the map, or a point of a learning curve, was clicked."""
    if cells[at] in done:
        st.session_state["sweep_cell"] = cells[at]


def _cell(results: Results) -> None:
    """One cell, from a click or from the list, and the ways on from it."""
    options, called = ["", *results.done], {"": "Choose a cell, or click it"}
    cell = parameters.one_of(
        "Cell", options, "sweep_cell", widget="selectbox", format_func=lambda one: called.get(one, one),
        help="A pair of values that has finished. Links then open its support vectors and errors, or train with it.",
    )  # fmt: skip
    if cell:
        check = results.done[cell].result["validation"]
        st.caption(
            words.plain(f"{results.plan.over} = {cell}: {words.rate(check)} of validation examples are misclassified.")
        )
        _ways(results, cell, [cell])


def _ways(results: Results, value: str, trained: list[str]) -> None:
    """To the run of a value, and to Train with some values."""
    name, run = results.plan.over, results.done[value]
    if run.sample:
        return
    with st.container(horizontal=True):
        for page, label in (("support_vectors", "Support vectors"), ("errors", "Test errors")):
            ways.to(page, words.plain(f"{label} at {name} = {value}"), "arrow_forward", {"run": run.id})
        for one in trained:
            recipe = results.done[one].recipe.replace(folds=None, bounds=False)
            ways.to("train", words.plain(f"Train with {name} = {one}"), "play_circle", config.link(recipe))


def _say_noise(results: Results) -> None:
    """How many values do not differ significantly from the one with the lowest error."""
    if results.active or results.plan.given.of_amounts or not (above := _apart(results)):
        return
    near = [words.plain(value) for value, (d, h) in above.items() if d <= h]
    those = f": {', '.join(near)}" if 0 < len(near) <= study.NAMED else ""
    st.caption(
        f"{len(near)} of the {len(above)} other values tested on the same examples do not differ significantly from "
        f"the value with the lowest error (McNemar, 95 %){those}."
    )


def errors(results: Results) -> None:
    """The chart; the values that other criteria would choose."""
    name, points = results.plan.over, points_of(results)
    if any("noisy" in result for _, result in points):
        st.caption(
            "The labels of validation examples are noisy, too, as in real data. So even a machine that makes no errors "
            "on true labels has a validation error of about the share of noise. Test errors are counted on true "
            "labels."
        )
    if results.plan.given.second or results.plan.given.of_amounts:
        cells(results)
    else:
        coming = len(results.runs) if results.active else len(points)
        show(validation.sweep_chart(results.plan.given.field, name, points, coming), "sweep_chart")
    if validation.bounded(points):
        ways = validation.choices(points)
        if not _tests(results.plan.given):
            ways.pop(validation.BY_TESTS)
        by_way = ", ".join(f"{value} by {way}" for way, value in ways.items())
        costs = ", ".join(f"{words.duration(took)} {way}" for way, took in validation.seconds(points).items())
        st.caption(words.plain(f"{name} chosen by each criterion: {by_way}. Total time: {costs}."))
        if steps := [step for step in results.plan.given.base.preprocess if parse_step(step).step.learn]:
            st.caption(
                f"Preprocessing ({', '.join(steps)}) is learned from all training examples. Leave-one-out and the "
                "bounds keep it fixed, so they may count too few errors."
            )
    _say_noise(results)
    if not results.active and len(points) < len(results.runs):
        st.caption(f"{len(points)} of {len(results.runs)} values have finished; the choice is among these values.")


def alphas(results: Results) -> None:
    """The alphas of one value, and the ways to its run."""
    done, best = results.done, validation.choice(points_of(results))
    many = len(done) > FEW
    value = parameters.one_of(
        "Alphas of", list(done), f"alphas_{best}",
        **({"widget": "selectbox", "index": list(done).index(best)} if many
           else {"default": best, "format_func": words.plain}),
        help="Alphas of all machines of this value's run. Initially: the value with the lowest validation error.",
    )  # fmt: skip
    run = done[value]
    machine = run.machine()
    held = machine.coef != 0
    alpha, sign = np.abs(machine.coef[held]), np.sign(machine.coef[held]).astype(int)
    C = evidence.one_bound(run, machine)
    show(decisions.alpha_histogram(alpha, sign, C, machine.bound[held], run.recipe.dataset), "sweep_alphas")
    if results.active or run.sample:
        _ways(results, value, [])
        return
    plain = validation.simple(points_of(results)) if results.plan.given.second else best
    _ways(results, value, list(dict.fromkeys((best, plain))))
    sweep = results.plan.given
    if not sweep.of_amounts and (finer := sweep.finer(best)) != sweep:
        help = "Fills the form with the best values, their neighbours, and values in between."
        button(words.plain(f"Search finer around {best}"), "zoom_in", "finer", FORM.fill, finer, help=help)


parameters.own(test=bool, layer=LAYERS)
study.draw(Study(
    "sweep", plan, lambda results: {"Errors": partial(errors, results), "Alphas": partial(alphas, results)},
    rows, COLUMNS, alt="Validation error, test error, support vectors and time of each value",
))  # fmt: skip
