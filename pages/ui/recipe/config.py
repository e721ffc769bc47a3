"""A recipe between the address and the widgets of its form.

    address  ->  Recipe  ->  widgets  ->  Recipe  ->  address          (fields and options as in `Recipe.to_query`)

The form starts from the recipe that the address spells out, by its name (`recipe=mnist-vsv`), its fields, or both, or
from the preset, and writes what it shows back into the address, so that a copied link is the recipe. A field of the
address that cannot be is said and left out.
"""

from collections.abc import Callable
from contextlib import suppress

import streamlit as st

from data import DataError, NotAtHand, catalogue, pictures
from pages.ui.kit import parameters, state, view, words
from pages.ui.kit.parameters import Form
from pages.ui.recipe import data_set
from pages.ui.recipe.jitter_set import PRESETS
from svmcore.lab.fields import numerals
from svmcore.lab.method import JITTERS_DEFAULT
from svmcore.lab.methods import METHODS
from svmcore.lab.presets import PRESET, RECIPES, named
from svmcore.lab.recipe import DEFAULT, FIELDS, Recipe, RecipeError, option_fields
from svmcore.lab.solvers import SOLVERS
from svmcore.lab.store import titles
from svmcore.lab.tasks import TASKS, task_of

NAME = "recipe"  # of the address: the name of a recipe, from which its other fields depart
SPREAD = ("name", "title", "kernel", "jitters", "options")  # over widgets that show a part each


def fields() -> dict[str, object]:
    """The same, with what each can be at all (`parameters.own`)."""
    return FIELDS | option_fields() | {NAME: RECIPES, "dataset": check_dataset, "classes": _check_classes}


def _check_classes(text: str) -> None:
    for label in FIELDS["classes"].check(FIELDS["classes"].read(text)):
        data_set.check_class(str(label))


def check_dataset(name: str) -> None:
    """Of an address: ValueError for a dataset that is not here."""
    for known in (catalogue, pictures):
        with suppress(DataError):
            return known.entry(name)
    raise ValueError("there is no such dataset here")


def names() -> list[str]:
    """The parameters of an address that spell a recipe."""
    return [NAME, *FIELDS, *option_fields()]


def task_asked(given: dict[str, list[str]]) -> str:
    """The task that an address names, itself or by the name of a recipe; empty if it names none."""
    recipe = RECIPES.get(given.get(NAME, [""])[-1])
    return given.get("task", [recipe.task if recipe else ""])[-1]


def fits(run) -> bool:
    """Whether this form can show what a run was asked."""
    return run is not None and not run.damage and view.form_of(run.recipe) == view.TRAIN


def link(recipe: Recipe) -> dict[str, str]:
    """The query parameters that open the form with this recipe."""
    query = recipe.replace(name="custom", title="").to_query()
    return query | ({"kernel": FIELDS["kernel"].show(recipe.kernel)} if query.keys() == {"dataset"} else {})


def seed():
    """Fill the widgets: from an address that this form did not write; at first from the run shown, or the preset."""
    base = FORM.base
    FORM.seed(_first, unless=lambda given: base is not None and given == {"dataset": [base.dataset]})


def _first() -> Recipe:
    run = state.current_run()
    return run.recipe if fits(run) else RECIPES[PRESET]


def spread(recipe: Recipe) -> dict:
    """What each widget shows: the recipe's fields, its kernel's numbers (`poly_degree`), and options (`vsv_scope`)."""
    shown = {n: parameters.shown(field, getattr(recipe, n)) for n, field in FIELDS.items() if n not in SPREAD}
    kernel = recipe.kernel
    shown |= {f"{kernel.name}_{n.name}": type(n.default)(getattr(kernel, n.name)) for n in numerals(type(kernel))}
    owners = ((recipe.task, TASKS), (recipe.method, METHODS), (recipe.solver, SOLVERS))
    for owner, known in owners:
        own = known[owner].fields
        shown |= {f"{owner}_{field.name}": parameters.shown(field, recipe.option(field.name)) for field in own}
    weight = recipe.class_weight
    shown["weight"] = weight.get("1", 1.0) if isinstance(weight, dict) else 1.0
    return shown | {"kernel": kernel.name, "jitters": recipe.jitters or JITTERS_DEFAULT}


