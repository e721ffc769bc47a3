"""The form of a recipe: one widget a field, those first that change most often.

`pages.ui.recipe.config` carries values between the widgets, the recipe and the address.
"""

from contextlib import suppress

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from data import DataError, Entry, NotAtHand, catalogue
from pages.ui.figures import maps
from pages.ui.figures.frame import show
from pages.ui.kit import view, words
from pages.ui.kit.parameters.form import NUMBER
from pages.ui.recipe import config, data_set, method
from pages.ui.recipe.config import FORM
from svmcore.kernels import KERNELS, RBF, Kernel
from svmcore.lab.experiment import advice
from svmcore.lab.recipe.recipe import FIELDS, Recipe, RecipeError
from svmcore.lab.recipes import PRESET, RECIPES
from svmcore.lab.registry.fields import check_weights, numerals
from svmcore.lab.registry.options import option_fields
from svmcore.lab.registry.solvers import SOLVERS
from svmcore.lab.registry.tasks import TASKS
from svmcore.preprocess import STEPS, usage


def recipe_form(near_start: DeltaGenerator, in_its_place: DeltaGenerator) -> Recipe | None:
    """Draw the form; the Recipe that it shows, or None (and the reason on screen) when it shows an impossible one.

    near_start: where the switch for slow motion goes; in_its_place: where Start would be, for the reason.
    """
    config.seed()
    FORM.warn()
    try:
        entry, data = _data()
        chosen = data | {"kernel": _kernel(data)} | _solve() | _method(entry, data["task"]) | _more(data["task"])
        classes = data["classes"] or entry.classes
        if classes:
            check_weights(chosen["class_weight"], ["1", "-1"] if len(classes) == 1 else map(str, classes))
        chosen["slow_motion"] = _draw("slow_motion", near_start, widget="toggle")
        recipe = FORM.base.replace(**chosen)
    except NotAtHand as error:
        in_its_place.warning(words.plain(error), icon=":material/cloud_download:")
        return None
    except RecipeError as error:
        in_its_place.error(_as_called_here(error), icon=":material/block:")
        return None
    except ValueError as error:
        in_its_place.error(words.plain(error), icon=":material/block:")
        return None
    recipe = config.called(recipe)
    FORM.write(recipe)
    return recipe


def _as_called_here(error: RecipeError) -> str:
    """What cannot be, with the field and its choices by the names that they have in the form."""
    field = (FIELDS | option_fields()).get(error.field)
    if field is None or not field.label:
        return words.plain(error)
    called = field.kind.choices if field.kind.widget == "choice" else {}
    first, gap, rest = error.allowed.partition(" ")
    value, first = (called.get(one, one) for one in (str(error.value), first))
    return f"*{words.plain(field.label)}* is {words.plain(value)}; allowed: {words.plain(f'{first}{gap}{rest}')}"


def _draw(name: str, where=st, **how):
    return FORM.draw(FIELDS[name], where=where, **how)


def _data() -> tuple[Entry, dict]:
    task = _task()
    entries, key = {e.name: e for e in catalogue.entries()}, FORM.key("dataset")
    with suppress(DataError):  # one of a family of which a few are listed, or a state of a revision
        entries.setdefault(st.session_state[key], catalogue.entry(st.session_state[key]))
    if st.session_state[key] not in entries:  # the reader's own, deleted since
        FORM.fill(RECIPES[PRESET])
    entry = data_set.of_form(FORM, entries, lambda: FORM.fill(config.suggestion(st.session_state[key])))
    grid = st.grid(2, min_column_width=NUMBER)
    train, test = grid.cell(), grid.cell()
    most = {"max_value": entry.n_train + entry.n_test}
    steps = f"{FIELDS['preprocess'].help} Type one with a number of your own, such as smooth:1.5."
    values = {
        "task": task,
        "dataset": entry.name,
        "n_train": _draw("n_train", train, **most, help=f"Empty for all there are ({entry.n_train:,})."),
        "n_test": _draw("n_test", test, **most, help="Empty for all that are left."),
        "classes": _draw("classes", options=list(entry.classes), placeholder="all"),
        "preprocess": _draw(
            "preprocess", options=list(map(usage, STEPS)), accept_new_options=True, placeholder="none", help=steps
        ),
    }
    if entry.kind == "features" and advice.SCALE not in values["preprocess"]:
        _say_unlike(entry.name, tuple(values["preprocess"]))
    return entry, values


def _say_unlike(dataset: str, steps: tuple[str, ...]) -> None:
    """Whether one column of a table decides all distances, and the way out."""
    if unlike := config.unlike(dataset):
        wide, most, narrow, least = unlike
        st.warning(
            f"*{words.plain(words.short(wide))}* ranges over {most:.3g}, *{words.plain(words.short(narrow))}* over "
            f"{least:.3g}: distances are the first one's alone.",
            title="Columns of unlike scale",
            icon=":material/straighten:",
        )
        st.button(
            f"Begin with {advice.SCALE}", key="recipe_scale", icon=":material/straighten:", on_click=config.scale,
            args=(dataset, steps), help="Each column gets mean 0 and standard deviation 1; a Gaussian the usual width.",
        )  # fmt: skip


def _task() -> str:
    """The task, to be chosen where more than one has its form here."""
    offered = [name for name in TASKS if view.TASKS.get(name, view.View()).form is None]
    if len(offered) == 1:
        return offered[0]
    return _draw("task", options=offered)


def _kernel(data: dict) -> Kernel:
    given = FORM.base.kernel
    offered = {name: kind.title for name, kind in KERNELS.items() if kind.title}
    names = {given.name: given.name.capitalize()} | offered
    name = _draw(
        "kernel",
        widget="segmented_control",
        options=sorted(names, key=list(KERNELS).index),
        format_func=names.get,
        help=f"{FIELDS['kernel'].help} The picture below shows what its numbers do.",
    )
    if name not in offered:
        st.caption(f"`{FIELDS['kernel'].show(given)}`, as the recipe has it.")
        return given
    wanted, values = numerals(KERNELS[name]), {}
    columns = iter(st.columns(3)) if wanted else None
    for field in wanted:
        values[field.name] = FORM.draw(field, name, st if field.kind.widget == "flag" else next(columns))
    kernel = KERNELS[name](**values)
    if isinstance(kernel, RBF) and data["dataset"].startswith(catalogue.OWN_PREFIX):
        gamma = config.usual_gamma(data["dataset"], tuple(data["preprocess"]))
        st.caption(f"For these examples gamma = {gamma:g} is usual: 1 over the median of their squared distances.")
    show(maps.kernel_picture(kernel), key="kernel_picture")
    return kernel


def _solve() -> dict:
    left, right = st.columns(2)
    return {"C": _draw("C", left), "tol": _draw("tol", right)}


def _method(entry: Entry, task: str) -> dict:
    """The method and its fields, those that have no widget as the recipe had them."""
    chosen, base = method.draw(FORM, task, entry.kind == "images"), FORM.base
    own = {name: chosen.pop(name) for name in list(chosen) if name not in FIELDS}
    return chosen | {"options": (base.options if base.method == chosen["method"] else {}) | own}


def _more(task: str) -> dict:
    with st.expander("More"):
        left, right = st.columns([2, 3])
        values = {"seed": _draw("seed", left), "solver": _draw("solver", right)}
        values |= {name: _draw(name) for name in ("class_weight", "split", "cache_mb", "folds")}
        own = FORM.draw_all(SOLVERS[values["solver"]].fields, values["solver"])
        own |= FORM.draw_all(TASKS[task].fields, task)
    return values | own
