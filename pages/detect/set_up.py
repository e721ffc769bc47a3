"""The form of a detection run: a named recipe, its pictures and experiment, and the fields of task and method.

A copied link is the recipe: the address spells what the form shows, as that of the Train page does.
"""

from functools import partial

import streamlit as st

from data import pictures
from pages.detect.view import PAGE, opens_here
from pages.ui.kit import words
from pages.ui.kit.parameters import Form
from pages.ui.kit.view import home_of
from pages.ui.recipe import config, data_set, presets, starting
from svmcore.lab.fields import Field, numeric
from svmcore.lab.forecast import estimate
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import FIELDS, Recipe
from svmcore.lab.tasks import TASKS

TASK = "detect"
OPEN = "detect_open"  # in the session: id of the run in whose place the form stands
FIRST = RECIPES["volcano-synthetic"]  # needs no files: every computer can run it
BEGINNING = Recipe(task=TASK, dataset=FIRST.dataset)  # of a recipe that an address spells
WEIGHT = Field(
    "weight",
    numeric(0.1, 1000),
    1.0,
    "Weight of objects",
    "Multiplies C for objects; C for the background stays as it is. DeCoste and Schölkopf used 3 for volcanoes.",
    step=0.5,
)


def named() -> dict[str, Recipe]:
    return {name: recipe for name, recipe in RECIPES.items() if home_of(recipe).page == PAGE}


def set_up() -> None:
    st.subheader("New detection run")
    FORM.seed(lambda: FIRST, unless=lambda given: config.task_asked(given) not in (TASK, ""))
    FORM.warn()
    head, base = st.container(), FORM.base
    with head:
        how = {"placeholder": "your own", "help": "Fills the form with the settings of a named experiment."}
        presets.pick("Recipe", "detect_pick", named(), FORM.fill, base.name, **how)
    recipe = config.drawn(FORM, _recipe)
    if recipe is None:
        return
    FORM.keep(recipe)
    with head:
        start = st.container()
        times = starting.times()
        with start:
            does = "Trains split by split"
            starting.start_button(estimate(recipe), "detect_start", _start, (recipe, times), does, times)


def is_open(run) -> bool:
    """Whether the form has the page: no detection run is shown, the reader asked, or the address spells a recipe."""
    if run is None or not opens_here(run):
        return True
    given = FORM.asked()
    if config.task_asked(given) == TASK or config.NAME in given:
        st.session_state[OPEN] = run.id
    return st.session_state.get(OPEN) == run.id


def close_form() -> None:
    """Callback: look at the run again."""
    st.session_state.pop(OPEN, None)


def _start(recipe: Recipe, times: int):
    """Callback: queue the run, or so many with other seeds, and look at it."""
    close_form()
    starting.start(recipe, times=times)


def _usual(name: str, otherwise: Recipe = FIRST) -> Recipe:
    """The first named recipe of a set of pictures; on one that has none another one's."""
    own = (recipe for recipe in named().values() if recipe.dataset == name)
    return next(own, None) or otherwise.replace(name="custom", title="", dataset=name)


FORM = Form(
    "detect", config.names, partial(config.read, check=pictures.entry, usual=_usual, first=BEGINNING), config.link,
    config.spread,
)  # fmt: skip


def _recipe() -> Recipe:
    """The recipe that the widgets show. NotAtHand while its pictures are not on this computer."""
    base, own = FORM.base, _own_fields()
    found = _pictures()
    experiment = _experiment(found)
    if base.option("experiment") is None and experiment == next(iter(found.experiments)):
        experiment = None
    values = {"dataset": found.entry.name, "experiment": experiment} | config.method_fields(FORM, TASK)
    values |= FORM.draw_all([own["finder"]], TASK)
    others = [field for name, field in own.items() if name != "finder" and field.means_something(values)]
    with st.expander("Search settings"):
        values |= FORM.draw_all(others, TASK)
        values |= FORM.draw_row([FIELDS["C"], WEIGHT])
        weight = values.pop("weight")
        values["seed"] = FORM.draw(FIELDS["seed"])
        st.caption(f"Kernel ${base.kernel.formula}$, preprocessing: {', '.join(base.preprocess) or 'none'}.")
    return config.called(base.replace(**values, class_weight={"1": weight, "-1": 1.0} if weight != 1 else None))


def _own_fields() -> dict[str, Field]:
    """Name -> Field of the task's own, with those of the finders that there are now."""
    return {field.name: field for field in TASKS[TASK].fields}


def _pictures() -> pictures.PictureSet:
    entries = {entry.name: entry for entry in pictures.entries()}
    entry = data_set.of_form(FORM, entries, lambda name: _usual(name, FORM.base), label="Pictures")
    found = entry.load()
    synthetic = " **Synthetic**, made up by a seeded program." if entry.synthetic else ""
    objects = words.many(sum(len(p.boxes) for p in found.pictures), entry.object_name)
    st.caption(f"{words.many(len(found.pictures), 'picture')}, {objects}.{synthetic}")
    return found


def _experiment(found: pictures.PictureSet) -> str:
    there = found.experiments
    name = FORM.draw(
        _own_fields()["experiment"], TASK, widget="selectbox", options=list(there),
        format_func=lambda name: there[name].title or name,
    )  # fmt: skip
    chosen = there[name]
    parts = len(chosen.parts)
    unit = "" if found.entry.unit == "picture" else f", {chosen.area:,.0f} {found.entry.unit}"
    st.caption(
        f"{words.many(parts, 'split')}; {words.many(len(chosen.tested), 'picture')} tested, with "
        f"{words.many(chosen.opportunities, found.entry.object_name)} to detect{unit}."
    )
    if chosen.missing:
        more = f" and {len(chosen.missing) - 4} more" if len(chosen.missing) > 4 else ""
        missing = ", ".join(chosen.missing[:4]) + more
        st.caption(f":material/hide_image: Missing pictures, which are excluded: {words.plain(missing)}.")
    return name