def read(
    given: dict[str, list[str]],
    check: Callable = catalogue.entry,
    usual: Callable[[str], Recipe] = data_set.suggestion,
    first: Recipe = DEFAULT,
) -> tuple[Recipe, list[str]]:
    """The recipe of the address, and what was wrong with it, field by field.

    check(name) raises ValueError for a dataset that the form has not; usual(name): where to start on one; first: where
    the address is to be read from, with the task that the form is for.
    """
    asked, wrong, known = {name: texts[-1] for name, texts in given.items()}, [], False
    if wanted := asked.pop(NAME, ""):
        here = {name: one for name, one in RECIPES.items() if view.form_of(one) == view.form_of(first)}
        known = wanted in here
        first = here.get(wanted, first)
        if not known:
            if wanted in RECIPES:
                here = [f"any other; this one is on {view.form_of(RECIPES[wanted]).title}"]
            wrong.append(parameters.refusal(NAME, wanted, here))
    recipe = first
    try:
        check(asked.get("dataset", first.dataset))
    except ValueError as error:
        wrong.append(str(error))
        asked.pop("dataset", None)
    if not known and asked.keys() <= {"task", "dataset"} and asked.get("task") in (None, first.task):
        return usual(asked.get("dataset", first.dataset)), wrong
    with suppress(RecipeError):  # a task and a method that go with each other alone
        both = first.with_texts({name: asked[name] for name in ("task", "method") if name in asked})
        recipe = both if view.form_of(both) == view.form_of(first) else first
    recipe, refused = _with_texts(recipe, {name: asked[name] for name in names() if name in asked})
    idle = asked.keys() & (option_fields().keys() - recipe.texts().keys())  # of other methods: read and left out
    refused += [
        f"{name}={words.short(asked[name])} in the address: the method {recipe.method} has no such field"
        for name in sorted(idle)
    ]
    if "classes" in asked and (strange := _strange_classes(recipe)):
        refused.append(parameters.refusal("classes", asked["classes"], strange))
        recipe = recipe.replace(classes=())
    return recipe if recipe == first or "title" in asked else called(recipe), wrong + refused


def _strange_classes(recipe: Recipe) -> list[str]:
    """The classes of the dataset, if the recipe has others; nothing where they are not known."""
    with suppress(DataError):
        there = [str(label) for label in catalogue.entry(recipe.dataset).classes]
        return [] if {*map(str, recipe.classes)} <= {*there} else there
    return []


def _with_texts(recipe: Recipe, texts: dict[str, str]) -> tuple[Recipe, list[str]]:
    """The recipe with what an address has of it, of those that have the same form, and what cannot be; that is tried
    again once the others are there: draws may be asked for before what they are drawn from."""
    failed = {}
    for name, text in texts.items():
        try:
            changed = recipe.with_text(name, text)
            if (form := view.form_of(changed)) != view.form_of(recipe):
                raise RecipeError(name, text, f"another value; the form for this one is on the page {form.title}")
            recipe = changed
        except RecipeError as error:
            failed[name] = str(error)
    if len(failed) in (0, len(texts)):
        return recipe, list(failed.values())
    return _with_texts(recipe, {name: texts[name] for name in failed})


FORM = Form("recipe", names, read, link, spread)


def drawn(form: Form, draw: Callable, place=st, said: Callable[[ValueError], str] = words.plain):
    """What `draw` makes of a form's widgets, written into the address; None, and `said` in `place`, on ValueError."""
    try:
        value = draw()
        if isinstance(value, Recipe):
            task_of(value).size(value)  # says so where a step does not fit the examples
    except NotAtHand as error:
        place.warning(words.plain(error), icon=":material/cloud_download:")
    except ValueError as error:
        place.error(said(error), icon=":material/block:")
    else:
        form.write(value)
        return value
    return None


def called(recipe: Recipe) -> Recipe:
    """The recipe under the name of the one in the list that is the same, or under its own."""
    return named(recipe, titles.of_recipe(recipe))


def method_fields(form: Form, task: str, images: bool = True, grouped: bool = False) -> dict:
    """Draw the choice of a method for the task, and its fields; their values. grouped: examples have groups."""
    solve = [name for name, method in METHODS.items() if method.made and task in method.tasks]
    fits = lambda method: images or not method.needs_images or (grouped and method.takes_groups)  # noqa: E731
    allowed = [name for name in solve if fits(METHODS[name])]
    name = form.draw(FIELDS["method"], options=allowed)
    method, jitters = METHODS[name], ""
    if method.help:
        st.caption(method.help)
    if grouped and method.takes_groups:
        st.caption(
            "The first row of each group is a training example. If it becomes a support vector, the other rows of the "
            "group are its virtual examples."
        )
    if method.uses_jitters and not images:
        jitters = "none"
    elif method.uses_jitters:
        jitters = form.draw(
            FIELDS["jitters"],
            widget="selectbox",
            options=list(dict.fromkeys([*PRESETS, st.session_state.get(form.key("jitters"), JITTERS_DEFAULT)])),
            accept_new_options=True,
            help="Transformations that do not change the class. Choose a set or type one; the Jitters page shows "
            "its effect.",
        )
    return {"method": name, "jitters": jitters} | form.draw_all(method.fields, name)
